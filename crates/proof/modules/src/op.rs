//! The operations of the flat form, and what all analyses of them need.

mod parts;

use wattle_memory::Label;

use crate::code::{
    Access, Bin, Bitwise, Carry, Convert, Fence, NO_REG, Ordering, Quad, Reg, Rmw, Rounded, Special, Src, Step, Tern,
    Test, Un,
};
use crate::exchange::Exchange;
use crate::types::Space;
pub use parts::{AtObject, Copied, Gather, Lanes, TableJoin, TestJoin};

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
    /// A floating-point instruction whose rounding is not to the nearest; what it has no third operand for is its first one
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
    /// What has a result that the specification leaves open for some operands, as `div` and `rem` of integers do (PTX ISA
    /// 9.7.1.7, 9.7.1.8)
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
        /// Whether it asks which of two integers of 64 bits is the greater, as addresses are compared too.
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
    /// `atom`, `red` (with [`NO_REG`] as the destination)
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
    /// `bar.warp.sync`, with the results `d` and `p`, which may be [`NO_REG`]
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
    /// The same operation on numbers, whose first operands go into the result bit by bit.
    #[must_use]
    pub fn bit_by_bit(mut self, operands: u8) -> Op {
        if let Op::Un { bitwise, .. } | Op::Bin { bitwise, .. } | Op::Tern { bitwise, .. } | Op::Quad { bitwise, .. } =
            &mut self
        {
            *bitwise = Bitwise(operands);
        }
        self
    }

    /// Whether it does nothing but set its destinations from its operands.
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

impl Op {
    /// What it moves between memory and registers, if it is a load or a store that is not also something else.
    pub fn transfer(&self) -> Option<Transfer<'_>> {
        match self {
            Op::Load { access, d } => Some(Transfer::Load(access, std::slice::from_ref(d))),
            Op::LoadMany { access, d } => Some(Transfer::Load(access, d)),
            Op::Store { access, a } => Some(Transfer::Store(access, std::slice::from_ref(a))),
            Op::StoreMany { access, a } => Some(Transfer::Store(access, a)),
            // Atomic operations are both, and copies go from memory to memory.
            Op::Rmw { .. } | Op::Cas { .. } | Op::Copy(_) | Op::CopyObject { .. } => None,
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
            | Op::IsSpace { .. }
            | Op::Carry { .. }
            | Op::CarryProduct { .. }
            | Op::Fence(_)
            | Op::Ordering(_)
            | Op::Barrier { .. }
            | Op::BarrierReduce { .. }
            | Op::CopyGroup
            | Op::CopyWait { .. }
            | Op::Exchange { .. }
            | Op::Hint
            | Op::Yield
            | Op::Branch { .. }
            | Op::Exit
            | Op::Trap(_) => None,
        }
    }
}

/// What there is to know of an operation without its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Outline<'o> {
    /// The memory that it accesses, if it does.
    pub access: Option<&'o Access>,
    /// Whether it gives its thread a value of that memory.
    pub reads_memory: bool,
    /// Whether it may write to that memory.
    pub writes_memory: bool,
    /// Whether what it writes depends on the value that it finds being a certain one.
    pub compares: bool,
    /// How threads meet at it, if they do.
    pub meeting: Option<Meeting>,
    /// Which step comes next, where no guard keeps it from being executed.
    pub next: Next,
}

/// How threads meet at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The threads of a block, or those that a barrier counts, wait for one another, or arrive there without waiting.
    Barrier,
    /// The threads that wait for one another get what their predicates give together.
    Gathering,
    /// The lanes of a warp do something together.
    Lanes {
        /// What they do.
        how: Exchange,
        /// The operands that decide who takes part and who gets whose value; the values themselves are not among them.
        deciding: [Src; 3],
    },
}

/// What an access that is a load or a store moves between memory and its thread's registers.
#[derive(Clone, Copy, Debug)]
pub enum Transfer<'o> {
    /// A load, and the registers that it sets, the first one from the lowest address.
    Load(&'o Access, &'o [Reg]),
    /// A store, and the operands that it writes, the first one to the lowest address.
    Store(&'o Access, &'o [Src]),
}

/// The step that comes after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The one behind it.
    Follows,
    /// The one of this number.
    Jumps(u32),
    /// None: the thread, or the launch, has ended.
    Ends,
}

impl Op {
    /// Calls `read` for each register that it reads, and `write` for each that it writes; returns what else there is to
    /// know of it without its meaning.
    pub fn outline(&self, mut read: impl FnMut(Reg), mut write: impl FnMut(Reg)) -> Outline<'_> {
        let mut sources = |sources: &[Src]| sources.iter().filter_map(|src| src.as_reg()).for_each(&mut read);
        let mut results = |results: &[Reg]| results.iter().filter(|&&reg| reg != NO_REG).for_each(|&reg| write(reg));
        let none = Outline {
            access: None,
            reads_memory: false,
            writes_memory: false,
            compares: false,
            meeting: None,
            next: Next::Follows,
        };
        let mut outline = none;
        let mut memory = |access, reads_memory, writes_memory| {
            outline = Outline { access: Some(access), reads_memory, writes_memory, ..none };
        };
        match self {
            Op::Mov { d, a }
            | Op::Un { d, a, .. }
            | Op::Convert { d, a, .. }
            | Op::ToGeneric { d, a, .. }
            | Op::FromGeneric { d, a, .. }
            | Op::IsSpace { d, a, .. } => {
                sources(&[*a]);
                results(&[*d]);
            }
            Op::Bin { d, a, b, .. }
            | Op::Partial { d, a, b, .. }
            | Op::Test { d, a, b, .. }
            | Op::Carry { d, a, b, .. }
            | Op::ConvertTwo { d, a, b, .. } => {
                sources(&[*a, *b]);
                results(&[*d]);
            }
            Op::Tern { d, a, b, c, .. }
            | Op::Rounded { d, a, b, c, .. }
            | Op::Halves { d, a, b, c, .. }
            | Op::CarryProduct { d, a, b, c, .. } => {
                sources(&[*a, *b, *c]);
                results(&[*d]);
            }
            Op::Quad { d, a, b, c, e, .. } => {
                sources(&[*a, *b, *c, *e]);
                results(&[*d]);
            }
            Op::TestJoin(test) => {
                let TestJoin { d, q, a, b, c, .. } = **test;
                sources(&[a, b]);
                if c != NO_REG {
                    sources(&[Src::reg(c)]);
                }
                results(&[d, q]);
            }
            Op::TableJoin(logic) => {
                sources(&logic.operands);
                sources(&[logic.q]);
                results(&[logic.d, logic.p]);
            }
            Op::Select { d, a, b, p } => {
                sources(&[*a, *b, Src::reg(*p)]);
                results(&[*d]);
            }
            Op::Special { d, .. } => results(&[*d]),
            Op::Pack { d, parts, .. } => {
                sources(parts);
                results(&[*d]);
            }
            Op::Unpack { a, parts, .. } => {
                sources(&[*a]);
                results(parts);
            }
            Op::Load { access, d } => {
                memory(access, true, false);
                sources(&[access.base]);
                results(&[*d]);
            }
            Op::LoadMany { access, d } => {
                memory(access, true, false);
                sources(&[access.base]);
                results(d);
            }
            Op::Store { access, a } => {
                memory(access, false, true);
                sources(&[access.base, *a]);
            }
            Op::StoreMany { access, a } => {
                memory(access, false, true);
                sources(&[access.base]);
                sources(a);
            }
            Op::Rmw { access, d, a, .. } => {
                memory(access, true, true);
                sources(&[access.base, *a]);
                results(&[*d]);
            }
            Op::Cas { access, d, a, b, .. } => {
                memory(access, true, true);
                outline.compares = true;
                sources(&[access.base, *a, *b]);
                results(&[*d]);
            }
            Op::Barrier { a, b, .. } => {
                outline.meeting = Some(Meeting::Barrier);
                sources(&[*a]);
                sources(b.as_slice());
            }
            Op::BarrierReduce { a, b, d, p, .. } => {
                outline.meeting = Some(Meeting::Gathering);
                sources(&[*a, Src::reg(*p)]);
                sources(b.as_slice());
                results(&[*d]);
            }
            Op::Copy(copied) => {
                memory(&copied.to, false, true);
                sources(&[copied.from.base, copied.to.base]);
                sources(copied.read.as_slice());
                if copied.ignore != NO_REG {
                    sources(&[Src::reg(copied.ignore)]);
                }
            }
            Op::CopyObject { access, .. } => sources(&[access.base]),
            Op::Exchange { how, d, p, a, b, c, mask, .. } => {
                outline.meeting = Some(Meeting::Lanes { how: *how, deciding: [*b, *c, *mask] });
                sources(&[*a, *b, *c, *mask]);
                results(&[*d, *p]);
            }
            Op::Branch { target } => outline.next = Next::Jumps(*target),
            Op::Exit | Op::Trap(_) => outline.next = Next::Ends,
            Op::Ordering(ordering) => match **ordering {
                Ordering::Barrier { .. } => outline.meeting = Some(Meeting::Barrier),
                Ordering::Fence(_) => {}
            },
            Op::Fence(_) | Op::CopyGroup | Op::CopyWait { .. } | Op::Hint | Op::Yield => {}
        }
        outline
    }
}

impl Step {
    /// The step to which it may jump.
    pub fn target(&self) -> Option<usize> {
        match self.op.outline(|_| {}, |_| {}).next {
            Next::Jumps(target) => Some(target as usize),
            Next::Follows | Next::Ends => None,
        }
    }

    /// Whether the next step may follow it: with a guard it always may.
    pub fn falls_through(&self) -> bool {
        self.guard.reg != NO_REG || self.op.outline(|_| {}, |_| {}).next == Next::Follows
    }
}
