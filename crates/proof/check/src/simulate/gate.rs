//! A place where threads of a module meet: the arrivals at it, and what they meet for.

use wattle_ir::{Site, Type, WarpOp};
use wattle_memory::Label;

use super::clock::Clock;
use crate::search::{Barrier, Members};

/// A barrier of a module's block, or an operation of a warp, with the arrivals that belong together.
pub(super) struct Gate {
    pub instance: u64,
    pub members: Members,
    pub arrivals: Vec<Arrival>,
    /// What those pass on that have passed, where later ones pass at once.
    pub passed: Option<[Clock; 2]>,
}

/// The arrival of a thread at a gate.
pub(super) struct Arrival {
    /// The thread's number in its block.
    pub number: u32,
    pub site: Site,
    pub barrier: Barrier,
    pub meets: Meets,
    /// What it passes on: of all memory, or of buffers and of the block's memory where they are ordered each by itself.
    pub gives: [Clock; 2],
}

/// What threads meet for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meets {
    /// A barrier, which orders memory as far as it acquires and releases.
    Barrier(Label),
    /// An operation of a warp with the lane's value and operand, which orders nothing.
    Exchange { op: WarpOp, ty: Type, value: u64, operand: u32 },
}
