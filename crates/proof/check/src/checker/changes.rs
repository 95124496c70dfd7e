//! Changes that advice tries, and their wording.

use std::collections::BTreeSet;
use std::fmt;

use wattle_ir::{Access, ParamKind, Place, Site};
use wattle_machine::{Instruction, Program};
use wattle_memory::{FenceOrder, Scope, UpdateOrder};

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
    pub(super) what: Vec<What>,
}

/// The changes that advice proposes for a scenario's kernels.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Advice {
    /// For a scenario that holds: the weakest orders and scopes found under which it still does, all together.
    pub weaker: Vec<Change>,
    /// Of the instructions that stay as they are, those that are needless alone: without one of them, and with all
    /// others as written, the scenario holds too.
    pub needless_alone: Vec<Change>,
    /// For a scenario that does not hold: the fewest changes that make it hold.
    pub fixes: Vec<Change>,
    /// The number of variants that were tried.
    pub tried: u64,
    /// Whether the time was up before all variants were tried.
    pub cut_short: bool,
    /// For a scenario that does not hold and for which no changes were found: what was tried, in words.
    pub how_far: Vec<String>,
}

/// An edit that a change makes, by the program's number and the instruction's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// New orders and scopes of instructions.
    Strength(Vec<(u32, u32, Strength)>),
    FenceBefore(u32, u32, FenceOrder, Scope),
    FenceAfter(u32, u32, FenceOrder, Scope),
    BarrierBefore(u32, u32),
    /// The block's barrier before a branch or loop, by its number among the program's.
    BarrierBeforeFork(u32, u32),
}

impl Change {
    /// A change of a module's kernel, in the words of its source.
    pub fn of_module(site: Site, kernel: String, text: String) -> Change {
        Change { site, kernel, text, what: Vec::new() }
    }

    /// Adds the change to a set of edits.
    pub(super) fn apply(&self, edits: &mut Edits) {
        for what in &self.what {
            match what {
                What::Strength(all) => {
                    for &(program, at, strength) in all {
                        edits.instructions.entry((program, at)).or_default().strength = Some(strength);
                    }
                }
                &What::FenceBefore(program, at, order, scope) => {
                    edits.instructions.entry((program, at)).or_default().fence_before = Some((order, scope));
                }
                &What::FenceAfter(program, at, order, scope) => {
                    edits.instructions.entry((program, at)).or_default().fence_after = Some((order, scope));
                }
                &What::BarrierBefore(program, at) => {
                    edits.instructions.entry((program, at)).or_default().barrier_before = true
                }
                &What::BarrierBeforeFork(program, fork) => drop(edits.barriers.insert(program, fork)),
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
            What::FenceBefore(..)
            | What::FenceAfter(..)
            | What::Strength(_)
            | What::BarrierBefore(..)
            | What::BarrierBeforeFork(..) => None,
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
            What::FenceBefore(..) | What::FenceAfter(..) | What::BarrierBefore(..) | What::BarrierBeforeFork(..) => {
                false
            }
        })
    }

    /// The instructions that the change touches, and how.
    fn touches(&self) -> BTreeSet<(u32, u32, u8)> {
        let touched = |what: &What| match what {
            What::Strength(all) => all.iter().map(|&(program, at, _)| (program, at, 0)).collect::<Vec<_>>(),
            &What::FenceBefore(program, at, ..) => vec![(program, at, 1)],
            &What::FenceAfter(program, at, ..) => vec![(program, at, 2)],
            &What::BarrierBefore(program, at) => vec![(program, at, 3)],
            &What::BarrierBeforeFork(program, fork) => vec![(program, fork, 4)],
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

/// Whether two of the changes touch the same instruction, or one adds a barrier that gives other numbers to the
/// instructions which another touches.
pub(super) fn clash(changes: &[&Change]) -> bool {
    let touched = |change: &&Change| change.touches().into_iter().map(|(program, ..)| program).collect::<BTreeSet<_>>();
    let renumbers = |change: &&&Change| change.what.iter().any(|what| matches!(what, What::BarrierBeforeFork(..)));
    for renumbering in changes.iter().filter(renumbers) {
        let others = changes.iter().filter(|other| !std::ptr::eq(**other, *renumbering));
        if others.flat_map(touched).any(|program| touched(renumbering).contains(&program)) {
            return true;
        }
    }
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

/// The narrowest scope that includes all threads of the scenario that run together.
pub(super) fn scope_needed(report: &Report) -> Scope {
    let launches = || report.launches.iter().flat_map(|world| world.launches.iter().map(move |launch| (world, launch)));
    if launches().any(|(_, launch)| launch.host) {
        return Scope::System;
    }
    let several = launches().any(|(world, launch)| world.launches.len() > 1 || launch.environment.shape.blocks() > 1);
    if several { Scope::Device } else { Scope::Block }
}

/// Whether threads may access a place plainly and see what others have written there.
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

/// A change of an instruction; a new scope is that of the fence too with which a sequentially consistent access begins.
pub(super) fn single(
    number: u32,
    program: &Program,
    instruction: &Instruction,
    strength: Strength,
    text: String,
) -> Change {
    let fence = instruction
        .seq_cst
        .zip(strength.scope())
        .map(|(first, scope)| (first, Strength::Fence(Some((FenceOrder::SeqCst, scope)))));
    let parts: Vec<_> = fence.into_iter().chain([(instruction.at, strength)]).collect();
    together(number, program, instruction, &parts, text)
}

/// A change of an access and of the fence that belongs to it.
pub(super) fn together(
    number: u32,
    program: &Program,
    instruction: &Instruction,
    parts: &[(u32, Strength)],
    text: String,
) -> Change {
    let parts = parts.iter().map(|&(at, strength)| (number, at, strength)).collect();
    let kernel = program.kernel().name.clone();
    Change { site: instruction.site, kernel, text, what: vec![What::Strength(parts)] }
}

/// The name of a place in a kernel's source.
pub(super) fn name(program: &Program, place: Place) -> String {
    program.kernel().place_name(place)
}

/// A fence as the source has it.
pub(super) fn fence(order: FenceOrder, scope: Scope) -> String {
    format!("mem_fence(Scope::{scope:?}, Order::{order:?})")
}
