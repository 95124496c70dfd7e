//! Statements that an expansion needs done before its value is used.

use std::collections::BTreeSet;

use crate::visit::{walk, walk_mut};
use crate::{ExprId, Kernel, Slot, Stmt};

/// Statements that set slots, for each expansion that reads them.
pub(super) struct Setups {
    /// Each with its first slot, in the order in which they may need each other.
    all: Vec<Setup>,
    /// The kernel's slots, its own first.
    slots: Vec<Slot>,
}

struct Setup {
    /// What is done; slots are numbered from 0.
    body: Vec<Stmt>,
    /// The kernel's slot for the first of these.
    first_slot: u32,
}

impl Setups {
    pub(super) fn new(slots: &[Slot]) -> Setups {
        Setups { all: Vec::new(), slots: slots.to_vec() }
    }

    /// Adds statements that set these slots, with the expressions of the new kernel; gives the kernel's number of the
    /// first slot. The same statements have the same slots: the sine and cosine of an angle reduce it once.
    pub(super) fn add(&mut self, body: Vec<Stmt>, slots: &[Slot]) -> u32 {
        if let Some(known) = self.all.iter().find(|setup| setup.body == body) {
            return known.first_slot;
        }
        let first_slot = self.slots.len() as u32;
        self.slots.extend_from_slice(slots);
        self.all.push(Setup { body, first_slot });
        first_slot
    }

    /// Puts the statements before each that uses what they set. An expression has the value of its slots where it is
    /// used, so what is done for one statement does not serve the next.
    pub(super) fn insert(mut self, kernel: &mut Kernel) {
        if self.all.is_empty() {
            return;
        }
        let own = kernel.slots.len();
        for Setup { body, first_slot } in &mut self.all {
            walk_mut(body, &mut |stmt| {
                if let Some(slot) = stmt.parts_mut().slot {
                    slot.0 += *first_slot;
                }
            });
        }
        let mut needs: Vec<BTreeSet<usize>> = Vec::with_capacity(kernel.exprs.len());
        for expr in &kernel.exprs {
            let mut here: BTreeSet<usize> = expr.operands().flat_map(|id| of(&needs, id)).copied().collect();
            if let Some(slot) = expr.parts().slot.filter(|slot| slot.index() >= own) {
                let number = self.all.partition_point(|setup| setup.first_slot as usize <= slot.index()) - 1;
                walk(&self.all[number].body, &mut |stmt| here.extend(stmt.operands().flat_map(|id| of(&needs, id))));
                here.insert(number);
            }
            needs.push(here);
        }
        kernel.slots = self.slots;
        insert(&mut kernel.body, &needs, &self.all);
    }
}

/// What an expression needs; nothing where it does not exist, which no verified kernel has.
fn of<'n>(needs: &'n [BTreeSet<usize>], id: &ExprId) -> impl Iterator<Item = &'n usize> {
    needs.get(id.index()).into_iter().flatten()
}

fn insert(block: &mut Vec<Stmt>, needs: &[BTreeSet<usize>], all: &[Setup]) {
    for mut stmt in std::mem::take(block) {
        let needed: BTreeSet<usize> = stmt.operands().flat_map(|id| of(needs, id)).copied().collect();
        block.extend(needed.into_iter().flat_map(|number| all[number].body.iter().cloned()));
        stmt.blocks_mut().for_each(|inner| insert(inner, needs, all));
        block.push(stmt);
    }
}
