//! What slots hold at a point of the code, as far as it shows: a slot is a variable, and is loaded only where it does
//! not.

use rspirv::spirv::Word;
use rustc_hash::FxHashMap;
use wattle_ir::{SlotId, Stmt};

use crate::emit::Emitter;

/// The values that slots hold at a point of the code.
#[derive(Default)]
pub struct Held {
    values: FxHashMap<SlotId, Word>,
    /// What was held before each change.
    changes: Vec<Change>,
}

struct Change {
    slot: SlotId,
    before: Option<Word>,
    /// Whether the slot was set; else it was loaded.
    is_set: bool,
}

impl Held {
    pub fn value(&self, slot: SlotId) -> Option<Word> {
        self.values.get(&slot).copied()
    }

    /// Notes that a slot has been set to a value.
    pub fn set(&mut self, slot: SlotId, value: Word) {
        self.change(slot, Some(value), true);
    }

    /// Notes that a slot has been loaded.
    pub fn loaded(&mut self, slot: SlotId, value: Word) {
        self.change(slot, Some(value), false);
    }

    /// Notes that slots may hold anything.
    pub fn lose(&mut self, slots: &[SlotId]) {
        for &slot in slots {
            self.change(slot, None, true);
        }
    }

    fn change(&mut self, slot: SlotId, value: Option<Word>, is_set: bool) {
        let before = match value {
            Some(value) => self.values.insert(slot, value),
            None => self.values.remove(&slot),
        };
        self.changes.push(Change { slot, before, is_set });
    }

    /// Goes back to what was held after so many changes; gives the slots that have been set since.
    fn go_back(&mut self, mark: usize) -> Vec<SlotId> {
        let mut set = Vec::new();
        for Change { slot, before, is_set } in self.changes.drain(mark..).rev() {
            match before {
                Some(value) => self.values.insert(slot, value),
                None => self.values.remove(&slot),
            };
            if is_set && !set.contains(&slot) {
                set.push(slot);
            }
        }
        set
    }
}

impl Emitter<'_> {
    /// Emits code that only some of the ways to what stands behind it come through: nothing that it has computed is
    /// known there. Gives the slots that it sets besides.
    pub(crate) fn on_some_ways<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> (T, Vec<SlotId>) {
        let (made, changes) = (self.asm.made(), self.held.changes.len());
        let value = make(self);
        self.asm.forget(made);
        (value, self.held.go_back(changes))
    }
}

/// The slots that statements set.
pub fn set_in(blocks: &[&[Stmt]]) -> Vec<SlotId> {
    let mut set = Vec::new();
    let mut open = blocks.to_vec();
    while let Some(block) = open.pop() {
        for stmt in block {
            set.extend(stmt.assigned());
            open.extend(stmt.blocks().map(Vec::as_slice));
        }
    }
    set.sort_unstable();
    set.dedup();
    set
}
