//! The flat form: instructions with names, types and widths worked out beforehand.
//!
//! A register is a slot of 64 bits, of which its width is used and the rest is zero. An operand is a register or a
//! constant of the kernel. What an arithmetic instruction computes is a function on such bits, so a new one is a row of
//! the decoder alone; an instruction that needs its thread's owner has a member of [`Op`] and of
//! [`Effect`](crate::Effect).

use wattle_memory::{FenceOrder, Scope, UpdateOrder};

use crate::address;
pub use crate::module::{Global, Kernel, Module};
use crate::types::{Space, Type};
use crate::value::Value;

/// A register's slot.
pub type Reg = u32;

/// No register.
pub const NO_REG: Reg = u32::MAX;

/// A register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Src(u32);

const CONSTANT: u32 = 1 << 31;

impl Src {
    /// The register.
    pub fn reg(reg: Reg) -> Src {
        Src(reg)
    }

    /// The constant of that number.
    pub fn constant(index: u32) -> Src {
        Src(index | CONSTANT)
    }

    /// The register, if it is one.
    pub fn as_reg(self) -> Option<Reg> {
        (self.0 & CONSTANT == 0).then_some(self.0)
    }

    /// Its value.
    #[inline(always)]
    pub fn get<V: Value>(self, registers: &[V], constants: &[u64]) -> V {
        if self.0 & CONSTANT == 0 {
            registers[self.0 as usize]
        } else {
            V::of(constants[(self.0 & !CONSTANT) as usize])
        }
    }
}

/// One operand in, one out.
pub type Un = fn(u64) -> u64;
/// Two in.
pub type Bin = fn(u64, u64) -> u64;
/// Three in.
pub type Tern = fn(u64, u64, u64) -> u64;
/// A comparison.
pub type Test = fn(u64, u64) -> bool;
/// What joins a comparison with a predicate.
pub type Join = fn(bool, bool) -> bool;

/// Whether an instruction runs: always, or by a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// [`NO_REG`] for always.
    pub reg: Reg,
    /// `@!p`
    pub negated: bool,
}

/// An instruction with its guard.
#[derive(Debug)]
pub struct Step {
    /// When it runs.
    pub guard: Guard,
    /// What it does.
    pub op: Op,
}

/// What a load, a store or an atomic operation touches.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The space.
    pub space: Space,
    /// Bytes of one item.
    pub bytes: u8,
    /// For a signed load: the register's bits, to which the sign is extended. Otherwise 0.
    pub sign_to: u8,
    /// Whether the access is weak, or its order and scope.
    pub strength: Strength,
    /// The address without the offset.
    pub base: Src,
    /// Added to the base.
    pub offset: i32,
}

impl Access {
    /// The space that an address of this access is in, and the address there.
    #[inline(always)]
    pub fn place(&self, address: u64) -> (Space, u64) {
        if self.space == Space::Generic { address::generic(address) } else { (self.space, address) }
    }

    /// What a load puts into its register for the bytes that it has read, above which all bits are zero.
    #[inline(always)]
    pub fn extended(&self, bits: u64) -> u64 {
        if self.sign_to == 0 {
            return bits;
        }
        let shift = 64 - 8 * u32::from(self.bytes);
        ((bits << shift) as i64 >> shift) as u64 & (u64::MAX >> (64 - u32::from(self.sign_to)))
    }
}

/// Whether an access is weak; and if it is not, its order and its scope (PTX ISA 8.8, 8.4 "Operation types").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Ordered by nothing.
    Weak,
    /// `.relaxed`, `.acquire`, `.release`, `.acq_rel`, and `.volatile`, which is relaxed at system scope (9.7.9.8).
    Strong {
        /// Its order.
        order: UpdateOrder,
        /// Whom it is about.
        scope: Scope,
    },
}

impl Strength {
    /// Whether it is an atomic access: one that may race.
    pub fn is_strong(self) -> bool {
        self != Strength::Weak
    }
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Its order; `membar` is sequentially consistent (9.7.13.4).
    pub order: FenceOrder,
    /// Whom it is about.
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

/// A `cvt`.
#[derive(Clone, Copy, Debug)]
pub struct Convert {
    /// From this type.
    pub from: Type,
    /// To this one.
    pub to: Type,
    /// To an integral value.
    pub round: Option<Integral>,
    /// `.sat`
    pub saturate: bool,
    /// `.ftz`
    pub flush: bool,
    /// Bits of the destination's register.
    pub register: u32,
}

/// How a float becomes an integral value.
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
    /// Subtract.
    pub subtract: bool,
    /// The flag goes in.
    pub takes: bool,
    /// The flag comes out.
    pub gives: bool,
    /// 64 bits, else 32.
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

/// What an instruction does.
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
    /// `mov` of several registers into one; each has so many bits
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
    /// `bar.warp.sync` and `nanosleep`: other threads go on meanwhile
    Yield,
    Branch {
        target: u32,
    },
    /// `ret`, `exit`
    Exit,
    Trap,
}

/// `setp` in full.
#[derive(Debug)]
pub struct TestJoin {
    /// The comparison.
    pub f: Test,
    /// `.and`, `.or`, `.xor`
    pub join: Join,
    /// The first destination.
    pub d: Reg,
    /// The second one, of the negated comparison; or [`NO_REG`].
    pub q: Reg,
    /// Compared.
    pub a: Src,
    /// Compared.
    pub b: Src,
    /// The predicate that is joined, or [`NO_REG`].
    pub c: Reg,
    /// `!c`
    pub negated: bool,
}

impl Op {
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
            Op::Fence(_) | Op::Yield | Op::Branch { .. } | Op::Exit | Op::Trap => {}
        }
    }
}
