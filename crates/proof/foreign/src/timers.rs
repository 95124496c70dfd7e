//! Whether what a kernel reads of a timer decides nothing but how long it sleeps.
//!
//! libcu++ waits so (`cuda::atomic_ref::wait`, semaphores, latches, barriers before sm_90): it polls, and sleeps the longer the
//! longer it has waited. Where the ways of every such decision come to the same place, and leave no value behind that is read
//! there, no time changes anything, and the kernel is judged as if none passed.

use std::collections::BTreeSet;

use wattle_memory::Set;
use wattle_modules::code::{Kernel, NO_REG, Op, Reg, Special, Step};

use crate::flow::Flow;

/// The most instructions of the ways of one decision that are looked at.
const MOST_STEPS: usize = 256;

/// Whether the timers that a kernel reads decide only how long it sleeps.
pub fn only_sleeps(kernel: &Kernel, flow: &Flow) -> bool {
    let timed = timed(kernel);
    kernel.steps.iter().enumerate().all(|(at, step)| {
        let mut reads = false;
        step.op.outline(|register| reads |= timed.contains(register as usize), |_| {});
        let is_guarded = step.guard.reg != NO_REG && timed.contains(step.guard.reg as usize);
        let sleeps = matches!(step.op, Op::Yield);
        (!reads || step.op.only_computes())
            && (!is_guarded || sleeps || matches!(step.op, Op::Branch { .. }) && ways_are_alike(kernel, flow, at))
    })
}

/// The registers with values that come from a timer.
fn timed(kernel: &Kernel) -> Set {
    let mut timed = Set::new(kernel.registers.len());
    loop {
        let before = timed.len();
        for step in &kernel.steps {
            let (mut reads, mut results) = (false, Vec::new());
            let is_timed = |register: Reg| timed.contains(register as usize);
            step.op.outline(|register| reads |= is_timed(register), |register| results.push(register));
            if reads || matches!(step.op, Op::Special { which: Special::Timer, .. }) {
                results.into_iter().for_each(|register| timed.insert(register as usize));
            }
        }
        if timed.len() == before {
            return timed;
        }
    }
}

/// Whether the ways from a branch come to one place, sleeping at most, and leave there what is read as it was.
fn ways_are_alike(kernel: &Kernel, flow: &Flow, branch: usize) -> bool {
    let (mut ends, mut written, mut seen) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
    let mut open = flow.next(&kernel.steps, branch);
    while let Some(at) = open.pop() {
        let step = &kernel.steps[at];
        if flow.loop_at(at).is_some() || !is_idle(step) {
            ends.insert(at);
        } else if seen.insert(at) {
            step.op.outline(|_| {}, |register| written.push(register));
            open.extend(flow.next(&kernel.steps, at));
        }
        if seen.len() > MOST_STEPS {
            return false;
        }
    }
    let [end] = ends.into_iter().collect::<Vec<_>>()[..] else { return false };
    flow.live(end).is_some_and(|live| written.iter().all(|&register| !live.contains(register as usize)))
}

/// Whether an instruction does nothing that others see, and gives the same to whoever is there.
fn is_idle(step: &Step) -> bool {
    let asks_others = matches!(step.op, Op::Special { which: Special::Active, .. });
    !asks_others && (step.op.only_computes() || matches!(step.op, Op::Yield | Op::Branch { .. }))
}
