//! C++20 implemented a second time, in the form of RC11 (Lahav and others, PLDI 2017) without its ban on load
//! buffering.

use super::facts::Facts;
use super::matrix::*;
use super::{Axioms, Choice};

pub struct Rust;

impl Axioms for Rust {
    fn writes_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool {
        facts.atomic(a) && facts.atomic(b)
    }

    fn fences_are_ordered(&self, _: &Facts, _: usize, _: usize) -> bool {
        false
    }

    fn judge(&self, facts: &Facts, choice: &Choice) -> Option<bool> {
        let n = facts.n;
        let rf = pairs(n, |a, b| facts.rf[a][b] && facts.atomic(a) && facts.atomic(b));
        // [intro.races]/5: the release sequence is the write and the read-modify-writes that continue it.
        let update = |a: usize| facts.reads(a) && facts.writes(a);
        let continued = plus(&pairs(n, |a, b| rf[a][b] && update(b)));
        let sequence = maybe(&continued);
        let from = pairs(n, |first, write| {
            facts.writes(write)
                && facts.atomic(write)
                && facts.releases(first)
                && (first == write || facts.is_fence(first) && facts.po[first][write])
        });
        let to = pairs(n, |read, last| {
            facts.reads(read)
                && facts.atomic(read)
                && facts.acquires(last)
                && (read == last || facts.is_fence(last) && facts.po[read][last])
        });
        let synchronizes = then(&[&from, &sequence, &rf, &to]);
        let hb = plus(&any(&[&facts.po, &synchronizes]));
        // [intro.races]/13 and /15: what happens-before says of the modification order.
        let writes = |a: usize, b: usize| a != b && facts.writes(a) && facts.writes(b) && facts.same_cell[a][b];
        let read_before = then(&[&facts.rf, &hb]);
        // A read-modify-write comes after what it reads ([atomics.order]/10).
        let orders = |a: usize, b: usize| hb[a][b] || read_before[a][b] || facts.rf[a][b];
        let mo = plus(&pairs(n, |a, b| choice.co[a][b] || writes(a, b) && orders(a, b)));
        let fr = facts.reads_before(&mo);
        let eco = plus(&any(&[&facts.rf, &mo, &fr]));
        if !irreflexive(&hb) || !irreflexive(&eco) || !irreflexive(&then(&[&hb, &eco])) {
            return None;
        }
        let between = any(&[&hb, &then(&[&hb, &eco, &hb])]);
        if !acyclic(&pairs(n, |a, b| facts.sc_fence(a) && facts.sc_fence(b) && between[a][b])) {
            return None;
        }
        let race = |a: usize, b: usize| {
            let atomic = facts.atomic(a) && facts.atomic(b);
            let ordered = hb[a][b] || hb[b][a];
            facts.conflict(a, b) && !atomic && !ordered
        };
        Some((0..n).any(|a| (0..n).any(|b| race(a, b))))
    }
}
