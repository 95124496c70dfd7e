//! Single changes that may make a scenario hold.

use std::collections::BTreeSet;

use wattle_ir::{ParamKind, Place};
use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::changes::update_within;
use super::changes::{Change, FENCES, UPDATES, What, around, fence, is_shared, name, programs, scope_needed, single};
use crate::program::{Fork, Strength, forks};
use crate::report::Report;

/// Single additions, the likelier and cheaper ones first.
pub(super) fn additions(report: &Report) -> Additions {
    let (mut wider, mut stronger, mut fences, mut full) = (vec![], vec![], vec![], vec![]);
    let (mut instead, mut atomics, mut barriers) = (vec![], vec![], vec![]);
    let scope_needed = scope_needed(report);
    for (number, program) in programs(report) {
        let mut plain: Vec<(Place, Vec<Instruction>)> = Vec::new();
        for instruction in program.instructions() {
            let change = |strength: Strength, text: String| single(number, program, &instruction, strength, text);
            match instruction.action {
                Action::Fence { order, scope } => {
                    if scope < scope_needed {
                        let text = format!("widen {} to Scope::{scope_needed:?}", fence(order, scope));
                        wider.push(change(Strength::Fence(Some((order, scope_needed))), text));
                    }
                    for more in FENCES.into_iter().filter(|more| *more != order && order.is_within(*more)) {
                        let reach = scope.max(scope_needed);
                        let text = format!("make {} {}", fence(order, scope), fence(more, reach));
                        stronger.push(change(Strength::Fence(Some((more, reach))), text));
                    }
                    instead.push(change(
                        Strength::FenceAsBarrier,
                        format!(
                            "sync_block() instead of {}: a fence orders, and waits for nobody",
                            fence(order, scope)
                        ),
                    ));
                }
                Action::Load { place, order, scope } => {
                    if scope < scope_needed {
                        wider.push(change(
                            Strength::Load(order, scope_needed),
                            format!("widen the load to Scope::{scope_needed:?}"),
                        ));
                    }
                    if !order.acquires() {
                        let reach = scope.max(scope_needed);
                        stronger.push(change(
                            Strength::Load(ReadOrder::Acquire, reach),
                            format!("load_with(…, Scope::{reach:?}, Order::Acquire) for `{}`", name(program, place)),
                        ));
                        fences.push(around(number, program, &instruction, false, FenceOrder::Acquire, reach));
                    }
                    full.push(around(number, program, &instruction, true, FenceOrder::SeqCst, scope.max(scope_needed)));
                }
                Action::Store { place, order, scope } => {
                    if scope < scope_needed {
                        wider.push(change(
                            Strength::Store(order, scope_needed),
                            format!("widen the store to Scope::{scope_needed:?}"),
                        ));
                    }
                    // A sequentially consistent store has a fence before it.
                    if !order.releases() && instruction.seq_cst.is_none() {
                        let reach = scope.max(scope_needed);
                        stronger.push(change(
                            Strength::Store(WriteOrder::Release, reach),
                            format!("store_with(…, Scope::{reach:?}, Order::Release) for `{}`", name(program, place)),
                        ));
                        fences.push(around(number, program, &instruction, true, FenceOrder::Release, reach));
                    }
                    full.push(around(number, program, &instruction, true, FenceOrder::SeqCst, scope.max(scope_needed)));
                }
                Action::Update { order, scope, .. } => {
                    if scope < scope_needed {
                        wider.push(change(
                            Strength::Update(order, scope_needed),
                            format!("widen the read-modify-write to Scope::{scope_needed:?}"),
                        ));
                    }
                    let stronger_than = |more: &UpdateOrder| *more != order && update_within(order, *more);
                    for more in UPDATES.into_iter().filter(|_| instruction.seq_cst.is_none()).filter(stronger_than) {
                        let reach = scope.max(scope_needed);
                        stronger.push(change(
                            Strength::Update(more, reach),
                            format!("Order::{more:?} at Scope::{reach:?} for the read-modify-write"),
                        ));
                    }
                    full.push(around(number, program, &instruction, true, FenceOrder::SeqCst, scope.max(scope_needed)));
                    if !order.acquires() {
                        fences.push(around(
                            number,
                            program,
                            &instruction,
                            false,
                            FenceOrder::Acquire,
                            scope.max(scope_needed),
                        ));
                    }
                }
                Action::Plain { place, .. } => {
                    if is_shared(program, place) {
                        match plain.iter_mut().find(|(known, _)| *known == place) {
                            Some((_, all)) => all.push(instruction),
                            None => plain.push((place, vec![instruction])),
                        }
                        barriers.push(barrier_before(number, program, &instruction));
                    }
                }
                Action::Barrier | Action::WarpBarrier => {}
            }
        }
        barriers.extend(forks(program.kernel()).into_iter().map(|fork| barrier_before_fork(number, program, fork)));
        for (place, all) in plain.into_iter().filter(|(place, _)| can_be_atomic(program, *place)) {
            atomics.push(made_atomic(number, program, place, &all, scope_needed));
        }
    }
    let joined = |changes: Vec<Change>| {
        let mut all = Vec::new();
        changes.into_iter().for_each(|change| change.join(&mut all));
        all
    };
    Additions {
        orders: joined([wider, stronger, fences, full].concat()),
        instead: joined(instead),
        others: joined([atomics, barriers].concat()),
    }
}

/// Single additions that may make a scenario hold.
pub(super) struct Additions {
    /// Additional or stronger fences, orders and scopes.
    pub orders: Vec<Change>,
    /// Barriers that replace fences.
    pub instead: Vec<Change>,
    /// Larger changes: atomics for plain accesses, barriers anywhere.
    pub others: Vec<Change>,
}

/// Whether there are atomic operations on the elements of a place: not on those of a struct's or array's numbers, of
/// which each is a place here.
fn can_be_atomic(program: &Program, place: Place) -> bool {
    let kernel = program.kernel();
    match place {
        Place::Param(id) => kernel.params.get(id.index()).is_some_and(|param| match param.kind {
            ParamKind::View { element, .. } => element.is_atomic() && param.field.is_none(),
            ParamKind::Scalar(_) => false,
        }),
        Place::Shared(id) => kernel.shared.get(id.index()).is_some_and(|array| {
            let parts = kernel.shared.iter().filter(|other| other.site == array.site);
            array.element.is_atomic() && parts.count() == 1
        }),
        Place::Local(_) => false,
    }
}

fn barrier_before(number: u32, program: &Program, instruction: &Instruction) -> Change {
    Change {
        site: instruction.site,
        kernel: program.kernel().name.clone(),
        text: "sync_block() before this line".into(),
        what: vec![What::BarrierBefore(number, instruction.at)],
    }
}

fn barrier_before_fork(number: u32, program: &Program, fork: Fork) -> Change {
    let text = match fork.is_loop {
        true => "sync_block() before the loop that begins here",
        false => "sync_block() before the branch that this line is in",
    };
    Change {
        site: fork.site,
        kernel: program.kernel().name.clone(),
        text: text.into(),
        what: vec![What::BarrierBeforeFork(number, fork.number)],
    }
}

fn made_atomic(number: u32, program: &Program, place: Place, all: &[Instruction], scope: Scope) -> Change {
    let name = program.kernel().place_name(place);
    let lines: BTreeSet<u32> = all.iter().map(|instruction| instruction.site.line).collect();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    Change {
        site: all.first().map_or(program.kernel().site, |instruction| instruction.site),
        kernel: program.kernel().name.clone(),
        text: format!("make `{name}` Atomic, and its accesses relaxed ones (lines {})", lines.join(", ")),
        what: vec![What::Strength(
            all.iter().map(|instruction| (number, instruction.at, Strength::Plain(Some(scope)))).collect(),
        )],
    }
}
