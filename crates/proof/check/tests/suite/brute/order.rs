//! The models that are orders of accesses, judged by writing down all such orders.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::matrix::{Matrix, pairs};

/// Keeps all of program order.
pub fn sequential(facts: &Facts) -> Matrix {
    facts.po.clone()
}

/// The part of program order that the textbook's model keeps.
pub fn textbook(facts: &Facts) -> Matrix {
    pairs(facts.n, |a, b| {
        let fenced = (a + 1..b).any(|fence| {
            facts.is_fence(fence)
                && (facts.sc_fence(fence)
                    || facts.acquires(fence) && facts.reads(a)
                    || facts.releases(fence) && facts.writes(b))
        });
        let own = facts.reads(a) && facts.acquires(a) || facts.writes(b) && facts.releases(b);
        facts.po[a][b] && facts.is_access(a) && facts.is_access(b) && (facts.same_cell[a][b] || fenced || own)
    })
}

/// The orders of the writes of each cell, over all orders of the accesses that keep `kept` and explain every read.
pub fn orders(facts: &Facts, kept: &Matrix) -> BTreeSet<Vec<(u64, usize)>> {
    let mut found = BTreeSet::new();
    extend(facts, kept, &mut Vec::new(), &mut found);
    found
}

fn extend(facts: &Facts, kept: &Matrix, placed: &mut Vec<usize>, found: &mut BTreeSet<Vec<(u64, usize)>>) {
    let accesses = (0..facts.n).filter(|&a| facts.is_access(a));
    let mut left = accesses.clone().filter(|a| !placed.contains(a)).peekable();
    if left.peek().is_none() {
        let mut writes: Vec<_> = placed
            .iter()
            .filter(|&&a| facts.writes(a))
            .filter_map(|&a| facts.events[a].cell.map(|cell| (cell, a)))
            .collect();
        writes.sort_by_key(|&(cell, _)| cell);
        found.insert(writes);
        return;
    }
    for next in left.collect::<Vec<_>>() {
        let ready = accesses.clone().all(|earlier| !kept[earlier][next] || placed.contains(&earlier));
        let last = placed.iter().rev().find(|&&write| facts.writes(write) && facts.same_cell[write][next]);
        if ready && (!facts.reads(next) || facts.source[next] == last.copied()) {
            placed.push(next);
            extend(facts, kept, placed, found);
            placed.pop();
        }
    }
}
