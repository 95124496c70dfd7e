//! The arithmetic of kernels, by name.

use wattle_ir::{
    Arithmetic, Float, Int, IntOps as _, KernelValue, Number, NumberOps as _, Scalar, Signed, Word, compositions,
    operations,
};

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

/// The operators that apply to arrays too, element by element.
macro_rules! arithmetic {
    ($($name:ident)+) => {$(
        #[doc = concat!("`", stringify!($name), "`, by the rules of `wattle_ir`, of numbers or arrays of them.")]
        #[inline(always)]
        pub fn $name<V: Arithmetic>(x: V, y: V) -> V {
            x.zip(y, |x, y| x.$name(y))
        }
    )+};
}
arithmetic!(add sub mul);

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

/// The quotient; 0 and a fault for an integer divided by zero.
#[inline(always)]
#[track_caller]
pub fn div<V: Arithmetic>(x: V, y: V, thread: &Thread<'_>) -> V {
    let mut by_zero = false;
    let quotient = x.zip(y, |x, y| {
        x.div(y).unwrap_or_else(|| {
            by_zero = true;
            V::Number::ZERO
        })
    });
    if by_zero {
        thread.division_by_zero();
    }
    quotient
}

/// The remainder; 0 and a fault for a divisor of zero.
#[inline(always)]
#[track_caller]
pub fn rem<V: Arithmetic<Number: Int>>(x: V, y: V, thread: &Thread<'_>) -> V {
    let mut by_zero = false;
    let rest = x.zip(y, |x, y| {
        x.rem(y).unwrap_or_else(|| {
            by_zero = true;
            V::Number::ZERO
        })
    });
    if by_zero {
        thread.division_by_zero();
    }
    rest
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
