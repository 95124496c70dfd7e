//! What a few runs leave that stand for all executions, and the verdict on what is asserted of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use wattle_check::search::{Address, Answers, Setup, Statistics, counted_runs};

use super::assertion::{failed, item_value, left_open};
use crate::condition::{Condition, Item};
use crate::verdict::{Report, Verdict};
use crate::world::World;

/// The most events of an execution that is shown whole: as many as two blocks of two threads have that wait for each
/// other. The orders of those that several threads have are far too many for a search soon behind that.
const MOST_SHOWN: u64 = 32;

/// What the executions leave, where counters and barriers order all else.
pub(super) fn left_by_counted_runs(setup: &Setup<'_>) -> Option<Memories> {
    let counted = Answers::ALL.into_iter().find_map(|answers| counted_runs(setup, answers))?;
    let is_large = counted.is_large(MOST_SHOWN);
    Some(Memories { left: counted.memories, varying: counted.varying, is_large })
}

/// What a few runs that stand for all executions leave.
pub(super) struct Memories {
    left: Vec<Vec<(Address, u64)>>,
    /// The cells in which executions leave others than these values, with all that they can leave, where that is known.
    varying: BTreeMap<Address, Option<BTreeSet<u64>>>,
    /// Whether the executions are too large, or too many, to be shown: small ones are searched first.
    pub is_large: bool,
}

impl Memories {
    /// What runs leave if no execution leaves anything else.
    pub fn all(left: Vec<Vec<(Address, u64)>>) -> Memories {
        Memories { left, varying: BTreeMap::new(), is_large: true }
    }

    /// What is found without a search; `None` if the verdict depends on who is first.
    pub fn report(&self, world: &World, asserted: &[Condition]) -> Option<Report> {
        let statistics = Statistics { complete: self.left.len() as u64, ..Statistics::default() };
        Some(Report { verdict: self.verdict(world, asserted)?, statistics, note: None })
    }

    fn verdict(&self, world: &World, asserted: &[Condition]) -> Option<Verdict> {
        let mut verdict = Verdict::Holds;
        for (memory, condition) in self.left.iter().flat_map(|memory| asserted.iter().map(move |of| (memory, of))) {
            let value = |address: Address| {
                let at = memory.binary_search_by_key(&address, |(address, _)| *address).ok()?;
                Some(memory[at].1)
            };
            let seen = RefCell::new(BTreeSet::new());
            let noting = |address: Address| {
                seen.borrow_mut().extend(self.varying.contains_key(&address).then_some(address));
                value(address)
            };
            let one = verdict_on(world, condition, &noting);
            let next = match &Vec::from_iter(seen.into_inner())[..] {
                [] => one,
                // Whatever it is: the values may be more than some execution leaves.
                [open] => {
                    let holds = |&one: &u64| {
                        let value = |address: Address| if address == *open { Some(one) } else { value(address) };
                        matches!(verdict_on(world, condition, &value), Verdict::Holds)
                    };
                    let values = self.varying.get(open)?.as_ref()?;
                    values.iter().all(holds).then_some(Verdict::Holds)?
                }
                [..] => return None,
            };
            verdict = std::cmp::max_by_key(verdict, next, Verdict::rank);
        }
        Some(verdict)
    }
}

/// The verdict on an assertion about what an execution leaves.
fn verdict_on(world: &World, condition: &Condition, value: &dyn Fn(Address) -> Option<u64>) -> Verdict {
    let item = |item: Item| item_value(world, item, value);
    match condition.holds(&item) {
        Some(true) => Verdict::Holds,
        Some(false) => Verdict::Violated(failed(world, condition, &item), vec![]),
        None => Verdict::Unknown(left_open(world, condition, &item)),
    }
}
