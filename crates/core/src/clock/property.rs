//! Random programs of several queues: the clocks refuse a use exactly where a use that conflicts with it is not among what
//! must have ended before, which is computed here as plain sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use wattle_ir::{Access, MAX_RANK, Site};

use super::{Moment, QueueClock, Region, Stamp, User, Uses, host_waited};

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
    (region.begin[0], region.end[0]) = (begin, end);
    region
}

fn user() -> User {
    User { what: "a use", parameter: None, site: Site { file: "", line: 0, column: 0 } }
}

/// A use that was accepted.
struct Known {
    operation: usize,
    access: Access,
    part: (u32, u32),
}

/// What must have ended before what: each set holds operations.
#[derive(Default)]
struct Before {
    /// Of each queue: its own operations, and what they come after.
    queues: Vec<BTreeSet<usize>>,
    /// What the host has waited for.
    host: BTreeSet<usize>,
    known: Vec<Known>,
}

impl Before {
    /// Whether the uses of an operation of `queue` conflict with one that need not have ended, or with each other.
    fn refuses(&self, queue: usize, uses: &[(Access, (u32, u32))]) -> bool {
        let conflict = |x: (Access, (u32, u32)), y: (Access, (u32, u32))| {
            let overlap = x.1.0 < y.1.1 && y.1.0 < x.1.1;
            overlap && (x.0 == Access::PerItem || x.0 != y.0)
        };
        let ended = |operation| self.host.contains(&operation) || self.queues[queue].contains(&operation);
        let with_others = uses.iter().any(|&x| {
            self.known.iter().any(|known| !ended(known.operation) && conflict(x, (known.access, known.part)))
        });
        let among = uses.iter().enumerate().any(|(n, &x)| uses[..n].iter().any(|&y| conflict(x, y)));
        with_others || among
    }
}

const ACCESSES: [Access; 4] = [Access::Read, Access::PerItem, Access::Shared, Access::Atomic];
const PARTS: [(u32, u32); 4] = [(0, 4), (4, 8), (0, 8), (3, 5)];

#[test]
fn uses_are_refused_exactly_where_nothing_orders_them() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random(seed);
        let queues = 1 + random.below(3);
        let clocks: Vec<Arc<QueueClock>> = (0..queues).map(|_| Arc::default()).collect();
        let mut before = Before { queues: vec![BTreeSet::new(); queues], ..Before::default() };
        let mut events: Vec<(Moment, BTreeSet<usize>)> = Vec::new();
        // What a thread that waits for an operation has taken down when it began to wait.
        let mut waits: Vec<(usize, u64, Moment, BTreeSet<usize>)> = Vec::new();
        let uses = Uses::default();
        for operation in 0..24usize {
            let q = random.below(queues);
            let clock = &clocks[q];
            match random.below(12) {
                0..6 => {
                    let wanted: Vec<_> =
                        (0..1 + random.below(2)).map(|_| (ACCESSES[random.below(4)], PARTS[random.below(4)])).collect();
                    let stamp = Stamp { clock, number: clock.tick() };
                    let said = wanted.iter().try_for_each(|&(access, (begin, end))| {
                        uses.record(&stamp, region(begin, end), access, user())
                    });
                    let expected = before.refuses(q, &wanted);
                    assert_eq!(said.is_err(), expected, "seed {seed}, operation {operation}: {said:?}");
                    if expected {
                        refused += 1;
                        uses.forget(&stamp);
                    } else {
                        accepted += 1;
                        let known = wanted.iter().map(|&(access, part)| Known { operation, access, part });
                        before.known.extend(known);
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
                _ => {}
            }
            if !waits.is_empty() && random.below(2) == 0 {
                let (q, number, known, ended) = waits.swap_remove(random.below(waits.len()));
                clocks[q].host_waited(number, &known);
                before.host.extend(ended);
            }
        }
    }
    // Neither is rare, or the test would say little.
    assert!(accepted > 5000 && refused > 5000, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_guard_is_in_the_way_until_it_is_released() {
    let (uses, clock) = (Uses::default(), Arc::<QueueClock>::default());
    let record = |access, part: (u32, u32)| {
        let stamp = Stamp { clock: &clock, number: clock.tick() };
        uses.record(&stamp, region(part.0, part.1), access, user()).map(|()| stamp.number)
    };
    let hold = |access| uses.hold(region(0, 8), access, user());
    let number = record(Access::Shared, (0, 4)).unwrap();
    assert!(hold(Access::Read).is_err(), "the launch has not been waited for");
    clock.host_waited(number, &Moment::new());
    let guard = hold(Access::Read).unwrap();
    assert!(record(Access::Shared, (0, 4)).is_err() && record(Access::Read, (0, 4)).is_ok());
    assert!(hold(Access::PerItem).is_err() && hold(Access::Read).is_ok());
    uses.release(guard);
    assert!(record(Access::Shared, (0, 4)).is_err(), "the other guard and the launch that reads");
}
