//! What operations are made of: registers and constants, guards, accesses, orders, and the kinds of an operation that
//! differ in a word.

use wattle_memory::{FenceOrder, Label, Level, Scope, UpdateOrder};

use crate::address;
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
    /// An operand that reads a register.
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

/// The condition under which an instruction runs: always, or by a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register; [`NO_REG`] for always.
    pub reg: Reg,
    /// Whether the predicate is negated: `@!p`.
    pub negated: bool,
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
    /// Whether the memory must not be written while the kernel runs: `ld.global.nc` (PTX ISA 8.8, 9.7.9.9).
    pub read_only: bool,
    /// Whether addresses have 32 bits, beyond which they wrap round: the base is a register of that width.
    pub narrow: bool,
    /// The address without the offset.
    pub base: Src,
    /// The offset in bytes that is added to the base.
    pub offset: i32,
}

impl Access {
    /// The address from that of the base.
    #[inline(always)]
    pub fn address(&self, base: u64) -> u64 {
        let address = base.wrapping_add_signed(i64::from(self.offset));
        if self.narrow { address & u64::from(u32::MAX) } else { address }
    }

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
    /// An access in the model's own terms, as SPIR-V has them: the labels of its read and its write.
    Labels {
        /// The label of what it reads.
        read: Label,
        /// The label of what it writes.
        write: Label,
    },
}

impl Strength {
    /// Whether the access is strong: strong ones in each other's scope do not race.
    pub fn is_strong(self) -> bool {
        match self {
            Strength::Weak => false,
            Strength::Volatile | Strength::Strong { .. } => true,
            Strength::Labels { read, .. } => read.atomic,
        }
    }
}

/// What orders without an access, in the model's own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// A fence.
    Fence(Label),
    /// A control barrier among the threads of a workgroup or of a subgroup.
    Barrier {
        /// The group whose threads wait for each other.
        among: Level,
        /// The label of an arrival.
        label: Label,
    },
}

/// A fence of PTX: `fence`, `membar`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The order; `membar` is sequentially consistent (9.7.13.4).
    pub order: FenceOrder,
    /// The scope of the fence.
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
    /// `add.noftz.f16`
    AddHalf,
    /// `add.noftz.bf16`
    AddBrain,
    /// The lesser of two floats of 32 bits
    MinSingle,
    /// The greater of two floats of 32 bits
    MaxSingle,
    /// The lesser of two floats of 64 bits
    MinDouble,
    /// The greater of two floats of 64 bits
    MaxDouble,
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
    /// The rounding of a float that the destination's format does not have.
    pub rounding: Rounding,
    /// Whether the result saturates: `.sat`.
    pub saturate: bool,
    /// Whether a negative result becomes zero: `.relu`.
    pub relu: bool,
    /// Whether subnormal numbers are flushed to zero: `.ftz`.
    pub flush: bool,
    /// The width of the destination's register in bits.
    pub register: u32,
}

impl Convert {
    /// Whether each bit of the result is one of the source's, or 0.
    pub fn keeps_bits(&self) -> bool {
        self.from.is_integer() && self.to.is_integer() && !self.saturate
    }
}

/// A rounding of a result that no number of the format equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// `.rn`: to the nearest, ties to even
    #[default]
    Nearest,
    /// `.rz`: towards zero
    Zero,
    /// `.rm`: downwards
    Down,
    /// `.rp`: upwards
    Up,
}

impl Rounding {
    /// The rounding that a modifier such as `rz` names.
    pub fn named(word: &str) -> Option<Rounding> {
        Some(match word {
            "rn" => Rounding::Nearest,
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            "rp" => Rounding::Up,
            _ => return None,
        })
    }
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
    /// Whether the instruction subtracts; else it adds.
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
    /// `%lanemask_lt` and the others
    LaneMask(LaneMask),
    /// `activemask`: the lanes that execute it together, among them the thread's own (PTX ISA 8.8, 9.7.13.11)
    Active,
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
    /// `%envreg1`, `%envreg2`: the high and the low word of the address of a cooperative launch's workspace, or 0 (the
    /// CUDA toolkit's `cooperative_groups/details/driver_abi.h`)
    Workspace(u8),
    /// `%dynamic_smem_size`
    DynamicShared,
    /// `%total_smem_size`
    TotalShared,
}

/// The lanes of a mask, seen from the thread's own: `%lanemask_eq` to `%lanemask_gt` (PTX ISA 8.8, 10.17 to 10.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneMask {
    /// `%lanemask_eq`
    Equal,
    /// `%lanemask_le`
    AtMost,
    /// `%lanemask_lt`
    Below,
    /// `%lanemask_ge`
    AtLeast,
    /// `%lanemask_gt`
    Above,
}

impl LaneMask {
    /// The mask of a lane, of which a warp has 32.
    pub fn of(self, lane: u32) -> u32 {
        let own = 1 << (lane & 31);
        match self {
            LaneMask::Equal => own,
            LaneMask::AtMost => own | (own - 1),
            LaneMask::Below => own - 1,
            LaneMask::AtLeast => !(own - 1),
            LaneMask::Above => !(own | (own - 1)),
        }
    }
}
