//! Reduction of large angles: Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18,
//! 1983.
//!
//! The product of x with the digits of 2/π in fixed point, in which digits that make whole turns, and those far below
//! what matters, are left out. All is done in words as wide as the float, so that `f32` needs no 64-bit integers.

use super::constant::{FOUR_BY_PI, HALF_PI};
use super::double_word::{DoubleWord, fast_two_sum};
use super::term::{Real, Term, fraction_mask};

/// The words of 2/π in a product: as long as x's fraction, as the worst cancellation, and as the result, and together
/// with what is shifted out that is not more than four words.
const WINDOW: usize = 3;

/// x = `quarters` π/2 + `rest`, but for whole turns; `rest` is at most π/4 in size and good to half again its precision.
pub(super) struct Angle<'b, T> {
    pub(super) quarters: Term<'b, i32>,
    pub(super) rest: DoubleWord<'b, T>,
}

/// Reduces `x`, a finite number not below 2^`least`; for others the angle is arbitrary.
///
/// The floats that are nearest to a multiple of π/2 are 2^-30 (`f32`) or 2^-61 (`f64`) quarter turns from it (Muller,
/// "Elementary Functions", 11.1). What is left out is below 2^-(2 w - 3) quarter turns, w being the width of a word: at
/// most 2^-31 or 2^-64 of the result.
pub(super) fn reduce<'b, T: Real>(x: Term<'b, T>, least: u32, fused: bool) -> Angle<'b, T> {
    let bits = x.bits();
    let fraction = (bits & fraction_mask::<T>()) | (1 << T::FRACTION);
    let position = bits.shr(T::FRACTION) - i64::from(T::BIAS + least as i32);
    let [first, second, third] = window::<T>(position, least);
    // Modulo four quarters, which are the word above the first. Of the third product only what it carries is needed.
    let (carried, low) = (high_product::<T>(third, fraction), second * fraction);
    let low = low + carried;
    let carry = low.lt(carried).select(1, 0);
    let high = first * fraction + high_product::<T>(second, fraction) + carry;
    // The two highest bits are whole quarters; half a quarter is added and taken off again to round.
    let rounded = high + (1 << (T::WIDTH - 3));
    let quarters = rounded.shr(T::WIDTH - 2).cast::<i32>();
    let rest = quarter_fraction::<T>(rounded & ((1 << (T::WIDTH - 2)) - 1), low);
    let parts = HALF_PI.parts::<T>(T::PRECISION, 2);
    let half_pi = DoubleWord { hi: x.constant(parts[0]), lo: x.constant(parts[1]) };
    Angle { quarters, rest: rest.times(half_pi, fused) }
}

/// The digits of 2/π from `position`, as words. At position 0 the first one makes two quarters with 2^`least` float
/// fractions; there are digits above the binary point then, which are zero.
fn window<'b, T: Real>(position: Term<'b, T::Bits>, least: u32) -> [Term<'b, T::Bits>; WINDOW] {
    let width = T::WIDTH;
    let zeros = T::FRACTION + 2 - least;
    let choices = (T::BIAS as u32 - least) / width + 1;
    let digit = |at: u32| if at < zeros { 0 } else { FOUR_BY_PI.word(at - zeros, 1) };
    let word = |number: u32| (0..width).fold(0, |word, bit| word << 1 | digit(number * width + bit));
    // One word more, of which bits are shifted in.
    let mut words: Vec<Term<'b, T::Bits>> =
        (0..choices + WINDOW as u32).map(|number| position.constant(word(number) as i64)).collect();
    // The position's bits halve the choices, the highest first.
    for step in (0..choices.next_power_of_two().ilog2()).rev() {
        let by = 1 << step;
        let far = (position & (i64::from(width) << step)).ne(0);
        words = (0..by + WINDOW)
            .map(|at| words.get(at + by).map_or(words[at], |&word| far.select(word, words[at])))
            .collect();
    }
    let left = (position & i64::from(width - 1)).cast::<u32>();
    // Shifts by the whole width do not exist, so it is done in two.
    let right = left ^ i64::from(width - 1);
    std::array::from_fn(|at| words[at].shl_by(left) | words[at + 1].shr(1).shr_by(right))
}

/// The upper word of a product, by the products of the halves.
fn high_product<'b, T: Real>(x: Term<'b, T::Bits>, y: Term<'b, T::Bits>) -> Term<'b, T::Bits> {
    let half = T::WIDTH / 2;
    let low = |word: Term<'b, T::Bits>| word & ((1 << half) - 1);
    let [(x_high, x_low), (y_high, y_low)] = [x, y].map(|word| (word.shr(half), low(word)));
    let middle = x_high * y_low + (x_low * y_low).shr(half);
    let other = x_low * y_high + low(middle);
    x_high * y_high + middle.shr(half) + other.shr(half)
}

/// The number `high` 2^(2 - w) + `low` 2^(2 - 2 w) - 1/2 for words of w bits, where `high` has two bits less.
///
/// In half words, which are exact as floats. Each sum is zero or a multiple of the digit that is above the next one.
fn quarter_fraction<'b, T: Real>(high: Term<'b, T::Bits>, low: Term<'b, T::Bits>) -> DoubleWord<'b, T> {
    let half = T::WIDTH / 2;
    let scaled = |digit: Term<'b, T::Bits>, below: u32| digit.cast::<T>() * 2f64.powi(2 - (below * half) as i32);
    let lower = |word: Term<'b, T::Bits>| word & ((1 << half) - 1);
    let first = fast_two_sum(scaled(high.shr(half), 1) - 0.5, scaled(lower(high), 2));
    let second = fast_two_sum(first.hi, scaled(low.shr(half), 3));
    fast_two_sum(second.hi, (first.lo + second.lo) + scaled(lower(low), 4))
}
