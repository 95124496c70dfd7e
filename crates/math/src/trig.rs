//! The trigonometric functions, for all finite angles. An infinity gives NaN.

use core::f64::consts::FRAC_PI_4;

use crate::payne_hanek::{self, MODERATE, reduce_moderate};
use crate::real::{Coefficients, Real, Reduced, Word};

/// (sin r - r) / r³ by r², for |r| up to a bit more than π/4.
const SINE: Coefficients = Coefficients {
    single: &[-1.6666655e-01, 8.332174e-03, -1.9516805e-04],
    double: &[
        -0.16666666666666646,
        0.008333333333325007,
        -0.0001984126983145728,
        2.7557314170022998e-06,
        -2.5050822707763257e-08,
        1.5900099083171866e-10,
    ],
};

/// (cos r - 1 + r²/2) / r⁴ by r².
const COSINE: Coefficients = Coefficients {
    single: &[4.1666646e-02, -1.3887363e-03, 2.4437897e-05],
    double: &[
        0.04166666666666664,
        -0.0013888888888879982,
        2.4801587292680486e-05,
        -2.7557315177777966e-07,
        2.0875825087853193e-09,
        -1.1364487974508915e-11,
    ],
};

/// x = n π/2 + r + c, but for whole turns; `x` is not negative. Angles up to π/4 are themselves. Few `f64` are large,
/// so what those need is apart.
#[inline(always)]
fn reduce<T: Real>(x: T) -> Reduced<T> {
    if T::PRECISION > 32 {
        return T::rarely(x.real(MODERATE).lt(x), || payne_hanek::reduce(x), || reduce_moderate(x));
    }
    let Reduced { n, r, c } = payne_hanek::reduce(x);
    let (is_small, zero) = (x.lt(x.real(FRAC_PI_4)), x.real(0.0));
    Reduced {
        n: T::Bits::select(is_small, n.word(0), n),
        r: T::select(is_small, x, r),
        c: T::select(is_small, zero, c),
    }
}

impl<T: Real> Reduced<T> {
    /// sin (r + c) = r + (c + r³ (-1/3! + r²/5! - …)): the second term is at most a sixth of r, so the last sum's half
    /// ulp is most of the error.
    #[inline(always)]
    fn sin(&self) -> T {
        let z = self.r * self.r;
        self.r + (self.c + self.r * z * z.polynomial(&SINE))
    }

    /// cos (r + c) = 1 - (r²/2 - (r⁴ (1/4! - r²/6! + …) - r c)): what is taken from 1 is at most 0.3, and its ulp a
    /// quarter of the result's or less.
    #[inline(always)]
    fn cos(&self) -> T {
        let z = self.r * self.r;
        let taken = z * z.real(0.5) - (z * z * z.polynomial(&COSINE) - self.r * self.c);
        z.real(1.0) - taken
    }

    /// Whether n is odd.
    #[inline(always)]
    fn is_odd(&self, n: T::Bits) -> T::Flag {
        (n & n.word(1)).eq(n.word(1))
    }

    /// The sine of the angle n quarter turns further.
    #[inline(always)]
    fn turned(&self, n: T::Bits) -> T {
        let size = T::select(self.is_odd(n), self.cos(), self.sin());
        size.turned((n & n.word(2)).shl(T::WIDTH - 2))
    }
}

/// The value, or NaN for an infinity.
#[inline(always)]
fn of_finite<T: Real>(x: T, value: T) -> T {
    T::select(x.is_finite(), value, x.real(f64::NAN))
}

/// The sine, within 1.5 ulp; of -0 it is -0.
#[inline(always)]
pub fn sin<T: Real>(x: T) -> T {
    // Odd by construction, and so -0 stays.
    let reduced = reduce(x.abs());
    of_finite(x, reduced.turned(reduced.n).turned(x.sign()))
}

/// The cosine, within 1.5 ulp.
#[inline(always)]
pub fn cos<T: Real>(x: T) -> T {
    let reduced = reduce(x.abs());
    of_finite(x, reduced.turned(reduced.n + reduced.n.word(1)))
}

/// The sine and the cosine, which reduce the angle once.
#[inline(always)]
pub fn sin_cos<T: Real>(x: T) -> (T, T) {
    let reduced = reduce(x.abs());
    let (sin, cos) = (reduced.turned(reduced.n).turned(x.sign()), reduced.turned(reduced.n + reduced.n.word(1)));
    (of_finite(x, sin), of_finite(x, cos))
}

/// The tangent, within 3 ulp: the quotient of sine and cosine; of -0 it is -0.
#[inline(always)]
pub fn tan<T: Real>(x: T) -> T {
    let reduced = reduce(x.abs());
    let (sin, cos, n) = (reduced.sin(), reduced.cos(), reduced.n);
    let is_odd = reduced.is_odd(n);
    let value = T::select(is_odd, cos, sin) / T::select(is_odd, sin, cos);
    of_finite(x, value.turned(n.shl(T::WIDTH - 1)).turned(x.sign()))
}
