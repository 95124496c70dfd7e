//! What the functions that the kernel macro writes call: the arithmetic rules by name, and access to arrays.

use wattle_ir::{Element, Float, Int, KernelValue, Scalar, Signed};

use crate::thread::{BadIndex, Thread};

/// Arrays in a kernel: indexed by `u32`, checked.
pub trait ArrayAccess<T> {
    /// `self[index]`; 0 and a fault where that is out of bounds.
    fn __get(&self, index: u32, thread: &Thread<'_>) -> T;
    /// `self[index] = value`; a fault and nothing written where that is out of bounds.
    fn __set(&mut self, index: u32, value: T, thread: &Thread<'_>);
}

impl<T: Element, const N: usize> ArrayAccess<T> for [T; N] {
    #[inline(always)]
    #[track_caller]
    fn __get(&self, index: u32, thread: &Thread<'_>) -> T {
        match self.get(index as usize) {
            Some(element) => *element,
            None => {
                thread.out_of_bounds(bad_index::<N>(index));
                T::ZERO
            }
        }
    }

    #[inline(always)]
    #[track_caller]
    fn __set(&mut self, index: u32, value: T, thread: &Thread<'_>) {
        match self.get_mut(index as usize) {
            Some(element) => *element = value,
            None => thread.out_of_bounds(bad_index::<N>(index)),
        }
    }
}

#[inline(always)]
#[track_caller]
fn bad_index<const N: usize>(index: u32) -> BadIndex {
    let at = std::panic::Location::caller();
    BadIndex { view: "an array", index: [index, 0, 0, 0], extent: [N as u32, 1, 1, 1], rank: 1, at }
}

macro_rules! functions {
    ($($bound:ident: $($name:ident($($arg:ident),*) -> $out:ty),+;)+) => {$($(
        #[doc = concat!("`", stringify!($name), "`, by the rules of `wattle_ir`.")]
        #[inline(always)]
        pub fn $name<T: $bound>(x: T, $($arg: T),*) -> $out {
            T::$name(x, $($arg),*)
        }
    )+)+};
}
functions! {
    Element: add(y) -> T, sub(y) -> T, mul(y) -> T, min(y) -> T, max(y) -> T;
    Signed: neg() -> T, abs() -> T;
    Float: sqrt() -> T, rsqrt() -> T, exp() -> T, ln() -> T, sin() -> T, cos() -> T, tanh() -> T, pow(y) -> T,
        fma(y, z) -> T, floor() -> T, ceil() -> T, round() -> T, is_nan() -> bool, to_bits() -> T::Bits;
    Int: count_ones() -> u32, leading_zeros() -> u32, trailing_zeros() -> u32;
}

/// `x.max(low).min(high)`.
#[inline(always)]
pub fn clamp<T: Element>(x: T, low: T, high: T) -> T {
    x.max(low).min(high)
}

/// The quotient; 0 and a fault for an integer divided by zero.
#[inline(always)]
#[track_caller]
pub fn div<T: Element>(x: T, y: T, thread: &Thread<'_>) -> T {
    match x.div(y) {
        Some(quotient) => quotient,
        None => {
            thread.division_by_zero();
            T::ZERO
        }
    }
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
pub fn cast<T: Scalar, U: Element>(x: T) -> U {
    U::cast_from(x)
}

/// The float of these bits.
#[inline(always)]
pub fn from_bits<T: Float>(bits: T::Bits) -> T {
    T::from_bits(bits)
}

/// The most bytes that an array of a kernel can have: it lives on the worker's stack, or in a GPU's registers.
const MAX_ARRAY: usize = 16 << 10;

/// `[x; N]`.
#[inline(always)]
pub fn repeat<T: Element, const N: usize>(x: T) -> [T; N] {
    const { assert!(N * size_of::<T>() <= MAX_ARRAY, "an array in a kernel has at most 16 KiB; use a buffer for more") };
    [x; N]
}

/// What a device function that is stopped returns.
#[inline(always)]
pub fn zero<T: KernelValue>() -> T {
    T::zero()
}
