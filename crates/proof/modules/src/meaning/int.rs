//! Integer instructions (PTX ISA 9.7.1, 9.7.2, 9.7.8 "Logic and Shift Instructions").

use crate::functions::{Bin, Tern, Un};
use crate::operand::Carry;
use crate::types::{Sort, Type};

/// The integer types that instructions work on, in the registers' bits.
trait Int: Copy + Ord {
    const BITS: u32;
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn high(self, other: Self) -> Self;
    /// The product in twice the bits.
    fn wide(self, other: Self) -> u64;
    /// The quotient; a division by zero sets all bits, as machines do, since the ISA leaves it open.
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    /// The value shifted to the right; shifts by more than the width clamp.
    fn shr(self, by: u64) -> Self;
    fn add_saturated(self, other: Self) -> Self;
    fn sub_saturated(self, other: Self) -> Self;
}

macro_rules! int {
    ($ty:ty, $bits:ty, $wide:ty, $wide_bits:ty) => {
        impl Int for $ty {
            const BITS: u32 = <$ty>::BITS;
            fn of(bits: u64) -> Self {
                bits as $ty
            }
            fn bits(self) -> u64 {
                u64::from(self as $bits)
            }
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn high(self, other: Self) -> Self {
                ((self as $wide * other as $wide) >> <$ty>::BITS) as $ty
            }
            fn wide(self, other: Self) -> u64 {
                (self as $wide * other as $wide) as $wide_bits as u64
            }
            fn div(self, other: Self) -> Self {
                if other == 0 { !0 } else { self.wrapping_div(other) }
            }
            fn rem(self, other: Self) -> Self {
                if other == 0 { self } else { self.wrapping_rem(other) }
            }
            fn neg(self) -> Self {
                (0 as $ty).wrapping_sub(self)
            }
            fn abs(self) -> Self {
                #[allow(unused_comparisons, reason = "unsigned types have no negative values")]
                if self < 0 { (0 as $ty).wrapping_sub(self) } else { self }
            }
            fn shr(self, by: u64) -> Self {
                #[allow(unused_comparisons, reason = "unsigned types have no negative values")]
                let all = if self < 0 { !0 } else { 0 };
                if by < u64::from(<$ty>::BITS) { self >> by } else { all }
            }
            fn add_saturated(self, other: Self) -> Self {
                self.saturating_add(other)
            }
            fn sub_saturated(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
        }
    };
}

int!(u16, u16, u32, u32);
int!(i16, u16, i32, u32);
int!(u32, u32, u64, u64);
int!(i32, u32, i64, u64);
int!(u64, u64, u128, u128);
int!(i64, u64, i128, u128);

/// Integer instructions with two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the instructions' names")]
pub enum Two {
    Add,
    AddSaturated,
    Sub,
    SubSaturated,
    MulLo,
    MulHi,
    MulWide,
    Div,
    Rem,
    Min,
    Max,
}

fn two_of<T: Int>(which: Two) -> Bin {
    match which {
        Two::Add => |a, b| T::of(a).add(T::of(b)).bits(),
        Two::AddSaturated => |a, b| T::of(a).add_saturated(T::of(b)).bits(),
        Two::Sub => |a, b| T::of(a).sub(T::of(b)).bits(),
        Two::SubSaturated => |a, b| T::of(a).sub_saturated(T::of(b)).bits(),
        Two::MulLo => |a, b| T::of(a).mul(T::of(b)).bits(),
        Two::MulHi => |a, b| T::of(a).high(T::of(b)).bits(),
        Two::MulWide => |a, b| T::of(a).wide(T::of(b)),
        Two::Div => |a, b| T::of(a).div(T::of(b)).bits(),
        Two::Rem => |a, b| T::of(a).rem(T::of(b)).bits(),
        Two::Min => |a, b| T::of(a).min(T::of(b)).bits(),
        Two::Max => |a, b| T::of(a).max(T::of(b)).bits(),
    }
}

/// The function of an instruction with two operands.
pub fn two(which: Two, ty: Type) -> Bin {
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 16) => two_of::<u16>(which),
        (true, 16) => two_of::<i16>(which),
        (false, 32) => two_of::<u32>(which),
        (true, 32) => two_of::<i32>(which),
        (false, _) => two_of::<u64>(which),
        (true, _) => two_of::<i64>(which),
    }
}

/// Whether `div` and `rem` of that type leave their result open for two operands: "Division by zero yields an
/// unspecified, machine-specific value" (PTX ISA 9.7.1.7), and nothing is said of the quotient that the type cannot
/// hold.
pub fn leaves_open(ty: Type) -> fn(u64, u64) -> bool {
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 16) => |_, b| b as u16 == 0,
        (false, 32) => |_, b| b as u32 == 0,
        (false, _) => |_, b| b == 0,
        (true, 16) => |a, b| (a as i16).checked_div(b as i16).is_none(),
        (true, 32) => |a, b| (a as i32).checked_div(b as i32).is_none(),
        (true, _) => |a, b| (a as i64).checked_div(b as i64).is_none(),
    }
}

fn mad_of<T: Int>(which: Two) -> Tern {
    match which {
        Two::MulHi => |a, b, c| T::of(a).high(T::of(b)).add(T::of(c)).bits(),
        Two::MulWide => |a, b, c| {
            let sum = T::of(a).wide(T::of(b)).wrapping_add(c);
            if T::BITS < 32 { sum & 0xFFFF_FFFF } else { sum }
        },
        _ => |a, b, c| T::of(a).mul(T::of(b)).add(T::of(c)).bits(),
    }
}

/// The function of `mad`, which keeps the product's low half, its high half, or all of it.
pub fn mad(which: Two, ty: Type) -> Tern {
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 16) => mad_of::<u16>(which),
        (true, 16) => mad_of::<i16>(which),
        (false, 32) => mad_of::<u32>(which),
        (true, 32) => mad_of::<i32>(which),
        (false, _) => mad_of::<u64>(which),
        (true, _) => mad_of::<i64>(which),
    }
}

fn one_of<T: Int>(negate: bool) -> Un {
    if negate { |a| T::of(a).neg().bits() } else { |a| T::of(a).abs().bits() }
}

/// The function of `neg` or `abs` of a signed type.
pub fn one(negate: bool, ty: Type) -> Un {
    match ty.bits {
        16 => one_of::<i16>(negate),
        32 => one_of::<i32>(negate),
        _ => one_of::<i64>(negate),
    }
}

/// The function of `shl.bN`: shifts beyond the width give 0.
pub fn shl(bits: u32) -> Bin {
    match bits {
        16 => |a, b| if b < 16 { (a << b) & 0xFFFF } else { 0 },
        32 => |a, b| if b < 32 { (a << b) & 0xFFFF_FFFF } else { 0 },
        _ => |a, b| if b < 64 { a << b } else { 0 },
    }
}

/// The function of `shr`: shifts beyond the width give 0, or the sign in all bits.
pub fn shr(ty: Type) -> Bin {
    fn of<T: Int>() -> Bin {
        |a, b| T::of(a).shr(b).bits()
    }
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 16) => of::<u16>(),
        (true, 16) => of::<i16>(),
        (false, 32) => of::<u32>(),
        (true, 32) => of::<i32>(),
        (false, _) => of::<u64>(),
        (true, _) => of::<i64>(),
    }
}

/// The function of `not`; a predicate has one bit.
pub fn not(bits: u32) -> Un {
    match bits {
        1 => |a| !a & 1,
        16 => |a| !a & 0xFFFF,
        32 => |a| !a & 0xFFFF_FFFF,
        _ => |a| !a,
    }
}

/// The functions of `popc`, `clz`, `brev`, `bfind`: by name, for 32 bits or 64.
pub fn count(name: &str, ty: Type) -> Option<Un> {
    let wide = ty.bits == 64;
    let signed = ty.sort == Sort::Signed;
    Some(match (name, wide) {
        ("popc", _) => |a| u64::from(a.count_ones()),
        ("clz", true) => |a| u64::from(a.leading_zeros()),
        ("clz", false) => |a| u64::from((a as u32).leading_zeros()),
        ("brev", true) => |a| a.reverse_bits(),
        ("brev", false) => |a| u64::from((a as u32).reverse_bits()),
        // The position of the highest bit that differs from the sign; all bits set if there is none.
        ("bfind", _) => match (wide, signed) {
            (false, false) => |a| highest(a),
            (true, false) => |a| highest(a),
            (false, true) => |a| highest(u64::from((a as u32) ^ ((a as i32 >> 31) as u32))),
            (true, true) => |a| highest(a ^ ((a as i64 >> 63) as u64)),
        },
        _ => return None,
    })
}

fn highest(a: u64) -> u64 {
    if a == 0 { 0xFFFF_FFFF } else { u64::from(63 - a.leading_zeros()) }
}

/// `bfe`: bits `pos..pos + len`, with the sign of the topmost one for signed types (9.7.1.20).
fn extract<const WIDTH: u32, const SIGNED: bool>(a: u64, pos: u64, len: u64) -> u64 {
    let (pos, len) = ((pos & 0xFF) as u32, (len & 0xFF) as u32);
    let top = WIDTH - 1;
    let bit = |at: u32| a >> at.min(63) & 1;
    let sign = if !SIGNED || len == 0 { 0 } else { bit((pos + len - 1).min(top)) };
    let mut d = 0;
    for at in 0..WIDTH {
        let value = if at < len && pos + at <= top { bit(pos + at) } else { sign };
        d |= value << at;
    }
    d
}

/// The function of `bfe` of that type.
pub fn bfe(ty: Type) -> Tern {
    match (ty.sort == Sort::Signed, ty.bits) {
        (false, 32) => extract::<32, false>,
        (true, 32) => extract::<32, true>,
        (false, _) => extract::<64, false>,
        (true, _) => extract::<64, true>,
    }
}

/// Adds or subtracts with the carry flag; returns the result and the new flag.
///
/// A difference is the sum with the other bits and one more, and the flag is the carry of that sum: set where nothing
/// is borrowed. The text of PTX (ISA 8.8, 9.7.2) leaves open what a sum takes behind a difference; nvcc's divisions of
/// `__int128` rest on this.
pub fn carry(how: Carry, a: u64, b: u64, flag: bool) -> (u64, bool) {
    let bits = if how.wide { 64 } else { 32 };
    let mask = u128::from(u64::MAX) >> (64 - bits);
    let b = if how.subtract { !b } else { b };
    let flag = if how.takes { flag } else { how.subtract };
    let sum = (u128::from(a) & mask) + (u128::from(b) & mask) + u128::from(flag);
    ((sum & mask) as u64, sum >> bits & 1 != 0)
}
