//! What the operators mean: the arithmetic rules of Wattle, once.
//!
//! The bounds that kernels write ([`Number`], [`Signed`], [`Int`], [`Float`]) have no methods of their own: those are in
//! their supertraits, which a prelude need not import, so that `x.min(y)` on numbers stays the standard library's.
//!
//! Integers wrap in every build profile; shift counts are taken modulo the width; conversions from float to integer
//! saturate (NaN gives 0); division of an integer by zero has no result (the caller reports a fault and goes on with
//! 0); nothing is contracted. Floats are IEEE 754: `+ - * /`, `sqrt`, `fma`, the roundings and comparisons are
//! exact; the functions are those of `wattle-math`, the same on every device, within the bounds that [`FloatOps`] states,
//! for all operands. Signs and payloads of NaN, and subnormals, are not promised.

use std::fmt::{Debug, Display};

use half::{bf16, f16};
use wattle_math as math;
use wattle_operations::{compositions, faulting, operations, types};

use crate::Type;
use crate::half::{Half, fused};

/// What follows where the first two words, names of classes, are the same one.
macro_rules! only {
    (Number Number $($items:tt)*) => { $($items)* };
    (Signed Signed $($items:tt)*) => { $($items)* };
    (Int Int $($items:tt)*) => { $($items)* };
    (Word Word $($items:tt)*) => { $($items)* };
    (Float Float $($items:tt)*) => { $($items)* };
    ($wanted:ident $class:ident $($items:tt)*) => {};
}

/// The type of an operand.
macro_rules! operand_type {
    () => {
        Self
    };
    ($of:ident) => {
        $of
    };
}
pub(crate) use operand_type;

/// What an operation means on a type of this kind: the first of its meanings that fits, 0 where none does.
macro_rules! meaning {
    ($row:ident {any: $value:expr, $($rest:tt)*}) => { $value };
    (bool {bool: $value:expr, $($rest:tt)*}) => { $value };
    (unsigned {int: $value:expr, $($rest:tt)*}) => { $value };
    (signed {int: $value:expr, $($rest:tt)*}) => { $value };
    (signed {signed: $value:expr, $($rest:tt)*}) => { $value };
    (word {int: $value:expr, $($rest:tt)*}) => { $value };
    (word {word: $value:expr, $($rest:tt)*}) => { $value };
    (float {float: $value:expr, $($rest:tt)*}) => { $value };
    (half {float: $value:expr, half: $half:expr, $($rest:tt)*}) => { $half };
    (half {float: $value:expr, $($rest:tt)*}) => { $value };
    ($row:ident {$other:ident: $value:expr, $($rest:tt)*}) => { crate::scalar::meaning!($row {$($rest)*}) };
    (half {$(,)?}) => { 0.0f32 };
    ($row:ident {$(,)?}) => { 0u64 };
}
pub(crate) use meaning;

/// An operand as it is computed with: floats of 16 bits as `f32`.
macro_rules! widened {
    (half $x:expr) => {
        crate::half::Half::widen($x)
    };
    (half $x:expr, Self) => {
        crate::half::Half::widen($x)
    };
    ($row:ident $x:expr $(, $of:ident)?) => {
        $x
    };
}
pub(crate) use widened;

/// A result of type `Self` or another one, from what was computed with.
macro_rules! narrowed {
    (half Self $value:expr) => {
        <Self as crate::half::Half>::narrow($value)
    };
    ($row:ident $out:ident $value:expr) => {
        $value
    };
}
pub(crate) use narrowed;

/// The methods of a class of numbers, without their bodies.
macro_rules! declare {
    ($wanted:ident $($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {$($(
        only! { $wanted $class
            $(#[$doc])*
            fn $method(self $(, $y: operand_type!($($of)?))*) -> $out;
        }
    )+)+};
}

/// The methods of a class of numbers, for a type of this kind.
macro_rules! implement {
    ($wanted:ident $row:ident $($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {$($(
        only! { $wanted $class
            #[inline(always)]
            fn $method(self $(, $y: operand_type!($($of)?))*) -> $out {
                let $x = widened!($row self);
                $(let $y = widened!($row $y $(, $of)?);)*
                narrowed!($row $out meaning!($row {$($meaning)+,}))
            }
        }
    )+)+};
}

/// The methods of a class of numbers that can fail, without their bodies.
macro_rules! declare_faulting {
    ($wanted:ident $($(#[$doc:meta])* $class:ident $fault:ident
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) {$($meaning:tt)+})+) => {$(
        only! { $wanted $class
            $(#[$doc])*
            ///
            /// `None` stands for the fault.
            fn $method(self $(, $y: operand_type!($($of)?))*) -> Option<Self>;
        }
    )+};
}

/// The methods of a class of numbers that can fail, for a type of this kind.
macro_rules! implement_faulting {
    ($wanted:ident $row:ident $($(#[$doc:meta])* $class:ident $fault:ident
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) {$($meaning:tt)+})+) => {$(
        only! { $wanted $class
            #[inline(always)]
            fn $method(self $(, $y: operand_type!($($of)?))*) -> Option<Self> {
                let $x = widened!($row self);
                $(let $y = widened!($row $y $(, $of)?);)*
                meaning!($row {$($meaning)+,}).map(|value| narrowed!($row Self value))
            }
        }
    )+};
}

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

    /// The type of the exponents of [`pow`](NumberOps::pow): a float's own, and `u32` for integers.
    type Exponent: Scalar;

    /// The quotient; `None` for an integer divided by zero. `MIN / -1` wraps to `MIN`.
    fn div(self, other: Self) -> Option<Self>;
    /// The remainder, with the sign of the dividend, exact; `None` for an integer and a divisor of zero. `MIN % -1` is 0.
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

/// One of the eight integer types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    note = "bit operations and shifts are for u8 i8 u16 i16 u32 i32 u64 i64"
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
/// true value is within the bound of the largest finite number, the result may be infinite. A subnormal operand may count
/// as a zero of its sign, and a result whose true value is subnormal may be any number from zero to the least normal
/// one, with its sign. Special values are those of C (ISO C 2011, annex F.10). The sign and payload of a NaN are not
/// promised. All else has the same bits on every device.
///
/// The functions of `f16` and `bf16` are those of `f32`, rounded once more: within 0.501 ulp, as the bounds for `f32` are
/// at most 3 ulp. `+ - * /`, `sqrt` and `fma` of them are rounded once. Subnormal numbers of
/// `f16` are promised: every device has them.
///
/// The short forms (`exp_fast` and so on) are an exception: they keep the bounds that they state, on every device, and
/// have other bits on each. Subnormal numbers, and results beyond the range, are not promised of them. Those of `f64` are
/// the functions without `_fast`.
pub trait FloatOps: SignedOps + NumberOps<Exponent = Self> {
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
/// write the bytes of neighbours too, and PTX orders two accesses only if they are of the same bytes (8.7.1 "Conflict and
/// data-races", morally strong: "overlap completely"), so that a plain access to a neighbour would race with it. Have a
/// `u32` for each, or pack several into one and exchange it as a whole. There are none of 128 bits: neither Vulkan nor
/// Rust's stable standard library has them, nor do kernels have such numbers.
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

/// The conversion to `T`, as Rust's `as` does it.
#[doc(hidden)]
pub trait CastTo<T> {
    fn cast_to(self) -> T;
}

macro_rules! cast {
    ($x:ident half bool $to:ident) => {
        $x.to_raw() != 0
    };
    ($x:ident half $row:ident $to:ident) => {
        <f32 as CastTo<$to>>::cast_to($x.widen())
    };
    ($x:ident float half $to:ident) => {
        crate::half::Narrows::narrowed($x)
    };
    ($x:ident bool half $to:ident) => {
        <$to as Half>::of_size($x.into())
    };
    ($x:ident signed half $to:ident) => {
        <$to as Half>::of_size($x.unsigned_abs().into()).signed($x < 0)
    };
    ($x:ident $from_row:ident half $to:ident) => {
        <$to as Half>::of_size($x.into())
    };
    // Rust has no `as bool`; the kernel macro's types keep this from being asked for, and the verifier refuses it.
    ($x:ident $from_row:ident bool $to:ident) => {
        $x.to_raw() != 0
    };
    ($x:ident bool float $to:ident) => {
        $x as u8 as $to
    };
    ($x:ident $from_row:ident $row:ident $to:ident) => {
        $x as $to
    };
}

macro_rules! casts {
    ($from:ident $from_row:ident $($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident
        $row:ident $($atomic:ident)?;)+) => {$(
        impl CastTo<$t> for $from {
            #[inline(always)]
            fn cast_to(self) -> $t {
                let x = self;
                cast!(x $from_row $row $t)
            }
        }
    )+};
}

macro_rules! scalar {
    ($t:ident, $type:ident, |$x:ident| $to:expr, |$raw:ident| $from:expr) => {
        impl Sealed for $t {}
        impl Casts for $t {}
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
        /// The conversions to all types.
        #[doc(hidden)]
        pub trait Casts: Sized $(+ CastTo<$t>)+ {}

        /// The Rust type of each [`Type`], under the name of its variant, by which other macros over the table name it.
        pub mod native {
            use half::{bf16, f16};

            $(
                $(#[$doc])*
                pub type $variant = $t;
            )+
        }

        $(
            implement_type!($row $t $variant $bits_type);
            types!(casts $t $row);
            $(implement_atomic!($row $t $atomic);)?
        )+
    };
}
types!(implement_all);
