//! The inverse trigonometric functions.

use crate::double_word::fast_two_sum;
use crate::real::{Coefficients, Real, Split, Word};

/// (atan t - t) / t³ by t², for |t| up to 7/16.
const ATAN: Coefficients = Coefficients {
    single: &[-3.333332e-01, 1.9998354e-01, -1.4238201e-01, 1.0540088e-01, -5.918347e-02],
    double: &[
        -0.3333333333333328,
        0.19999999999951557,
        -0.14285714278326817,
        0.11111110634966177,
        -0.09090892427853837,
        0.07691952783559852,
        -0.06661788492424682,
        0.05837884355082577,
        -0.049931033347917514,
        0.03687767341643823,
        -0.016605609890670572,
    ],
};

/// (asin s - s) / s³ by s², for s up to ½.
const ASIN: Coefficients = Coefficients {
    single: &[1.6666663e-01, 7.5003564e-02, 4.4540133e-02, 3.1641867e-02, 1.499260e-02, 3.681502e-02],
    double: &[
        0.1666666666666668,
        0.07499999999989329,
        0.04464285715943651,
        0.030381943349217726,
        0.022372198761542207,
        0.01735187748292431,
        0.01397788936540653,
        0.01142120213249513,
        0.010663271470472118,
        0.004122744050062372,
        0.020747909003000952,
        -0.019706928594767404,
        0.0318566572520214,
    ],
};

/// Constants as their nearest floats, and the rest.
const PI: Split = Split {
    single: (3.1415927410125732, -8.742278000372485e-08),
    double: (core::f64::consts::PI, 1.2246467991473532e-16),
};
const HALF_PI: Split = Split {
    single: (1.5707963705062866, -4.371139000186243e-08),
    double: (core::f64::consts::FRAC_PI_2, 6.123233995736766e-17),
};

/// atan x = atan b + atan t with t = (x - b) / (1 + b x).
struct Step {
    /// The least number that the row is for.
    from: f64,
    b: f64,
    atan: Split,
}

const STEPS: [Step; 3] = [
    Step {
        from: 0.4375,
        b: 0.5,
        atan: Split {
            single: (0.46364760398864746, 5.012158655276756e-09),
            double: (0.4636476090008061, 2.2698777452961687e-17),
        },
    },
    Step {
        from: 0.6875,
        b: 1.0,
        atan: Split {
            single: (0.7853981852531433, -2.1855695000931213e-08),
            double: (core::f64::consts::FRAC_PI_4, 3.061616997868383e-17),
        },
    },
    Step {
        from: 1.1875,
        b: 1.5,
        atan: Split {
            single: (0.9827937483787537, -2.5131424594123664e-08),
            double: (0.982793723247329, 1.3903311031230998e-17),
        },
    },
];

/// The number from which on atan x = π/2 + atan(-1 / x).
const LAST: f64 = 2.4375;

/// An angle, as `head` + `tail` + atan t.
struct Angle<T> {
    head: T,
    tail: T,
    t: T,
}

impl<T: Real> Angle<T> {
    #[inline(always)]
    fn value(&self) -> T {
        let z = self.t * self.t;
        self.head + (self.t + (self.tail + self.t * z * z.polynomial(&ATAN)))
    }
}

/// atan x of an x that is not negative.
///
/// x - b is exact, and |t| is at most 0.2 where b is not 0, so that the errors of t count by a fifth.
#[inline(always)]
fn angle<T: Real>(x: T) -> Angle<T> {
    let (zero, one) = (x.real(0.0), x.real(1.0));
    let (mut b, mut head, mut tail) = (zero, zero, zero);
    let mut step = 0;
    while step < STEPS.len() {
        let Step { from, b: next, atan } = &STEPS[step];
        let is_below = x.lt(x.real(*from));
        b = T::select(is_below, b, x.real(*next));
        head = T::select(is_below, head, x.real(atan.of::<T>().0));
        tail = T::select(is_below, tail, x.real(atan.of::<T>().1));
        step += 1;
    }
    let is_great = x.real(LAST).lt(x);
    let dividend = T::select(is_great, -one, x - b);
    let divisor = T::select(is_great, x, one + b * x);
    head = T::select(is_great, x.real(HALF_PI.of::<T>().0), head);
    tail = T::select(is_great, x.real(HALF_PI.of::<T>().1), tail);
    Angle { head, tail, t: dividend / divisor }
}

/// The inverse of the tangent, from -π/2 to π/2, within 1.5 ulp; of -0 it is -0.
#[inline(always)]
pub fn atan<T: Real>(x: T) -> T {
    angle(x.abs()).value().with_sign_of(x)
}

/// The angle of the point (`x`, `y`) from -π to π, within 2 ulp. The signs of zeros count, and that of two infinities
/// is π/4 or 3 π/4.
#[inline(always)]
pub fn atan2<T: Real>(y: T, x: T) -> T {
    let (height, width) = (y.abs(), x.abs());
    let (zero, one) = (x.real(0.0), x.real(1.0));
    let quotient = height / width;
    let quotient = T::select(height.eq(zero) & width.eq(zero), zero, quotient);
    let quotient = T::select(height.is_infinite() & width.is_infinite(), one, quotient);
    let Angle { head, tail, t } = angle(quotient);
    let is_left = x.sign().eq(x.word(T::SIGN));
    let (pi, rest) = PI.of::<T>();
    let other = fast_two_sum(x.real(pi), -head);
    let left = Angle { head: other.hi, tail: other.lo + (x.real(rest) - tail), t: -t };
    let angle = Angle {
        head: T::select(is_left, left.head, head),
        tail: T::select(is_left, left.tail, tail),
        t: T::select(is_left, left.t, t),
    };
    angle.value().with_sign_of(y)
}

/// What the inverse sine is made of: `s` is |x|, or √((1 - |x|) / 2) where that is less, and `beyond` is what asin s is
/// more than s.
struct Inverse<T: Real> {
    is_small: T::Flag,
    s: T,
    beyond: T,
}

#[inline(always)]
fn inverse<T: Real>(x: T) -> Inverse<T> {
    let size = x.abs();
    let half = x.real(0.5);
    let is_small = size.lt(half);
    let z = T::select(is_small, size * size, (x.real(1.0) - size) * half);
    let s = T::select(is_small, size, z.sqrt());
    Inverse { is_small, s, beyond: s * z * z.polynomial(&ASIN) }
}

/// `whole` - 2 asin s, where 2 s is at most `whole`.
#[inline(always)]
fn rest_of<T: Real>(whole: &Split, s: T, beyond: T) -> T {
    let (head, tail) = whole.of::<T>();
    let sum = fast_two_sum(s.real(head), -(s + s));
    sum.hi + (sum.lo + (s.real(tail) - (beyond + beyond)))
}

/// The inverse of the sine, from -π/2 to π/2, within 1.5 ulp; π/2 - 2 asin √((1 - x) / 2) from ½ on. Beyond 1 it is
/// NaN; of -0 it is -0.
#[inline(always)]
pub fn asin<T: Real>(x: T) -> T {
    let Inverse { is_small, s, beyond } = inverse(x);
    T::select(is_small, s + beyond, rest_of(&HALF_PI, s, beyond)).with_sign_of(x)
}

/// The inverse of the cosine, from 0 to π, within 1.5 ulp. Beyond 1 it is NaN.
#[inline(always)]
pub fn acos<T: Real>(x: T) -> T {
    let Inverse { is_small, s, beyond } = inverse(x);
    let (head, tail) = HALF_PI.of::<T>();
    let near = fast_two_sum(x.real(head), -s.with_sign_of(x));
    let near = near.hi + (near.lo + (x.real(tail) - beyond.with_sign_of(x)));
    let arc = s + beyond;
    let far = T::select(x.lt(x.real(0.0)), rest_of(&PI, s, beyond), arc + arc);
    T::select(is_small, near, far)
}
