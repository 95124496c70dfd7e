//! What could be weaker: each fence, atomic access and barrier of a scenario with its weaker variants.

use std::fmt;

use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, Lowering, ReadOrder, Scope, WriteOrder};

use super::changes::{Change, FENCES, UPDATES, fence, programs, single, together, update_within};
use crate::program::Strength;
use crate::report::Report;

/// The weaker variants of each instruction, the weakest first.
pub(super) fn weakenings(report: &Report) -> Vec<Vec<Change>> {
    let mut all = Vec::new();
    for (number, program) in programs(report) {
        let lowering = Lowering::new(report.target, program.widest_scope());
        for instruction in program.instructions() {
            // An instruction that never runs cannot be weakened.
            if !report.executed.contains(&(number, instruction.at)) {
                continue;
            }
            let at = Weakened { number, program, instruction: &instruction, lowering: &lowering };
            let variants = at.variants();
            if !variants.is_empty() {
                all.push(variants);
            }
        }
    }
    all
}

/// An instruction that could be weaker.
struct Weakened<'a> {
    number: u32,
    program: &'a Program,
    instruction: &'a Instruction,
    lowering: &'a Lowering,
}

impl Weakened<'_> {
    fn change(&self, strength: Strength, text: String) -> Change {
        single(self.number, self.program, self.instruction, strength, text)
    }

    fn together(&self, parts: &[(u32, Strength)], text: String) -> Change {
        together(self.number, self.program, self.instruction, parts, text)
    }

    /// The weaker variants, the weakest first.
    fn variants(&self) -> Vec<Change> {
        let seq_cst = self.instruction.seq_cst;
        match self.instruction.action {
            Action::Fence { order, scope } => self.fences(order, scope),
            Action::Load { order, scope, .. } => {
                let orders = [ReadOrder::Relaxed, ReadOrder::Acquire].into_iter();
                let orders = orders.filter(|weaker| weaker.acquires() <= order.acquires());
                let mut variants = self.accesses("load", orders, order, scope, Strength::Load);
                if let Some(first) = seq_cst {
                    let behind = fence(FenceOrder::SeqCst, scope);
                    let text = format!("the load could be Relaxed at {scope} scope behind {behind}, not SeqCst");
                    let kept = (first, Strength::Fence(Some((FenceOrder::SeqCst, scope))));
                    let parts = [kept, (self.instruction.at, Strength::Load(ReadOrder::Relaxed, scope))];
                    variants.push(self.together(&parts, text));
                }
                variants
            }
            Action::Store { order, scope, .. } => {
                let orders = [WriteOrder::Relaxed, WriteOrder::Release].into_iter();
                let orders = orders.filter(|weaker| seq_cst.is_some() || weaker.releases() <= order.releases());
                self.accesses("store", orders, order, scope, Strength::Store)
            }
            Action::Update { order, scope, .. } => {
                let orders = UPDATES.into_iter().filter(|weaker| seq_cst.is_some() || update_within(*weaker, order));
                self.accesses("update", orders, order, scope, Strength::Update)
            }
            Action::Barrier => vec![self.change(Strength::Barrier(false), "sync_block() is not needed".into())],
            Action::WarpBarrier => {
                vec![self.change(Strength::Barrier(false), "the warp's sync() is not needed".into())]
            }
            Action::Plain { .. } => Vec::new(),
        }
    }

    /// The scopes to try: the instruction's own, and the narrower ones that the target keeps apart from it. One that
    /// the target widens to the own one again gives the same code.
    fn scopes(&self, own: Scope) -> impl Iterator<Item = Scope> {
        let level = |scope: Scope| self.lowering.level(scope);
        Scope::ALL.into_iter().filter(move |&scope| scope == own || scope < own && level(scope) != level(own))
    }

    /// No fence, and the fence with each weaker order at each scope up to its own.
    fn fences(&self, order: FenceOrder, scope: Scope) -> Vec<Change> {
        let own = fence(order, scope);
        let mut variants = vec![self.change(Strength::Fence(None), format!("{own} is not needed"))];
        for weaker in FENCES.into_iter().filter(|weaker| weaker.is_within(order)) {
            for narrower in self.scopes(scope).filter(|&narrower| (weaker, narrower) != (order, scope)) {
                let text = format!("{} would do for {own}", fence(weaker, narrower));
                variants.push(self.change(Strength::Fence(Some((weaker, narrower))), text));
            }
        }
        variants
    }

    /// The access with each of these orders at each scope up to its own, and with its own order at narrower scopes. A
    /// sequentially consistent access loses its fence with its order.
    fn accesses<O: Copy + PartialEq + fmt::Debug>(
        &self,
        what: &str,
        orders: impl Iterator<Item = O>,
        own: O,
        scope: Scope,
        strength: fn(O, Scope) -> Strength,
    ) -> Vec<Change> {
        let Instruction { at, seq_cst, .. } = *self.instruction;
        let is = if seq_cst.is_some() { "SeqCst".to_owned() } else { format!("{own:?}") };
        let text = |name: &str, narrower: Scope| {
            format!("the {what} could be {name} at {narrower} scope, not {is} at {scope} scope")
        };
        let mut variants = Vec::new();
        for order in orders {
            let differs = |narrower: &Scope| seq_cst.is_some() || (order, *narrower) != (own, scope);
            for narrower in self.scopes(scope).filter(differs) {
                let fence = seq_cst.map(|first| (first, Strength::Fence(None)));
                let parts: Vec<_> = fence.into_iter().chain([(at, strength(order, narrower))]).collect();
                variants.push(self.together(&parts, text(&format!("{order:?}"), narrower)));
            }
        }
        if let Some(first) = seq_cst {
            for narrower in self.scopes(scope).filter(|narrower| *narrower < scope) {
                let fence = Strength::Fence(Some((FenceOrder::SeqCst, narrower)));
                let parts = [(first, fence), (at, strength(own, narrower))];
                variants.push(self.together(&parts, text("SeqCst", narrower)));
            }
        }
        variants
    }
}
