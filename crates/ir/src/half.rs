//! The floats of 16 bits on the host: the types are those of the crate `half`, their arithmetic is that of
//! `wattle-math`.

use std::num::Wrapping;

use wattle_math as math;
use wattle_operations::floats;

/// The types' names in Rust, for macros over the tables.
pub(crate) mod names {
    pub(crate) use half::{bf16, f16};
}
use names::*;

/// A float of 16 bits, which is computed with as `f32`.
pub(crate) trait Half: Copy {
    /// The format.
    type Format: math::HalfFormat;

    /// The value of these bits.
    fn of_bits(bits: u16) -> Self;
    /// The bits of this number.
    fn bits(self) -> u16;

    /// The number as `f32`; exact.
    #[inline(always)]
    fn widen(self) -> f32 {
        math::widen::<Self::Format, f32>(Wrapping(self.bits().into()))
    }

    /// The number of this format that is nearest to an `f32`.
    #[inline(always)]
    fn narrow(x: f32) -> Self {
        Self::of_bits(math::narrow::<Self::Format, f32>(x).0 as u16)
    }

    /// The nearest number to an integer.
    #[inline(always)]
    fn of_size(size: u64) -> Self {
        Self::narrow(math::sticky(Wrapping(size), u64::BITS).0 as f32)
    }

    /// The number with its sign turned where that is asked for.
    #[inline(always)]
    fn signed(self, is_negative: bool) -> Self {
        Self::of_bits(self.bits() ^ (u16::from(is_negative) << 15))
    }
}

macro_rules! define_formats {
    ({$($variant:ident $t:ident;)+} $wide:tt) => {
        /// The formats of the floats of 16 bits, by the names of their types.
        pub(crate) mod formats {
            use wattle_math::HalfFormat;

            use super::names::*;

            $(
                pub(crate) struct $variant;

                impl HalfFormat for $variant {
                    const FRACTION: u32 = $t::MANTISSA_DIGITS - 1;
                    const BIAS: u32 = ($t::MAX_EXP - 1) as u32;
                }
            )+
        }
    };
}
floats!(define_formats);

macro_rules! implement {
    ({$($variant:ident $t:ident;)+} $wide:tt) => {$(
        impl Half for $t {
            type Format = formats::$variant;
            #[inline(always)]
            fn of_bits(bits: u16) -> $t {
                $t::from_bits(bits)
            }
            #[inline(always)]
            fn bits(self) -> u16 {
                self.to_bits()
            }
        }
    )+};
}
floats!(implement);

/// A wider float, as a number of 16 bits.
pub(crate) trait Narrows<T> {
    /// The nearest number, in one rounding.
    fn narrowed(self) -> T;
}

impl<T: Half> Narrows<T> for f32 {
    #[inline(always)]
    fn narrowed(self) -> T {
        T::narrow(self)
    }
}

impl<T: Half> Narrows<T> for f64 {
    #[inline(always)]
    fn narrowed(self) -> T {
        T::of_bits(math::narrow::<T::Format, f64>(self).0 as u16)
    }
}

/// `x * y + z` of numbers of `T`, such that it rounds to `T` as the exact sum.
#[inline(always)]
pub(crate) fn fused<T: Half>(x: f32, y: f32, z: f32) -> f32 {
    math::fused::<T::Format, f32>(x, y, z)
}
