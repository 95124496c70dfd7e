//! The Vulkan memory model implemented a second time, after Khronos' formal model (`alloy/spirv.als`), with chains.
//!
//! As there, a read-modify-write is one event and the initial value none.

use wattle_memory::Level;

use super::facts::Facts;
use super::matrix::*;
use super::{Axioms, Choice};

pub struct Vulkan {
    pub sequence: Sequence,
}

/// What a release sequence goes on through, from an atomic write on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// Read-modify-writes that follow immediately in the modification order, as Khronos' model has it.
    Ordered,
    /// Read-modify-writes that read from one another, as the model's file says. The two differ where one reads from a
    /// write that nothing orders with it, which is a race.
    Read,
}

fn mutually_ordered(facts: &Facts, a: usize, b: usize) -> bool {
    a != b && facts.same_cell[a][b] && facts.atomic(a) && facts.atomic(b) && facts.in_scope(a, b)
}

impl Axioms for Vulkan {
    fn writes_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool {
        mutually_ordered(facts, a, b)
    }

    fn fences_are_ordered(&self, _: &Facts, _: usize, _: usize) -> bool {
        false
    }

    fn judge(&self, facts: &Facts, choice: &Choice) -> Option<bool> {
        let n = facts.n;
        let asmo = &choice.co;
        let hb = happens_before(facts, asmo, self.sequence);
        let locord = location_ordered(facts, &hb);
        // Two differences from Khronos' model, as in the model's file. A read comes before every write that is known
        // to overwrite its source, by whatever order, where the source itself is known to come before the read: so it
        // is in Dartagnan's `vulkan.cat`. And a read-modify-write is a read and then a write with nothing mutually
        // ordered between; so two that are out of each other's scope may both read the initial value.
        let overwrites = |source: usize, read: usize, write: usize| {
            let located = facts.writes(source) && facts.writes(write) && locord[source][write];
            asmo[source][write] || located && locord[source][read]
        };
        let fr = pairs(n, |read, write| {
            read != write
                && facts.reads(read)
                && facts.writes(write)
                && facts.same_cell[read][write]
                && facts.source[read].is_none_or(|source| overwrites(source, read, write))
        });
        // Each event twice: its read, and its write.
        let halves = pairs(2 * n, |a, b| {
            let (from, to, out, into) = (a / 2, b / 2, a % 2 == 1, b % 2 == 1);
            let own = from == to && !out && into;
            own || locord[from][to]
                || facts.rf[from][to] && out && !into
                || fr[from][to] && !out && into
                || asmo[from][to] && out && into
        });
        if !acyclic(&halves) || (0..n).any(|a| facts.writes(a) && (0..n).any(|b| fr[a][b] && asmo[b][a])) {
            return None;
        }
        let from_writes = pairs(n, |a, b| facts.writes(a) && locord[a][b]);
        let longer = then(&[&from_writes, &plus(&from_writes)]);
        // Khronos' model has no executions at all in which a plain read reads from a write that is not ordered before
        // it; like Dartagnan's, this one has them, and they are races.
        for read in (0..n).filter(|&read| facts.reads(read) && !facts.atomic(read)) {
            if facts.source[read].is_some_and(|write| longer[write][read]) {
                return None;
            }
        }
        let race = |a: usize, b: usize| {
            facts.conflict(a, b) && !mutually_ordered(facts, a, b) && !locord[a][b] && !locord[b][a]
        };
        Some((0..n).any(|a| (0..n).any(|b| race(a, b))))
    }
}

/// `sw`, `ithb` for the storage classes 0, 1 and both, `hb`.
fn happens_before(facts: &Facts, asmo: &Matrix, sequence: Sequence) -> Matrix {
    let n = facts.n;
    let classes = |a: usize, mask: u8| facts.is_access(a) && facts.label(a).storage.0 & mask != 0;
    // The classes of a release or acquire are those of the half that has them.
    let semantics = |a: usize, mask: u8| {
        let event = &facts.events[a];
        [event.read, event.write, event.fence].iter().flatten().any(|label| label.semantics.0 & mask == mask)
    };
    let about = |fence: usize, access: usize| semantics(fence, facts.label(access).storage.0);
    let update = |a: usize| facts.reads(a) && facts.writes(a);
    let rf = pairs(n, |a, b| facts.rf[a][b] && mutually_ordered(facts, a, b));
    // imm[asmo] ; [R & W]
    let longer = then(&[asmo, &plus(asmo)]);
    let next = pairs(n, |a, b| {
        let follows = match sequence {
            Sequence::Ordered => asmo[a][b] && !longer[a][b],
            Sequence::Read => rf[a][b],
        };
        follows && update(b)
    });
    let sequence = maybe(&plus(&next));
    let from = pairs(n, |first, write| {
        let atomic_write = facts.writes(write) && facts.atomic(write);
        let own = first == write && facts.releases(first);
        atomic_write
            && (own || facts.is_fence(first) && facts.releases(first) && facts.po[first][write] && about(first, write))
    });
    let to = pairs(n, |read, last| {
        let atomic_read = facts.reads(read) && facts.atomic(read);
        let own = read == last && facts.acquires(last);
        atomic_read
            && (own || facts.is_fence(last) && facts.acquires(last) && facts.po[read][last] && about(last, read))
    });
    let chains = then(&[&from, &sequence, &rf, &to]);
    let sw = pairs(n, |a, b| chains[a][b] && facts.in_scope(a, b));
    let ithb = |mask: u8| {
        let either = |a: usize| classes(a, mask) || semantics(a, mask);
        plus(&pairs(n, |a, b| {
            sw[a][b] && semantics(a, mask) && semantics(b, mask)
                || facts.po[a][b] && either(a) && facts.releases(b) && semantics(b, mask)
                || facts.po[a][b] && facts.acquires(a) && semantics(a, mask) && either(b)
        }))
    };
    any(&[&ithb(1), &ithb(2), &ithb(3), &facts.po])
}

/// Availability and visibility chains, `locord`.
fn location_ordered(facts: &Facts, hb: &Matrix) -> Matrix {
    let n = facts.n;
    let semav = |a: usize| {
        facts.releases(a) && facts.events[a].write.or(facts.events[a].fence).is_some_and(|label| label.makes_available)
    };
    let semvis = |a: usize| {
        facts.acquires(a) && facts.events[a].read.or(facts.events[a].fence).is_some_and(|label| label.makes_visible)
    };
    let av = |a: usize| facts.events[a].write.is_some_and(|label| label.coherent);
    let vis = |a: usize| facts.events[a].read.is_some_and(|label| label.coherent);
    let semantics = |a: usize| {
        let event = &facts.events[a];
        [event.read, event.write, event.fence].iter().flatten().fold(0, |all, label| all | label.semantics.0)
    };
    let includes_one_way = |a: usize, b: usize| {
        let by_class =
            a != b && facts.is_access(a) && (semav(b) || semvis(b)) && facts.label(a).storage.0 & semantics(b) != 0;
        let own = (av(a) || vis(a)) && facts.same_cell[a][b];
        by_class || own
    };
    let avvisinc = pairs(n, |a, b| includes_one_way(a, b) || includes_one_way(b, a));
    let makes_available =
        |least: Level| pairs(n, |a, b| a == b && (av(a) || semav(a)) && facts.label(a).level >= least);
    let makes_visible =
        |least: Level| pairs(n, |a, b| a == b && (vis(a) || semvis(a)) && facts.label(a).level >= least);
    let near = |level: Level| pairs(n, |a, b| hb[a][b] && facts.grouped(a, b, level) && avvisinc[a][b]);
    let (ssg, swg, sqf) = (near(Level::Subgroup), near(Level::Block), near(Level::QueueFamily));

    let avsg = makes_available(Level::Subgroup);
    let avwg = then(&[&maybe(&then(&[&avsg, &ssg])), &makes_available(Level::Block)]);
    let two = then(&[&maybe(&then(&[&avsg, &ssg])), &maybe(&then(&[&avwg, &swg]))]);
    let avqf = then(&[&two, &makes_available(Level::QueueFamily)]);
    let avsh = then(&[&two, &maybe(&then(&[&avqf, &sqf])), &makes_available(Level::Device)]);
    let vissg = makes_visible(Level::Subgroup);
    let viswg = then(&[&makes_visible(Level::Block), &maybe(&then(&[&ssg, &vissg]))]);
    let two = then(&[&maybe(&then(&[&swg, &viswg])), &maybe(&then(&[&ssg, &vissg]))]);
    let visqf = then(&[&makes_visible(Level::QueueFamily), &two]);
    let vissh = then(&[&makes_visible(Level::Device), &maybe(&then(&[&sqf, &visqf])), &two]);

    let shared = |a: usize| facts.is_access(a) && !facts.label(a).private;
    let near_op = maybe(&facts.po);
    let begin = pairs(n, |a, b| near_op[a][b] && avvisinc[a][b] && shared(a) && facts.writes(a));
    let end = pairs(n, |a, b| near_op[a][b] && avvisinc[a][b] && shared(b) && facts.reads(b));
    let mut ordered =
        pairs(n, |a, b| facts.same_thread(a, b) && hb[a][b] || facts.reads(a) && shared(a) && shared(b) && hb[a][b]);
    for (level, av, vis) in [
        (Level::Subgroup, &avsg, &vissg),
        (Level::Block, &avwg, &viswg),
        (Level::QueueFamily, &avqf, &visqf),
        (Level::System, &avsh, &vissh),
    ] {
        let across = then(&[&begin, av, &pairs(n, |a, b| hb[a][b] && facts.grouped(a, b, level))]);
        let read = then(&[&across, vis, &end]);
        ordered = pairs(n, |a, b| ordered[a][b] || across[a][b] && shared(b) && facts.writes(b) || read[a][b]);
    }
    pairs(n, |a, b| ordered[a][b] && facts.same_cell[a][b])
}
