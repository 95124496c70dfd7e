//! The counters that give tickets.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use wattle_ir::AtomicOp;
use wattle_memory::ThreadId;

use super::super::super::process::Address;
use super::super::chain::Addition;

/// The maximum number of tickets of a counter.
const MOST_PLACES: usize = 1 << 12;

/// A counter, with the values of its tickets.
pub struct Counter {
    pub address: Address,
    addition: Addition,
    /// The value before all of them.
    first: u64,
    given: Given,
    /// The threads that add.
    pub adders: Vec<ThreadId>,
}

/// The values that additions to a counter can return, as far as they have been given to units.
enum Given {
    /// All add the same: the values one behind the other, as far as they have been given, and the one behind these.
    Steps(Vec<u64>, u64),
    /// Each unit adds once, some more than others: for each the sums of what some of the others add, and the sum of
    /// all.
    Sums(FxHashMap<usize, Vec<u64>>, u64),
}

/// The tickets of a counter.
#[derive(Clone, Copy)]
pub struct Places {
    /// The maximum number of them.
    pub most: usize,
    /// Whether there are as many in each execution.
    pub exactly: bool,
}

impl Counter {
    /// A counter of which no tickets are given yet.
    pub fn new(address: Address, addition: Addition, first: u64) -> Counter {
        Counter { address, addition, first, given: Given::Steps(Vec::new(), first), adders: Vec::new() }
    }

    /// Whether an addition can take part as others do: it is the same, or, if all are known before any is given, of the
    /// same kind.
    pub fn has(&self, addition: Addition, is_begun: bool) -> bool {
        let ops = [addition.op, self.addition.op];
        let is_of_kind = ops == [AtomicOp::Add; 2] && addition.ty == self.addition.ty;
        match self.given {
            Given::Steps(..) if is_begun => addition == self.addition,
            Given::Steps(..) => is_of_kind || addition == self.addition,
            // They have been summed up.
            Given::Sums(..) => false,
        }
    }

    /// Takes the additions of all units, of which each makes one here, for different ones.
    pub fn sum_up(&mut self, additions: &[(usize, Addition)]) -> Option<()> {
        if additions.iter().all(|(_, addition)| *addition == self.addition) {
            return Some(());
        }
        let next = |value: u64, addition: Addition| {
            let next = addition.applied(value);
            (next >= value).then_some(next)
        };
        let mut sums = FxHashMap::default();
        for (unit, _) in additions {
            let mut values = BTreeSet::from([self.first]);
            for (_, addition) in additions.iter().filter(|(other, _)| other != unit) {
                let more = values.iter().map(|&value| next(value, *addition)).collect::<Option<Vec<_>>>()?;
                values.extend(more);
                if values.len() > MOST_PLACES {
                    return None;
                }
            }
            sums.insert(*unit, values.into_iter().collect());
        }
        let all = additions.iter().try_fold(self.first, |value, (_, addition)| next(value, *addition))?;
        self.given = Given::Sums(sums, all);
        Some(())
    }

    /// The number of tickets that are to be given to a unit.
    pub fn places(&self, unit: usize) -> usize {
        match &self.given {
            Given::Steps(values, _) => values.len(),
            Given::Sums(of, _) => of.get(&unit).map_or(0, Vec::len),
        }
    }

    /// The value of a ticket.
    pub fn value(&self, unit: usize, place: usize) -> Option<u64> {
        match &self.given {
            Given::Steps(values, _) => values.get(place).copied(),
            Given::Sums(of, _) => of.get(&unit)?.get(place).copied(),
        }
    }

    /// The number of tickets that have been given, where all units are given the same ones.
    pub fn steps(&self) -> Option<usize> {
        match &self.given {
            Given::Steps(values, _) => Some(values.len()),
            Given::Sums(..) => None,
        }
    }

    /// The value of the counter behind this number of additions, or, where each unit adds something else, behind all of
    /// them.
    pub fn after(&self, places: usize) -> u64 {
        match &self.given {
            Given::Steps(values, after) => values.get(places).copied().unwrap_or(*after),
            Given::Sums(_, all) => *all,
        }
    }

    /// Lengthens the chain of additions by `more` places; `None` if the counter has no chain, or it would be too long.
    pub fn extend(&mut self, more: usize) -> Option<()> {
        let Given::Steps(values, after) = &mut self.given else { return None };
        for _ in 0..more {
            values.push(*after);
            *after = self.addition.next(*after)?;
        }
        (values.len() <= MOST_PLACES).then_some(())
    }
}
