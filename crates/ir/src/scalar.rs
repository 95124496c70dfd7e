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

use wattle_operations::operations;

use crate::Type;
use crate::angle::Angle;

/// What follows where the first two words, names of classes, are the same one.
macro_rules! only {
    (Element Element $($items:tt)*) => { $($items)* };
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
    ($row:ident {$other:ident: $value:expr, $($rest:tt)*}) => { crate::scalar::meaning!($row {$($rest)*}) };
    ($row:ident {$(,)?}) => { 0u64 };
}
pub(crate) use meaning;

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
                let $x = self;
                meaning!($row {$($meaning)+,})
            }
        }
    )+)+};
}

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

    /// The quotient; `None` for an integer divided by zero. `MIN / -1` wraps to `MIN`.
    fn div(self, other: Self) -> Option<Self>;
    operations!(declare Element);
}

/// A number with negative values: the signed integers and the floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no negative values",
    note = "convert first: `x as i32`, or write `0 - x` where wrapping is meant"
)]
pub trait Signed: Element + SignedOps {}

/// The arithmetic of numbers with negative values.
pub trait SignedOps: ElementOps {
    operations!(declare Signed);
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
    operations!(declare Int);
}

/// An unsigned integer of 32 or 64 bits: `u32` or `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an unsigned integer of 32 or 64 bits",
    note = "convert first: `x as u32` or `x as u64`"
)]
pub trait Word: Int + WordOps {}

/// The arithmetic of `u32` and `u64` alone.
pub trait WordOps: IntOps {
    operations!(declare Word);
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
    operations!(declare Float);
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

/// The lesser of two floats. (The standard library leaves open which of two zeros it gives.)
#[inline(always)]
pub(crate) fn lesser<T: Float>(x: T, y: T) -> T {
    let either = T::from_bits(x.to_bits().or(y.to_bits()));
    let lesser = if x < y || y.is_nan() { x } else { y };
    if x == y { either } else { lesser }
}

/// The greater of two floats.
#[inline(always)]
pub(crate) fn greater<T: Float>(x: T, y: T) -> T {
    let both = T::from_bits(x.to_bits().and(y.to_bits()));
    let greater = if x > y || y.is_nan() { x } else { y };
    if x == y { both } else { greater }
}

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
    ($($t:ident $type:ident $cast:ident $bits:ident $row:ident),+) => {$(
        scalar!($t, $type, $cast, |x| x as $bits as u64, |raw| raw as $t);
        impl Element for $t {}
        impl ElementOps for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            operations!(implement Element $row);
            #[inline(always)]
            fn div(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_div(other)) }
        }
        impl Int for $t {}
        impl IntOps for $t {
            #[inline(always)]
            fn rem(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_rem(other)) }
            operations!(implement Int $row);
        }
    )+};
}

macro_rules! signed_int {
    ($($t:ident),+) => {$(
        impl Signed for $t {}
        impl SignedOps for $t {
            operations!(implement Signed signed);
        }
    )+};
}

macro_rules! word {
    ($($t:ident),+) => {$(
        impl Word for $t {}
        impl WordOps for $t {
            operations!(implement Word word);
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
            operations!(implement Element float);
            #[inline(always)]
            fn div(self, other: Self) -> Option<Self> { Some(self / other) }
        }
        impl Signed for $t {}
        impl SignedOps for $t {
            operations!(implement Signed float);
        }
        impl Float for $t {}
        impl FloatOps for $t {
            type Bits = $bits;
            #[inline(always)]
            fn to_bits(self) -> $bits { $t::to_bits(self) }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self { $t::from_bits(bits) }
            operations!(implement Float float);
        }
    )+};
}

int!(u8 U8 to_u8 u8 unsigned, u16 U16 to_u16 u16 unsigned, u32 U32 to_u32 u32 word, u64 U64 to_u64 u64 word);
int!(i8 I8 to_i8 u8 signed, i16 I16 to_i16 u16 signed, i32 I32 to_i32 u32 signed, i64 I64 to_i64 u64 signed);
signed_int!(i8, i16, i32, i64);
word!(u32, u64);
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
