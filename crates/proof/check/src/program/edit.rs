//! Changes of single instructions: how advice is tried out.

use std::collections::BTreeMap;

use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// The order and scope of an instruction, whichever kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// Of a fence; one that is not there has none.
    Fence(Option<(FenceOrder, Scope)>),
    /// A fence that is the block's barrier instead.
    FenceAsBarrier,
    /// Of an atomic load.
    Load(ReadOrder, Scope),
    /// Of an atomic store.
    Store(WriteOrder, Scope),
    /// Of a read-modify-write.
    Update(UpdateOrder, Scope),
    /// Of the block's barrier: whether it is there.
    Barrier(bool),
    /// Of a plain access: one that is made atomic has the scope.
    Plain(Option<Scope>),
}

/// What is changed about an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// Another order and scope.
    pub strength: Option<Strength>,
    /// A fence right before it.
    pub fence_before: Option<(FenceOrder, Scope)>,
    /// A fence right after it.
    pub fence_after: Option<(FenceOrder, Scope)>,
    /// The block's barrier right before it.
    pub barrier_before: bool,
}

/// Changes of the instructions of the launches' programs, by the program's number in its world and the instruction's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits(pub BTreeMap<(u32, u32), Edit>);

impl Edits {
    /// The change of an instruction.
    pub fn of(&self, program: u32, at: u32) -> Option<&Edit> {
        self.0.get(&(program, at))
    }
}
