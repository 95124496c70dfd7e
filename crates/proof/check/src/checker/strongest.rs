//! The strongest form of a scenario's fences and atomics: a place for each change, with its variants.
//!
//! Mistakes that several fences mend together are found from this side: with every order as strong as it can be and a
//! fence at every access, the scenario either holds, and then most of it can be taken away again, or no fence mends it.

use wattle_ir as ir;
use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::changes::{Change, around, fence, is_shared, name, programs, scope_needed, single, update_within};
use super::changes::{FENCES, UPDATES};
use crate::program::Strength;
use crate::report::Report;

/// The variants of one change, the weakest first.
pub(super) type Variants = Vec<Change>;

/// The changes of one kind that can be made to a scenario at the same time.
pub(super) struct Kind {
    pub places: Vec<Variants>,
    /// Whether the changes add fences.
    pub inserts: bool,
}

impl Kind {
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
pub(super) fn strongest(report: &Report) -> Vec<Kind> {
    let [mut at_plain, mut behind, mut before, mut updates, mut stores, mut loads, mut fences] =
        [true, true, true, false, false, false, false].map(|inserts| Kind { places: Vec::new(), inserts });
    let needed = scope_needed(report);
    for (number, program) in programs(report) {
        for instruction in program.instructions() {
            let place = Place { number, program, instruction: &instruction, needed };
            let added = |kind: &mut Kind, is_before: bool, orders: &[FenceOrder], scope: Scope| {
                let variant =
                    |&order: &FenceOrder| around(number, program, &instruction, is_before, order, scope.max(needed));
                kind.add(orders.iter().map(variant).collect());
            };
            match instruction.action {
                Action::Fence { order, scope } => place.push(&mut fences, fence_variants(&place, order, scope)),
                Action::Load { place: of, order, scope } => {
                    place.push(&mut loads, load_variants(&place, of, order, scope));
                    added(&mut before, true, &[FenceOrder::Acquire, FenceOrder::AcqRel, FenceOrder::SeqCst], scope);
                    added(&mut behind, false, &[FenceOrder::Acquire, FenceOrder::SeqCst], scope);
                }
                Action::Store { place: of, order, scope } => {
                    place.push(&mut stores, store_variants(&place, of, order, scope));
                    added(&mut before, true, &[FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst], scope);
                }
                Action::Update { order, scope, .. } => {
                    place.push(&mut updates, update_variants(&place, order, scope));
                    added(&mut before, true, &[FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst], scope);
                    added(&mut behind, false, &[FenceOrder::Acquire, FenceOrder::SeqCst], scope);
                }
                Action::Plain { place, .. } if is_shared(program, place) => {
                    added(&mut at_plain, true, &[FenceOrder::Acquire], Scope::Block);
                }
                Action::Plain { .. } | Action::Barrier | Action::WarpBarrier => {}
            }
        }
    }
    vec![at_plain, behind, before, updates, stores, loads, fences]
}

/// An instruction that may be made stronger.
struct Place<'a> {
    number: u32,
    program: &'a Program,
    instruction: &'a Instruction,
    needed: Scope,
}

impl Place<'_> {
    fn change(&self, strength: Strength, text: String) -> Change {
        single(self.number, self.program, self.instruction, strength, text)
    }

    fn push(&self, kind: &mut Kind, variants: Variants) {
        if !variants.is_empty() {
            kind.add(variants);
        }
    }
}

fn fence_variants(place: &Place<'_>, order: FenceOrder, scope: Scope) -> Variants {
    let needed = place.needed;
    let wider = (scope < needed).then(|| {
        let text = format!("widen {} to Scope::{needed:?}", fence(order, scope));
        place.change(Strength::Fence(Some((order, needed))), text)
    });
    let stronger = FENCES.into_iter().filter(|more| *more != order && order.is_within(*more)).map(|more| {
        let reach = scope.max(needed);
        let text = format!("make {} {}", fence(order, scope), fence(more, reach));
        place.change(Strength::Fence(Some((more, reach))), text)
    });
    wider.into_iter().chain(stronger).collect()
}

fn load_variants(place: &Place<'_>, of: ir::Place, order: ReadOrder, scope: Scope) -> Variants {
    let reach = scope.max(place.needed);
    let wider = (scope < reach)
        .then(|| place.change(Strength::Load(order, reach), format!("widen the load to Scope::{reach:?}")));
    let stronger = (!order.acquires()).then(|| {
        let text = format!("load_with(…, Scope::{reach:?}, Order::Acquire) for `{}`", name(place.program, of));
        place.change(Strength::Load(ReadOrder::Acquire, reach), text)
    });
    wider.into_iter().chain(stronger).collect()
}

fn store_variants(place: &Place<'_>, of: ir::Place, order: WriteOrder, scope: Scope) -> Variants {
    let reach = scope.max(place.needed);
    let wider = (scope < reach)
        .then(|| place.change(Strength::Store(order, reach), format!("widen the store to Scope::{reach:?}")));
    // A sequentially consistent store has a fence before it.
    let stronger = (!order.releases() && place.instruction.seq_cst.is_none()).then(|| {
        let text = format!("store_with(…, Scope::{reach:?}, Order::Release) for `{}`", name(place.program, of));
        place.change(Strength::Store(WriteOrder::Release, reach), text)
    });
    wider.into_iter().chain(stronger).collect()
}

fn update_variants(place: &Place<'_>, order: UpdateOrder, scope: Scope) -> Variants {
    let reach = scope.max(place.needed);
    let wider = (scope < reach).then(|| {
        place.change(Strength::Update(order, reach), format!("widen the read-modify-write to Scope::{reach:?}"))
    });
    let stronger_than = |more: &UpdateOrder| *more != order && update_within(order, *more);
    let is_strongest = place.instruction.seq_cst.is_some();
    let stronger = UPDATES.into_iter().filter(|_| !is_strongest).filter(stronger_than).map(|more| {
        let text = format!("Order::{more:?} at Scope::{reach:?} for the read-modify-write");
        place.change(Strength::Update(more, reach), text)
    });
    wider.into_iter().chain(stronger).collect()
}
