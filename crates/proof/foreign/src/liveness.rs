//! The registers whose values are still read.

use wattle_memory::Set;
use wattle_modules::code::{Kernel, NO_REG, Op};

/// The registers that are live before each instruction: a value that only makes others that are dead is dead, such as
/// how long a waiting loop sleeps. A branch that has one successor reads nothing.
pub(crate) fn live(kernel: &Kernel, next: &[Vec<usize>]) -> Vec<Set> {
    let registers = kernel.registers.len();
    let mut live = vec![Set::new(registers); next.len()];
    loop {
        let mut changed = false;
        for at in (0..next.len()).rev() {
            let mut here = next[at].iter().fold(Set::new(registers), |all, &target| all | &live[target]);
            let step = &kernel.steps[at];
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            step.op.outline(|reg| reads.push(reg as usize), |reg| writes.push(reg as usize));
            let only_decides = next[at].len() < 2 && matches!(step.op, Op::Branch { .. });
            let is_idle = only_decides || step.op.only_computes() || matches!(step.op, Op::Yield | Op::Hint);
            if is_idle && !writes.iter().any(|&reg| here.contains(reg)) {
                changed |= here != live[at];
                live[at] = here;
                continue;
            }
            if step.guard.reg == NO_REG {
                writes.iter().for_each(|&reg| here.remove(reg));
            } else {
                here.insert(step.guard.reg as usize);
            }
            reads.iter().for_each(|&reg| here.insert(reg));
            changed |= here != live[at];
            live[at] = here;
        }
        if !changed {
            return live;
        }
    }
}
