//! What unsigned integers can be: from a least value to a greatest, and multiples of a power of two.
//!
//! Each operation gives what holds of its result for all operands that are so; a result that may wrap around can be
//! anything, but for the low bits, which wrapping does not touch.

use crate::{BinaryOp, DivOp};

/// All that an unsigned integer of some bits can be. The range is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) greatest: u64,
    /// The number of low bits that are surely zero; 64 for 0 itself.
    pub(super) zeros: u32,
}

/// The greatest unsigned integer of `bits` bits.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

impl Range {
    /// The range of all unsigned integers of `bits` bits.
    pub(super) fn all(bits: u32) -> Range {
        Range::between(0, mask(bits))
    }

    /// The range from `least` to `greatest`, which is no less.
    pub(super) fn between(least: u64, greatest: u64) -> Range {
        Range { least, greatest, zeros: if greatest == 0 { 64 } else { 0 } }
    }

    pub(super) fn constant(value: u64) -> Range {
        Range { least: value, greatest: value, zeros: value.trailing_zeros() }
    }

    /// The least range that includes both.
    pub(super) fn or(self, other: Range) -> Range {
        Range {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            zeros: self.zeros.min(other.zeros),
        }
    }

    /// What is in both. Code that no thread reaches may know what contradicts itself: then the first.
    pub(super) fn and(self, other: Range) -> Range {
        let (least, greatest) = (self.least.max(other.least), self.greatest.min(other.greatest));
        if least > greatest { self } else { Range { least, greatest, zeros: self.zeros.max(other.zeros) } }
    }

    /// The range of the result of an operation on two unsigned integers of `bits` bits, where that is one too.
    pub(super) fn binary(op: BinaryOp, bits: u32, x: Range, y: Range) -> Range {
        let all = Range::all(bits);
        let wide = |value: u128| u64::try_from(value).ok().filter(|value| *value <= mask(bits));
        let from_to = |least, greatest, zeros| Range { least, greatest, zeros };
        // The count of a shift is taken modulo the bits.
        let count = (y.least == y.greatest).then_some(y.least & u64::from(bits - 1));
        match op {
            BinaryOp::Add => {
                let zeros = x.zeros.min(y.zeros);
                match wide(u128::from(x.greatest) + u128::from(y.greatest)) {
                    Some(greatest) => from_to(x.least + y.least, greatest, zeros),
                    None => Range { zeros, ..all },
                }
            }
            BinaryOp::Sub => {
                let zeros = x.zeros.min(y.zeros);
                match (x.least.checked_sub(y.greatest), x.greatest.checked_sub(y.least)) {
                    (Some(least), Some(greatest)) => from_to(least, greatest, zeros),
                    _ => Range { zeros, ..all },
                }
            }
            BinaryOp::Mul => {
                let zeros = (x.zeros + y.zeros).min(64);
                match wide(u128::from(x.greatest) * u128::from(y.greatest)) {
                    Some(greatest) => from_to(x.least * y.least, greatest, zeros),
                    None => Range { zeros, ..all },
                }
            }
            BinaryOp::MulHi => {
                let high = |x: u64, y: u64| ((u128::from(x) * u128::from(y)) >> bits) as u64;
                from_to(high(x.least, y.least), high(x.greatest, y.greatest), 0)
            }
            BinaryOp::Min => from_to(x.least.min(y.least), x.greatest.min(y.greatest), x.zeros.min(y.zeros)),
            BinaryOp::Max => from_to(x.least.max(y.least), x.greatest.max(y.greatest), x.zeros.min(y.zeros)),
            BinaryOp::And => from_to(0, x.greatest.min(y.greatest), x.zeros.max(y.zeros)),
            BinaryOp::Or | BinaryOp::Xor => {
                let ones = 64 - x.greatest.max(y.greatest).leading_zeros();
                let greatest = if ones == 0 { 0 } else { mask(ones) };
                let least = if op == BinaryOp::Or { x.least.max(y.least) } else { 0 };
                from_to(least, greatest, x.zeros.min(y.zeros))
            }
            BinaryOp::Shl => match count {
                Some(count) => match wide(u128::from(x.greatest) << count) {
                    Some(greatest) => from_to(x.least << count, greatest, (x.zeros + count as u32).min(64)),
                    None => Range { zeros: (x.zeros + count as u32).min(64), ..all },
                },
                None => Range { zeros: x.zeros, ..all },
            },
            BinaryOp::Shr => match count {
                Some(count) => from_to(x.least >> count, x.greatest >> count, x.zeros.saturating_sub(count as u32)),
                None => Range::between(0, x.greatest),
            },
            // To know nothing of a result is right for every operation.
            _ => all,
        }
    }

    /// The result of a division, which is 0 for a divisor of zero.
    pub(super) fn divide(op: DivOp, x: Range, y: Range) -> Range {
        match op {
            DivOp::Div if y.least == 0 => Range::between(0, x.greatest),
            DivOp::Div => {
                let power = y.least == y.greatest && y.least.is_power_of_two();
                let zeros = if power { x.zeros.saturating_sub(y.least.trailing_zeros()) } else { 0 };
                let (least, greatest) = (x.least / y.greatest, x.greatest / y.least);
                Range { least, greatest, zeros: if greatest == 0 { 64 } else { zeros } }
            }
            DivOp::Rem if x.greatest < y.least => x,
            DivOp::Rem => {
                let greatest = x.greatest.min(y.greatest.saturating_sub(1));
                let zeros = x.zeros.min(y.zeros);
                Range { least: 0, greatest, zeros: if greatest == 0 { 64 } else { zeros } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Type, eval};

    /// Ranges of 8 bits: each has its bounds in it, and some in between.
    fn some() -> Vec<(Range, Vec<u64>)> {
        let bounds = [0, 1, 2, 3, 7, 8, 15, 16, 24, 31, 63, 64, 100, 127, 128, 129, 200, 240, 254, 255];
        let mut all = Vec::new();
        for (at, &least) in bounds.iter().enumerate() {
            for &greatest in &bounds[at..] {
                for zeros in [0, 1, 3] {
                    let values: Vec<u64> =
                        (least..=greatest).filter(|value: &u64| value.trailing_zeros() >= zeros).collect();
                    if !values.is_empty() {
                        all.push((Range { least, greatest, zeros }, values));
                    }
                }
            }
        }
        all
    }

    fn holds(range: Range, value: u64) -> bool {
        (range.least..=range.greatest).contains(&value) && value.trailing_zeros() >= range.zeros
    }

    /// All results of operands in two ranges are in the range that the operation gives.
    #[test]
    fn no_result_is_outside() {
        use BinaryOp::{Add, And, Max, Min, Mul, Or, Shl, Shr, Sub, Xor};
        let all = some();
        for (first, (x, xs)) in all.iter().enumerate() {
            // Every pair of ranges would take a minute.
            for (y, ys) in all.iter().skip(first % 7).step_by(7) {
                let (x_values, y_values) = (ends(xs), ends(ys));
                for (&a, &b) in x_values.iter().flat_map(|a| y_values.iter().map(move |b| (a, b))) {
                    for op in [Add, Sub, Mul, Min, Max, And, Or, Xor, Shl, Shr] {
                        let (range, value) = (Range::binary(op, 8, *x, *y), eval::binary(op, Type::U8, a, b));
                        assert!(holds(range, value), "{a} {op:?} {b} is {value}: {x:?} {y:?} {range:?}");
                    }
                    for op in [DivOp::Div, DivOp::Rem] {
                        let value = eval::divide(op, Type::U8, a, b).unwrap_or(0);
                        let range = Range::divide(op, *x, *y);
                        assert!(holds(range, value), "{a} {op:?} {b} is {value}: {x:?} {y:?} {range:?}");
                    }
                }
            }
        }
    }

    /// The first and the last values, and one from the middle.
    fn ends(values: &[u64]) -> Vec<u64> {
        let mut some: Vec<u64> = values.iter().take(2).chain(values.iter().rev().take(2)).copied().collect();
        some.push(values[values.len() / 2]);
        some
    }

    #[test]
    fn high_words_are_not_outside() {
        for (a, b) in [(3u64, 5), (u64::from(u32::MAX), u64::from(u32::MAX)), (1 << 31, 7), (0, 9)] {
            let (x, y) = (Range::between(a / 2, a), Range::between(b / 2, b));
            let value = eval::binary(BinaryOp::MulHi, Type::U32, a, b);
            assert!(holds(Range::binary(BinaryOp::MulHi, 32, x, y), value), "{a} {b}");
        }
    }
}
