//! Random programs of several queues and buffers, with events, waits, host tasks and queues that are dropped: the
//! clocks refuse an operation exactly where a use that conflicts with one of its own is not among what must have ended
//! before, which is computed here as plain sets; and an operation that is refused leaves nothing behind.

use std::collections::BTreeSet;
use std::sync::Arc;

use wattle_ir::{Access, MAX_RANK, Site};

use super::{Moment, QueueClock, QueueName, Refused, Region, Stamp, User, Uses, Wanted, host_waited, record};
use crate::queue::LastPoint;

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

fn region(begin: u32, end: u32) -> Region {
    let mut region = Region { begin: [0; MAX_RANK], end: [1; MAX_RANK] };
    (region.begin[0], region.end[0]) = (begin.into(), end.into());
    region
}

fn user() -> User {
    User { what: "a use", parameter: None, site: Site { file: "", line: 0, column: 0 } }
}

fn queue() -> Arc<QueueClock> {
    QueueClock::new(QueueName { device: String::new(), site: Site { file: "", line: 0, column: 0 } })
}

/// A use: the part of a buffer, and how it is shared.
#[derive(Clone, Copy)]
struct Part {
    buffer: usize,
    access: Access,
    range: (u32, u32),
}

impl Part {
    fn conflicts(self, other: Part) -> bool {
        let overlap = self.range.0 < other.range.1 && other.range.0 < self.range.1;
        let same = self.buffer == other.buffer;
        same && overlap && (self.access == Access::PerItem || self.access != other.access)
    }
}

/// What must have ended before what: each set holds operations.
#[derive(Default)]
struct Before {
    /// Of each queue: its own operations, and what they come after.
    queues: Vec<BTreeSet<usize>>,
    /// What the host has waited for.
    host: BTreeSet<usize>,
    /// The uses that were accepted: operation, queue, and what it uses.
    known: Vec<(usize, usize, Part)>,
}

impl Before {
    /// The queues of which an operation conflicts with one of `queue` that uses these parts, and need not have ended.
    fn in_the_way(&self, queue: usize, parts: &[Part]) -> BTreeSet<usize> {
        let ended = |operation| self.host.contains(&operation) || self.queues[queue].contains(&operation);
        let known = self
            .known
            .iter()
            .filter(|(operation, _, part)| !ended(*operation) && parts.iter().any(|wanted| wanted.conflicts(*part)));
        known.map(|(_, queue, _)| *queue).collect()
    }
}

fn conflict_among(parts: &[Part]) -> bool {
    parts.iter().enumerate().any(|(n, &x)| parts[..n].iter().any(|&y| x.conflicts(y)))
}

const ACCESSES: [Access; 4] = [Access::Read, Access::PerItem, Access::Shared, Access::Atomic];
const RANGES: [(u32, u32); 4] = [(0, 4), (4, 8), (0, 8), (3, 5)];
const BUFFERS: usize = 2;

#[test]
fn uses_are_refused_exactly_where_nothing_orders_them() {
    let (mut accepted, mut refused, mut waited_for_gone) = (0, 0, 0);
    for seed in 0..6000 {
        let mut random = Random(seed);
        // The queues that ever were; a queue that is dropped stays there, and another one takes its place.
        let mut clocks: Vec<Arc<QueueClock>> = (0..1 + random.below(3)).map(|_| queue()).collect();
        let mut places: Vec<usize> = (0..clocks.len()).collect();
        let mut before = Before { queues: vec![BTreeSet::new(); clocks.len()], ..Before::default() };
        // Points, and places of host tasks, with what comes before each.
        let mut events: Vec<(Moment, BTreeSet<usize>)> = Vec::new();
        let mut tasks: Vec<(Moment, BTreeSet<usize>)> = Vec::new();
        // What a thread that waits for an operation had recorded when it began to wait.
        let mut waits: Vec<(usize, u64, Moment, BTreeSet<usize>)> = Vec::new();
        let buffers: [Uses; BUFFERS] = Default::default();
        for operation in 0..24usize {
            let q = places[random.below(places.len())];
            let clock = clocks[q].clone();
            match random.below(16) {
                0..6 => {
                    let part = |random: &mut Random| Part {
                        buffer: random.below(BUFFERS),
                        access: ACCESSES[random.below(4)],
                        range: RANGES[random.below(4)],
                    };
                    let parts: Vec<_> = (0..1 + random.below(3)).map(|_| part(&mut random)).collect();
                    let wanted: Vec<_> = parts
                        .iter()
                        .map(|part| Wanted {
                            uses: &buffers[part.buffer],
                            region: region(part.range.0, part.range.1),
                            sharing: part.access.into(),
                            user: user(),
                        })
                        .collect();
                    let said = loop {
                        let said = record(&Stamp { clock: &clock, number: clock.tick() }, &wanted);
                        let Err(Refused::Gone(gone)) = said else { break said };
                        // The queue waits for the work of one that was dropped.
                        let gone = clocks.iter().position(|clock| Arc::ptr_eq(clock, &gone)).unwrap();
                        assert!(!places.contains(&gone), "seed {seed}, operation {operation}: it is not gone");
                        assert!(before.in_the_way(q, &parts).contains(&gone), "seed {seed}, operation {operation}");
                        host_waited(&clocks[gone].moment());
                        let ended = before.queues[gone].clone();
                        before.host.extend(ended);
                        waited_for_gone += 1;
                    };
                    let expected = conflict_among(&parts) || !before.in_the_way(q, &parts).is_empty();
                    assert_eq!(said.is_err(), expected, "seed {seed}, operation {operation}: {said:?}");
                    if expected {
                        refused += 1;
                    } else {
                        accepted += 1;
                        before.known.extend(parts.iter().map(|&part| (operation, q, part)));
                        before.queues[q].insert(operation);
                    }
                }
                6 | 7 => {
                    clock.tick();
                    events.push((clock.moment(), before.queues[q].clone()));
                }
                8 | 9 if !events.is_empty() => {
                    let (moment, known) = &events[random.below(events.len())];
                    clock.tick();
                    clock.after(moment);
                    before.queues[q].extend(known);
                }
                // The host begins to wait for a queue, and has waited for it some time later, or at once.
                10 => waits.push((q, clock.tick(), clock.known(), before.queues[q].clone())),
                11 if !events.is_empty() => {
                    let (moment, known) = &events[random.below(events.len())];
                    host_waited(moment);
                    before.host.extend(known);
                }
                12 => {
                    let number = clock.tick();
                    tasks.push((clock.known().with(&clock, number - 1), before.queues[q].clone()));
                }
                // A thread in a host task enqueues something, or has a guard.
                13 if !tasks.is_empty() => {
                    let (moment, known) = &tasks[random.below(tasks.len())];
                    let part = Part { buffer: 0, access: ACCESSES[random.below(4)], range: RANGES[random.below(4)] };
                    let said = buffers[0].hold(region(part.range.0, part.range.1), part.access, user(), moment);
                    let is_free = before.known.iter().all(|(operation, _, other)| {
                        before.host.contains(operation) || known.contains(operation) || !part.conflicts(*other)
                    });
                    assert_eq!(said.is_ok(), is_free, "seed {seed}, operation {operation}: {said:?}");
                    if let Ok(guard) = said {
                        buffers[0].release(guard);
                    }
                    clock.after(moment);
                    before.queues[q].extend(known);
                }
                14 => {
                    clock.leave(LastPoint { state: Arc::default(), mover: None });
                    clocks.push(queue());
                    before.queues.push(BTreeSet::new());
                    let at = places.iter().position(|place| *place == q).unwrap();
                    places[at] = clocks.len() - 1;
                }
                _ => {}
            }
            if !waits.is_empty() && random.below(2) == 0 {
                let (q, number, known, ended) = waits.swap_remove(random.below(waits.len()));
                clocks[q].host_waited(number, &known);
                before.host.extend(ended);
            }
        }
    }
    // Neither outcome is rare, or the test would show little.
    assert!(accepted > 5000 && refused > 5000, "{accepted} accepted, {refused} refused");
    assert!(waited_for_gone > 500, "{waited_for_gone} waited for a queue that was gone");
}

#[test]
fn a_guard_is_in_the_way_until_it_is_released() {
    let (uses, clock) = (Uses::default(), queue());
    let record = |access: Access, part: (u32, u32)| {
        let number = clock.tick();
        let wanted = Wanted { uses: &uses, region: region(part.0, part.1), sharing: access.into(), user: user() };
        record(&Stamp { clock: &clock, number }, &[wanted]).map(|()| number)
    };
    let hold = |access| uses.hold(region(0, 8), access, user(), &Moment::default());
    let number = record(Access::Shared, (0, 4)).unwrap();
    assert!(hold(Access::Read).is_err(), "the launch has not been waited for");
    clock.host_waited(number, &Moment::default());
    let guard = hold(Access::Read).unwrap();
    assert!(record(Access::Shared, (0, 4)).is_err() && record(Access::Read, (0, 4)).is_ok());
    assert!(hold(Access::PerItem).is_err() && hold(Access::Read).is_ok());
    uses.release(guard);
    assert!(record(Access::Shared, (0, 4)).is_err(), "the other guard and the launch that reads");
}
