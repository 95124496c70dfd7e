//! A search of threads that come to many barriers takes a number of steps in proportion to them, and ends soon after it
//! is asked to.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wattle_check::search::{
    AccessTarget, Action, Address, Barrier, End, Execution, Initial, Limits, Members, Memory, Process, Setup, Spawn,
    Statistics, Stopped, Visitor, search,
};
use wattle_memory::{Label, Level, Model, Placement};

/// Reads one cell, and comes to the barriers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Reader {
    at: u64,
    read: Option<u64>,
}

/// The number of barriers, and of the steps of all threads: at the last one the search is cancelled.
struct World {
    barriers: u64,
    members: Arc<[usize]>,
    steps: AtomicU64,
    last: u64,
    cancelled: Arc<AtomicBool>,
}

impl Process for Reader {
    type World = World;

    fn next(&mut self, world: &World) -> Action {
        if world.steps.fetch_add(1, Ordering::Relaxed) >= world.last {
            world.cancelled.store(true, Ordering::Relaxed);
        }
        self.at += 1;
        let (label, source) = (Label::barrier(Level::Block), self.at as u32);
        match self.at - 1 {
            0 => {
                let target = AccessTarget { address: Address { memory: 0, element: 0 }, bytes: 4, reference: 0 };
                Action::Read { target: Some(target), label: Label::plain_read(), source }
            }
            instance if instance <= world.barriers => {
                let members = Members::Threads(world.members.clone());
                let barrier = Barrier { instance, resource: 0, members, waits: true, converges: None };
                Action::Barrier { barrier, label, source }
            }
            _ => Action::Done,
        }
    }

    fn answer(&mut self, _: &World, value: Option<u64>) {
        self.read = value;
    }

    fn is_alike(&self, _: &World, other: &Self) -> bool {
        self == other
    }

    fn ways(&self, _: &World) -> Option<Vec<Self>> {
        None
    }

    fn any_pending(&self) -> bool {
        self.read.is_none()
    }

    fn may_write(&self, _: &World, _: Address) -> bool {
        false
    }
}

struct Zero;

impl Memory for Zero {
    fn initial(&self, _: Address) -> Initial {
        Initial { value: 0, unwritten: false }
    }
}

struct Counts;

impl Visitor for Counts {
    fn complete(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

const THREADS: u64 = 4;

/// Searches; returns also the number of steps of all threads.
fn searched(barriers: u64, last: u64) -> (End, Statistics, u64) {
    let cancelled = Arc::new(AtomicBool::new(false));
    let members = (0..THREADS as usize).collect();
    let world = World { barriers, members, steps: AtomicU64::new(0), last, cancelled: cancelled.clone() };
    let spawn = |thread| Spawn {
        placement: Placement::new(0, thread),
        process: Reader { at: 0, read: Some(0) },
        after: [].into(),
    };
    let setup = Setup {
        limits: Limits { cancelled: Some(cancelled), ..Limits::default() },
        ..Setup::new(&Zero, Model::Portable).with_threads(&world, (0..THREADS as u32).map(spawn).collect())
    };
    let (end, statistics) = search(&setup, &mut Counts);
    (end, statistics, world.steps.load(Ordering::Relaxed))
}

/// A thread that has run ahead of a read is not run again from there for each barrier: 100 barriers would take each
/// thread 5,000 steps.
#[test]
fn the_steps_are_in_proportion_to_the_barriers() {
    let (end, statistics, steps) = searched(100, u64::MAX);
    assert_eq!((end, statistics.complete), (End::Exhausted, 1));
    assert!(steps < THREADS * 100 * 8, "{steps}");
}

/// It ends within the run that sets the limit, far before the threads come to a choice; nothing that was reached is
/// taken for the end of an execution.
#[test]
fn a_search_ends_between_two_barriers() {
    let (end, statistics, steps) = searched(100_000, 10_000);
    assert_eq!(end, End::Stopped(Stopped::Cancelled));
    assert_eq!((statistics.complete, statistics.bounded, statistics.stuck), (0, 0, 0));
    assert!(steps < 12_000, "{steps}");
}
