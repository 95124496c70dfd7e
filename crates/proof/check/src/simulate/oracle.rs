//! Compares the vector clocks with the definitions: both judge random interleavings.
//!
//! The judge here enumerates release patterns, acquire patterns and chains of read-modify-writes literally, closes the
//! relation, and looks at every pair of accesses. The clocks must find a race at the same access.

use proptest::prelude::*;
use wattle_ir::Site;
use wattle_memory::{FenceOrder, Scope};

use super::clock::Clock;
use super::history::{Event, Extent};
use super::shadow::{Passing, Shadow};
use super::sync::{Member, Releases, ThreadSync, strong};

/// Two threads of one block, one thread in each of two other blocks, one of a second device, and one of the host.
const MEMBERS: [Member; 6] = [
    Member { thread: 0, block: 0, device: Some(0), alone: false },
    Member { thread: 1, block: 0, device: Some(0), alone: false },
    Member { thread: 2, block: 2, device: Some(0), alone: true },
    Member { thread: 70, block: 70, device: Some(0), alone: true },
    Member { thread: 128, block: 128, device: Some(1), alone: true },
    Member { thread: 192, block: 192, device: None, alone: true },
];

/// All elements have this size, and all accesses touch all of one.
const EXTENT: Extent = Extent { first: 0, bytes: 4 };

#[derive(Clone, Copy, Debug)]
enum What {
    Plain { place: usize, write: bool },
    Atomic { place: usize, passing: Passing },
    Fence { order: FenceOrder, scope: Scope },
}

#[derive(Clone, Copy, Debug)]
struct Step {
    thread: usize,
    what: What,
}

impl Step {
    fn place(&self) -> Option<usize> {
        match self.what {
            What::Plain { place, .. } | What::Atomic { place, .. } => Some(place),
            What::Fence { .. } => None,
        }
    }

    fn writes(&self) -> bool {
        match self.what {
            What::Plain { write, .. } => write,
            What::Atomic { passing, .. } => passing.writes,
            What::Fence { .. } => false,
        }
    }

    fn passing(&self) -> Option<Passing> {
        if let What::Atomic { passing, .. } = self.what { Some(passing) } else { None }
    }

    fn scope(&self) -> Option<Scope> {
        self.passing().map(|passing| passing.scope)
    }
}

fn strong_steps(x: &Step, y: &Step) -> bool {
    strong(&MEMBERS[x.thread], x.scope(), &MEMBERS[y.thread], y.scope())
}

fn reaches(scope: Scope, of: usize, other: usize) -> bool {
    let (of, other) = (&MEMBERS[of], &MEMBERS[other]);
    match scope {
        Scope::Block => of.block == other.block,
        Scope::Device => of.block == other.block || (of.device.is_some() && of.device == other.device),
        Scope::System => true,
    }
}

/// The first access that races with an earlier one, by the definitions.
fn judge(steps: &[Step]) -> Option<usize> {
    let mut edges = vec![Vec::new(); steps.len()];
    let source = |read: usize| {
        (0..read).rev().find(|&earlier| steps[earlier].place() == steps[read].place() && steps[earlier].writes())
    };
    for (late, step) in steps.iter().enumerate() {
        for (early, before) in steps[..late].iter().enumerate() {
            if before.thread == step.thread {
                edges[late].push(early);
            }
            if let (
                What::Fence { order: FenceOrder::SeqCst, scope: x },
                What::Fence { order: FenceOrder::SeqCst, scope: y },
            ) = (before.what, step.what)
                && reaches(x, before.thread, step.thread)
                && reaches(y, step.thread, before.thread)
            {
                edges[late].push(early);
            }
        }
        let Some(read) = step.passing().filter(|passing| passing.reads) else { continue };
        // Along the chain of read-modify-writes that the read observes, each write may end a release pattern.
        let mut link = late;
        while let Some(write) = source(link) {
            if !strong_steps(&steps[write], &steps[link]) {
                break;
            }
            let (writer, Some(passing)) = (&steps[write], steps[write].passing()) else { break };
            let mutual =
                reaches(passing.scope, writer.thread, step.thread) && reaches(read.scope, step.thread, writer.thread);
            if mutual {
                let mut starts = Vec::new();
                if passing.releases {
                    starts.push(write);
                }
                starts.extend((0..write).filter(|&fence| {
                    let What::Fence { order, scope } = steps[fence].what else { return false };
                    steps[fence].thread == writer.thread
                        && order.releases()
                        && reaches(scope, writer.thread, step.thread)
                }));
                let mut ends = Vec::new();
                if read.acquires {
                    ends.push(late);
                }
                ends.extend((late + 1..steps.len()).filter(|_| !read.reduces).filter(|&fence| {
                    let What::Fence { order, scope } = steps[fence].what else { return false };
                    steps[fence].thread == step.thread && order.acquires() && reaches(scope, step.thread, writer.thread)
                }));
                for &end in &ends {
                    edges[end].extend(&starts);
                }
            }
            if !passing.reads {
                break;
            }
            link = write;
        }
    }
    // All edges go forward, so one pass closes the relation.
    let mut before: Vec<Vec<bool>> = Vec::new();
    for edges in &edges {
        let mut known = vec![false; steps.len()];
        for &early in edges {
            known[early] = true;
            for (known, also) in known.iter_mut().zip(&before[early]) {
                *known |= also;
            }
        }
        before.push(known);
    }
    (0..steps.len()).find(|&late| {
        (0..late).any(|early| {
            let (x, y) = (&steps[early], &steps[late]);
            x.place().is_some()
                && x.place() == y.place()
                && x.thread != y.thread
                && (x.writes() || y.writes())
                && !strong_steps(x, y)
                && !before[late][early]
        })
    })
}

/// The first access that races with an earlier one, by the vector clocks.
fn clocks(steps: &[Step]) -> Option<usize> {
    let mut threads = MEMBERS.map(|member| ThreadSync::new(member, Clock::default()));
    let mut shadows: Vec<Shadow> = (0..4).map(|_| Shadow::default()).collect();
    let mut fences = Releases::default();
    let site = Site { file: "", line: 0, column: 0 };
    for (number, step) in steps.iter().enumerate() {
        let thread = &mut threads[step.thread];
        if let What::Fence { order, scope } = step.what {
            thread.fence(order, scope, &mut fences);
        }
        let Some(place) = step.place() else { continue };
        let shadow = &mut shadows[place];
        let passing = step.passing();
        let linked = passing.is_some_and(|passing| shadow.observe(thread, passing));
        let (member, epoch, scope, write) = (thread.member, thread.now, step.scope(), step.writes());
        let event = Event { member, epoch, site, scope, write, extent: EXTENT, private: false };
        if shadow.record(event, thread).is_some() {
            return Some(number);
        }
        match passing {
            Some(passing) => shadow.publish(thread, passing, linked),
            None if write => shadow.store(thread, EXTENT),
            None => {}
        }
    }
    None
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::Block), Just(Scope::Device), Just(Scope::Device), Just(Scope::System)]
}

fn step() -> impl Strategy<Value = Step> {
    use FenceOrder::{AcqRel, Acquire, Release, SeqCst};
    // Places 0 and 1 get mostly plain accesses, 2 and 3 mostly atomic ones.
    let plain = (0..2usize, any::<bool>(), 0..20u32)
        .prop_map(|(place, write, odd)| What::Plain { place: if odd == 0 { place + 2 } else { place }, write });
    let atomic = (0..2usize, 0..4u32, any::<(bool, bool)>(), scope(), 0..20u32).prop_map(
        |(place, kind, (acquires, releases), scope, odd)| {
            let (reads, writes) = (kind != 0, kind != 1);
            let place = if odd == 0 { place } else { place + 2 };
            let reduces = kind == 2;
            let (acquires, releases) = (acquires && reads && !reduces, releases && writes);
            What::Atomic {
                place,
                passing: Passing { scope, reads, writes, acquires, releases, extent: EXTENT, extends: false, reduces },
            }
        },
    );
    let fence = (prop_oneof![Just(Acquire), Just(Release), Just(AcqRel), Just(SeqCst)], scope())
        .prop_map(|(order, scope)| What::Fence { order, scope });
    (0..MEMBERS.len(), prop_oneof![2 => plain, 4 => atomic, 4 => fence])
        .prop_map(|(thread, what)| Step { thread, what })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn clocks_find_what_the_definitions_say(steps in prop::collection::vec(step(), 1..40)) {
        prop_assert_eq!(clocks(&steps), judge(&steps));
    }

    /// Without conflicting atomics more is ordered before the first race, so system scope is used throughout.
    #[test]
    fn clocks_find_late_races(steps in prop::collection::vec(step(), 1..60)) {
        let steps: Vec<Step> = steps
            .into_iter()
            .filter_map(|mut step| {
                match &mut step.what {
                    What::Atomic { place, passing } => {
                        *place = 2 + *place % 2;
                        passing.scope = Scope::System;
                    }
                    What::Plain { place, .. } if *place > 1 => return None,
                    _ => {}
                }
                Some(step)
            })
            .collect();
        prop_assert_eq!(clocks(&steps), judge(&steps));
    }
}
