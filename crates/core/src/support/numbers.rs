//! The arithmetic of kernels, by name.

use wattle_ir::{Arithmetic, Float, Int, KernelValue, Number, Scalar, Signed, Word, compositions, operations};

use crate::thread::Thread;

macro_rules! functions {
    ($($bound:ident: $($name:ident($($arg:ident),*)),+;)+) => {$($(
        #[doc = concat!("`", stringify!($name), "`, by the rules of `wattle_ir`.")]
        #[inline(always)]
        pub fn $name<T: $bound>(x: T, $($arg: T),*) -> T {
            T::$name(x, $($arg),*)
        }
    )+)+};
}
functions! {
    Signed: neg();
}

/// The type of an operand or result.
macro_rules! result {
    () => {
        T
    };
    (Self) => {
        T
    };
    ($of:ident) => {
        $of
    };
}

/// The function for a method of numbers; operators have functions above and below.
macro_rules! method {
    (op $($rest:tt)*) => {};
    ($how:ident $(#[$doc:meta])* $class:ident $method:ident($($y:ident $(: $of:ident)?),*) -> $out:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $method<T: $class>(x: T, $($y: result!($($of)?)),*) -> result!($out) {
            T::$method(x, $($y),*)
        }
    };
}

macro_rules! methods {
    ($($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {
        $($(method!($how $(#[$doc])* $class $method($($y $(: $of)?),*) -> $out);)+)+
    };
}
operations!(methods);
compositions!(methods);

/// The sine and the cosine, each as by itself.
#[inline(always)]
pub fn sin_cos<T: Float>(x: T) -> (T, T) {
    x.sin_cos()
}

/// The bits of a float as an integer.
#[inline(always)]
pub fn to_bits<T: Float>(x: T) -> T::Bits {
    x.to_bits()
}

/// Computes `x.max(low).min(high)`.
#[inline(always)]
pub fn clamp<T: Number>(x: T, low: T, high: T) -> T {
    x.max(low).min(high)
}

macro_rules! comparisons {
    ($($bound:ident: $($name:ident $op:tt),+;)+) => {$($(
        #[doc = concat!("`x ", stringify!($op), " y`.")]
        #[inline(always)]
        pub fn $name<T: $bound>(x: T, y: T) -> bool {
            x $op y
        }
    )+)+};
}
comparisons! {
    Scalar: eq ==, ne !=;
    Number: lt <, le <=, gt >, ge >=;
}

/// The sum of numbers, or of arrays element by element.
#[inline(always)]
pub fn add<T: Arithmetic>(x: T, y: T) -> T {
    x.plus(y)
}

/// The difference of numbers, or of arrays element by element.
#[inline(always)]
pub fn sub<T: Arithmetic>(x: T, y: T) -> T {
    x.minus(y)
}

/// The product of numbers, or of arrays element by element.
#[inline(always)]
pub fn mul<T: Arithmetic>(x: T, y: T) -> T {
    x.times(y)
}

/// The quotient of numbers, or of arrays element by element; 0 and a fault for an integer divided by zero.
#[inline(always)]
#[track_caller]
pub fn div<T: Arithmetic>(x: T, y: T, thread: &Thread<'_>) -> T {
    let at = std::panic::Location::caller();
    x.over(y, &mut || thread.division_by_zero_at(at.into()))
}

/// The remainder; 0 and a fault for a divisor of zero.
#[inline(always)]
#[track_caller]
pub fn rem<T: Int>(x: T, y: T, thread: &Thread<'_>) -> T {
    match x.rem(y) {
        Some(rest) => rest,
        None => {
            thread.division_by_zero();
            T::ZERO
        }
    }
}

/// Shift left by a count of any integer type, taken modulo the width.
#[inline(always)]
pub fn shl<T: Int, C: Int>(x: T, count: C) -> T {
    x.shl(u32::cast_from(count))
}

/// Shift right by a count of any integer type, taken modulo the width.
#[inline(always)]
pub fn shr<T: Int, C: Int>(x: T, count: C) -> T {
    x.shr(u32::cast_from(count))
}

/// Conversion, as Rust's `as` does it.
#[inline(always)]
pub fn cast<T: Scalar, U: Number>(x: T) -> U {
    U::cast_from(x)
}

/// The float of these bits.
#[inline(always)]
pub fn from_bits<T: Float>(bits: T::Bits) -> T {
    T::from_bits(bits)
}

/// The zero that a device function returns when its thread is stopped.
#[inline(always)]
pub fn zero<T: KernelValue>() -> T {
    T::zero()
}
