//! `& | ^ !` and `== !=` of kernels, by name.

use wattle_ir::{Bits, Comparable};

use crate::thread::Thread;

macro_rules! bits {
    ($($name:ident $op:tt),+) => {$(
        #[doc = concat!("`x ", stringify!($op), " y`, of integers, bool and masks of warps.")]
        #[inline(always)]
        pub fn $name<T: Bits>(x: T, y: T) -> T {
            x.zip_bits(y, |x, y| x $op y)
        }
    )+};
}
bits!(bit_and &, bit_or |, bit_xor ^);

/// `!x`, of integers, bool and masks of warps.
#[inline(always)]
pub fn not<T: Bits>(x: T, thread: &Thread<'_>) -> T {
    x.complement(thread.shape().warp_size)
}

/// `x == y`, of numbers, bool, masks of warps, and arrays and tuples of these.
#[inline(always)]
pub fn eq<T: Comparable>(x: T, y: T) -> bool {
    x.equals(y)
}

/// `x != y`, of numbers, bool, masks of warps, and arrays and tuples of these.
#[inline(always)]
pub fn ne<T: Comparable>(x: T, y: T) -> bool {
    !x.equals(y)
}
