//! Exact arithmetic on floats of 16 bits, in integers.

use wattle::prelude::*;

/// A format of 16 bits.
pub trait Format: Float {
    /// Bits of the significand, with the hidden one.
    const DIGITS: i32;
    /// The exponent of the least normal number.
    const LEAST: i32;
    /// The bits of infinity.
    const INFINITE: u16 = ((3 - 2 * Self::LEAST) as u16) << (Self::DIGITS - 1);
    /// The bits of 1.
    const ONE_BITS: u16 = ((1 - Self::LEAST) as u16) << (Self::DIGITS - 1);

    fn of_bits(bits: u16) -> Self;
    fn bits(self) -> u16;

    fn is_no_number(bits: u16) -> bool {
        bits & 0x7fff > Self::INFINITE
    }

    /// Whether it is no subnormal number that may count as zero: those of bf16 are subnormal in f32 too.
    fn is_promised(bits: u16) -> bool {
        Self::LEAST > -126 || bits & 0x7fff == 0 || bits & 0x7fff >= 1 << (Self::DIGITS - 1)
    }

    /// The number, exactly.
    fn value(bits: u16) -> f64 {
        if bits & 0x7fff == Self::INFINITE {
            return if bits & 0x8000 == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        }
        Self::value_or_beyond(bits)
    }

    /// The same, but infinity is what would be the next number.
    fn value_or_beyond(bits: u16) -> f64 {
        if Self::is_no_number(bits) {
            return f64::NAN;
        }
        let field = i32::from(bits & 0x7fff) >> (Self::DIGITS - 1);
        let fraction = i32::from(bits & 0x7fff) - (field << (Self::DIGITS - 1));
        let significand = if field == 0 { fraction } else { fraction + (1 << (Self::DIGITS - 1)) };
        let size = f64::from(significand) * 2f64.powi(field.max(1) - 1 + Self::LEAST - Self::DIGITS + 1);
        if bits & 0x8000 == 0 { size } else { -size }
    }
}

impl Format for f16 {
    const DIGITS: i32 = 11;
    const LEAST: i32 = -14;
    fn of_bits(bits: u16) -> f16 {
        f16::from_bits(bits)
    }
    fn bits(self) -> u16 {
        self.to_bits()
    }
}

impl Format for bf16 {
    const DIGITS: i32 = 8;
    const LEAST: i32 = -126;
    fn of_bits(bits: u16) -> bf16 {
        bf16::from_bits(bits)
    }
    fn bits(self) -> u16 {
        self.to_bits()
    }
}

/// A number that is not rounded: m 2^e with a sign, an infinity, or no number.
#[derive(Clone, Copy, Debug)]
pub enum Exact {
    Finite { is_negative: bool, m: u128, e: i32 },
    Infinite { is_negative: bool },
    Nan,
}
use Exact::{Finite, Infinite, Nan};

/// The last bit says whether others behind it were lost, which no rounding sees.
fn shifted_right(m: u128, by: u32) -> u128 {
    if by >= 128 { u128::from(m != 0) } else { m >> by | u128::from(m & ((1 << by) - 1) != 0) }
}

impl Exact {
    pub fn of<T: Format>(bits: u16) -> Exact {
        Exact::of_double(T::value(bits))
    }

    pub fn of_integer(x: i128) -> Exact {
        Finite { is_negative: x < 0, m: x.unsigned_abs(), e: 0 }
    }

    pub fn of_double(x: f64) -> Exact {
        let is_negative = x.is_sign_negative();
        if x.is_nan() {
            return Nan;
        }
        if x.is_infinite() {
            return Infinite { is_negative };
        }
        let field = (x.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = u128::from(x.to_bits() & ((1 << 52) - 1));
        let m = if field == 0 { fraction } else { fraction | 1 << 52 };
        let zeros = m.trailing_zeros() % 128;
        Finite { is_negative, m: m >> zeros, e: field.max(1) - 1075 + zeros as i32 }
    }

    fn sign(self) -> bool {
        match self {
            Finite { is_negative, .. } | Infinite { is_negative } => is_negative,
            Nan => false,
        }
    }

    pub fn negated(self) -> Exact {
        match self {
            Finite { is_negative, m, e } => Finite { is_negative: !is_negative, m, e },
            Infinite { is_negative } => Infinite { is_negative: !is_negative },
            Nan => Nan,
        }
    }

    pub fn product(self, other: Exact) -> Exact {
        let is_negative = self.sign() != other.sign();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { .. }, Finite { m: 0, .. }) | (Finite { m: 0, .. }, Infinite { .. }) => Nan,
            (Infinite { .. }, _) | (_, Infinite { .. }) => Infinite { is_negative },
            (Finite { m, e, .. }, Finite { m: n, e: f, .. }) => Finite { is_negative, m: m * n, e: e + f },
        }
    }

    pub fn quotient(self, other: Exact) -> Exact {
        let is_negative = self.sign() != other.sign();
        match (self, other) {
            (Nan, _) | (_, Nan) | (Infinite { .. }, Infinite { .. }) => Nan,
            (Finite { m: 0, .. }, Finite { m: 0, .. }) => Nan,
            (Infinite { .. }, _) | (_, Finite { m: 0, .. }) => Infinite { is_negative },
            (_, Infinite { .. }) => Finite { is_negative, m: 0, e: 0 },
            (Finite { m, e, .. }, Finite { m: n, e: f, .. }) => {
                let long = m << 60;
                Finite { is_negative, m: (long / n) << 1 | u128::from(long % n != 0), e: e - f - 61 }
            }
        }
    }

    pub fn root(self) -> Exact {
        match self {
            Finite { m: 0, .. } => self,
            Finite { is_negative: false, m, e } => {
                let long = m << (60 + (e & 1));
                let root = long.isqrt();
                let lost = u128::from(root * root != long);
                Finite { is_negative: false, m: root << 1 | lost, e: (e - 60 - (e & 1)) / 2 - 1 }
            }
            Infinite { is_negative: false } => self,
            Finite { .. } | Infinite { .. } | Nan => Nan,
        }
    }

    pub fn sum(self, other: Exact) -> Exact {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite { is_negative }, Infinite { is_negative: other }) if is_negative != other => Nan,
            (Infinite { is_negative }, _) | (_, Infinite { is_negative }) => Infinite { is_negative },
            (Finite { m: 0, .. }, Finite { m: 0, .. }) => {
                Finite { is_negative: self.sign() && other.sign(), m: 0, e: 0 }
            }
            (Finite { m: 0, .. }, _) => other,
            (_, Finite { m: 0, .. }) => self,
            (Finite { m, e, .. }, Finite { m: n, e: f, .. }) => {
                if e < f {
                    return other.sum(self);
                }
                // The greater one goes up as far as there is room, and the other one down to there.
                let up = ((e - f) as u32).min(m.leading_zeros() - 4);
                let (m, n) = (m << up, shifted_right(n, (e - f) as u32 - up));
                let signed = |m: u128, is_negative: bool| if is_negative { -(m as i128) } else { m as i128 };
                let sum = signed(m, self.sign()) + signed(n, other.sign());
                Finite { is_negative: sum < 0, m: sum.unsigned_abs(), e: e - up as i32 }
            }
        }
    }

    /// The bits of the nearest number, ties to even.
    pub fn nearest<T: Format>(self) -> u16 {
        let sign = u16::from(self.sign()) << 15;
        match self {
            Nan => T::INFINITE | 1,
            Infinite { .. } => sign | T::INFINITE,
            Finite { m: 0, .. } => sign,
            Finite { m, e, .. } => {
                let exponent = (127 - m.leading_zeros() as i32 + e).max(T::LEAST);
                let place = exponent - (T::DIGITS - 1);
                // Two more bits, of which the last stands for all behind it.
                let down = place - 2 - e;
                let long = if down > 0 { shifted_right(m, down as u32) } else { m << -down };
                let (whole, rest) = (long >> 2, long & 3);
                let whole = whole + u128::from(rest == 3 || (rest == 2 && whole & 1 == 1));
                let bits = ((exponent - T::LEAST) as u128) * (1 << (T::DIGITS - 1)) + whole;
                sign | bits.min(T::INFINITE.into()) as u16
            }
        }
    }
}
