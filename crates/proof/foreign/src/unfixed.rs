//! Values that nothing fixes: those of memory that nobody has written, of push constants that nobody has given, and
//! undefined ones. A thread carries them along ([`Deferred::Any`](wattle_modules::Deferred)); here is which memory
//! holds them, and which instructions they decide.
//!
//! A search finds out that a cell holds one, and then begins again: so all of its reads give one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wattle_check::search::Address;
use wattle_core::lock;
use wattle_memory::ThreadId;

/// A thread: its launch, its block there, and its own number in that.
pub type Storer = (u32, u32, u32);

/// What holds values that nothing fixes, and what they decide.
#[derive(Debug, Default)]
pub struct Unfixed {
    /// The cells that hold one, each with the thread that stores it there if that is one alone.
    cells: BTreeMap<Address, Option<Storer>>,
    /// The memories any cell of which may hold one.
    memories: BTreeSet<u32>,
    /// The lanes that give one to the others of their warp, each with the instance of the warp's meeting.
    given: BTreeSet<(u64, ThreadId)>,
    found: Mutex<NewlyFound>,
    /// The instructions that such a value lets run or not, and those whose address it is.
    decided: Mutex<(BTreeSet<u32>, BTreeSet<u32>)>,
}

/// What a search has found that was not known before.
#[derive(Debug, Default)]
struct NewlyFound {
    cells: BTreeMap<Address, Option<Storer>>,
    memories: BTreeSet<u32>,
    given: BTreeSet<(u64, ThreadId)>,
}

impl NewlyFound {
    fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.memories.is_empty() && self.given.is_empty()
    }
}

impl Unfixed {
    fn new_ones(&self) -> MutexGuard<'_, NewlyFound> {
        lock(&self.found)
    }

    /// Whether a cell may hold a value that nothing fixes.
    pub fn holds(&self, address: Address) -> bool {
        self.memories.contains(&address.memory) || self.cells.contains_key(&address)
    }

    /// Whether a thread that reads a cell may get one. What it has not stored yet it does not read: where no other
    /// thread stores one there, the cell has had the others' values until then.
    pub fn gives(&self, address: Address, reader: Storer, has_stored: bool) -> bool {
        let only_later = self.cells.get(&address) == Some(&Some(reader)) && !has_stored;
        self.holds(address) && (!only_later || self.memories.contains(&address.memory))
    }

    /// The cells that hold a value that nothing fixes, and the first cell of each memory in which any cell may hold
    /// one.
    pub fn all(&self) -> impl Iterator<Item = Address> {
        let anywhere = self.memories.iter().map(|&memory| Address { memory, element: 0 });
        self.cells.keys().copied().chain(anywhere)
    }

    /// Records that a cell holds a value that nothing fixes, which a thread stored or which is there from the
    /// beginning; returns whether that is new, so that the search has to begin again.
    pub fn found(&self, address: Address, by: Option<Storer>) -> bool {
        let is_known = match self.cells.get(&address) {
            Some(known) => known.is_none() || *known == by,
            None => self.memories.contains(&address.memory),
        };
        if !is_known {
            let mut found = self.new_ones();
            let one = found.cells.entry(address).or_insert(by);
            *one = one.filter(|one| Some(*one) == by && !self.cells.contains_key(&address));
        }
        !is_known
    }

    /// Records that any cell of a memory may hold a value that nothing fixes; returns whether that is new, so that the
    /// search has to begin again.
    pub fn found_anywhere(&self, memory: u32) -> bool {
        let is_new = !self.memories.contains(&memory);
        if is_new {
            self.new_ones().memories.insert(memory);
        }
        is_new
    }

    /// Whether a lane gives a value that nothing fixes to the others of its warp when they meet.
    pub fn is_given(&self, meeting: u64, thread: ThreadId) -> bool {
        self.given.contains(&(meeting, thread))
    }

    /// Records that a lane gives a value that nothing fixes to the others of its warp; where that is new, the search
    /// has to begin again.
    pub fn found_given(&self, meeting: u64, thread: ThreadId) {
        if !self.is_given(meeting, thread) {
            self.new_ones().given.insert((meeting, thread));
        }
    }

    /// Whether a search has found more of them.
    pub fn has_grown(&self) -> bool {
        !self.new_ones().is_empty()
    }

    /// Whether one matters to a run, which does not begin again: it decides something, is an address, or goes to other
    /// threads.
    pub fn matters(&self) -> bool {
        let (decided, addressed) = &*lock(&self.decided);
        self.has_grown() || !decided.is_empty() || !addressed.is_empty()
    }

    /// Takes over what a search has found; returns whether it has to begin again. What such values decide is found
    /// anew.
    pub fn grow(&mut self) -> bool {
        let found = std::mem::take(self.found.get_mut().unwrap_or_else(PoisonError::into_inner));
        let again = !found.is_empty();
        self.cells.extend(found.cells);
        self.memories.extend(found.memories);
        self.given.extend(found.given);
        if again {
            *self.decided.get_mut().unwrap_or_else(PoisonError::into_inner) = Default::default();
        }
        again
    }

    /// Records that one decides whether an instruction runs.
    pub fn decides(&self, at: u32) {
        lock(&self.decided).0.insert(at);
    }

    /// Records that one is the address of an instruction.
    pub fn addresses(&self, at: u32) {
        lock(&self.decided).1.insert(at);
    }

    /// The instructions that they let run or not, and those whose address they are.
    pub fn decided(&self) -> (BTreeSet<u32>, BTreeSet<u32>) {
        lock(&self.decided).clone()
    }
}
