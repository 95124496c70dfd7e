//! Changes that advice tries, and their wording.

use std::collections::BTreeSet;
use std::fmt;

use wattle_ir::{Access, ParamKind, Place, Site};
use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::program::{Edits, Strength};
use crate::report::Report;

/// A change of one line, or of all plain accesses of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The source line that is changed.
    pub site: Site,
    /// The kernel's name.
    pub kernel: String,
    /// What to change, in words.
    pub text: String,
    /// What is done: to several instructions where a line is built into kernels more than once.
    what: Vec<What>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Strength(Vec<(u32, u32, Strength)>),
    FenceBefore(u32, u32, FenceOrder, Scope),
    FenceAfter(u32, u32, FenceOrder, Scope),
    BarrierBefore(u32, u32),
}

impl Change {
    /// Adds the change to a set of edits.
    pub(super) fn apply(&self, edits: &mut Edits) {
        for what in &self.what {
            match what {
                What::Strength(all) => {
                    for &(program, at, strength) in all {
                        edits.0.entry((program, at)).or_default().strength = Some(strength);
                    }
                }
                &What::FenceBefore(program, at, order, scope) => {
                    edits.0.entry((program, at)).or_default().fence_before = Some((order, scope));
                }
                &What::FenceAfter(program, at, order, scope) => {
                    edits.0.entry((program, at)).or_default().fence_after = Some((order, scope));
                }
                &What::BarrierBefore(program, at) => edits.0.entry((program, at)).or_default().barrier_before = true,
            }
        }
    }

    /// An added `SeqCst` fence as one that acquires and releases.
    pub(super) fn with_less_than_seq_cst(&self) -> Option<Change> {
        let weaker = |what: &What| match *what {
            What::FenceBefore(program, at, FenceOrder::SeqCst, scope) => {
                Some(What::FenceBefore(program, at, FenceOrder::AcqRel, scope))
            }
            What::FenceAfter(program, at, FenceOrder::SeqCst, scope) => {
                Some(What::FenceAfter(program, at, FenceOrder::AcqRel, scope))
            }
            What::FenceBefore(..) | What::FenceAfter(..) | What::Strength(_) | What::BarrierBefore(..) => None,
        };
        let what = self.what.iter().map(weaker).collect::<Option<Vec<What>>>()?;
        Some(Change { text: self.text.replacen("Order::SeqCst", "Order::AcqRel", 1), what, ..self.clone() })
    }

    /// Whether the change removes the instruction.
    pub(super) fn removes(&self) -> bool {
        self.what.iter().all(|what| match what {
            What::Strength(all) => {
                all.iter().all(|(_, _, strength)| matches!(strength, Strength::Fence(None) | Strength::Barrier(false)))
            }
            What::FenceBefore(..) | What::FenceAfter(..) | What::BarrierBefore(..) => false,
        })
    }

    /// The instructions that the change touches, and how.
    fn touches(&self) -> BTreeSet<(u32, u32, u8)> {
        let touched = |what: &What| match what {
            What::Strength(all) => all.iter().map(|&(program, at, _)| (program, at, 0)).collect::<Vec<_>>(),
            &What::FenceBefore(program, at, ..) => vec![(program, at, 1)],
            &What::FenceAfter(program, at, ..) => vec![(program, at, 2)],
            &What::BarrierBefore(program, at) => vec![(program, at, 3)],
        };
        self.what.iter().flat_map(touched).collect()
    }

    /// Adds a change to others, or to the one of them that is the same change of the same place in the source.
    pub(super) fn join(self, changes: &mut Vec<Change>) {
        match changes.iter_mut().find(|known| known.is_same_text(&self)) {
            Some(known) => known.absorb(self),
            None => changes.push(self),
        }
    }

    /// Whether both say the same of one place in the source.
    pub(super) fn is_same_text(&self, other: &Change) -> bool {
        (self.site, &self.text) == (other.site, &other.text)
    }

    /// Does what another change does, too.
    pub(super) fn absorb(&mut self, other: Change) {
        self.what.extend(other.what);
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.site.file, self.site.line, self.text)
    }
}

/// Whether two of the changes touch the same instruction.
pub(super) fn clash(changes: &[&Change]) -> bool {
    let mut seen = BTreeSet::new();
    changes.iter().flat_map(|change| change.touches()).any(|touched| !seen.insert(touched))
}

/// The distinct kernels that the scenario launches.
pub(super) fn programs(report: &Report) -> Vec<(u32, &Program)> {
    let mut programs: Vec<(u32, &Program)> = Vec::new();
    for launch in report.launches.iter().flat_map(|world| &world.launches) {
        if programs.iter().all(|(number, _)| *number != launch.number) {
            programs.push((launch.number, &launch.program));
        }
    }
    programs
}

pub(super) const FENCES: [FenceOrder; 4] =
    [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];
pub(super) const UPDATES: [UpdateOrder; 4] =
    [UpdateOrder::Relaxed, UpdateOrder::Acquire, UpdateOrder::Release, UpdateOrder::AcqRel];

/// Whether the first order orders nothing that the second does not.
pub(super) fn update_within(weak: UpdateOrder, strong: UpdateOrder) -> bool {
    (!weak.acquires() || strong.acquires()) && (!weak.releases() || strong.releases())
}

/// The weaker variants of each instruction, the weakest first.
pub(super) fn weakenings(report: &Report) -> Vec<Vec<Change>> {
    let mut all = Vec::new();
    for (number, program) in programs(report) {
        for instruction in program.instructions() {
            // An instruction that never runs cannot be weakened.
            if !report.executed.contains(&(number, instruction.at)) {
                continue;
            }
            let change = |strength: Strength, text: String| single(number, program, &instruction, strength, text);
            let scopes = |widest: Scope| Scope::ALL.into_iter().filter(move |scope| *scope <= widest);
            let mut variants = Vec::new();
            match instruction.action {
                Action::Fence { order, scope } => {
                    variants.push(change(Strength::Fence(None), format!("{} is not needed", fence(order, scope))));
                    for weaker in FENCES.into_iter().filter(|weaker| weaker.is_within(order)) {
                        for narrower in scopes(scope).filter(|narrower| (weaker, *narrower) != (order, scope)) {
                            let text = format!("{} would do for {}", fence(weaker, narrower), fence(order, scope));
                            variants.push(change(Strength::Fence(Some((weaker, narrower))), text));
                        }
                    }
                }
                Action::Load { order, scope, .. } => {
                    for weaker in [ReadOrder::Relaxed, ReadOrder::Acquire]
                        .into_iter()
                        .filter(|weaker| weaker.acquires() <= order.acquires())
                    {
                        for narrower in scopes(scope).filter(|narrower| (weaker, *narrower) != (order, scope)) {
                            let text = format!(
                                "the load could be {weaker:?} at {narrower} scope, not {order:?} at {scope} scope"
                            );
                            variants.push(change(Strength::Load(weaker, narrower), text));
                        }
                    }
                }
                Action::Store { order, scope, .. } => {
                    for weaker in [WriteOrder::Relaxed, WriteOrder::Release]
                        .into_iter()
                        .filter(|weaker| weaker.releases() <= order.releases())
                    {
                        for narrower in scopes(scope).filter(|narrower| (weaker, *narrower) != (order, scope)) {
                            let text = format!(
                                "the store could be {weaker:?} at {narrower} scope, not {order:?} at {scope} scope"
                            );
                            variants.push(change(Strength::Store(weaker, narrower), text));
                        }
                    }
                }
                Action::Update { order, scope, .. } => {
                    for weaker in UPDATES.into_iter().filter(|weaker| update_within(*weaker, order)) {
                        for narrower in scopes(scope).filter(|narrower| (weaker, *narrower) != (order, scope)) {
                            let text = format!(
                                "the update could be {weaker:?} at {narrower} scope, not {order:?} at {scope} scope"
                            );
                            variants.push(change(Strength::Update(weaker, narrower), text));
                        }
                    }
                }
                Action::Barrier => variants.push(change(Strength::Barrier(false), "sync_block() is not needed".into())),
                Action::WarpBarrier => {
                    variants.push(change(Strength::Barrier(false), "the warp's sync() is not needed".into()))
                }
                Action::Plain { .. } => {}
            }
            if !variants.is_empty() {
                all.push(variants);
            }
        }
    }
    all
}

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
                    if !order.releases() {
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
                    for more in UPDATES.into_iter().filter(|more| *more != order && update_within(order, *more)) {
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
        for (place, all) in plain {
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

/// The narrowest scope that includes all threads of the scenario that run together.
pub(super) fn scope_needed(report: &Report) -> Scope {
    let launches = || report.launches.iter().flat_map(|world| world.launches.iter().map(move |launch| (world, launch)));
    if launches().any(|(_, launch)| launch.host) {
        return Scope::System;
    }
    let several = launches().any(|(world, launch)| world.launches.len() > 1 || launch.environment.shape.blocks() > 1);
    if several { Scope::Device } else { Scope::Block }
}

pub(super) fn is_shared(program: &Program, place: Place) -> bool {
    match place {
        Place::Param(id) => matches!(
            program.kernel().params.get(id.index()).map(|param| param.kind),
            Some(ParamKind::View { access: Access::Shared, .. })
        ),
        Place::Shared(_) => true,
        Place::Local(_) => false,
    }
}

pub(super) fn single(
    number: u32,
    program: &Program,
    instruction: &Instruction,
    strength: Strength,
    text: String,
) -> Change {
    Change {
        site: instruction.site,
        kernel: program.kernel().name.clone(),
        text,
        what: vec![What::Strength(vec![(number, instruction.at, strength)])],
    }
}

pub(super) fn around(
    number: u32,
    program: &Program,
    instruction: &Instruction,
    before: bool,
    order: FenceOrder,
    scope: Scope,
) -> Change {
    let what = if before {
        What::FenceBefore(number, instruction.at, order, scope)
    } else {
        What::FenceAfter(number, instruction.at, order, scope)
    };
    let place = if before { "before" } else { "after" };
    let text = format!("{} {place} this line", fence(order, scope));
    Change { site: instruction.site, kernel: program.kernel().name.clone(), text, what: vec![what] }
}

fn barrier_before(number: u32, program: &Program, instruction: &Instruction) -> Change {
    Change {
        site: instruction.site,
        kernel: program.kernel().name.clone(),
        text: "sync_block() before this line".into(),
        what: vec![What::BarrierBefore(number, instruction.at)],
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

/// The name of a place in a kernel's source.
pub(super) fn name(program: &Program, place: Place) -> String {
    program.kernel().place_name(place)
}

pub(super) fn fence(order: FenceOrder, scope: Scope) -> String {
    format!("mem_fence(Scope::{scope:?}, Order::{order:?})")
}
