//! The flat form: instructions with resolved names, types and widths.
//!
//! A register is a slot of 64 bits, of which its width is used and the rest is zero. An operand is a register or a
//! constant of the kernel. An arithmetic instruction is a function on such bits, so a new one is a row of the decoder
//! alone; an instruction that needs its thread's owner has a member of [`Op`] and of [`Effect`](crate::Effect).

use wattle_memory::{FenceOrder, Scope, UpdateOrder};

use crate::address;
pub use crate::module::{Global, Kernel, Module, Source};
use crate::types::{Space, Type};
use crate::value::Value;

/// The slot number of a register.
pub type Reg = u32;

/// The slot number that stands for no register.
pub const NO_REG: Reg = u32::MAX;

/// A register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Src(u32);

const CONSTANT: u32 = 1 << 31;

impl Src {
    /// The operand that is the register.
    pub fn reg(reg: Reg) -> Src {
        Src(reg)
    }

    /// The operand that is the constant with that number.
    pub fn constant(index: u32) -> Src {
        Src(index | CONSTANT)
    }

    /// The register, if it is one.
    pub fn as_reg(self) -> Option<Reg> {
        (self.0 & CONSTANT == 0).then_some(self.0)
    }

    /// The value of the operand.
    #[inline(always)]
    pub fn get<V: Value>(self, registers: &[V], constants: &[u64]) -> V {
        if self.0 & CONSTANT == 0 {
            registers[self.0 as usize]
        } else {
            V::of(constants[(self.0 & !CONSTANT) as usize])
        }
    }
}

/// A function with one operand.
pub type Un = fn(u64) -> u64;
/// A function with two operands.
pub type Bin = fn(u64, u64) -> u64;
/// A function with three operands.
pub type Tern = fn(u64, u64, u64) -> u64;
/// A comparison of two operands.
pub type Test = fn(u64, u64) -> bool;
/// A function that joins a comparison with a predicate.
pub type Join = fn(bool, bool) -> bool;

/// The condition under which an instruction runs: always, or by a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register; [`NO_REG`] for always.
    pub reg: Reg,
    /// Whether the predicate is negated: `@!p`.
    pub negated: bool,
}

/// An instruction with its guard.
#[derive(Debug)]
pub struct Step {
    /// The condition under which it runs.
    pub guard: Guard,
    /// The operation.
    pub op: Op,
}

/// The memory that a load, a store or an atomic operation accesses.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The state space.
    pub space: Space,
    /// The size of one item in bytes.
    pub bytes: u8,
    /// For a signed load, the register's width in bits, to which the sign is extended; otherwise 0.
    pub sign_to: u8,
    /// Whether the access is weak, or its order and scope.
    pub strength: Strength,
    /// The address without the offset.
    pub base: Src,
    /// The offset in bytes that is added to the base.
    pub offset: i32,
}

impl Access {
    /// The space of an address of this access, and the address in that space.
    #[inline(always)]
    pub fn place(&self, address: u64) -> (Space, u64) {
        if self.space == Space::Generic { address::generic(address) } else { (self.space, address) }
    }

    /// The register value for the bytes that a load has read, above which all bits are zero.
    #[inline(always)]
    pub fn extended(&self, bits: u64) -> u64 {
        if self.sign_to == 0 {
            return bits;
        }
        let shift = 64 - 8 * u32::from(self.bytes);
        ((bits << shift) as i64 >> shift) as u64 & (u64::MAX >> (64 - u32::from(self.sign_to)))
    }
}

/// The strength of an access: weak, or with order and scope (PTX ISA 8.8, 8.4 "Operation types").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// A weak access, which is not ordered.
    Weak,
    /// `.volatile`: relaxed at system scope (9.7.9.8). CUDA C++ gives it no meaning between threads.
    Volatile,
    /// `.relaxed`, `.acquire`, `.release` and `.acq_rel`.
    Strong {
        /// The memory order.
        order: UpdateOrder,
        /// The scope.
        scope: Scope,
    },
}

impl Strength {
    /// Whether it is a strong access, which may race.
    pub fn is_strong(self) -> bool {
        self != Strength::Weak
    }
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The order; `membar` is sequentially consistent (9.7.13.4).
    pub order: FenceOrder,
    /// The scope.
    pub scope: Scope,
}

/// Read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rmw {
    /// `exch`
    Exchange,
    /// `add` of integers
    Add,
    /// `add.f32`, with subnormal numbers flushed to zero
    AddSingleFlushed,
    /// `add.f32`
    AddSingle,
    /// `add.f64`
    AddDouble,
    /// `inc.u32`
    Inc,
    /// `dec.u32`
    Dec,
    /// `min` of unsigned integers
    MinUnsigned,
    /// `max` of unsigned integers
    MaxUnsigned,
    /// `min` of signed integers
    MinSigned,
    /// `max` of signed integers
    MaxSigned,
    /// `and`
    And,
    /// `or`
    Or,
    /// `xor`
    Xor,
}

/// A conversion instruction, `cvt`.
#[derive(Clone, Copy, Debug)]
pub struct Convert {
    /// The source type.
    pub from: Type,
    /// The destination type.
    pub to: Type,
    /// The rounding to an integral value, if any.
    pub round: Option<Integral>,
    /// Whether the result saturates: `.sat`.
    pub saturate: bool,
    /// Whether subnormal numbers are flushed to zero: `.ftz`.
    pub flush: bool,
    /// The width of the destination's register in bits.
    pub register: u32,
}

/// The rounding of a float to an integral value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integral {
    /// `.rni`: to the nearest, ties to even
    Nearest,
    /// `.rzi`: towards zero
    Zero,
    /// `.rmi`: downwards
    Down,
    /// `.rpi`: upwards
    Up,
}

/// Add and subtract with the carry flag.
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    /// Whether it subtracts.
    pub subtract: bool,
    /// Whether the carry flag is an input.
    pub takes: bool,
    /// Whether the carry flag is an output.
    pub gives: bool,
    /// Whether the operands have 64 bits; otherwise 32.
    pub wide: bool,
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid`
    Thread(u8),
    /// `%ntid`
    Threads(u8),
    /// `%ctaid`
    Block(u8),
    /// `%nctaid`
    Blocks(u8),
    /// `%laneid`
    Lane,
    /// `%warpid`
    Warp,
    /// `%nwarpid`
    Warps,
    /// `%smid`
    Sm,
    /// `%nsmid`
    Sms,
    /// `%gridid`
    Grid,
    /// `%clock`, `%clock64`: instructions that the launch has executed
    Clock,
    /// `%globaltimer`: nanoseconds
    Timer,
    /// `%dynamic_smem_size`
    DynamicShared,
    /// `%total_smem_size`
    TotalShared,
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
        d: Reg,
        a: Src,
    },
    Bin {
        f: Bin,
        d: Reg,
        a: Src,
        b: Src,
    },
    Tern {
        f: Tern,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
    },
    /// `setp` with one destination and no predicate to join
    Test {
        f: Test,
        d: Reg,
        a: Src,
        b: Src,
    },
    TestJoin(Box<TestJoin>),
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
    Carry {
        how: Carry,
        d: Reg,
        a: Src,
        b: Src,
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
    },
    Fence(Fence),
    /// `bar.sync a, b`: the barrier, and the number of threads if that is given
    Barrier {
        waits: bool,
        a: Src,
        b: Option<Src>,
    },
    /// What the lanes of a warp in the member mask do together: `shfl.sync`, `vote.sync`, `redux.sync`, `bar.warp.sync`,
    /// with the results `d` and `p`, which may be [`NO_REG`]
    Exchange {
        how: Exchange,
        d: Reg,
        p: Reg,
        a: Src,
        b: Src,
        c: Src,
        mask: Src,
    },
    /// `nanosleep`: other threads go on meanwhile
    Yield,
    Branch {
        target: u32,
    },
    /// `ret`, `exit`
    Exit,
    Trap,
}

/// What the lanes of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// `bar.warp.sync`
    Barrier,
    /// `shfl.sync.up`
    Up,
    /// `shfl.sync.down`
    Down,
    /// `shfl.sync.bfly`
    Butterfly,
    /// `shfl.sync.idx`
    Index,
    /// `vote.sync`
    Vote(Vote),
    /// `redux.sync`
    Reduce(Reduction),
}

/// The operations of `redux.sync`, on 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// `.add`
    Add,
    /// `.min.u32`
    MinUnsigned,
    /// `.max.u32`
    MaxUnsigned,
    /// `.min.s32`
    MinSigned,
    /// `.max.s32`
    MaxSigned,
    /// `.and`
    And,
    /// `.or`
    Or,
    /// `.xor`
    Xor,
}

/// What a vote asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// `.any`
    Any,
    /// `.all`
    All,
    /// `.ballot`
    Ballot,
}

/// `setp` in full.
#[derive(Debug)]
pub struct TestJoin {
    /// The comparison.
    pub f: Test,
    /// The join with the predicate: `.and`, `.or`, `.xor`.
    pub join: Join,
    /// The first destination.
    pub d: Reg,
    /// The second one, of the negated comparison; or [`NO_REG`].
    pub q: Reg,
    /// The first operand of the comparison.
    pub a: Src,
    /// The second operand of the comparison.
    pub b: Src,
    /// The predicate that is joined, or [`NO_REG`].
    pub c: Reg,
    /// Whether the joined predicate is negated: `!c`.
    pub negated: bool,
}

impl Op {
    /// The memory that it accesses, if it does.
    pub fn access(&self) -> Option<&Access> {
        match self {
            Op::Load { access, .. }
            | Op::LoadMany { access, .. }
            | Op::Store { access, .. }
            | Op::StoreMany { access, .. }
            | Op::Rmw { access, .. }
            | Op::Cas { access, .. } => Some(access),
            Op::Mov { .. }
            | Op::Un { .. }
            | Op::Bin { .. }
            | Op::Tern { .. }
            | Op::Test { .. }
            | Op::TestJoin(_)
            | Op::Select { .. }
            | Op::Convert { .. }
            | Op::Carry { .. }
            | Op::Special { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::ToGeneric { .. }
            | Op::FromGeneric { .. }
            | Op::IsSpace { .. }
            | Op::Fence(_)
            | Op::Barrier { .. }
            | Op::Exchange { .. }
            | Op::Yield
            | Op::Branch { .. }
            | Op::Exit
            | Op::Trap => None,
        }
    }

    /// Whether it writes memory.
    pub fn is_write(&self) -> bool {
        matches!(self, Op::Store { .. } | Op::StoreMany { .. } | Op::Rmw { .. } | Op::Cas { .. })
    }

    /// Calls `read` for each register that it reads, and `write` for each that it writes.
    pub fn registers(&self, mut read: impl FnMut(Reg), mut write: impl FnMut(Reg)) {
        let mut sources = |sources: &[Src]| sources.iter().filter_map(|src| src.as_reg()).for_each(&mut read);
        let mut results = |results: &[Reg]| results.iter().filter(|&&reg| reg != NO_REG).for_each(|&reg| write(reg));
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
            Op::Bin { d, a, b, .. } | Op::Test { d, a, b, .. } | Op::Carry { d, a, b, .. } => {
                sources(&[*a, *b]);
                results(&[*d]);
            }
            Op::Tern { d, a, b, c, .. } => {
                sources(&[*a, *b, *c]);
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
                sources(&[access.base]);
                results(&[*d]);
            }
            Op::LoadMany { access, d } => {
                sources(&[access.base]);
                results(d);
            }
            Op::Store { access, a } => sources(&[access.base, *a]),
            Op::StoreMany { access, a } => {
                sources(&[access.base]);
                sources(a);
            }
            Op::Rmw { access, d, a, .. } => {
                sources(&[access.base, *a]);
                results(&[*d]);
            }
            Op::Cas { access, d, a, b } => {
                sources(&[access.base, *a, *b]);
                results(&[*d]);
            }
            Op::Barrier { a, b, .. } => {
                sources(&[*a]);
                sources(b.as_slice());
            }
            Op::Exchange { d, p, a, b, c, mask, .. } => {
                sources(&[*a, *b, *c, *mask]);
                results(&[*d, *p]);
            }
            Op::Fence(_) | Op::Yield | Op::Branch { .. } | Op::Exit | Op::Trap => {}
        }
    }
}
