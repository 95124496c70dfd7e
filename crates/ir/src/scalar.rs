//! What the operators mean: the arithmetic rules of Wattle, once.
//!
//! The bounds that kernels write ([`Element`], [`Signed`], [`Int`], [`Float`]) have no methods of their own: those are in
//! their supertraits, which a prelude need not import, so that `x.min(y)` on numbers stays the standard library's.
//!
//! Integers wrap in every build profile; shift counts are taken modulo the width; conversions from float to integer
//! saturate (NaN gives 0); division of an integer by zero has no result (the caller reports a fault and goes on with
//! 0); nothing is contracted. Floats are IEEE 754: `+ - * /`, `sqrt`, `fma`, the roundings and comparisons are
//! exact; `rsqrt`, `exp`, `ln`, `sin`, `cos`, `tanh` and `pow` are those of the device, within the bounds that
//! [`FloatOps`] states, for all operands. Signs and payloads of NaN, and subnormals, are not promised.

use std::fmt::{Debug, Display};

use crate::Type;
use crate::angle::Angle;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A value that a slot can hold: the ten element types and `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that kernels know",
    note = "they know u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 and bool"
)]
pub trait Scalar: Copy + Debug + Display + Default + PartialEq + PartialOrd + Send + Sync + Sealed + 'static {
    /// The type, as data.
    const TYPE: Type;

    /// The value's bits, in the low end of a word whose other bits are zero.
    fn to_raw(self) -> u64;
    /// The value of these bits; those above the type's width are ignored.
    fn from_raw(raw: u64) -> Self;
    /// The value of `x` in this type, as Rust's `as` converts: integers wrap, floats saturate, NaN gives 0.
    fn cast_from<S: Scalar>(x: S) -> Self;

    #[doc(hidden)]
    fn to_u8(self) -> u8;
    #[doc(hidden)]
    fn to_i8(self) -> i8;
    #[doc(hidden)]
    fn to_u16(self) -> u16;
    #[doc(hidden)]
    fn to_i16(self) -> i16;
    #[doc(hidden)]
    fn to_u32(self) -> u32;
    #[doc(hidden)]
    fn to_i32(self) -> i32;
    #[doc(hidden)]
    fn to_u64(self) -> u64;
    #[doc(hidden)]
    fn to_i64(self) -> i64;
    #[doc(hidden)]
    fn to_f32(self) -> f32;
    #[doc(hidden)]
    fn to_f64(self) -> f64;
}

/// A number that memory can hold: the eight integer types, `f32` and `f64`. Every bit pattern is a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of kernels",
    note = "the element types are u8 i8 u16 i16 u32 i32 u64 i64 f32 f64"
)]
pub trait Element: ElementOps {}

/// The arithmetic of all numbers.
pub trait ElementOps: Scalar {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The sum; integers wrap.
    fn add(self, other: Self) -> Self;
    /// The difference; integers wrap.
    fn sub(self, other: Self) -> Self;
    /// The product; integers wrap.
    fn mul(self, other: Self) -> Self;
    /// The quotient; `None` for an integer divided by zero. `MIN / -1` wraps to `MIN`.
    fn div(self, other: Self) -> Option<Self>;
    /// The lesser; of floats the one that is a number, and -0 is less than +0.
    fn min(self, other: Self) -> Self;
    /// The greater; of floats the one that is a number, and -0 is less than +0.
    fn max(self, other: Self) -> Self;
}

/// A number with negative values: the signed integers and the floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no negative values",
    note = "convert first: `x as i32`, or write `0 - x` where wrapping is meant"
)]
pub trait Signed: Element + SignedOps {}

/// The arithmetic of numbers with negative values.
pub trait SignedOps: ElementOps {
    /// The negation; integers wrap.
    fn neg(self) -> Self;
    /// The absolute value; integers wrap (the least value stays itself).
    fn abs(self) -> Self;
}

/// One of the eight integer types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    note = "bit operations, shifts and `%` are for u8 i8 u16 i16 u32 i32 u64 i64"
)]
pub trait Int: Element + IntOps {}

/// The arithmetic of integers.
pub trait IntOps: ElementOps {
    /// The remainder, with the sign of the dividend; `None` for a divisor of zero. `MIN % -1` is 0.
    fn rem(self, other: Self) -> Option<Self>;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Complement.
    fn not(self) -> Self;
    /// Shift left by `count` modulo the width.
    fn shl(self, count: u32) -> Self;
    /// Shift right by `count` modulo the width; arithmetic for signed types.
    fn shr(self, count: u32) -> Self;
    /// How many bits are one.
    fn count_ones(self) -> u32;
    /// How many bits are zero above the highest one; the width for zero.
    fn leading_zeros(self) -> u32;
    /// How many bits are zero below the lowest one; the width for zero.
    fn trailing_zeros(self) -> u32;
}

/// `f32` or `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point type",
    note = "convert first: `x as f32`; a literal is a float when it has a point: `1.0`"
)]
pub trait Float: Signed + FloatOps {}

/// The arithmetic of floating-point numbers.
///
/// A function's bound is the distance between its result and the true value for the operands as they are, in units in
/// the last place (ulp) of the true value. It holds on every device and for all operands, also the largest; where the
/// true value is within the bound of the largest finite number, the result may be infinite. A subnormal operand may count
/// as a zero of its sign, and a result whose true value is subnormal may be any number from zero to the least normal
/// one, with its sign. Special values are those of C (ISO C 2011, annex F.10). The sign and payload of a NaN are not
/// promised. The host's functions are those of its C library, but for the reduction of large angles; the bounds are tested
/// with glibc.
pub trait FloatOps: SignedOps {
    /// The unsigned integer as wide.
    type Bits: Int;
    /// The bits as an integer.
    fn to_bits(self) -> Self::Bits;
    /// The float of these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The square root, rounded correctly (0.5 ulp). Below zero it is NaN; of -0 it is -0.
    fn sqrt(self) -> Self;
    /// One by the square root, within 1.5 ulp. Below zero it is NaN; of a zero it is an infinity with the zero's sign.
    fn rsqrt(self) -> Self;
    /// The exponential, within 1.5 ulp. Beyond the range it is infinity or 0.
    fn exp(self) -> Self;
    /// The natural logarithm, within 1.5 ulp. Below zero it is NaN; of a zero it is -infinity.
    fn ln(self) -> Self;
    /// The sine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN; of -0 it is -0.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians, within 1.5 ulp for every finite angle. Of an infinity it is NaN.
    fn cos(self) -> Self;
    /// The hyperbolic tangent, within 3 ulp. Of an infinity it is 1 with the infinity's sign; of -0 it is -0.
    fn tanh(self) -> Self;
    /// `self` to the power `exponent`, within 1.5 ulp. Below zero it is NaN unless the exponent is a whole number; for
    /// the exponent 0 and the base 1 it is 1, also where the other is NaN.
    fn pow(self, exponent: Self) -> Self;
    /// `self * factor + addend`, rounded once (0.5 ulp).
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// The greatest whole number that is not greater; exact.
    fn floor(self) -> Self;
    /// The least whole number that is not less; exact.
    fn ceil(self) -> Self;
    /// The nearest whole number, halves away from zero; exact.
    fn round(self) -> Self;
    /// Whether it is not a number.
    fn is_nan(self) -> bool;
}

/// A number on which atomic operations exist: `u32 i32 u64 i64 f32 f64`. Floats have load, store, exchange and
/// add.
#[diagnostic::on_unimplemented(
    message = "there are no atomic operations on `{Self}`",
    note = "atomics exist for u32 i32 u64 i64 (all operations) and f32 f64 (load, store, exchange, add)"
)]
pub trait AtomicScalar: Element {}

/// An integer on which atomic operations exist: `u32 i32 u64 i64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no such atomic operation",
    note = "on f32 and f64 there are load, store, exchange and fetch_add; all others need u32 i32 u64 i64"
)]
pub trait AtomicInt: AtomicScalar + Int {}

macro_rules! casts {
    ($($f:ident: $t:ident),+) => {
        $(#[inline(always)]
        fn $f(self) -> $t { self as $t })+
    };
}

macro_rules! scalar {
    ($t:ident, $type:ident, $cast:ident, |$x:ident| $to:expr, |$raw:ident| $from:expr) => {
        impl Sealed for $t {}
        impl Scalar for $t {
            const TYPE: Type = Type::$type;
            #[inline(always)]
            fn to_raw(self) -> u64 {
                let $x = self;
                $to
            }
            #[inline(always)]
            fn from_raw($raw: u64) -> Self {
                $from
            }
            #[inline(always)]
            fn cast_from<S: Scalar>(x: S) -> Self {
                x.$cast()
            }
            casts!(to_u8: u8, to_i8: i8, to_u16: u16, to_i16: i16, to_u32: u32, to_i32: i32, to_u64: u64,
                   to_i64: i64, to_f32: f32, to_f64: f64);
        }
    };
}

macro_rules! int {
    ($($t:ident $type:ident $cast:ident $bits:ident),+) => {$(
        scalar!($t, $type, $cast, |x| x as $bits as u64, |raw| raw as $t);
        impl Element for $t {}
        impl ElementOps for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn div(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_div(other)) }
            #[inline(always)]
            fn min(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline(always)]
            fn max(self, other: Self) -> Self { Ord::max(self, other) }
        }
        impl Int for $t {}
        impl IntOps for $t {
            #[inline(always)]
            fn rem(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_rem(other)) }
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn not(self) -> Self { !self }
            #[inline(always)]
            fn shl(self, count: u32) -> Self { self.wrapping_shl(count) }
            #[inline(always)]
            fn shr(self, count: u32) -> Self { self.wrapping_shr(count) }
            #[inline(always)]
            fn count_ones(self) -> u32 { $t::count_ones(self) }
            #[inline(always)]
            fn leading_zeros(self) -> u32 { $t::leading_zeros(self) }
            #[inline(always)]
            fn trailing_zeros(self) -> u32 { $t::trailing_zeros(self) }
        }
    )+};
}

macro_rules! signed_int {
    ($($t:ident),+) => {$(
        impl Signed for $t {}
        impl SignedOps for $t {
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn abs(self) -> Self { self.wrapping_abs() }
        }
    )+};
}

macro_rules! float {
    ($($t:ident $type:ident $cast:ident $bits:ident),+) => {$(
        scalar!($t, $type, $cast, |x| $t::to_bits(x) as u64, |raw| $t::from_bits(raw as $bits));
        impl Element for $t {}
        impl ElementOps for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn div(self, other: Self) -> Option<Self> { Some(self / other) }
            // The standard library leaves open which of two zeros it gives.
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                let either = $t::from_bits(self.to_bits() | other.to_bits());
                let lesser = if self < other || other.is_nan() { self } else { other };
                if self == other { either } else { lesser }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                let both = $t::from_bits(self.to_bits() & other.to_bits());
                let greater = if self > other || other.is_nan() { self } else { other };
                if self == other { both } else { greater }
            }
        }
        impl Signed for $t {}
        impl SignedOps for $t {
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn abs(self) -> Self { $t::abs(self) }
        }
        impl Float for $t {}
        impl FloatOps for $t {
            type Bits = $bits;
            #[inline(always)]
            fn to_bits(self) -> $bits { $t::to_bits(self) }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self { $t::from_bits(bits) }
            #[inline(always)]
            fn sqrt(self) -> Self { $t::sqrt(self) }
            #[inline(always)]
            fn rsqrt(self) -> Self { 1.0 / $t::sqrt(self) }
            #[inline(always)]
            fn exp(self) -> Self { $t::exp(self) }
            #[inline(always)]
            fn ln(self) -> Self { $t::ln(self) }
            #[inline(always)]
            fn sin(self) -> Self { Angle::sin(self) }
            #[inline(always)]
            fn cos(self) -> Self { Angle::cos(self) }
            #[inline(always)]
            fn tanh(self) -> Self { $t::tanh(self) }
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self { $t::powf(self, exponent) }
            #[inline(always)]
            fn fma(self, factor: Self, addend: Self) -> Self { $t::mul_add(self, factor, addend) }
            #[inline(always)]
            fn floor(self) -> Self { $t::floor(self) }
            #[inline(always)]
            fn ceil(self) -> Self { $t::ceil(self) }
            #[inline(always)]
            fn round(self) -> Self { $t::round(self) }
            #[inline(always)]
            fn is_nan(self) -> bool { $t::is_nan(self) }
        }
    )+};
}

int!(u8 U8 to_u8 u8, i8 I8 to_i8 u8, u16 U16 to_u16 u16, i16 I16 to_i16 u16);
int!(u32 U32 to_u32 u32, i32 I32 to_i32 u32, u64 U64 to_u64 u64, i64 I64 to_i64 u64);
signed_int!(i8, i16, i32, i64);
float!(f32 F32 to_f32 u32, f64 F64 to_f64 u64);

impl Sealed for bool {}
impl Scalar for bool {
    const TYPE: Type = Type::Bool;
    #[inline(always)]
    fn to_raw(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_raw(raw: u64) -> Self {
        raw & 1 != 0
    }
    // Rust has no `as bool`; the kernel macro's types keep this from being asked for, and the verifier refuses it.
    #[inline(always)]
    fn cast_from<S: Scalar>(x: S) -> Self {
        x.to_raw() != 0
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as u8 as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as u8 as f64
    }
    casts!(to_u8: u8, to_i8: i8, to_u16: u16, to_i16: i16, to_u32: u32, to_i32: i32, to_u64: u64, to_i64: i64);
}

macro_rules! implement {
    ($name:ident: $($t:ident),+) => { $(impl $name for $t {})+ };
}
implement!(AtomicScalar: u32, i32, u64, i64, f32, f64);
implement!(AtomicInt: u32, i32, u64, i64);
