//! What could be stronger: the variants of a fence or atomic access with a wider scope or a stronger order, and the
//! fences that can be added around it.

use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::changes::{Change, FENCES, UPDATES, What, fence, name, single, update_within};
use crate::program::Strength;

/// An instruction that may be made stronger.
pub(super) struct Strengthened<'a> {
    /// The number of the program.
    pub number: u32,
    pub program: &'a Program,
    pub instruction: &'a Instruction,
    /// The narrowest scope that includes all threads of the scenario that run together.
    pub needed: Scope,
}

impl Strengthened<'_> {
    fn change(&self, strength: Strength, text: String) -> Change {
        single(self.number, self.program, self.instruction, strength, text)
    }

    /// The instruction at the scope that is needed, if its own is narrower.
    pub fn wider(&self) -> Option<Change> {
        let needed = self.needed;
        let (scope, strength, what) = match self.instruction.action {
            Action::Fence { order, scope } => (scope, Strength::Fence(Some((order, needed))), fence(order, scope)),
            Action::Load { order, scope, .. } => (scope, Strength::Load(order, needed), "the load".into()),
            Action::Store { order, scope, .. } => (scope, Strength::Store(order, needed), "the store".into()),
            Action::Update { order, scope, .. } => {
                (scope, Strength::Update(order, needed), "the read-modify-write".into())
            }
            Action::Plain { .. } | Action::Barrier | Action::WarpBarrier => return None,
        };
        (scope < needed).then(|| self.change(strength, format!("widen {what} to Scope::{needed:?}")))
    }

    /// The instruction with each stronger order, at the scope that is needed.
    pub fn stronger(&self) -> Vec<Change> {
        // A sequentially consistent access has a fence before it.
        let is_seq_cst = self.instruction.seq_cst.is_some();
        let reach = self.reach();
        match self.instruction.action {
            Action::Fence { order, scope } => {
                let stronger = FENCES.into_iter().filter(|more| *more != order && order.is_within(*more));
                let change = |more| {
                    let text = format!("make {} {}", fence(order, scope), fence(more, reach));
                    self.change(Strength::Fence(Some((more, reach))), text)
                };
                stronger.map(change).collect()
            }
            Action::Load { place, order, .. } if !order.acquires() => {
                let place = name(self.program, place);
                let text = format!("load_with(…, Scope::{reach:?}, Order::Acquire) for `{place}`");
                vec![self.change(Strength::Load(ReadOrder::Acquire, reach), text)]
            }
            Action::Store { place, order, .. } if !order.releases() && !is_seq_cst => {
                let place = name(self.program, place);
                let text = format!("store_with(…, Scope::{reach:?}, Order::Release) for `{place}`");
                vec![self.change(Strength::Store(WriteOrder::Release, reach), text)]
            }
            Action::Update { order, .. } if !is_seq_cst => {
                let stronger = |more: &UpdateOrder| *more != order && update_within(order, *more);
                let change = |more| {
                    let text = format!("Order::{more:?} at Scope::{reach:?} for the read-modify-write");
                    self.change(Strength::Update(more, reach), text)
                };
                UPDATES.into_iter().filter(stronger).map(change).collect()
            }
            Action::Load { .. }
            | Action::Store { .. }
            | Action::Update { .. }
            | Action::Plain { .. }
            | Action::Barrier
            | Action::WarpBarrier => Vec::new(),
        }
    }

    /// A fence before or after the instruction, at the wider of its own scope and the one that is needed.
    pub fn around(&self, before: bool, order: FenceOrder) -> Change {
        let (at, scope) = (self.instruction.at, self.reach());
        let (what, place) = match before {
            true => (What::FenceBefore(self.number, at, order, scope), "before"),
            false => (What::FenceAfter(self.number, at, order, scope), "after"),
        };
        let text = format!("{} {place} this line", fence(order, scope));
        let kernel = self.program.kernel().name.clone();
        Change { site: self.instruction.site, kernel, text, what: vec![what] }
    }

    /// The wider of the instruction's own scope and the one that is needed.
    fn reach(&self) -> Scope {
        self.instruction.action.scope().map_or(self.needed, |scope| scope.max(self.needed))
    }
}
