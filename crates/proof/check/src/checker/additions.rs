//! Single changes that may make a scenario hold.

use std::collections::BTreeSet;

use wattle_ir::{ParamKind, Place};
use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, Scope};

use super::changes::{Change, What, fence, is_shared, programs, scope_needed, single};
use super::stronger::Strengthened;
use crate::program::{Fork, Strength, forks};
use crate::report::Report;

/// Single additions, the likelier and cheaper ones first.
pub(super) fn additions(report: &Report) -> Additions {
    let (mut wider, mut stronger, mut fences, mut full) = (vec![], vec![], vec![], vec![]);
    let (mut instead, mut atomics, mut barriers) = (vec![], vec![], vec![]);
    let needed = scope_needed(report);
    for (number, program) in programs(report) {
        let mut plain: Vec<(Place, Vec<Instruction>)> = Vec::new();
        for instruction in program.instructions() {
            let at = Strengthened { number, program, instruction: &instruction, needed };
            wider.extend(at.wider());
            stronger.extend(at.stronger());
            match instruction.action {
                Action::Fence { order, scope } => {
                    let own = fence(order, scope);
                    let text = format!("sync_block() instead of {own}: a fence orders, and waits for nobody");
                    instead.push(single(number, program, &instruction, Strength::FenceAsBarrier, text));
                }
                Action::Load { order, .. } => {
                    fences.extend((!order.acquires()).then(|| at.around(false, FenceOrder::Acquire)));
                    full.push(at.around(true, FenceOrder::SeqCst));
                }
                Action::Store { order, .. } => {
                    // A sequentially consistent store has a fence before it.
                    let lacks_release = !order.releases() && instruction.seq_cst.is_none();
                    fences.extend(lacks_release.then(|| at.around(true, FenceOrder::Release)));
                    full.push(at.around(true, FenceOrder::SeqCst));
                }
                Action::Update { order, .. } => {
                    fences.extend((!order.acquires()).then(|| at.around(false, FenceOrder::Acquire)));
                    full.push(at.around(true, FenceOrder::SeqCst));
                }
                Action::Plain { place, .. } if is_shared(program, place) => {
                    match plain.iter_mut().find(|(known, _)| *known == place) {
                        Some((_, all)) => all.push(instruction),
                        None => plain.push((place, vec![instruction])),
                    }
                    barriers.push(barrier_before(number, program, &instruction));
                }
                Action::Plain { .. } | Action::Barrier | Action::WarpBarrier => {}
            }
        }
        barriers.extend(forks(program.kernel()).into_iter().map(|fork| barrier_before_fork(number, program, fork)));
        for (place, all) in plain.into_iter().filter(|(place, _)| can_be_atomic(program, *place)) {
            atomics.push(made_atomic(number, program, place, &all, needed));
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

/// The block's barrier before an instruction.
fn barrier_before(number: u32, program: &Program, instruction: &Instruction) -> Change {
    Change {
        site: instruction.site,
        kernel: program.kernel().name.clone(),
        text: "sync_block() before this line".into(),
        what: vec![What::BarrierBefore(number, instruction.at)],
    }
}

/// The block's barrier before a branch or loop.
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

/// All plain accesses of a place as relaxed atomic ones.
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
