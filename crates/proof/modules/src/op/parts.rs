//! What operations consist of, where that is more than operands.

use crate::functions::{Bin, Join, Tern, Test, Un};
use crate::operand::{Access, Reg, Src};

/// What an instruction does to each half of a word.
#[derive(Clone, Copy, Debug)]
pub enum Lanes {
    /// A function with one operand.
    One(Un),
    /// A function with two operands.
    Two(Bin),
    /// A function with three operands.
    Three(Tern),
    /// A comparison, and the half that stands for true: `set`.
    Test(Test, u64),
}

impl Lanes {
    /// The word with both halves' results.
    pub fn apply(self, a: u64, b: u64, c: u64) -> u64 {
        let half = |a, b, c| match self {
            Lanes::One(f) => f(a),
            Lanes::Two(f) => f(a, b),
            Lanes::Three(f) => f(a, b, c),
            Lanes::Test(f, yes) => u64::from(f(a, b)) * yes,
        };
        let (low, high) = (|word: u64| word & 0xFFFF, |word: u64| word >> 16 & 0xFFFF);
        half(high(a), high(b), high(c)) << 16 | half(low(a), low(b), low(c))
    }
}

/// `cp.async` (PTX ISA 8.8, 9.7.9.25.3.1).
#[derive(Debug)]
pub struct Copied {
    /// The source, in global memory; its items are those of the whole copy.
    pub from: Access,
    /// The target, in shared memory.
    pub to: Access,
    /// The number of items.
    pub items: u8,
    /// The bytes that are read, if a number of them is given; the others of the target become zero.
    pub read: Option<Src>,
    /// The predicate under which nothing is read, or [`NO_REG`](crate::code::NO_REG).
    pub ignore: Reg,
}

/// What a thread does at a barrier object that has to do with its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtObject {
    /// `cp.async.mbarrier.arrive`: the phase of the object is not over before the copies that the thread has begun are
    /// complete.
    Tracks,
    /// The thread is about to arrive at it.
    Arrives,
}

/// What a barrier gathers from the predicates of its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// `.popc`: the number of those that hold
    Count,
    /// `.and`
    All,
    /// `.or`
    Any,
}

/// `setp` and `set` in full.
#[derive(Debug)]
pub struct TestJoin {
    /// The comparison.
    pub f: Test,
    /// The join with the predicate: `.and`, `.or`, `.xor`.
    pub join: Join,
    /// What the first destination gets where the comparison holds: 1 for a predicate.
    pub yes: u64,
    /// The first destination.
    pub d: Reg,
    /// The second destination, of the negated comparison; or [`NO_REG`](crate::code::NO_REG).
    pub q: Reg,
    /// The first operand of the comparison.
    pub a: Src,
    /// The second operand of the comparison.
    pub b: Src,
    /// The predicate that is joined, or [`NO_REG`](crate::code::NO_REG).
    pub c: Reg,
    /// Whether the joined predicate is negated: `!c`.
    pub negated: bool,
}

/// `lop3` with a predicate (PTX ISA 8.8, 9.7.8.6).
#[derive(Debug)]
pub struct TableJoin {
    /// The table, of one bit for each combination of the operands' bits.
    pub table: u64,
    /// What joins "the result is not 0" with the predicate `q`.
    pub join: Join,
    /// The destination of the result, or [`NO_REG`](crate::code::NO_REG).
    pub d: Reg,
    /// The destination of the joined predicate.
    pub p: Reg,
    /// The operands.
    pub operands: [Src; 3],
    /// The predicate that is joined.
    pub q: Src,
    /// Whether the joined predicate is negated: `!q`.
    pub negated: bool,
}
