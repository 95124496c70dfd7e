//! Floating-point instructions with any rounding (PTX ISA 8.8, 9.7.3, the modifiers `.rn`, `.rz`, `.rm`, `.rp`): the
//! exact result is computed in integers and rounded once.

use super::float::flushed;
pub use crate::operand::Rounding;
use crate::types::{Sort, Type};

/// The instructions that round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the instructions' names")]
pub enum Which {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Sqrt,
    Rcp,
}

/// An instruction with its rounding.
#[derive(Clone, Copy, Debug)]
pub struct Rounded {
    /// The instruction.
    pub which: Which,
    /// The type of its operands and of its result, of 32 bits or 64.
    pub ty: Type,
    /// The rounding.
    pub rounding: Rounding,
    /// Whether subnormal numbers are flushed to zero: `.ftz`.
    pub flush: bool,
    /// Whether the result is clamped to [0, 1]: `.sat`.
    pub saturate: bool,
}

/// A number that is not rounded yet: `magnitude * 2^exponent` with a sign. The lowest bit of a magnitude of more than
/// 100 bits may stand for all bits below it.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

/// The bits of a magnitude that a sum leaves for a carry.
const TOP: u32 = 125;

impl Exact {
    /// The exact value of a finite number.
    fn of(value: f64) -> Exact {
        let bits = value.to_bits();
        let (fraction, biased) = (u128::from(bits & ((1 << 52) - 1)), (bits >> 52 & 0x7FF) as i32);
        let magnitude = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Exact { negative: value.is_sign_negative(), magnitude, exponent: biased.max(1) - 1075 }
    }

    /// The exact value of an integer.
    pub fn integer(value: i128) -> Exact {
        Exact { negative: value < 0, magnitude: value.unsigned_abs(), exponent: 0 }
    }

    /// The number with its magnitude shifted left until the highest bit is at `TOP`; zero stays as it is.
    fn raised(self) -> Exact {
        let by = (TOP + 1).saturating_sub(u128::BITS - self.magnitude.leading_zeros());
        if self.magnitude == 0 {
            return self;
        }
        Exact { magnitude: self.magnitude << by, exponent: self.exponent - by as i32, ..self }
    }

    /// The magnitude shifted to the right; the lowest bit stands for what is lost.
    fn lowered(magnitude: u128, by: u32) -> u128 {
        match by {
            0 => magnitude,
            1..128 => magnitude >> by | u128::from(magnitude << (128 - by) != 0),
            128.. => u128::from(magnitude != 0),
        }
    }

    fn plus(self, other: Exact, rounding: Rounding) -> Exact {
        let (a, b) = (self.raised(), other.raised());
        if a.magnitude == 0 || b.magnitude == 0 {
            let one = if a.magnitude == 0 { b } else { a };
            // The sum of zeros of both signs is -0 only downwards (IEEE 754, 6.3).
            let negative =
                if one.magnitude != 0 || a.negative == b.negative { one.negative } else { rounding == Rounding::Down };
            return Exact { negative, ..one };
        }
        let (great, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let shifted = Exact::lowered(small.magnitude, great.exponent.abs_diff(small.exponent));
        let exponent = great.exponent;
        if great.negative == small.negative {
            return Exact { negative: great.negative, magnitude: great.magnitude + shifted, exponent };
        }
        let negative = match great.magnitude.cmp(&shifted) {
            std::cmp::Ordering::Equal => rounding == Rounding::Down,
            std::cmp::Ordering::Greater => great.negative,
            std::cmp::Ordering::Less => small.negative,
        };
        Exact { negative, magnitude: great.magnitude.abs_diff(shifted), exponent }
    }

    fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient by a number that is not zero.
    fn over(self, other: Exact) -> Exact {
        let (a, b) = (self.raised(), other.magnitude);
        let magnitude = (a.magnitude / b) << 1 | u128::from(a.magnitude % b != 0);
        Exact { negative: self.negative != other.negative, magnitude, exponent: a.exponent - other.exponent - 1 }
    }

    /// The root of a number that is not negative.
    fn root(self) -> Exact {
        let raised = self.raised();
        let odd = raised.exponent & 1;
        let (magnitude, exponent) = (raised.magnitude << odd, raised.exponent - odd);
        let root = magnitude.isqrt();
        Exact { magnitude: root << 1 | u128::from(root * root != magnitude), exponent: exponent / 2 - 1, ..self }
    }

    /// The number of that format's bits that rounding gives.
    pub fn rounded(self, ty: Type, rounding: Rounding) -> u64 {
        // The bits of a significand, and the exponent of the least normal number.
        let (digits, least) = match (ty.sort == Sort::Brain, ty.bits) {
            (true, _) => (8, -126),
            (false, 16) => (11, -14),
            (false, 32) => (24, -126),
            (false, _) => (53, -1022),
        };
        let sign = u64::from(self.negative) << (ty.bits - 1);
        if self.magnitude == 0 {
            return sign;
        }
        let size = 128 - self.magnitude.leading_zeros() as i32;
        let last = (self.exponent + size - digits).max(least - digits + 1);
        let by = last - self.exponent;
        let (count, rest, half) = match by {
            ..=0 => (self.magnitude << -by, 0, 1),
            1..128 => (self.magnitude >> by, self.magnitude & ((1 << by) - 1), 1 << (by - 1)),
            // All of it is less than half of the last place.
            128.. => (0, 1, 2),
        };
        let up = match rounding {
            Rounding::Nearest => rest > half || rest == half && count & 1 == 1,
            Rounding::Zero => false,
            Rounding::Down => self.negative && rest != 0,
            Rounding::Up => !self.negative && rest != 0,
        };
        // Counted in last places from the least normal number's, a carry goes into the exponent, as it should.
        let bits = (((last - (least - digits + 1)) as u64) << (digits - 1)) + count as u64 + u64::from(up);
        let infinity = (2 * (1 - least) as u64 + 1) << (digits - 1);
        let stays = match rounding {
            Rounding::Nearest => false,
            Rounding::Zero => true,
            Rounding::Down => !self.negative,
            Rounding::Up => self.negative,
        };
        sign | if bits < infinity { bits } else { infinity - u64::from(stays) }
    }
}

/// A finite number in a format.
pub fn round(value: f64, ty: Type, rounding: Rounding) -> u64 {
    Exact::of(value).rounded(ty, rounding)
}

/// The result of an instruction; one with fewer operands ignores the others.
pub fn apply(how: Rounded, a: u64, b: u64, c: u64) -> u64 {
    let single = how.ty.bits == 32;
    let number = |bits: u64| {
        if !single {
            return f64::from_bits(bits);
        }
        let value = f32::from_bits(bits as u32);
        f64::from(if how.flush { flushed(value) } else { value })
    };
    let (a, b, c) = (number(a), number(b), number(c));
    let (x, y, z) = (Exact::of(a), Exact::of(b), Exact::of(c));
    let all = |values: &[f64]| values.iter().all(|value| value.is_finite());
    let rounding = how.rounding;
    // Of what is not finite the nearest result is the only one.
    let (exact, nearest) = match how.which {
        Which::Add => (all(&[a, b]).then(|| x.plus(y, rounding)), a + b),
        Which::Sub => (all(&[a, b]).then(|| x.plus(Exact { negative: !y.negative, ..y }, rounding)), a - b),
        Which::Mul => (all(&[a, b]).then(|| x.times(y)), a * b),
        Which::Div => ((all(&[a, b]) && b != 0.0).then(|| x.over(y)), a / b),
        Which::Fma => (all(&[a, b, c]).then(|| x.times(y).plus(z, rounding)), a.mul_add(b, c)),
        Which::Sqrt => ((all(&[a]) && a >= 0.0).then(|| x.root()), a.sqrt()),
        Which::Rcp => ((all(&[a]) && a != 0.0).then(|| Exact::of(1.0).over(x)), 1.0 / a),
    };
    let Some(exact) = exact else {
        return finished(how, if single { single_bits(nearest) } else { nearest.to_bits() });
    };
    finished(how, exact.rounded(how.ty, rounding))
}

fn single_bits(value: f64) -> u64 {
    if value.is_nan() { 0x7FFF_FFFF } else { u64::from((value as f32).to_bits()) }
}

fn finished(how: Rounded, bits: u64) -> u64 {
    if how.ty.bits != 32 {
        return bits;
    }
    let value = f32::from_bits(bits as u32);
    let value = if how.flush { flushed(value) } else { value };
    let value = match () {
        () if !how.saturate => value,
        () if value.is_nan() || value <= 0.0 => 0.0,
        () => value.min(1.0),
    };
    u64::from(value.to_bits())
}
