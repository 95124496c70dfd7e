//! Control and data flow of a kernel, as far as the search needs it: where loops begin, whether their exits depend on
//! memory, which registers are live there, and where stores lie ahead.

use wattle_memory::Set;
use wattle_modules::code::{AtObject, Exchange, Kernel, Meeting, Op, Reg, Special, Step};
use wattle_modules::types::Space;

use crate::decisions;
use crate::liveness::live;
use crate::loops::Loops;
use crate::structure::{Iterations, Structure, reached};

/// The spaces that a thread may still write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Global memory.
    pub global: bool,
    /// The shared memory of its block.
    pub shared: bool,
}

impl Writes {
    fn of(op: &Op) -> Writes {
        if let Op::CopyWait { .. } | Op::CopyObject { does: AtObject::Arrives, .. } = op {
            // The copies that it completes write to shared memory.
            return Writes { global: false, shared: true };
        }
        let outline = op.outline(|_| {}, |_| {});
        let Some(access) = outline.access.filter(|_| outline.writes_memory) else { return Writes::default() };
        let generic = access.space == Space::Generic;
        Writes { global: generic || access.space == Space::Global, shared: generic || access.space == Space::Shared }
    }

    fn or(self, other: Writes) -> Writes {
        Writes { global: self.global || other.global, shared: self.shared || other.shared }
    }
}

/// The flow of a kernel.
#[derive(Debug)]
pub struct Flow {
    /// The loops of the kernel.
    pub(crate) loops: Loops,
    /// For each instruction what may be written from there on.
    writes: Vec<Writes>,
    /// For each instruction the registers whose values are read from there on.
    live: Vec<Set>,
    /// For each instruction whether the thread's position is read from there on.
    positions: Vec<bool>,
    /// The loops with a barrier in them.
    pub(crate) structure: Structure,
    /// For each instruction that asks which lanes are together, whether a thread can come to it again.
    again: Vec<bool>,
    /// Whether lanes of a warp do something together.
    meets: bool,
    /// Whether a thread may end without some barrier.
    pub(crate) exits_early: bool,
    /// Whether a thread may end without some operation of its warp.
    pub(crate) lanes_exit_early: bool,
    /// For each instruction whether a thread may come there from a barrier.
    behind_barriers: Vec<bool>,
    /// For each instruction those that may come next, as far as it is decided by something.
    next: Vec<Vec<usize>>,
    /// For each instruction that a thread passes over, the one to which it goes.
    passed: Vec<Option<usize>>,
}

fn is_barrier(step: &Step) -> bool {
    matches!(step.op, Op::Barrier { .. } | Op::BarrierReduce { .. } | Op::Exchange { how: Exchange::Barrier, .. })
}

/// The instructions to which a thread may come from a barrier.
fn behind_barriers(steps: &[Step], next: &[Vec<usize>]) -> Vec<bool> {
    let barriers = (0..steps.len()).filter(|&at| is_barrier(&steps[at]));
    let (mut seen, mut open) = (vec![false; steps.len()], barriers.flat_map(|at| next[at].clone()).collect::<Vec<_>>());
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&next[at]);
        }
    }
    seen
}

/// The most barriers of a kernel that are looked at; with more, a thread is taken to end early.
const MOST_BARRIERS: usize = 64;

/// Whether a thread may end while others wait at a step of some kind that it does not come to: by `if (i >= n) return;`
/// before it, or by fewer turns of a loop.
fn exits_early(steps: &[Step], next: &[Vec<usize>], waits: impl Fn(&Step) -> bool) -> bool {
    let ends_without = |barrier: usize| {
        let (mut seen, mut open) = (vec![false; steps.len()], vec![0]);
        while let Some(at) = open.pop() {
            if at != barrier && !std::mem::replace(&mut seen[at], true) {
                open.extend(&next[at]);
            }
        }
        (0..steps.len()).any(|at| matches!(steps[at].op, Op::Exit) && seen[at])
    };
    let barriers: Vec<usize> = (0..steps.len()).filter(|&at| waits(&steps[at])).collect();
    barriers.len() > MOST_BARRIERS || barriers.into_iter().any(|at| ends_without(at) || reached(next, at)[at])
}

impl Flow {
    /// The flow of a kernel.
    pub fn of(kernel: &Kernel, iterations: Iterations) -> Flow {
        let steps = &kernel.steps;
        let all: Vec<Vec<usize>> = (0..steps.len()).map(|at| successors(steps, at)).collect();
        let passed = decisions::passed(kernel, &all);
        let next = decisions::successors(&all, &passed);
        let live = live(kernel, &next);
        let loops = Loops::of(kernel, &next, &live);
        let mut writes: Vec<Writes> = steps.iter().map(|step| Writes::of(&step.op)).collect();
        let mut positions: Vec<bool> = steps.iter().map(|step| reads_position(&step.op)).collect();
        let meet = |op: &Op| match op.outline(|_| {}, |_| {}).meeting {
            Some(Meeting::Lanes { .. } | Meeting::Gathering) => true,
            Some(Meeting::Barrier) => false,
            None => matches!(op, Op::Special { which: Special::Active, .. }),
        };
        let meets = steps.iter().any(|step| meet(&step.op));
        let asks = |step: &Step| matches!(step.op, Op::Special { which: Special::Active, .. });
        let again = (0..steps.len()).map(|at| asks(&steps[at]) && reached(&next, at)[at]).collect();
        loop {
            let before = (writes.clone(), positions.clone());
            for at in (0..next.len()).rev() {
                writes[at] = next[at].iter().fold(writes[at], |all, &target| all.or(writes[target]));
                positions[at] |= next[at].iter().any(|&target| positions[target]);
            }
            if (&writes, &positions) == (&before.0, &before.1) {
                return Flow {
                    writes,
                    live,
                    positions,
                    structure: Structure::of(kernel, &next, loops.repeated(), iterations),
                    loops,
                    again,
                    meets,
                    exits_early: exits_early(steps, &next, is_barrier),
                    lanes_exit_early: exits_early(steps, &next, |step| matches!(step.op, Op::Exchange { .. })),
                    behind_barriers: behind_barriers(steps, &next),
                    next,
                    passed,
                };
            }
        }
    }

    /// Whether a thread may come to an instruction from a barrier.
    pub(crate) fn is_behind_barriers(&self, at: usize) -> bool {
        self.behind_barriers.get(at).copied().unwrap_or(false)
    }

    /// Whether lanes of a warp do something together.
    pub fn meets(&self) -> bool {
        self.meets
    }

    /// The registers whose values are read from an instruction on.
    pub fn live(&self, at: usize) -> Option<&Set> {
        self.live.get(at)
    }

    /// The instruction to which a thread goes from one that it passes over ([`decisions`]), if it does.
    pub fn passes_to(&self, at: usize) -> Option<u32> {
        self.passed.get(at).copied().flatten().map(|to| to as u32)
    }

    /// Whether nothing reads what an instruction sets, whichever way is gone from there.
    pub fn is_dead(&self, step: &Step, at: usize) -> bool {
        let mut is_read = false;
        let behind = |register: Reg| self.next[at].iter().any(|&next| self.live[next].contains(register as usize));
        step.op.outline(|_| {}, |register| is_read |= behind(register));
        !is_read
    }

    /// Whether the thread's position in its launch is read from an instruction on.
    pub fn reads_position(&self, at: usize) -> bool {
        self.positions.get(at).copied().unwrap_or(true)
    }

    /// Whether a thread can come to an instruction again.
    pub fn comes_again(&self, at: usize) -> bool {
        self.again.get(at).copied().unwrap_or(true)
    }

    /// What may be written from an instruction on.
    pub fn writes(&self, at: usize) -> Writes {
        self.writes.get(at).copied().unwrap_or_default()
    }
}

/// Whether an instruction reads the thread's position in its launch.
fn reads_position(op: &Op) -> bool {
    let Op::Special { which, .. } = op else { return false };
    match which {
        Special::Thread(_)
        | Special::Block(_)
        | Special::Lane
        | Special::LaneMask(_)
        | Special::Active
        | Special::Warp => true,
        Special::Threads(_)
        | Special::Blocks(_)
        | Special::Warps
        | Special::Sm
        | Special::Sms
        | Special::Grid
        | Special::Clock
        | Special::Timer
        | Special::Workspace(_)
        | Special::DynamicShared
        | Special::TotalShared => false,
    }
}

/// The instructions that may come after one.
fn successors(steps: &[Step], at: usize) -> Vec<usize> {
    let behind = Some(at + 1).filter(|_| steps[at].falls_through());
    steps[at].target().into_iter().chain(behind).filter(|&target| target < steps.len()).collect()
}
