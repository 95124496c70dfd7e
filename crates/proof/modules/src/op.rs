//! The operations of the flat form.

mod outline;
mod parts;

use wattle_memory::Label;

use crate::exchange::Exchange;
use crate::functions::{Bin, Quad, Tern, Test, Un};
use crate::meaning::exact::Rounded;
use crate::operand::{Access, Carry, Convert, Fence, Guard, Ordering, Reg, Rmw, Special, Src};
use crate::types::Space;
use crate::value::Bitwise;
pub use outline::{Meeting, Next, Outline, Transfer};
pub use parts::{AtObject, Copied, Gather, Lanes, TableJoin, TestJoin};

/// An instruction with its guard.
#[derive(Debug)]
pub struct Step {
    /// The condition under which it runs.
    pub guard: Guard,
    /// The operation.
    pub op: Op,
}

/// The operation of an instruction.
#[derive(Debug)]
#[expect(missing_docs, reason = "d is the destination, a to c are the operands in their order")]
pub enum Op {
    Mov {
        d: Reg,
        a: Src,
    },
    Un {
        f: Un,
        bitwise: Bitwise,
        d: Reg,
        a: Src,
    },
    Bin {
        f: Bin,
        bitwise: Bitwise,
        d: Reg,
        a: Src,
        b: Src,
    },
    Tern {
        f: Tern,
        bitwise: Bitwise,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
    },
    Quad {
        f: Quad,
        bitwise: Bitwise,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
        e: Src,
    },
    /// A floating-point instruction whose rounding is not to the nearest; what it has no third operand for is its first
    /// one
    Rounded {
        how: Box<Rounded>,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
    },
    /// An instruction on each of the two halves of words: `.f16x2`, `.bf16x2`, `.u16x2`, `.s16x2`
    Halves {
        f: Lanes,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
    },
    /// What has a result that the specification leaves open for some operands, as `div` and `rem` of integers do (PTX
    /// ISA 9.7.1.7, 9.7.1.8)
    Partial {
        f: Bin,
        d: Reg,
        a: Src,
        b: Src,
        is_open: fn(u64, u64) -> bool,
    },
    /// `setp` with one destination and no predicate to join
    Test {
        f: Test,
        /// Whether the test asks which of two integers of 64 bits is the greater, as addresses are compared too.
        orders: bool,
        d: Reg,
        a: Src,
        b: Src,
    },
    TestJoin(Box<TestJoin>),
    /// `lop3.{or,and}`: `lop3` whose result also sets a predicate
    TableJoin(Box<TableJoin>),
    /// `selp`
    Select {
        d: Reg,
        a: Src,
        b: Src,
        p: Reg,
    },
    Convert {
        d: Reg,
        a: Src,
        how: Box<Convert>,
    },
    /// `cvt` of two numbers into one word, of which the second one becomes the low half
    ConvertTwo {
        d: Reg,
        a: Src,
        b: Src,
        how: Box<Convert>,
    },
    Carry {
        how: Carry,
        d: Reg,
        a: Src,
        b: Src,
    },
    /// `mad.cc`, `madc`: the carry goes with the sum of `c` and the product's half, which `f` gives
    CarryProduct {
        how: Carry,
        f: Bin,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
    },
    Special {
        which: Special,
        d: Reg,
    },
    /// `mov` of several registers into one; each has `bits` bits
    Pack {
        d: Reg,
        bits: u32,
        parts: Box<[Src]>,
    },
    Unpack {
        a: Src,
        bits: u32,
        parts: Box<[Reg]>,
    },
    /// `cvta`: generic to or from a space
    ToGeneric {
        space: Space,
        d: Reg,
        a: Src,
    },
    FromGeneric {
        space: Space,
        d: Reg,
        a: Src,
    },
    IsSpace {
        space: Space,
        d: Reg,
        a: Src,
    },
    Load {
        access: Access,
        d: Reg,
    },
    LoadMany {
        access: Access,
        d: Box<[Reg]>,
    },
    Store {
        access: Access,
        a: Src,
    },
    StoreMany {
        access: Access,
        a: Box<[Src]>,
    },
    /// `atom`, `red` (with [`NO_REG`](crate::code::NO_REG) as the destination)
    Rmw {
        access: Access,
        how: Rmw,
        d: Reg,
        a: Src,
    },
    /// `atom.cas`: the expected value, the new one
    Cas {
        access: Access,
        d: Reg,
        a: Src,
        b: Src,
        /// The label of its read where it succeeds, if that is another one than where it fails, which is the access's.
        succeeded: Option<Label>,
    },
    Fence(Fence),
    /// A fence or a barrier in the model's own terms
    Ordering(Box<Ordering>),
    /// `bar.sync a, b`: the barrier, and the number of threads if that is given
    Barrier {
        waits: bool,
        /// Whether all threads of a warp have to execute the same instruction.
        aligned: bool,
        a: Src,
        b: Option<Src>,
    },
    /// `bar.red`: the barrier, and what the predicates `p` of all threads that come to it give together
    BarrierReduce {
        how: Gather,
        /// Whether all threads of a warp have to execute the same instruction.
        aligned: bool,
        a: Src,
        b: Option<Src>,
        d: Reg,
        p: Reg,
        /// Whether the predicate is negated: `!p`.
        negated: bool,
    },
    /// `cp.async`: a copy that the thread begins
    Copy(Box<Copied>),
    /// `cp.async.commit_group`
    CopyGroup,
    /// `cp.async.wait_group`, after which all groups but the last ones are complete; without a number all copies
    CopyWait {
        but: Option<u32>,
    },
    /// What a thread does at a barrier object that has to do with its copies.
    CopyObject {
        access: Access,
        does: AtObject,
    },
    /// What the lanes of a warp in the member mask do together: `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`,
    /// `bar.warp.sync`, with the results `d` and `p`, which may be [`NO_REG`](crate::code::NO_REG)
    Exchange {
        how: Exchange,
        /// Whether the predicate `a` is negated: `!a`.
        negated: bool,
        d: Reg,
        p: Reg,
        a: Src,
        b: Src,
        c: Src,
        mask: Src,
    },
    /// A hint that changes no value: `prefetch`, `pmevent`
    Hint,
    /// `nanosleep`: other threads go on meanwhile
    Yield,
    Branch {
        target: u32,
    },
    /// `ret`, `exit`
    Exit,
    /// `trap`, or undefined behaviour: what has happened, in words.
    Trap(&'static str),
}

impl Op {
    /// Marks the first `operands` operands of an operation on numbers as going into the result bit by bit; other
    /// operations stay as they are.
    #[must_use]
    pub fn bit_by_bit(mut self, operands: u8) -> Op {
        if let Op::Un { bitwise, .. } | Op::Bin { bitwise, .. } | Op::Tern { bitwise, .. } | Op::Quad { bitwise, .. } =
            &mut self
        {
            *bitwise = Bitwise(operands);
        }
        self
    }

    /// Whether the operation does nothing but set its destinations from its operands.
    pub fn only_computes(&self) -> bool {
        match self {
            Op::Mov { .. }
            | Op::Un { .. }
            | Op::Bin { .. }
            | Op::Partial { .. }
            | Op::Tern { .. }
            | Op::Quad { .. }
            | Op::Rounded { .. }
            | Op::Halves { .. }
            | Op::Test { .. }
            | Op::TestJoin(_)
            | Op::TableJoin(_)
            | Op::Select { .. }
            | Op::Convert { .. }
            | Op::ConvertTwo { .. }
            | Op::Special { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::ToGeneric { .. }
            | Op::FromGeneric { .. }
            | Op::IsSpace { .. } => true,
            // The carry flag is a destination too.
            Op::Carry { .. }
            | Op::CarryProduct { .. }
            | Op::Load { .. }
            | Op::LoadMany { .. }
            | Op::Store { .. }
            | Op::StoreMany { .. }
            | Op::Rmw { .. }
            | Op::Cas { .. }
            | Op::Fence(_)
            | Op::Ordering(_)
            | Op::Barrier { .. }
            | Op::BarrierReduce { .. }
            | Op::Copy(_)
            | Op::CopyGroup
            | Op::CopyWait { .. }
            | Op::CopyObject { .. }
            | Op::Exchange { .. }
            | Op::Hint
            | Op::Yield
            | Op::Branch { .. }
            | Op::Exit
            | Op::Trap(_) => false,
        }
    }
}
