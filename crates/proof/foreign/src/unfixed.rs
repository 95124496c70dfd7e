//! Values that nothing fixes: those of memory that nobody has written, of push constants that nobody has given, and
//! undefined ones. A thread carries them along ([`Deferred::Any`](wattle_modules::Deferred)); here is which memory holds
//! them, and which instructions they decide.
//!
//! A search finds out that a cell holds one, and then begins again: so all of its reads give one.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use wattle_check::search::Address;

/// What holds values that nothing fixes, and what they decide.
#[derive(Debug, Default)]
pub struct Unfixed {
    cells: BTreeSet<Address>,
    /// The memories any cell of which may hold one.
    memories: BTreeSet<u32>,
    found: Mutex<(BTreeSet<Address>, BTreeSet<u32>)>,
    /// The instructions that such a value lets run or not, and those whose address it is.
    decided: Mutex<(BTreeSet<u32>, BTreeSet<u32>)>,
}

impl Unfixed {
    /// Whether a cell may hold one.
    pub fn holds(&self, address: Address) -> bool {
        self.memories.contains(&address.memory) || self.cells.contains(&address)
    }

    /// Records that a cell holds one; returns whether that is new, so that the search has to begin again.
    pub fn found(&self, address: Address) -> bool {
        let is_new = !self.holds(address);
        if is_new {
            self.found.lock().unwrap_or_else(PoisonError::into_inner).0.insert(address);
        }
        is_new
    }

    /// Records that any cell of a memory may hold one.
    pub fn found_anywhere(&self, memory: u32) -> bool {
        let is_new = !self.memories.contains(&memory);
        if is_new {
            self.found.lock().unwrap_or_else(PoisonError::into_inner).1.insert(memory);
        }
        is_new
    }

    /// Whether a search has found more of them.
    pub fn has_grown(&self) -> bool {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        !found.0.is_empty() || !found.1.is_empty()
    }

    /// Takes over what a search has found; returns whether it has to begin again. What such values decide is found anew.
    pub fn grow(&mut self) -> bool {
        let (cells, memories) = std::mem::take(self.found.get_mut().unwrap_or_else(PoisonError::into_inner));
        let again = !cells.is_empty() || !memories.is_empty();
        self.cells.extend(cells);
        self.memories.extend(memories);
        if again {
            *self.decided.get_mut().unwrap_or_else(PoisonError::into_inner) = Default::default();
        }
        again
    }

    /// Records that one decides whether an instruction runs.
    pub fn decides(&self, at: u32) {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).0.insert(at);
    }

    /// Records that one is the address of an instruction.
    pub fn addresses(&self, at: u32) {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).1.insert(at);
    }

    /// The instructions that they let run or not, and those whose address they are.
    pub fn decided(&self) -> (BTreeSet<u32>, BTreeSet<u32>) {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
