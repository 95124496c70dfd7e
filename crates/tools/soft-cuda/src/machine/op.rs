//! The machine's instructions: PTX with names, types and widths worked out beforehand.
//!
//! A register is a slot of 64 bits, of which its width is used and the rest is zero. An operand is a register or a
//! constant of the kernel. What an arithmetic instruction computes is a function on such bits.

use crate::ptx::types::Space;

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
    pub fn get(self, regs: &[u64], constants: &[u64]) -> u64 {
        if self.0 & CONSTANT == 0 { regs[self.0 as usize] } else { constants[(self.0 & !CONSTANT) as usize] }
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
    /// Not weak: relaxed, acquire, release, volatile.
    pub strong: bool,
    /// The address without the offset.
    pub base: Src,
    /// Added to the base.
    pub offset: i32,
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
    pub from: crate::ptx::types::Type,
    /// To this one.
    pub to: crate::ptx::types::Type,
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
    /// `atom`, `red` (without a destination)
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
    Fence,
    /// `bar.sync a, b`: the barrier, and the number of threads if that is told
    Barrier {
        waits: bool,
        a: Src,
        b: Option<Src>,
    },
    /// `bar.warp.sync`: threads run one by one, so there is nothing to do but to give others a turn
    Yield,
    Branch {
        target: u32,
    },
    /// `ret`, `exit`
    Exit,
    Trap,
    Nothing,
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
    /// Calls `read` for each register that it reads.
    pub fn reads(&self, mut read: impl FnMut(Reg)) {
        let mut src = |a: &Src| {
            if let Some(reg) = a.as_reg() {
                read(reg);
            }
        };
        match self {
            Op::Mov { a, .. }
            | Op::Un { a, .. }
            | Op::Convert { a, .. }
            | Op::Unpack { a, .. }
            | Op::ToGeneric { a, .. }
            | Op::FromGeneric { a, .. }
            | Op::IsSpace { a, .. } => src(a),
            Op::Bin { a, b, .. } | Op::Test { a, b, .. } | Op::Carry { a, b, .. } => [a, b].into_iter().for_each(src),
            Op::Tern { a, b, c, .. } => [a, b, c].into_iter().for_each(src),
            Op::TestJoin(test) => {
                [&test.a, &test.b].into_iter().for_each(src);
                if test.c != NO_REG {
                    read(test.c);
                }
            }
            Op::Select { a, b, p, .. } => {
                [a, b].into_iter().for_each(src);
                read(*p);
            }
            Op::Pack { parts, .. } => parts.iter().for_each(src),
            Op::Load { access, .. } | Op::LoadMany { access, .. } => src(&access.base),
            Op::Store { access, a } | Op::Rmw { access, a, .. } => [&access.base, a].into_iter().for_each(src),
            Op::StoreMany { access, a } => a.iter().chain([&access.base]).for_each(src),
            Op::Cas { access, a, b, .. } => [&access.base, a, b].into_iter().for_each(src),
            Op::Barrier { a, b, .. } => [Some(a), b.as_ref()].into_iter().flatten().for_each(src),
            Op::Special { .. } | Op::Fence | Op::Yield | Op::Branch { .. } | Op::Exit | Op::Trap | Op::Nothing => {}
        }
    }

    /// Calls `write` for each register that it writes.
    pub fn writes(&self, mut write: impl FnMut(Reg)) {
        match self {
            Op::Mov { d, .. }
            | Op::Un { d, .. }
            | Op::Bin { d, .. }
            | Op::Tern { d, .. }
            | Op::Test { d, .. }
            | Op::Select { d, .. }
            | Op::Convert { d, .. }
            | Op::Carry { d, .. }
            | Op::Special { d, .. }
            | Op::Pack { d, .. }
            | Op::ToGeneric { d, .. }
            | Op::FromGeneric { d, .. }
            | Op::IsSpace { d, .. }
            | Op::Load { d, .. }
            | Op::Cas { d, .. } => write(*d),
            Op::TestJoin(test) => [test.d, test.q].into_iter().filter(|&reg| reg != NO_REG).for_each(write),
            Op::Unpack { parts, .. } => parts.iter().copied().for_each(write),
            Op::LoadMany { d, .. } => d.iter().copied().for_each(write),
            Op::Rmw { d, .. } if *d != NO_REG => write(*d),
            Op::Rmw { .. }
            | Op::Store { .. }
            | Op::StoreMany { .. }
            | Op::Fence
            | Op::Barrier { .. }
            | Op::Yield
            | Op::Branch { .. }
            | Op::Exit
            | Op::Trap
            | Op::Nothing => {}
        }
    }
}
