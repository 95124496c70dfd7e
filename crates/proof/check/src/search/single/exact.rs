//! Sums of floats that are exact in whatever order they are made: multiples of one power of two whose magnitudes
//! together have no more digits than the format.

use wattle_ir::{FloatFormat, Type, eval};

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    format: FloatFormat,
    /// The exponent of the power of two that all are multiples of; none where all are zero.
    grain: Option<i32>,
    /// The sum of the magnitudes, in such powers.
    total: u64,
}

impl Exact {
    /// A number of a type; `None` where it is no float, none that is finite, or below the normal ones, which some
    /// operations take for zero.
    pub fn of(ty: Type, bits: u64) -> Option<Exact> {
        let format = ty.float_format()?;
        let value = f64::from_bits(eval::cast(ty, Type::F64, bits));
        if value == 0.0 {
            return Some(Exact { format, grain: None, total: 0 });
        }
        let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        if !value.is_normal() || exponent < format.least_exponent() {
            return None;
        }
        let digits = value.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let zeros = digits.trailing_zeros();
        Exact { format, grain: Some(exponent - 52 + zeros as i32), total: digits >> zeros }.bounded()
    }

    /// What is known of the sums of two sets of numbers; `None` where some order of their sums might round.
    pub fn and(self, other: Exact) -> Option<Exact> {
        let (Some(own), Some(others)) = (self.grain, other.grain) else {
            return Some(if self.grain.is_some() { self } else { other });
        };
        let grain = own.min(others);
        let in_grains = |total: u64, of: i32| {
            let shift = u32::try_from(of - grain).ok().filter(|&shift| shift <= total.leading_zeros())?;
            total.checked_shl(shift)
        };
        let total = in_grains(self.total, own)?.checked_add(in_grains(other.total, others)?)?;
        Exact { format: self.format, grain: Some(grain), total }.bounded()
    }

    /// Returns the addends if the sum of every part of them is a normal number of the format, else `None`.
    fn bounded(self) -> Option<Exact> {
        let (length, grain) = (u64::BITS - self.total.leading_zeros(), self.grain.unwrap_or(0));
        let (digits, least, beyond) = (self.format.digits(), self.format.least_exponent(), self.format.end_exponent());
        (length <= digits && grain >= least && grain + length as i32 <= beyond).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(values: &[f32]) -> bool {
        let of = |value: &f32| Exact::of(Type::F32, u64::from(value.to_bits()));
        let first = Exact::of(Type::F32, 0);
        values.iter().try_fold(first, |sum, value| Some(Some(sum?.and(of(value)?)?))).flatten().is_some()
    }

    /// The numbers are those of 16 bits by their bits.
    fn halves(ty: Type, values: &[u64]) -> bool {
        let sum = |sum: Option<Exact>, value: &u64| sum?.and(Exact::of(ty, *value)?);
        values.iter().fold(Exact::of(ty, 0), sum).is_some()
    }

    #[test]
    fn sums_of_halves_that_do_not_round() {
        // 1 and 2046, and one more than that; in bfloat16 128 and 127, and 128 and 129.
        assert!(halves(Type::F16, &[0x3c00, 0x67fe]) && !halves(Type::F16, &[0x3c00, 0x67fe, 0x3c00]));
        assert!(halves(Type::BF16, &[0x4300, 0x42fe]) && !halves(Type::BF16, &[0x4300, 0x4301]));
        // What is no number, infinite, or below the normal ones.
        assert!([0x7e00, 0x7c00, 0x0001].iter().all(|&bits| !halves(Type::F16, &[bits])));
    }

    #[test]
    fn sums_that_do_not_round() {
        for values in [&[1.0, 2.5, -0.125, 1024.0][..], &[0.0, -0.0], &[16_777_214.0, 1.0], &[f32::MAX], &[3.0e38]] {
            assert!(all(values), "{values:?}");
        }
        for values in [
            &[0.1, 0.2][..],
            &[16_777_215.0, 1.0],
            &[1.0, f32::EPSILON / 2.0],
            &[f32::NAN],
            &[f32::INFINITY],
            &[f32::MIN_POSITIVE / 2.0],
            &[f32::MIN_POSITIVE * 1.5],
            &[f32::MAX, f32::MAX],
            &[1e30, 1e-30],
        ] {
            assert!(!all(values), "{values:?}");
        }
    }
}
