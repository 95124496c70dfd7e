//! `exp`, `exp2` and `exp_m1`.

use core::f64::consts::{LN_2, LOG2_E};

use crate::double_word::{fast_two_sum, two_sum};
use crate::real::{Coefficients, Real, Reduced, Split, Word};

/// The natural logarithm of 2; the head's product with any float's exponent is exact.
pub(crate) const LN_2_PARTS: Split =
    Split { single: (0.693145751953125, 1.4286068203094173e-06), double: (0.6931471805598903, 5.497923018708371e-14) };

/// (e^r - 1 - r) / r² for |r| up to 0.3475.
const SERIES: Coefficients = Coefficients {
    single: &[4.9999994e-01, 1.666652e-01, 4.1668404e-02, 8.368898e-03, 1.3814236e-03],
    double: &[
        0.5000000000000011,
        0.16666666666666405,
        0.04166666666652737,
        0.008333333333497894,
        0.0013888888944469518,
        0.00019841269501179667,
        2.480149213562598e-05,
        2.755758931658098e-06,
        2.7630621132895703e-07,
        2.4999735381654174e-08,
    ],
};

/// The power of 2 above which the exponential is infinite, and that below which it is less than half of the least
/// subnormal.
#[inline(always)]
pub(crate) fn range<T: Real>() -> (f64, f64) {
    (-f64::from(T::BIAS + T::PRECISION + 1), f64::from(T::BIAS + 2))
}

/// x = n ln 2 + r, |r| at most a bit more than ln(2) / 2. The size of `x` is below 2^11.
///
/// `n * head` is exact, and `x - n * head` too: both are near to each other, and multiples of the lesser of their last
/// bits. So the error of `r` is that of its last rounding, half an ulp.
#[inline(always)]
pub(crate) fn reduce<T: Real>(x: T) -> (T::Bits, T) {
    let (head, tail) = LN_2_PARTS.of::<T>();
    let (n, integer) = (x * x.real(LOG2_E)).nearest_whole();
    (integer, (x - n * x.real(head)) - n * x.real(tail))
}

/// As [`reduce`], with an error far below an ulp, and of `x` + `low`, which is at most about an ulp of `x`.
#[inline(always)]
pub(crate) fn reduce_sum<T: Real>(x: T, low: T) -> Reduced<T> {
    let (head, tail) = LN_2_PARTS.of::<T>();
    let (n, integer) = (x * x.real(LOG2_E)).nearest_whole();
    let rest = two_sum(x - n * x.real(head), low - n * x.real(tail));
    Reduced { n: integer, r: rest.hi, c: rest.lo }
}

/// What e^r - 1 is more than r.
#[inline(always)]
fn beyond<T: Real>(r: T) -> T {
    r * r * r.polynomial(&SERIES)
}

/// e^r - 1, within about an ulp, also where it is small: what is added to `r` is about a fifth of it at most.
#[inline(always)]
pub(crate) fn exp_m1_of_reduced<T: Real>(r: T) -> T {
    r + beyond(r)
}

/// e^x, within 1.5 ulp.
///
/// The last sum is worth half an ulp; for results below 1, whose ulp is half of that of 1, the roundings of r and of
/// e^r - 1 are a quarter each.
#[inline(always)]
pub fn exp<T: Real>(x: T) -> T {
    let (low, high) = range::<T>();
    let (n, r) = reduce(x.within(low * LN_2, high * LN_2));
    (exp_m1_of_reduced(r) + x.real(1.0)).scaled(n)
}

/// 2^x, within 1.5 ulp. A whole x that is in the range of the exponents gives the power itself.
#[inline(always)]
pub fn exp2<T: Real>(x: T) -> T {
    let (low, high) = range::<T>();
    let x = x.within(low, high);
    let (n, integer) = x.nearest_whole();
    (exp_m1_of_reduced((x - n) * x.real(LN_2)) + x.real(1.0)).scaled(integer)
}

/// e^(x + low), where `low` is at most about an ulp of `x`; within 1.2 ulp of it.
#[inline(always)]
pub(crate) fn exp_of_sum<T: Real>(x: T, low: T) -> T {
    let (least, most) = range::<T>();
    let inside = x.within(least * LN_2, most * LN_2);
    let low = T::select(x.eq(inside), low, x.real(0.0));
    let Reduced { n, r, c } = reduce_sum(inside, low);
    (r + (c + beyond(r)) + x.real(1.0)).scaled(n)
}

/// e^x - 1 by its reduced argument, for `n` up to the greatest exponent: (2^n - 1) + 2^n r + 2^n (e^r - 1 - r), at half
/// its size, so that 2^n is in range; for n = 0 it is e^r - 1 itself. The first sum is exact, and the rest a fifth of
/// it.
#[inline(always)]
pub(crate) fn exp_m1_by<T: Real>(Reduced { n, r, c }: Reduced<T>) -> T {
    let (rest, one) = (c + beyond(r), n.word(1));
    let scale = T::power_of_two(n - one);
    let sum = fast_two_sum(scale - r.real(0.5), scale * r);
    let half = sum.hi + (sum.lo + scale * rest);
    T::select(n.eq(n.word(0)), r + rest, half + half)
}

/// e^x - 1, within 1.5 ulp; of -0 it is -0.
#[inline(always)]
pub fn exp_m1<T: Real>(x: T) -> T {
    // From there on down it is -1.
    let least = -f64::from(T::PRECISION + 2);
    let inside = x.within(least * LN_2, f64::from(T::BIAS + 1) * LN_2 + 0.25);
    exp_m1_by(reduce_sum(inside, x.real(0.0))).with_sign_of(x)
}
