//! The meaning of reductions and scans over lanes: PTX ISA 8.8, 9.7.13.12 "redux.sync"; SPIR-V 1.6,
//! "OpGroupNonUniformIAdd" and those after it.

use crate::exchange::{Combine, CombinedLanes, Combiner};

/// The bits of a float that are its number; the rest is its exponent and its sign.
const FRACTION: i32 = 24;

/// The result of a lane, given the values of the lanes that there are. `None` where it is left to the device: a sum of
/// floats that depends on the order in which it is made.
pub fn result(how: Combine, lane: usize, values: &[Option<u64>]) -> Option<u64> {
    let lanes = match how.of {
        CombinedLanes::All => 0..values.len(),
        CombinedLanes::UpTo => 0..lane + 1,
        CombinedLanes::Before => 0..lane,
        CombinedLanes::Cluster(size) => {
            let size = size.max(1) as usize;
            lane / size * size..(lane / size * size).saturating_add(size)
        }
    };
    let there = values.iter().enumerate().filter(|(at, _)| lanes.contains(at)).filter_map(|(_, value)| *value);
    let there: Vec<u64> = there.collect();
    let is_left_open = match how.by {
        Combiner::AddFloat => !is_exact(&there),
        Combiner::MinFloat | Combiner::MaxFloat => !has_one_least(&there),
        Combiner::Add
        | Combiner::Multiply
        | Combiner::MinUnsigned
        | Combiner::MaxUnsigned
        | Combiner::MinSigned
        | Combiner::MaxSigned
        | Combiner::And
        | Combiner::Or
        | Combiner::Xor => false,
    };
    if is_left_open {
        return None;
    }
    let combined = there.into_iter().reduce(|x, y| combine(how, x, y));
    Some(combined.unwrap_or_else(|| identity(how)))
}

/// Whether each sum of some of these floats of 32 bits is one, so that their order makes no difference: all are
/// multiples of one power of two, and so small that no sum of them needs more bits than a float has.
fn is_exact(values: &[u64]) -> bool {
    let floats = values.iter().map(|&bits| f32::from_bits(bits as u32));
    let (mut lowest, mut sum) = (f64::INFINITY, 0.0f64);
    for float in floats {
        // The sign of a sum of zeros depends on their order.
        if !float.is_finite() || float == 0.0 && float.is_sign_negative() {
            return false;
        }
        if float != 0.0 {
            lowest = lowest.min(lowest_bit(float));
            sum += f64::from(float.abs());
        }
    }
    sum == 0.0 || sum <= lowest * f64::from(1 << FRACTION)
}

/// Whether each order of these floats has the same least and greatest one: all are numbers, and no zero has another
/// sign.
fn has_one_least(values: &[u64]) -> bool {
    let negative_zero = u64::from((-0.0f32).to_bits());
    let is_nan = |bits: &u64| f32::from_bits(*bits as u32).is_nan();
    let both_zeros = values.contains(&0) && values.contains(&negative_zero);
    !both_zeros && !values.iter().any(is_nan)
}

/// The power of two that is the lowest bit of a float's number.
fn lowest_bit(float: f32) -> f64 {
    let bits = float.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
    let (number, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 23, exponent) };
    f64::from(exponent - 150 + number.trailing_zeros() as i32).exp2()
}

/// Combines the values of two lanes.
fn combine(how: Combine, x: u64, y: u64) -> u64 {
    let mask = u64::MAX >> (64 - u32::from(how.bits.clamp(1, 64)));
    let signed = |bits: u64| {
        let shift = 64 - u32::from(how.bits.clamp(1, 64));
        (bits << shift) as i64 >> shift
    };
    let floats = || (f32::from_bits(x as u32), f32::from_bits(y as u32));
    let number = |float: f32| u64::from(float.to_bits());
    mask & match how.by {
        Combiner::Add => x.wrapping_add(y),
        Combiner::Multiply => x.wrapping_mul(y),
        Combiner::MinUnsigned => x.min(y),
        Combiner::MaxUnsigned => x.max(y),
        Combiner::MinSigned => signed(x).min(signed(y)) as u64,
        Combiner::MaxSigned => signed(x).max(signed(y)) as u64,
        Combiner::And => x & y,
        Combiner::Or => x | y,
        Combiner::Xor => x ^ y,
        Combiner::AddFloat => number(floats().0 + floats().1),
        Combiner::MinFloat => number(floats().0.min(floats().1)),
        Combiner::MaxFloat => number(floats().0.max(floats().1)),
    }
}

/// The value that a scan of the lanes before each one gives the first lane.
fn identity(how: Combine) -> u64 {
    let bits = u32::from(how.bits.clamp(1, 64));
    let all = u64::MAX >> (64 - bits);
    match how.by {
        Combiner::Add | Combiner::Or | Combiner::Xor | Combiner::MaxUnsigned | Combiner::AddFloat => 0,
        Combiner::Multiply => 1,
        Combiner::And | Combiner::MinUnsigned => all,
        Combiner::MinSigned => all >> 1,
        Combiner::MaxSigned => 1 << (bits - 1),
        Combiner::MinFloat => f32::INFINITY.to_bits().into(),
        Combiner::MaxFloat => f32::NEG_INFINITY.to_bits().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(by: Combiner, bits: u8, of: CombinedLanes, values: &[u64]) -> Vec<Option<u64>> {
        let values: Vec<Option<u64>> = values.iter().copied().map(Some).collect();
        (0..values.len()).map(|lane| result(Combine { by, bits, of }, lane, &values)).collect()
    }

    #[test]
    fn scans_and_clusters() {
        let of = |of| all(Combiner::Add, 32, of, &[1, 2, 3, 0xFFFF_FFFF]).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(of(CombinedLanes::All), [5, 5, 5, 5]);
        assert_eq!(of(CombinedLanes::UpTo), [1, 3, 6, 5]);
        assert_eq!(of(CombinedLanes::Before), [0, 1, 3, 6]);
        assert_eq!(of(CombinedLanes::Cluster(2)), [3, 3, 2, 2]);
        assert_eq!(all(Combiner::MinSigned, 8, CombinedLanes::Before, &[0xFF, 1]), [Some(0x7F), Some(0xFF)]);
        assert_eq!(all(Combiner::MaxSigned, 64, CombinedLanes::Before, &[5, 1]), [Some(1 << 63), Some(5)]);
        assert_eq!(all(Combiner::And, 1, CombinedLanes::Before, &[0, 1]), [Some(1), Some(0)]);
    }

    #[test]
    fn a_sum_of_floats_is_known_where_its_order_makes_no_difference() {
        let sum = |floats: &[f32]| {
            let values: Vec<u64> = floats.iter().map(|float| u64::from(float.to_bits())).collect();
            all(Combiner::AddFloat, 32, CombinedLanes::All, &values)[0].map(|bits| f32::from_bits(bits as u32))
        };
        assert_eq!(sum(&[0.5, 1.25, -3.0]), Some(-1.25));
        assert_eq!(sum(&[16_777_215.0, 1.0]), Some(16_777_216.0));
        assert_eq!(sum(&[16_777_216.0, 1.0, 1.0]), None);
        assert_eq!(sum(&[0.1, 0.2, 0.3]), None);
        assert_eq!(sum(&[-0.0, 0.0]), None);
        assert_eq!(sum(&[f32::NAN, 1.0]), None);
        let least = all(Combiner::MinFloat, 32, CombinedLanes::All, &[0, (-0.0f32).to_bits().into()]);
        assert_eq!(least, [None, None]);
        assert_eq!(sum(&[f32::from_bits(1), f32::from_bits(3)]), Some(f32::from_bits(4)));
    }
}
