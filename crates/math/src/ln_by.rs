//! The inverse hyperbolic functions, by the logarithm.

use core::f64::consts::LN_2;

use crate::ln::ln_1p;
use crate::real::{Real, power};

/// ln(1 + `inner`), or for an x so great that 1 does not count ln(2 x).
#[inline(always)]
fn by_ln<T: Real>(x: T, inner: T) -> T {
    let is_great = x.real(power(T::PRECISION as i32 / 2 + 2)).lt(x);
    let value = ln_1p(T::select(is_great, x - x.real(1.0), inner));
    value + T::select(is_great, x.real(LN_2), x.real(0.0))
}

/// The inverse of sinh, ln(1 + |x| + x² / (1 + √(x² + 1))) with the sign of x; within 3 ulp.
#[inline(always)]
pub fn asinh<T: Real>(x: T) -> T {
    let (size, one) = (x.abs(), x.real(1.0));
    let square = size * size;
    by_ln(size, size + square / (one + (square + one).sqrt())).with_sign_of(x)
}

/// The inverse of cosh, ln(1 + t + √(t (t + 2))) with t = x - 1; within 3 ulp. Below 1 it is NaN.
#[inline(always)]
pub fn acosh<T: Real>(x: T) -> T {
    let one = x.real(1.0);
    let t = x - one;
    let value = by_ln(x, t + (t * (t + x.real(2.0))).sqrt());
    T::select(x.lt(one), x.real(f64::NAN), value)
}

/// The inverse of tanh, ln(1 + 2 |x| / (1 - |x|)) / 2 with the sign of x; within 3 ulp. Of 1 it is infinity, beyond
/// NaN.
#[inline(always)]
pub fn atanh<T: Real>(x: T) -> T {
    let size = x.abs();
    (ln_1p((size + size) / (x.real(1.0) - size)) * x.real(0.5)).with_sign_of(x)
}
