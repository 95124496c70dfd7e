//! The hyperbolic functions, by the exponential.

use core::f64::consts::LN_2;

use crate::exp::{exp_m1_by, exp_m1_of_reduced, range, reduce, reduce_sum};
use crate::real::{Real, Word};

/// sinh x = (E + E / (E + 1)) / 2 with E = e^|x| - 1, and the sign of x; within 3 ulp.
///
/// Where e^-|x| no longer counts it is e^|x| / 2, which is in range also where e^|x| is not.
#[inline(always)]
pub fn sinh<T: Real>(x: T) -> T {
    let (one, half) = (x.real(1.0), x.real(0.5));
    let size = x.abs().within(0.0, (range::<T>().1 + 1.0) * LN_2);
    let reduced = reduce_sum(size, x.real(0.0));
    let e = exp_m1_by(reduced);
    let small = (e + e / (e + one)) * half;
    let great = (exp_m1_of_reduced(reduced.r) + one).scaled(reduced.n - reduced.n.word(1));
    let is_great = x.real(f64::from(T::PRECISION + 2) * 0.35).lt(size);
    T::select(is_great, great, small).with_sign_of(x)
}

/// cosh x = (e^|x| + e^-|x|) / 2, within 2 ulp.
#[inline(always)]
pub fn cosh<T: Real>(x: T) -> T {
    let one = x.real(1.0);
    let (n, r) = reduce(x.abs().within(0.0, (range::<T>().1 + 1.0) * LN_2));
    let power = exp_m1_of_reduced(r) + one;
    let (zero, first) = (n.word(0), n.word(1));
    power.scaled(n - first) + one.near_quotient(power).scaled(zero - n - first)
}

/// tanh x = E / (E + 2) with E = e^2|x| - 1, and the sign of x; within 3 ulp.
///
/// From where on the quotient is 1, E need not grow further.
#[inline(always)]
pub fn tanh<T: Real>(x: T) -> T {
    // 1 - tanh x is about 2 e^-2x.
    let one = f64::from(T::PRECISION + 4) * LN_2 / 2.0;
    let size = x.abs().within(0.0, one);
    let e = exp_m1_by(reduce_sum(size + size, x.real(0.0)));
    (e / (e + x.real(2.0))).with_sign_of(x)
}
