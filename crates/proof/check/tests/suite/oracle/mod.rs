//! An oracle for the checker that shares no code with it: random scenarios on the simulated device.
//!
//! Whatever one seed of the simulated device reports, the checker must report too, and every outcome that a seed leaves
//! must be among the checker's. The simulated device runs sequentially consistent interleavings, so it shows a part of
//! what the portable model allows; the checker may well report more.

#![allow(dead_code, reason = "each of those who use it uses its part")]

pub mod campaign;
pub mod generate;
mod kernel;
mod lower;
mod motifs;
pub mod run;
pub mod shrink;
mod text;

use wattle_ir::{AtomicOp, WarpOp};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// The number of elements of each memory of a case.
pub const LEN: u32 = 3;
/// The number of registers of each thread; all are written to the observations when a launch's thread ends.
pub const REGISTERS: u8 = 4;

/// Launches over the same buffers: `data` (plain accesses), `flags` (atomic ones), and the threads' observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Whether `data` is unwritten before the first launch.
    pub unwritten: bool,
    pub launches: Vec<Launch>,
}

/// A kernel and its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The number of its queue. Launches of one queue follow each other, others run at the same time.
    pub queue: usize,
    pub blocks: u32,
    pub threads: u32,
    /// The lanes of a warp.
    pub lanes: u32,
    pub body: Vec<Step>,
}

/// A memory that all kernels use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A buffer with plain accesses.
    Data,
    /// A buffer with atomic accesses.
    Flags,
    /// Shared memory of the block with plain accesses.
    Tile,
    /// Shared memory of the block with atomic accesses.
    Marks,
}

/// An element of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub memory: Memory,
    pub index: Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    At(u32),
    /// The index that a register holds, which may be out of bounds.
    Register(u8),
    Who(Who),
}

/// A condition on a thread's position in the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Thread,
    Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Is(u32),
    Register(u8),
    /// The value of a register plus one.
    Next(u8),
    /// The number of the thread or block plus one.
    Who(Who),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    Register { register: u8, equals: bool, value: u32 },
    Who { who: Who, value: u32 },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Load {
        to: u8,
        cell: Cell,
    },
    Store {
        cell: Cell,
        value: Value,
    },
    AtomicLoad {
        to: u8,
        cell: Cell,
        order: ReadOrder,
        scope: Scope,
    },
    AtomicStore {
        cell: Cell,
        value: Value,
        order: WriteOrder,
        scope: Scope,
    },
    Update {
        to: u8,
        op: AtomicOp,
        cell: Cell,
        value: Value,
        order: UpdateOrder,
        scope: Scope,
    },
    CompareExchange {
        to: u8,
        cell: Cell,
        expected: u32,
        desired: Value,
        order: UpdateOrder,
        scope: Scope,
    },
    Fence {
        order: FenceOrder,
        scope: Scope,
    },
    Barrier,
    /// An operation of the warp on a register; of votes, on whether it holds 1.
    Warp {
        to: u8,
        op: WarpOp,
        value: u8,
        operand: u32,
    },
    WarpBarrier,
    If {
        test: Test,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// A loop `for _ in 0..count`.
    Repeat {
        count: u32,
        body: Vec<Step>,
    },
    /// A loop `loop { body; look; if until { break }; failed }`: `look` reads the register that `until` tests.
    Wait {
        body: Vec<Step>,
        look: Box<Step>,
        until: Test,
        failed: Vec<Step>,
    },
    Assert {
        test: Test,
    },
    /// Divides 6 by a register, which may hold 0.
    Divide {
        to: u8,
        by: u8,
    },
    Return,
}

/// Whether some statement of a body satisfies the predicate.
pub fn any(body: &[Step], asks: &mut dyn FnMut(&Step) -> bool) -> bool {
    body.iter().any(|step| {
        let looks = if let Step::Wait { look, .. } = step { asks(look) } else { false };
        looks || asks(step) || step.blocks().into_iter().any(|block| any(block, asks))
    })
}

/// The blocks of statements within a step, borrowed as the step is.
macro_rules! blocks_of {
    ($step:expr) => {
        match $step {
            Step::If { then, otherwise, .. } => vec![then, otherwise],
            Step::Repeat { body, .. } => vec![body],
            Step::Wait { body, failed, .. } => vec![body, failed],
            Step::Load { .. }
            | Step::Store { .. }
            | Step::AtomicLoad { .. }
            | Step::AtomicStore { .. }
            | Step::Update { .. }
            | Step::CompareExchange { .. }
            | Step::Fence { .. }
            | Step::Barrier
            | Step::Warp { .. }
            | Step::WarpBarrier
            | Step::Assert { .. }
            | Step::Divide { .. }
            | Step::Return => vec![],
        }
    };
}

impl Step {
    /// The element that the statement itself accesses, if any.
    fn cell(&self) -> Option<Cell> {
        match *self {
            Step::Load { cell, .. }
            | Step::Store { cell, .. }
            | Step::AtomicLoad { cell, .. }
            | Step::AtomicStore { cell, .. }
            | Step::Update { cell, .. }
            | Step::CompareExchange { cell, .. } => Some(cell),
            Step::Fence { .. }
            | Step::Barrier
            | Step::Warp { .. }
            | Step::WarpBarrier
            | Step::If { .. }
            | Step::Repeat { .. }
            | Step::Wait { .. }
            | Step::Assert { .. }
            | Step::Divide { .. }
            | Step::Return => None,
        }
    }

    /// The blocks of statements within this one.
    pub fn blocks(&self) -> Vec<&Vec<Step>> {
        blocks_of!(self)
    }

    /// The blocks of statements within this one, mutable.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Step>> {
        blocks_of!(self)
    }
}
