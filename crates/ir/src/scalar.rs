//! What the operators mean: the arithmetic rules of Wattle, once.
//!
//! The bounds that kernels write ([`Number`], [`Signed`], [`Int`], [`Float`]) have no methods of their own: those are
//! in their supertraits, which a prelude need not import, so that `x.min(y)` on numbers stays the standard library's.
//!
//! Integers wrap in every build profile; shift counts are taken modulo the width; conversions from float to integer
//! saturate (NaN gives 0); division of an integer by zero has no result (the caller reports a fault and goes on with
//! 0); nothing is contracted. Floats are IEEE 754: `+ - * /`, `sqrt`, `fma`, the roundings and comparisons are exact;
//! the functions are those of `wattle-math`, the same on every device, within the bounds that [`FloatOps`] states, for
//! all operands. Signs and payloads of NaN, and subnormals, are not promised.

use std::fmt::{Debug, Display};

use wattle_math as math;
use wattle_operations::{compositions, faulting, operations, types};

use crate::Type;
use crate::half::names::*;
use crate::half::{Half, fused};

#[macro_use]
mod methods;
mod casts;

/// The least normal number of `f32` or `f64`.
pub(crate) fn least_normal<T: Scalar>() -> T {
    T::cast_from(if T::TYPE == Type::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() })
}

/// Whether a remainder is negative. A subnormal one counts as zero, as it does where subnormal numbers are flushed:
/// otherwise the results would be as far apart as the divisor is large.
#[inline(always)]
fn is_negative_rest<T: Float>(rest: T) -> bool {
    rest <= least_normal::<T>().neg()
}

/// The remainder of floats from 0 to the size of the divisor, rounded once.
#[inline(always)]
fn euclid_remainder<T: Float>(x: T, y: T) -> T {
    let rest = x.fmod(y);
    let not_negative = if rest < T::ZERO { T::ZERO } else { rest };
    if is_negative_rest(rest) { rest.add(y.abs()) } else { not_negative }
}

/// The quotient of floats whose remainder is not negative, as the standard library has it.
#[inline(always)]
fn euclid_quotient<T: Float>(x: T, y: T) -> T {
    // Division by zero has a result among floats.
    let quotient = x.div(y).unwrap_or(T::ZERO).trunc();
    let step = if y > T::ZERO { T::ONE } else { T::ONE.neg() };
    if is_negative_rest(x.fmod(y)) { quotient.sub(step) } else { quotient }
}

mod sealed {
    pub trait Sealed {}
}
pub use casts::{CastTo, Casts};
pub(crate) use methods::{meaning, narrowed, operand_type, widened};
use sealed::Sealed;

/// A value that a slot can hold: the element types and `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that kernels know",
    note = "they know bool and the numbers that `wattle::prelude::Number` lists"
)]
pub trait Scalar:
    Casts + Copy + Debug + Display + Default + PartialEq + PartialOrd + Send + Sync + Sealed + 'static
{
    /// The type, as data.
    const TYPE: Type;

    /// The value's bits, in the low end of a word whose other bits are zero.
    fn to_raw(self) -> u64;
    /// The value of these bits; those above the type's width are ignored.
    fn from_raw(raw: u64) -> Self;
    /// The value of `x` in this type, as Rust's `as` converts: integers wrap, floats saturate, NaN gives 0.
    fn cast_from<S: Scalar>(x: S) -> Self;
}

/// A number: the eight integer types, `f16`, `bf16`, `f32` and `f64`. Every bit pattern is a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that kernels calculate with",
    note = "the numbers are u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64; a generic kernel that calculates says `T: Number`, \
            `T: Int` or `T: Float`"
)]
pub trait Number: NumberOps {}

/// The arithmetic of all numbers.
pub trait NumberOps: Scalar {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The least value; of a float the least finite one.
    const MIN: Self;
    /// The greatest value; of a float the greatest finite one.
    const MAX: Self;

    /// The type of the exponents of [`pow`](NumberOps::pow): a float's own, and `u32` for integers.
    type Exponent: Scalar;

    /// The quotient; `None` for an integer divided by zero. `MIN / -1` wraps to `MIN`.
    fn div(self, other: Self) -> Option<Self>;
    /// The remainder, with the sign of the dividend, exact; `None` for an integer and a divisor of zero. `MIN % -1` is
    /// 0.
    #[doc(alias("fmod", "fmodf"))]
    fn rem(self, other: Self) -> Option<Self>;
    /// The power: of floats [`powf`](FloatOps::powf); of integers by a `u32`, and it wraps.
    #[doc(alias("powf", "__powf"))]
    fn pow(self, exponent: Self::Exponent) -> Self;
    /// `self * y + z`, of floats rounded once, and of integers wrapping: what a contracted sum is.
    #[doc(hidden)]
    fn fused(self, y: Self, z: Self) -> Self;
    /// The negation, wrapping: also of unsigned integers.
    #[doc(hidden)]
    fn negated(self) -> Self;
    operations!(declare Number);
    faulting!(declare_faulting Number);
}

/// A number with negative values: the signed integers and the floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no negative values",
    note = "convert first: `x as i32`, or write `0 - x` where wrapping is meant"
)]
pub trait Signed: Number + SignedOps {}

/// The arithmetic of numbers with negative values.
pub trait SignedOps: NumberOps {
    operations!(declare Signed);
    compositions!(declare Signed);
}

/// An integer type, of the eight from `u8` to `i64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    note = "bit operations and shifts are for u8 i8 u16 i16 u32 i32 u64 i64; a warp's mask has `mask.count()`, `mask.lowest()` \
            and `mask.word(0)`, the bits of the lanes 0 to 31"
)]
pub trait Int: Number + IntOps {}

/// The arithmetic of integers.
pub trait IntOps: NumberOps<Exponent = u32> {
    operations!(declare Int);
    compositions!(declare Int);
    faulting!(declare_faulting Int);
}

/// An unsigned integer of 32 or 64 bits: `u32` or `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an unsigned integer of 32 or 64 bits",
    note = "narrower numbers convert, `x as u32`, and signed ones that are not negative; of others `abs_diff` is \
            `(x as i64 - y as i64).abs() as u32`, `mul_hi` is `((x as i64 * y as i64) >> 32) as i32`, `div_ceil` is \
            `x / y + (x % y != 0 && (x < 0) == (y < 0)) as i32`, and there is no `isqrt`"
)]
pub trait Word: Int + WordOps {}

/// The arithmetic of `u32` and `u64` alone.
pub trait WordOps: IntOps {
    operations!(declare Word);
    compositions!(declare Word);
    faulting!(declare_faulting Word);
}

/// `f16`, `bf16`, `f32` or `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point type",
    note = "convert first: `x as f32`; a literal is a float when it has a point: `1.0`"
)]
pub trait Float: Signed + FloatOps {}

/// The arithmetic of floating-point numbers.
///
/// A function's bound is the distance between its result and the true value for the operands as they are, in units in
/// the last place (ulp) of the true value. It holds on every device and for all operands, also the largest; where the
/// true value is within the bound of the largest finite number, the result may be infinite. A subnormal operand may
/// count as a zero of its sign, and a result whose true value is subnormal may be any number from zero to the least
/// normal one, with its sign. Special values are those of C (ISO C 2011, annex F.10). The sign and payload of a NaN are
/// not promised. All else has the same bits on every device.
///
/// The functions of `f16` and `bf16` are those of `f32`, rounded once more: within 0.501 ulp, as the bounds for `f32`
/// are at most 3 ulp. `+ - * /`, `sqrt` and `fma` of them are rounded once. Subnormal numbers of `f16` are promised:
/// every device has them.
///
/// The short forms (`exp_fast` and so on) are an exception: they keep the bounds that they state, on every device, and
/// have other bits on each. Subnormal numbers, and results beyond the range, are not promised of them. Those of `f64`
/// are the functions without `_fast`.
pub trait FloatOps: SignedOps + NumberOps<Exponent = Self> {
    /// Infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// A quiet NaN.
    const NAN: Self;
    /// The difference between 1 and the next greater number.
    const EPSILON: Self;
    /// The least positive normal number.
    const MIN_POSITIVE: Self;

    /// The unsigned integer as wide.
    type Bits: Int;
    /// The bits as an integer.
    fn to_bits(self) -> Self::Bits;
    /// The float of these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The sine and the cosine, each as by itself.
    fn sin_cos(self) -> (Self, Self);
    operations!(declare Float);
    compositions!(declare Float);
}

/// A number on which atomic operations exist: `u32 i32 u64 i64 f32 f64`. Floats have load, store, exchange,
/// compare-exchange, add, min and max.
///
/// There are none of 8 and 16 bits. No target has an instruction for them; one on the 32-bit word around would read and
/// write the bytes of neighbours too, and PTX orders two accesses only if they are of the same bytes (8.7.1 "Conflict
/// and data-races", morally strong: "overlap completely"), so that a plain access to a neighbour would race with it.
/// Have a `u32` for each, or pack several into one and exchange it as a whole. There are none of 128 bits: neither
/// Vulkan nor Rust's stable standard library has them, nor do kernels have such numbers.
#[diagnostic::on_unimplemented(
    message = "there are no atomic operations on `{Self}`",
    note = "atomics exist for u32 i32 u64 i64 (all operations) and f32 f64 (load, store, exchange, compare_exchange, add, \
            min, max)",
    note = "an atomic of 8 or 16 bits would touch its neighbours' bytes, and race with accesses to them: have a `u32` for \
            each, or pack several into one `u32` and exchange that (sums of pairs of halves: `wattle::pairs::fetch_add_f16x2`)"
)]
pub trait AtomicScalar: Number {}

/// An integer on which atomic operations exist: `u32 i32 u64 i64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no such atomic operation",
    note = "on f32 and f64 there are load, store, exchange, compare_exchange, fetch_add, fetch_min and fetch_max; all others need u32 i32 u64 i64"
)]
pub trait AtomicInt: AtomicScalar + Int {}

#[doc(hidden)]
/// The lesser of two floats. (The standard library leaves open which of two zeros it gives.)
#[inline(always)]
pub fn lesser<T: Float>(x: T, y: T) -> T {
    let either = T::from_bits(x.to_bits().or(y.to_bits()));
    let lesser = if x < y || y.is_nan() { x } else { y };
    if x == y { either } else { lesser }
}

#[doc(hidden)]
/// The greater of two floats.
#[inline(always)]
pub fn greater<T: Float>(x: T, y: T) -> T {
    let both = T::from_bits(x.to_bits().and(y.to_bits()));
    let greater = if x > y || y.is_nan() { x } else { y };
    if x == y { both } else { greater }
}

macro_rules! scalar {
    ($t:ident, $type:ident, |$x:ident| $to:expr, |$raw:ident| $from:expr) => {
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
                x.cast_to()
            }
        }
    };
}

/// The traits of a type, by the kind that it has in the tables.
macro_rules! implement_type {
    (bool $t:ident $type:ident $bits:ident) => {
        scalar!($t, $type, |x| x as u64, |raw| raw & 1 != 0);
    };
    (unsigned $t:ident $type:ident $bits:ident) => {
        implement_type!(int $t $type $bits unsigned);
    };
    (word $t:ident $type:ident $bits:ident) => {
        implement_type!(int $t $type $bits word);
        impl Word for $t {}
        impl WordOps for $t {
            operations!(implement Word word);
            compositions!(implement Word word);
            faulting!(implement_faulting Word word);
        }
    };
    (signed $t:ident $type:ident $bits:ident) => {
        implement_type!(int $t $type $bits signed);
        impl Signed for $t {}
        impl SignedOps for $t {
            operations!(implement Signed signed);
            compositions!(implement Signed signed);
        }
    };
    (int $t:ident $type:ident $bits:ident $row:ident) => {
        scalar!($t, $type, |x| x as native::$bits as u64, |raw| raw as $t);
        impl Number for $t {}
        impl NumberOps for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const MIN: Self = $t::MIN;
            const MAX: Self = $t::MAX;
            type Exponent = u32;
            operations!(implement Number $row);
            faulting!(implement_faulting Number $row);
            #[inline(always)]
            fn div(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_div(other)) }
            #[inline(always)]
            fn rem(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_rem(other)) }
            #[inline(always)]
            fn pow(self, exponent: u32) -> Self { self.wrapping_pow(exponent) }
            #[inline(always)]
            fn fused(self, y: Self, z: Self) -> Self { self.wrapping_mul(y).wrapping_add(z) }
            #[inline(always)]
            fn negated(self) -> Self { self.wrapping_neg() }
        }
        impl Int for $t {}
        impl IntOps for $t {
            operations!(implement Int $row);
            compositions!(implement Int $row);
            faulting!(implement_faulting Int $row);
        }
    };
    (half $t:ident $type:ident $bits:ident) => {
        implement_type!(float $t $type $bits half $t::ZERO, $t::ONE,
            |x| {
                let (sin, cos) = math::sin_cos(x.widen());
                (Half::narrow(sin), Half::narrow(cos))
            });
    };
    (float $t:ident $type:ident $bits:ident) => {
        implement_type!(float $t $type $bits float 0.0, 1.0, |x| math::sin_cos(x));
    };
    (float $t:ident $type:ident $bits:ident $row:ident $zero:expr, $one:expr, |$angle:ident| $sin_cos:expr) => {
        scalar!($t, $type, |x| $t::to_bits(x) as u64, |raw| $t::from_bits(raw as native::$bits));
        impl Number for $t {}
        impl NumberOps for $t {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const MIN: Self = $t::MIN;
            const MAX: Self = $t::MAX;
            type Exponent = Self;
            operations!(implement Number $row);
            faulting!(implement_faulting Number $row);
            #[inline(always)]
            fn div(self, other: Self) -> Option<Self> { Some(narrowed!($row Self widened!($row self) / widened!($row other))) }
            #[inline(always)]
            fn rem(self, other: Self) -> Option<Self> { Some(FloatOps::fmod(self, other)) }
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self { FloatOps::powf(self, exponent) }
            #[inline(always)]
            fn fused(self, y: Self, z: Self) -> Self { FloatOps::fma(self, y, z) }
            #[inline(always)]
            fn negated(self) -> Self { SignedOps::neg(self) }
        }
        impl Signed for $t {}
        impl SignedOps for $t {
            operations!(implement Signed $row);
            compositions!(implement Signed $row);
        }
        impl Float for $t {}
        impl FloatOps for $t {
            const INFINITY: Self = $t::INFINITY;
            const NEG_INFINITY: Self = $t::NEG_INFINITY;
            const NAN: Self = $t::NAN;
            const EPSILON: Self = $t::EPSILON;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;
            type Bits = native::$bits;
            #[inline(always)]
            fn to_bits(self) -> native::$bits { $t::to_bits(self) }
            #[inline(always)]
            fn from_bits(bits: native::$bits) -> Self { $t::from_bits(bits) }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                let $angle = self;
                $sin_cos
            }
            operations!(implement Float $row);
            compositions!(implement Float $row);
        }
    };
}

/// The traits of a type with atomic operations.
macro_rules! implement_atomic {
    (float $t:ident $atomic:ident) => {
        impl AtomicScalar for $t {}
    };
    ($row:ident $t:ident $atomic:ident) => {
        impl AtomicScalar for $t {}
        impl AtomicInt for $t {}
    };
}

macro_rules! implement_all {
    ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        /// The Rust type of each [`Type`], under the name of its variant, by which other macros over the table name it.
        pub mod native {
            use crate::half::names::*;

            $(
                $(#[$doc])*
                pub type $variant = $t;
            )+
        }

        $(
            implement_type!($row $t $variant $bits_type);
            $(implement_atomic!($row $t $atomic);)?
        )+
    };
}
types!(implement_all);
