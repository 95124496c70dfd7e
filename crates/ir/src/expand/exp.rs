//! `exp`, and `tanh` by it.

use super::Exact;
use super::constant::LN_2;
use super::div::quotient;
use super::double_word::two_sum;
use super::term::{Real, Term, coefficients, inverse_factorial};

/// e^x = 2^n e^(r + c): `n` whole, |r| at most a bit more than ln(2) / 2, `c` below half an ulp of `r`.
struct Reduced<'b, T> {
    n: Term<'b, T>,
    r: Term<'b, T>,
    c: Term<'b, T>,
}

/// Reduces `hi + lo` (`lo` at most about an ulp of `hi`).
///
/// Beyond the range where the result is a positive finite number, `hi` is replaced by the range's end, so that `n`
/// stays within twice a normal exponent; a NaN passes. `n * head` is exact, and `hi - n * head` too: both are near to
/// each other, and multiples of the lesser of their last bits. So the sum of `r` and `c` differs from the true one by
/// the roundings of `n * tail` and of the tail itself alone: 2^-31 in `f32`, 2^-83 in `f64`.
fn reduce<'b, T: Real>(hi: Term<'b, T>, lo: Option<Term<'b, T>>) -> Reduced<'b, T> {
    let ln_2 = std::f64::consts::LN_2;
    // e^high is infinite; e^low is below half of the least subnormal.
    let high = (f64::from(T::BIAS + 1) * ln_2).ceil();
    let low = -(f64::from(T::BIAS + T::PRECISION as i32) * ln_2).ceil();
    let (above, below) = (hi.gt(high), hi.lt(low));
    let hi = above.select(high, below.select(low, hi));
    let n = (hi * std::f64::consts::LOG2_E + 0.5).floor();
    let (head, tail) = LN_2.head_and_tail::<T>();
    let rest = match lo {
        Some(lo) => (above | below).select(0.0, lo) - n * tail,
        None => -(n * tail),
    };
    let sum = two_sum(hi - n * head, rest);
    Reduced { n, r: sum.hi, c: sum.lo }
}

impl<'b, T: Real> Reduced<'b, T> {
    /// e^(r + c) - 1, within about an ulp, also where it is small: r + (c + r² (1/2! + r/3! + …)), in which what is
    /// added to `r` is about a fifth of it at most. What is left out, `c * r`, is below a fifth of an ulp.
    fn exp_m1(&self) -> Term<'b, T> {
        let series = coefficients::<T>(0.35, |k| inverse_factorial(k + 2));
        self.r + (self.c + self.r * self.r * self.r.polynomial(&series))
    }
}

/// e^x, within 1 ulp and a fifth: the last sum's half, a quarter from the errors of the sum's second term, which is
/// at most 0.42 and whose ulp is a quarter of that of 1, and for results below 1, where `r` is negative, as much
/// again.
pub(super) fn exp<'b, T: Real>(x: Term<'b, T>) -> Term<'b, T> {
    exp_of_sum(x, None)
}

/// e^(hi + lo), where `lo` is at most about an ulp of `hi`.
pub(super) fn exp_of_sum<'b, T: Real>(hi: Term<'b, T>, lo: Option<Term<'b, T>>) -> Term<'b, T> {
    let reduced = reduce(hi, lo);
    (reduced.exp_m1() + 1.0).scale(reduced.n.cast())
}

/// tanh x = E / (E + 2) with E = e^2|x| - 1, and the sign of x; within 3 ulp.
///
/// E = 2^n (e^r - 1) + (2^n - 1) is good relative to itself also near 0, where n = 0: about 1 ulp and a half. The
/// quotient passes at most the same relative error on, and the sum and the division add a rounding each. From |x| =
/// `one` on the quotient is 1, so E need not grow further.
pub(super) fn tanh<'b, T: Real>(x: Term<'b, T>, exact: Exact) -> Term<'b, T> {
    // 1 - tanh x is about 2 e^-2x.
    let one = (f64::from(T::PRECISION + 4) * std::f64::consts::LN_2 / 2.0).ceil();
    let size = x.abs();
    let size = size.gt(one).select(one, size);
    let reduced = reduce(size + size, None);
    let power = reduced.n.cast::<i32>().exp2::<T>();
    let e = power * reduced.exp_m1() + (power - power.constant(1.0));
    quotient(e, e + 2.0, exact).turned(x.sign())
}
