//! Floats of 16 bits (PTX ISA 9.7.4 "Half precision floating-point instructions", 5.2.3 "Alternate floating-point data
//! formats"). Each is a double exactly; the only rounding is to the nearest, ties to even. A NaN comes out as 0x7FFF.

use super::float::Two;
use crate::code::{Bin, Tern};
use crate::types::{Sort, Type};

const NAN: u64 = 0x7FFF;

/// A format of 16 bits.
pub struct Format {
    /// Bits of the fraction.
    fraction: i32,
    /// The exponent of the least normal number.
    least: i32,
}

const HALF: Format = Format { fraction: 10, least: -14 };
const BRAIN: Format = Format { fraction: 7, least: -126 };

/// 2 to the power of the exponent of a normal double.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Format {
    /// The format of a type of 16 bits.
    pub fn of(ty: Type) -> Format {
        if ty.sort == Sort::Brain { BRAIN } else { HALF }
    }

    /// The number with these bits.
    pub fn number(&self, bits: u64) -> f64 {
        let fraction = (bits & ((1 << self.fraction) - 1)) as f64 * power(-self.fraction);
        let exponent = (bits & 0x7FFF) as i32 >> self.fraction;
        let size = match exponent {
            0 => fraction * power(self.least),
            _ if exponent == 3 - 2 * self.least && fraction == 0.0 => f64::INFINITY,
            _ if exponent == 3 - 2 * self.least => f64::NAN,
            _ => (1.0 + fraction) * power(exponent + self.least - 1),
        };
        if bits & 0x8000 == 0 { size } else { -size }
    }

    /// The bits of the number that is nearest.
    pub fn nearest(&self, value: f64) -> u64 {
        if value.is_nan() {
            return NAN;
        }
        let sign = u64::from(value.is_sign_negative()) << 15;
        let infinity = ((3 - 2 * self.least) as u64) << self.fraction;
        if value.is_infinite() {
            return sign | infinity;
        }
        // The last place of numbers of this size, in which the number is then counted.
        let exponent = (((value.to_bits() >> 52) & 0x7FF) as i32 - 1023).max(self.least);
        let count = (value.abs() * power(self.fraction - exponent)).round_ties_even() as u64;
        // A count beyond the fraction's bits carries into the exponent, as it should; from there on up it is infinity.
        let bits = (((exponent - self.least) as u64) << self.fraction) + count;
        sign | bits.min(infinity)
    }
}

/// `add`, `sub`, `mul`: what a double rounds of sums and products of so few bits does not change the second rounding.
fn two_of<const BRAIN_FORMAT: bool>(which: Two) -> Option<Bin> {
    fn of<const B: bool>() -> Format {
        if B { BRAIN } else { HALF }
    }
    Some(match which {
        Two::Add => {
            |a, b| of::<BRAIN_FORMAT>().nearest(of::<BRAIN_FORMAT>().number(a) + of::<BRAIN_FORMAT>().number(b))
        }
        Two::Sub => {
            |a, b| of::<BRAIN_FORMAT>().nearest(of::<BRAIN_FORMAT>().number(a) - of::<BRAIN_FORMAT>().number(b))
        }
        Two::Mul => {
            |a, b| of::<BRAIN_FORMAT>().nearest(of::<BRAIN_FORMAT>().number(a) * of::<BRAIN_FORMAT>().number(b))
        }
        Two::Div | Two::Min | Two::Max | Two::MinNan | Two::MaxNan | Two::CopySign => return None,
    })
}

/// The instruction with two operands, if it is known here.
pub fn two(which: Two, ty: Type) -> Option<Bin> {
    if ty.sort == Sort::Brain { two_of::<true>(which) } else { two_of::<false>(which) }
}

/// `fma.rn`: the product is exact, and the sum's last bit says whether something was lost.
pub fn fma(ty: Type) -> Tern {
    fn of(format: &Format, a: u64, b: u64, c: u64) -> u64 {
        let (product, addend) = (format.number(a) * format.number(b), format.number(c));
        let sum = product + addend;
        if !sum.is_finite() || sum == 0.0 {
            return format.nearest(sum);
        }
        // Of two numbers, the rest of the sum is exact if the greater one is taken off first.
        let (great, small) = if product.abs() < addend.abs() { (addend, product) } else { (product, addend) };
        let rest = small - (sum - great);
        let odd = if rest == 0.0 || sum.to_bits() & 1 == 1 {
            sum
        } else if (rest > 0.0) == (sum > 0.0) {
            f64::from_bits(sum.to_bits() + 1)
        } else {
            f64::from_bits(sum.to_bits() - 1)
        };
        format.nearest(odd)
    }
    if ty.sort == Sort::Brain { |a, b, c| of(&BRAIN, a, b, c) } else { |a, b, c| of(&HALF, a, b, c) }
}
