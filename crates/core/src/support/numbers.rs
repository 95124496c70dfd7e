//! The arithmetic of kernels, by name.

use wattle_ir::builder::ConstantCast;
use wattle_ir::{
    Arithmetic, Float, Int, KernelValue, Negative, Number, NumberOps as _, Scalar, Signed, Word, compositions,
    faulting, operations,
};

use crate::thread::Thread;

/// The negation, by the rules of `wattle_ir`, of a number or of an array of them, element by element.
#[inline(always)]
pub fn neg<V: Negative>(x: V) -> V {
    x.negative()
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

/// `x * y + z` in a kernel that permits to contract: of floats rounded once.
#[inline(always)]
pub fn mul_add<V: Arithmetic>(x: V, y: V, z: V) -> V {
    x.zip3(y, z, |x, y, z| x.fused(y, z))
}

/// `z + x * y` in a kernel that permits to contract: of floats rounded once.
#[inline(always)]
pub fn add_mul<V: Arithmetic>(z: V, x: V, y: V) -> V {
    mul_add(x, y, z)
}

/// `x * y - z` in a kernel that permits to contract: of floats rounded once.
#[inline(always)]
pub fn mul_sub<V: Arithmetic>(x: V, y: V, z: V) -> V {
    x.zip3(y, z, |x, y, z| x.fused(y, z.negated()))
}

/// `z - x * y` in a kernel that permits to contract: of floats rounded once.
#[inline(always)]
pub fn sub_mul<V: Arithmetic>(z: V, x: V, y: V) -> V {
    x.zip3(y, z, |x, y, z| x.negated().fused(y, z))
}

/// How many sums a loop that may reorder them has at once: as many as the widest registers hold, twice.
pub const SUMS: usize = 32;

/// A type that an operand must have because the other one has it.
#[diagnostic::on_unimplemented(
    message = "the operands are of two types, `{Self}` and `{Y}`",
    label = "one operand is of type `{Self}`, the other of type `{Y}`",
    note = "in a generic kernel a number of type `T` is written `2 as T`, `T::from_f64(0.5)` or `T::ONE`, and a variable begins \
            with one, `let mut sum = T::ZERO`; a literal with a point that is an operand itself, `x * 0.5`, has the type of `x` \
            where `T: Float`"
)]
pub trait SameAs<Y> {
    #[doc(hidden)]
    fn same(y: Y) -> Self;
}

impl<T> SameAs<T> for T {
    #[inline(always)]
    fn same(y: T) -> T {
        y
    }
}

/// The operands of an operation, of which one is a literal or begins with one, as operands of one type.
///
/// They come as a tuple, which is made before: of two parameters rustc would take the second one's type from the first,
/// and report that it is another one in words of its own.
#[inline(always)]
pub fn of_one_type<X: SameAs<Y>, Y>((x, y): (X, Y)) -> (X, X) {
    (x, X::same(y))
}

/// The partial sums of a loop before its first iteration: zero for each.
#[inline(always)]
pub fn sums<V: Arithmetic + KernelValue>(_: &V) -> [V; SUMS] {
    [V::zero(); SUMS]
}

/// The sum of the sums, by halves.
#[inline(always)]
pub fn summed<V: Arithmetic>(mut sums: [V; SUMS]) -> V {
    let mut count = SUMS / 2;
    while count > 0 {
        for number in 0..count {
            sums[number] = add(sums[number], sums[number + count]);
        }
        count /= 2;
    }
    sums[0]
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

macro_rules! faulting_functions {
    ($($(#[$doc:meta])* $class:ident $fault:ident $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*)
        {$($meaning:tt)+})+) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $method<T: $class>(x: T, $($y: result!($($of)?),)* thread: &Thread<'_>) -> T {
            match T::$method(x, $($y),*) {
                Some(value) => value,
                None => {
                    fault!($fault thread $method);
                    T::ZERO
                }
            }
        }
    )+};
}

/// Records the fault of a method.
macro_rules! fault {
    (by_zero $thread:ident $method:ident) => {
        $thread.division_by_zero()
    };
    (overflow $thread:ident $method:ident) => {
        $thread.fail(&wattle_ir::overflow(stringify!($method)), &[])
    };
}
faulting!(faulting_functions);

/// The power: of integers by a `u32`, and it wraps.
#[inline(always)]
pub fn pow<T: Number>(x: T, exponent: T::Exponent) -> T {
    x.pow(exponent)
}

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

/// The remainder; 0 and a fault for an integer and a divisor of zero.
#[inline(always)]
#[track_caller]
pub fn rem<V: Arithmetic>(x: V, y: V, thread: &Thread<'_>) -> V {
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

/// Conversion of a constant, as Rust's `as` does it.
#[inline(always)]
pub fn cast_constant<T: ConstantCast, U: Number>(x: T) -> U {
    x.converted()
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
