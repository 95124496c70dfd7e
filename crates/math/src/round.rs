//! Rounding to whole numbers.

use crate::real::{Real, power};

/// The nearest whole number, halves away from zero; exact.
///
/// The nearest one with halves to even comes of a sum in whose last place the units are; of a half that went down it is
/// the next one.
#[inline(always)]
pub fn round<T: Real>(x: T) -> T {
    let (size, units) = (x.abs(), x.real(power(T::PRECISION as i32 - 1)));
    let even = (size + units) - units;
    let went_down = (size - even).eq(x.real(0.5));
    let nearest = T::select(went_down, even + x.real(1.0), even);
    // From there on all are whole, and a NaN stays.
    T::select(size.lt(units), nearest, size).with_sign_of(x)
}
