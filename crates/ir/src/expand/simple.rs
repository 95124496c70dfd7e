//! The functions that need no series: `rsqrt` and `round`.

use super::Exact;
use super::div::{quotient, root};
use super::term::{Real, Term};

/// 1 / √x, within 1 ulp and a half: two roundings of at most 2^-p, of which the first may be a whole ulp of the
/// quotient.
pub(super) fn rsqrt<'b, T: Real>(x: Term<'b, T>, exact: Exact) -> Term<'b, T> {
    quotient(x.constant(1.0), root(x, exact), exact)
}

/// The nearest whole number, halves away from zero; exact. The difference between a number and its floor is exact, and
/// NaN for an infinity, which then stays itself.
pub(super) fn round<'b, T: Real>(x: Term<'b, T>) -> Term<'b, T> {
    let size = x.abs();
    let floor = size.floor();
    let up = (size - floor).ge(0.5);
    (floor + up.select(1.0, 0.0)).turned(x.sign())
}
