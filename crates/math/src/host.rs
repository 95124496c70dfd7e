//! The floats of the host.

use core::num::Wrapping;

use crate::real::{Flag, Real, Reduced, Word};

impl Flag for bool {}

macro_rules! word {
    ($t:ident $wide:ident $($window:item)?) => {
        impl Word for Wrapping<$t> {
            type Flag = bool;

            #[inline(always)]
            fn word(self, value: u64) -> Self {
                Wrapping(value as $t)
            }
            #[inline(always)]
            fn shl(self, count: u32) -> Self {
                Wrapping(self.0.wrapping_shl(count))
            }
            #[inline(always)]
            fn shr(self, count: u32) -> Self {
                Wrapping(self.0.wrapping_shr(count))
            }
            #[inline(always)]
            fn shl_by(self, count: Self) -> Self {
                Wrapping(self.0.wrapping_shl(count.0 as u32))
            }
            #[inline(always)]
            fn shr_by(self, count: Self) -> Self {
                Wrapping(self.0.wrapping_shr(count.0 as u32))
            }
            #[inline(always)]
            fn mul_hi(self, other: Self) -> Self {
                Wrapping(((self.0 as $wide * other.0 as $wide) >> $t::BITS) as $t)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self.0 == other.0
            }
            #[inline(always)]
            fn select(condition: bool, x: Self, y: Self) -> Self {
                if condition { x } else { y }
            }
            $($window)?
        }
    };
}
word!(u32 u64);
word! {
    u64 u128
    /// The processor reads a table.
    #[inline(always)]
    fn window<const N: usize>(self, table: &'static [u64; N]) -> [Self; 4] {
        let first = (self.0 as usize).min(N - 4);
        core::array::from_fn(|at| Wrapping(table[first + at]))
    }
}

macro_rules! real {
    ($t:ident $bits:ident) => {
        impl Real for $t {
            type Bits = Wrapping<$bits>;
            type Flag = bool;
            type Integer = i32;

            const PRECISION: u32 = $t::MANTISSA_DIGITS;
            const BIAS: u32 = $t::MAX_EXP as u32 - 1;

            #[inline(always)]
            fn real(self, value: f64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn bits(self) -> Wrapping<$bits> {
                Wrapping(self.to_bits())
            }
            #[inline(always)]
            fn from_bits(bits: Wrapping<$bits>) -> $t {
                $t::from_bits(bits.0)
            }
            #[inline(always)]
            fn integer(integer: i32) -> Wrapping<$bits> {
                Wrapping(integer as $bits)
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn lt(self, other: $t) -> bool {
                self < other
            }
            #[inline(always)]
            fn eq(self, other: $t) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(condition: bool, x: $t, y: $t) -> $t {
                if condition { x } else { y }
            }
            #[inline(always)]
            fn rarely(
                condition: bool,
                then: impl FnOnce() -> Reduced<$t>,
                otherwise: impl FnOnce() -> Reduced<$t>,
            ) -> Reduced<$t> {
                if condition { then() } else { otherwise() }
            }
        }
    };
}
real!(f32 u32);
real!(f64 u64);
