//! Edits of single instructions, with which advice is tried out.

use std::collections::BTreeMap;

use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// The order and scope of an instruction, whichever kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// The order and scope of a fence; `None` if the fence is removed.
    Fence(Option<(FenceOrder, Scope)>),
    /// A fence replaced by the block's barrier.
    FenceAsBarrier,
    /// The order and scope of an atomic load.
    Load(ReadOrder, Scope),
    /// The order and scope of an atomic store.
    Store(WriteOrder, Scope),
    /// The order and scope of a read-modify-write.
    Update(UpdateOrder, Scope),
    /// Whether the block's barrier is present.
    Barrier(bool),
    /// The scope of a plain access that is made atomic; `None` leaves it plain.
    Plain(Option<Scope>),
}

impl Strength {
    /// The scope of an atomic access.
    pub fn scope(&self) -> Option<Scope> {
        match *self {
            Strength::Load(_, scope) | Strength::Store(_, scope) | Strength::Update(_, scope) => Some(scope),
            Strength::Fence(_) | Strength::FenceAsBarrier | Strength::Barrier(_) | Strength::Plain(_) => None,
        }
    }
}

/// The edits of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The new order and scope, if any.
    pub strength: Option<Strength>,
    /// The fence added right before the instruction.
    pub fence_before: Option<(FenceOrder, Scope)>,
    /// The fence added right after the instruction.
    pub fence_after: Option<(FenceOrder, Scope)>,
    /// Whether the block's barrier is added right before the instruction.
    pub barrier_before: bool,
}

impl Edit {
    /// The order and scope of an atomic load that had these.
    pub fn load(&self, order: ReadOrder, scope: Scope) -> (ReadOrder, Scope) {
        if let Some(Strength::Load(order, scope)) = self.strength { (order, scope) } else { (order, scope) }
    }

    /// The order and scope of an atomic store that had these.
    pub fn store(&self, order: WriteOrder, scope: Scope) -> (WriteOrder, Scope) {
        if let Some(Strength::Store(order, scope)) = self.strength { (order, scope) } else { (order, scope) }
    }

    /// The order and scope of a read-modify-write that had these.
    pub fn update(&self, order: UpdateOrder, scope: Scope) -> (UpdateOrder, Scope) {
        if let Some(Strength::Update(order, scope)) = self.strength { (order, scope) } else { (order, scope) }
    }

    /// The order and scope of a fence that had these; `None` if it is removed.
    pub fn fence(&self, order: FenceOrder, scope: Scope) -> Option<(FenceOrder, Scope)> {
        if let Some(Strength::Fence(fence)) = self.strength { fence } else { Some((order, scope)) }
    }

    /// The scope of a plain access that is made atomic; `otherwise` if it is not edited.
    pub fn plain(&self, otherwise: Option<Scope>) -> Option<Scope> {
        if let Some(Strength::Plain(scope)) = self.strength { scope } else { otherwise }
    }
}

/// The edits of the launches' programs, which have numbers in their world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// The edits of instructions, by the program's number and the instruction's.
    pub instructions: BTreeMap<(u32, u32), Edit>,
    /// The branches and loops before which the block's barrier is added, by the program's number: one of each program
    /// at most, which has no other edits, since its instructions have other numbers then.
    pub barriers: BTreeMap<u32, u32>,
}

impl Edits {
    /// Whether the programs are left as they are.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty() && self.barriers.is_empty()
    }

    /// The edit of an instruction, if any.
    pub fn of(&self, program: u32, at: u32) -> Option<&Edit> {
        self.instructions.get(&(program, at))
    }
}
