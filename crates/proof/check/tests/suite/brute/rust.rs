//! C++20 implemented a second time, in the form of RC11 (Lahav and others, PLDI 2017) without its ban on load
//! buffering. What is of block scope is atomic, and orders, within its block alone.

use wattle_memory::Level;

use super::facts::Facts;
use super::matrix::*;
use super::{Axioms, Choice};

pub struct Rust;

/// Whether each event's scope includes the other's thread, where there are blocks and nothing else.
fn in_scope(facts: &Facts, a: usize, b: usize) -> bool {
    let of_block = |a: usize| facts.label(a).level <= Level::Block;
    !(of_block(a) || of_block(b)) || facts.grouped(a, b, Level::Block)
}

impl Axioms for Rust {
    fn writes_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool {
        facts.atomic(a) && facts.atomic(b) && in_scope(facts, a, b)
    }

    fn fences_are_ordered(&self, _: &Facts, _: usize, _: usize) -> bool {
        false
    }

    fn judge(&self, facts: &Facts, choice: &Choice) -> Option<bool> {
        let n = facts.n;
        let both = |a: usize, b: usize| facts.atomic(a) && facts.atomic(b);
        let rf = pairs(n, |a, b| facts.rf[a][b] && both(a, b) && in_scope(facts, a, b));
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
        let chains = then(&[&from, &sequence, &rf, &to]);
        let synchronizes = pairs(n, |a, b| chains[a][b] && in_scope(facts, a, b));
        let hb = plus(&any(&[&facts.po, &synchronizes]));
        // [intro.races]/13 and /15: what happens-before says of the modification order.
        let writes = |a: usize, b: usize| a != b && facts.writes(a) && facts.writes(b) && facts.same_cell[a][b];
        let read_before = then(&[&facts.rf, &hb]);
        // A read-modify-write comes after what it reads ([atomics.order]/10).
        let orders = |a: usize, b: usize| hb[a][b] || read_before[a][b] || facts.rf[a][b];
        let mo = plus(&pairs(n, |a, b| choice.co[a][b] || writes(a, b) && orders(a, b)));
        let fr = facts.reads_before(&mo);
        // [atomics.order]/10: nothing comes between the halves of a read-modify-write that it is atomic with.
        let divides = |a: usize, b: usize| fr[a][b] && mo[b][a] && (in_scope(facts, a, b) || !both(a, b));
        if (0..n).any(|a| update(a) && (0..n).any(|b| divides(a, b))) {
            return None;
        }
        // The halves are events of their own: reads below `n`, writes behind them.
        let (half, is_write) = (|x: usize| x % n, |x: usize| x >= n);
        let lifted = |x: usize, y: usize| match (is_write(x), is_write(y)) {
            (true, false) => facts.rf[half(x)][half(y)],
            (true, true) => mo[half(x)][half(y)],
            (false, true) => fr[half(x)][half(y)],
            (false, false) => false,
        };
        let eco = plus(&pairs(2 * n, lifted));
        let before = |x: usize, y: usize| {
            hb[half(x)][half(y)] || half(x) == half(y) && update(half(x)) && !is_write(x) && is_write(y)
        };
        let contradicts = |x: usize, y: usize| eco[x][y] && (x == y || before(y, x));
        if !irreflexive(&hb) || (0..2 * n).any(|x| (0..2 * n).any(|y| contradicts(x, y))) {
            return None;
        }
        let communicates = pairs(n, |a, b| [a, a + n].iter().any(|&x| eco[x][b] || eco[x][b + n]));
        let between = any(&[&hb, &then(&[&hb, &communicates, &hb])]);
        if !acyclic(&pairs(n, |a, b| facts.sc_fence(a) && facts.sc_fence(b) && between[a][b] && in_scope(facts, a, b)))
        {
            return None;
        }
        let race = |a: usize, b: usize| {
            let atomic = both(a, b) && in_scope(facts, a, b);
            let ordered = hb[a][b] || hb[b][a];
            facts.conflict(a, b) && !atomic && !ordered
        };
        Some((0..n).any(|a| (0..n).any(|b| race(a, b))))
    }
}
