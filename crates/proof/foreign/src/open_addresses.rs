//! Which accesses may have an address that waits for a read: the thread runs past them before it is known how many
//! cells they touch.

use wattle_modules::code::{Kernel, Op};
use wattle_modules::types::Space;

/// For each instruction whether it accesses memory by an address that may come from what the thread reads.
pub(crate) fn of(kernel: &Kernel) -> Vec<bool> {
    let mut comes = vec![false; kernel.registers.len()];
    loop {
        let before = comes.clone();
        for step in &kernel.steps {
            let mut reads = false;
            let mut results = Vec::new();
            let outline =
                step.op.outline(|register| reads |= comes[register as usize], |register| results.push(register));
            let is_given = |space: Space| !matches!(space, Space::Param | Space::Const);
            let loads = outline.reads_memory && outline.access.is_none_or(|access| is_given(access.space));
            // The carry is no register.
            let carries = matches!(step.op, Op::Carry { .. } | Op::CarryProduct { .. });
            if reads || loads || outline.meeting.is_some() || carries {
                results.into_iter().for_each(|register| comes[register as usize] = true);
            }
        }
        if comes == before {
            break;
        }
    }
    let is_open = |op: &Op| {
        let access = op.outline(|_| {}, |_| {}).access;
        access.and_then(|access| access.base.as_reg()).is_some_and(|register| comes[register as usize])
    };
    kernel.steps.iter().map(|step| is_open(&step.op)).collect()
}
