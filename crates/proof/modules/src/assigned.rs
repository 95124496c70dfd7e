//! Determines whether registers are written on every path before they are read.
//!
//! PTX leaves the value of a register unspecified before it is written. An interpreter need not check for such reads in
//! kernels where no path has one.

use crate::code::{NO_REG, Step};

/// Whether no path reads a register that it has not written. Predicated instructions count as not having written.
pub fn all_assigned(steps: &[Step], registers: usize) -> bool {
    let words = registers.div_ceil(64);
    // The registers certainly written before each step; `None` until a path reaches it.
    let mut before: Vec<Option<Vec<u64>>> = vec![None; steps.len()];
    let mut open = vec![0usize];
    before[0] = Some(vec![0; words]);
    while let Some(first) = open.pop() {
        let mut at = first;
        let mut written = before[at].clone().unwrap_or_default();
        loop {
            if at != first && !meet(&mut before[at], &written) {
                break;
            }
            if at != first {
                written = before[at].clone().unwrap_or_default();
            }
            let step = &steps[at];
            let always = step.guard.reg == NO_REG;
            if always {
                step.op.outline(|_| {}, |reg| written[reg as usize / 64] |= 1 << (reg % 64));
            }
            if let Some(target) = step.target()
                && meet(&mut before[target], &written)
            {
                open.push(target);
            }
            if !step.falls_through() || at + 1 == steps.len() {
                break;
            }
            at += 1;
        }
    }
    steps.iter().zip(&before).all(|(step, before)| {
        let Some(before) = before else { return true };
        let mut good = true;
        let mut read = |reg: u32| good &= before[reg as usize / 64] >> (reg % 64) & 1 != 0;
        if step.guard.reg != NO_REG {
            read(step.guard.reg);
        }
        step.op.outline(read, |_| {});
        good
    })
}

/// Keeps the registers that both sets have; returns whether `at` changed.
fn meet(at: &mut Option<Vec<u64>>, written: &[u64]) -> bool {
    match at {
        None => {
            *at = Some(written.to_vec());
            true
        }
        Some(at) => {
            let mut changed = false;
            for (here, there) in at.iter_mut().zip(written) {
                changed |= *here & !there != 0;
                *here &= there;
            }
            changed
        }
    }
}
