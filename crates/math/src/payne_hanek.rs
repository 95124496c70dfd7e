//! Reduction of angles: Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983.
//!
//! The product of x with the digits of 2/π in fixed point, in which digits that make whole turns, and those far below
//! what matters, are left out. All is done in words as wide as the float.

use crate::digits::{DOUBLE, LEAST_DOUBLE, LEAST_SINGLE, SINGLE};
use crate::double_word::fast_two_sum;
use crate::real::{Real, Reduced, Split, Word, power};

/// Half of π: of the head products with half a float are exact.
const HALF_PI: Split =
    Split { single: (1.5703125, 0.00048382679489661926), double: (1.5707963109016418, 1.5893254773528196e-08) };

/// x = n π/2 + r + c, but for whole turns, with |r| at most π/4. `x` is finite and at least 2^[`LEAST_SINGLE`] or
/// 2^[`LEAST_DOUBLE`]; for others the result is arbitrary.
///
/// The floats that are nearest to a multiple of π/2 are 2^-30 (`f32`) or 2^-61 (`f64`) quarter turns from it (Muller,
/// "Elementary Functions", 11.1). What is left out is below 2^-(2 w - 3) quarter turns, w being the width of a word: at
/// most 2^-31 or 2^-64 of the result.
#[inline(always)]
pub(crate) fn reduce<T: Real>(x: T) -> Reduced<T> {
    let least = if T::PRECISION < 32 { LEAST_SINGLE } else { LEAST_DOUBLE };
    let bits = x.bits();
    let word = |value: u64| bits.word(value);
    let fraction = (bits & word((1 << T::FRACTION) - 1)) | word(1 << T::FRACTION);
    let position = bits.shr(T::FRACTION) - word((T::BIAS as i32 + least) as u64);
    // The digits of 2/π from the position: three words, of which a fourth one gives the last bits. Shifts by the whole
    // width do not exist, so one is done in two.
    let index = position.shr(T::WIDTH.ilog2());
    let words = if T::PRECISION < 32 { index.window(&SINGLE) } else { index.window(&DOUBLE) };
    let left = position & word(u64::from(T::WIDTH) - 1);
    let right = left ^ word(u64::from(T::WIDTH) - 1);
    let digits = |at: usize| words[at].shl_by(left) | words[at + 1].shr(1).shr_by(right);
    let (first, second, third) = (digits(0), digits(1), digits(2));
    // Modulo four quarters, which are the word above the first. Of the third product only what it carries is needed.
    let carried = third.mul_hi(fraction);
    let low = second * fraction + carried;
    let carry = T::Bits::select(low.lt(carried), word(1), word(0));
    let high = first * fraction + second.mul_hi(fraction) + carry;
    // The two highest bits are whole quarters; half a quarter is added and taken off again to round.
    let rounded = high + word(1 << (T::WIDTH - 3));
    let rest = rounded & word((1 << (T::WIDTH - 2)) - 1);
    let (hi, lo) = quarter_fraction::<T>(rest, low);
    let (by, rest) = HALF_PI.of::<T>();
    let upper = hi.upper_half();
    let small = upper * x.real(rest) + ((hi - upper) + lo) * x.real(by + rest);
    let sum = fast_two_sum(upper * x.real(by), small);
    Reduced { n: rounded.shr(T::WIDTH - 2), r: sum.hi, c: sum.lo }
}

/// The number `high` 2^(2 - w) + `low` 2^(2 - 2 w) - 1/2 for words of w bits, where `high` has two bits less.
///
/// In three parts, of which each is exact as a float: those are taken out of a power of 2 in whose last bits they
/// stand. Each sum is zero or a multiple of the digit that is above the next part.
#[inline(always)]
fn quarter_fraction<T: Real>(high: T::Bits, low: T::Bits) -> (T, T) {
    let word = |value: u64| high.word(value);
    let bits = (2 * T::WIDTH).div_ceil(3);
    let first_bits = 2 * T::WIDTH - 2 - 2 * bits;
    let below = T::WIDTH - 2 - first_bits;
    let part = |digits: T::Bits, last: u32| {
        let exponent = u64::from(T::BIAS + T::FRACTION - last) << T::FRACTION;
        let base = T::from_bits(word(exponent));
        T::from_bits(digits | word(exponent)) - base
    };
    let middle = (high & word((1 << below) - 1)).shl(bits - below) | low.shr(T::WIDTH - (bits - below));
    let first = part(high.shr(below), first_bits);
    let first = fast_two_sum(first - first.real(0.5), part(middle, first_bits + bits));
    let last = part(low & word((1 << bits) - 1), 2 * T::WIDTH - 2);
    let second = fast_two_sum(first.hi, last);
    (second.hi, first.lo + second.lo)
}

/// The greatest angle that [`reduce_moderate`] reduces.
pub(crate) const MODERATE: f64 = power(20) * core::f64::consts::FRAC_PI_2;

/// Half of π in four parts of 33 bits.
const PARTS: [f64; 4] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32];

/// Reduces an `f64` that is at most [`MODERATE`], by Cody and Waite: π/2 is a sum of parts that are so short that their
/// products with n are exact, but for the last.
///
/// The first difference is exact, as both are near to each other; after that, what each rounds off is collected in `c`.
/// The floats near a multiple of π/2 come as near to it as 2^-(p + 6) (2^20 multiples, each between floats 2^(20 - p)
/// apart, and six bits for bad luck), so for a relative error of 2^-p parts with 2 p + 26 bits together will do.
#[inline(always)]
pub(crate) fn reduce_moderate<T: Real>(x: T) -> Reduced<T> {
    let (n, integer) = (x * x.real(core::f64::consts::FRAC_2_PI)).nearest_whole();
    let first = crate::double_word::two_sum(x - n * x.real(PARTS[0]), -(n * x.real(PARTS[1])));
    let second = crate::double_word::two_sum(first.hi, -(n * x.real(PARTS[2])));
    let third = crate::double_word::two_sum(second.hi, -(n * x.real(PARTS[3])));
    let sum = crate::double_word::two_sum(third.hi, (first.lo + second.lo) + third.lo);
    Reduced { n: integer, r: sum.hi, c: sum.lo }
}
