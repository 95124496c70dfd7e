//! PTX ISA 8.5, section 8, implemented a second time from the text; and the portable model's difference.

use super::facts::Facts;
use super::matrix::*;
use super::{Axioms, Choice};

pub struct Ptx {
    /// Whether a release pattern goes on through later writes of the thread, and an acquire pattern begins with
    /// earlier reads (PTX), or not (portable).
    pub extended: bool,
}

/// 8.7.1: related in program order, or each strong with a scope that includes the other's thread; and if both are
/// memory operations, of one location.
pub fn morally_strong(facts: &Facts, a: usize, b: usize) -> bool {
    let strong = |a: usize| facts.is_fence(a) || facts.atomic(a);
    let overlap = !facts.is_access(a) || !facts.is_access(b) || facts.same_cell[a][b];
    a != b && overlap && (facts.same_thread(a, b) || strong(a) && strong(b) && facts.in_scope(a, b))
}

impl Axioms for Ptx {
    fn writes_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool {
        morally_strong(facts, a, b)
    }

    fn fences_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool {
        facts.sc_fence(a) && facts.sc_fence(b) && morally_strong(facts, a, b)
    }

    fn judge(&self, facts: &Facts, choice: &Choice) -> Option<bool> {
        let n = facts.n;
        let ms = pairs(n, |a, b| morally_strong(facts, a, b));
        let strong_write = |a: usize| facts.writes(a) && facts.atomic(a);
        let strong_read = |a: usize| facts.reads(a) && facts.atomic(a);

        // 8.8
        let release = pairs(n, |first, write| {
            strong_write(write)
                && (first == write && facts.releases(first)
                    || facts.po[first][write] && facts.is_fence(first) && facts.releases(first)
                    || self.extended
                        && facts.po[first][write]
                        && facts.same_cell[first][write]
                        && facts.releases(first))
        });
        let acquire = pairs(n, |read, last| {
            strong_read(read)
                && !facts.label(read).reduces
                && (read == last && facts.acquires(last)
                    || facts.po[read][last] && facts.is_fence(last) && facts.acquires(last)
                    || self.extended && facts.po[read][last] && facts.same_cell[read][last] && facts.acquires(last))
        });
        // 8.9.2: directly, or through an atomic operation.
        let direct = pairs(n, |a, b| facts.rf[a][b] && ms[a][b]);
        let onward = pairs(n, |a, b| direct[a][b] && facts.reads(a) && facts.writes(a));
        let observation = any(&[&direct, &then(&[&direct, &plus(&onward)])]);
        // 8.9.4: by patterns whose ends are morally strong, and by fences.
        let by_patterns = then(&[&release, &observation, &acquire]);
        let synchronizes = pairs(n, |a, b| by_patterns[a][b] && ms[a][b] || choice.fences[a][b]);
        // 8.9.5
        let base = plus(&any(&[&facts.po, &synchronizes]));
        let causality = any(&[&base, &then(&[&observation, &base])]);
        // 8.9.6, 8.10.1
        let both_write = |a: usize, b: usize| facts.writes(a) && facts.writes(b) && facts.same_cell[a][b];
        let caused = pairs(n, |a, b| both_write(a, b) && causality[a][b]);
        let co = plus(&any(&[&choice.co, &caused]));
        if !irreflexive(&co) {
            return None;
        }
        // 8.10.2
        let contradicts = |a: usize, b: usize| choice.fences[a][b] && causality[b][a];
        if (0..n).any(|a| (0..n).any(|b| contradicts(a, b))) {
            return None;
        }
        let fr = facts.reads_before(&co);
        // 8.10.3
        let torn = |atomic: usize, write: usize| {
            facts.reads(atomic) && facts.writes(atomic) && ms[atomic][write] && fr[atomic][write] && co[write][atomic]
        };
        if (0..n).any(|a| (0..n).any(|b| torn(a, b))) {
            return None;
        }
        // 8.10.5
        let communication = any(&[&facts.rf, &co, &fr]);
        if !acyclic(&pairs(n, |a, b| communication[a][b] && ms[a][b] || facts.po[a][b] && facts.same_cell[a][b])) {
            return None;
        }
        // 8.10.6. What is observed of a read-modify-write is its write, so its read precedes only what base causality
        // says; a plain read is not observed at all.
        for read in (0..n).filter(|&read| facts.reads(read)) {
            for write in (0..n).filter(|&write| facts.writes(write) && facts.same_cell[read][write]) {
                let from_later = base[read][write] && facts.source[read] == Some(write);
                let hidden = facts.source[read].is_none_or(|source| co[source][write]);
                if from_later || read != write && causality[write][read] && hidden {
                    return None;
                }
            }
        }
        // 8.7.1 asks of causality; the portable model of what happens before.
        let ordered = if self.extended { &causality } else { &base };
        let race = |a: usize, b: usize| facts.conflict(a, b) && !ms[a][b] && !ordered[a][b] && !ordered[b][a];
        Some((0..n).any(|a| (0..n).any(|b| race(a, b))))
    }
}
