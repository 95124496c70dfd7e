//! The strongest form of a scenario's fences and atomics: a place for each change, with its variants.
//!
//! Mistakes that several fences mend together are found from this side: with every order as strong as it can be and a
//! fence at every access, the scenario either holds, and then most of it can be taken away again, or no fence mends it.

use wattle_machine::Action;
use wattle_memory::FenceOrder;

use super::changes::{Change, is_shared, programs, scope_needed};
use super::stronger::Strengthened;
use crate::report::Report;

/// The variants of one change, the weakest first.
pub(super) type Variants = Vec<Change>;

/// The changes of one kind that can be made to a scenario at the same time.
pub(super) struct ChangeKind {
    pub places: Vec<Variants>,
    /// Whether the changes add fences.
    pub inserts: bool,
}

impl ChangeKind {
    /// Adds a place; one that is built into kernels more than once is one place of the source.
    fn add(&mut self, variants: Variants) {
        let same = |known: &&mut Variants| {
            known.len() == variants.len() && known.iter().zip(&variants).all(|(one, other)| one.is_same_text(other))
        };
        match self.places.iter_mut().find(same) {
            Some(known) => known.iter_mut().zip(variants).for_each(|(known, variant)| known.absorb(variant)),
            None => self.places.push(variants),
        }
    }
}

/// All changes of orders, scopes and fences, by kinds: those that say the least about the program first, which are the
/// first to be taken away again.
pub(super) fn strongest(report: &Report) -> Vec<ChangeKind> {
    let [mut at_plain, mut behind, mut before, mut updates, mut stores, mut loads, mut fences] =
        [true, true, true, false, false, false, false].map(|inserts| ChangeKind { places: Vec::new(), inserts });
    let needed = scope_needed(report);
    for (number, program) in programs(report) {
        for instruction in program.instructions() {
            let at = Strengthened { number, program, instruction: &instruction, needed };
            let added = |kind: &mut ChangeKind, is_before: bool, orders: &[FenceOrder]| {
                kind.add(orders.iter().map(|&order| at.around(is_before, order)).collect());
            };
            let strengthened = |kind: &mut ChangeKind| {
                let variants: Variants = at.wider().into_iter().chain(at.stronger()).collect();
                if !variants.is_empty() {
                    kind.add(variants);
                }
            };
            match instruction.action {
                Action::Fence { .. } => strengthened(&mut fences),
                Action::Load { .. } => {
                    strengthened(&mut loads);
                    added(&mut before, true, &[FenceOrder::Acquire, FenceOrder::AcqRel, FenceOrder::SeqCst]);
                    added(&mut behind, false, &[FenceOrder::Acquire, FenceOrder::SeqCst]);
                }
                Action::Store { .. } => {
                    strengthened(&mut stores);
                    added(&mut before, true, &[FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst]);
                }
                Action::Update { .. } => {
                    strengthened(&mut updates);
                    added(&mut before, true, &[FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst]);
                    added(&mut behind, false, &[FenceOrder::Acquire, FenceOrder::SeqCst]);
                }
                Action::Plain { place, .. } if is_shared(program, place) => {
                    added(&mut at_plain, true, &[FenceOrder::Acquire]);
                }
                Action::Plain { .. } | Action::Barrier | Action::WarpBarrier => {}
            }
        }
    }
    vec![at_plain, behind, before, updates, stores, loads, fences]
}
