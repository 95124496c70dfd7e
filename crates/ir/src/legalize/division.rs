//! Divisions of integers: behind the check of the divisor, in parts where a target lacks them, and without a division
//! where the divisor is a constant.

use super::Divides;
use super::statements::Legalizer;
use super::values::Values;
use crate::fault::Fault;
use crate::{BinaryOp, DivOp, ExprId, Site, SlotId, Stmt, TypeKind, UnaryOp};

/// A quotient by a constant as the high half of a product, for every dividend `x` of the type: `mulhi(x, multiplier) >>
/// shift`, or where the multiplier has one bit more than the type, which is not in it, `((x - high) / 2 + high) >>
/// (shift - 1)` with `high = mulhi(x, multiplier)` (Granlund and Montgomery, "Division by Invariant Integers using
/// Multiplication", 1994, figure 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reciprocal {
    multiplier: u64,
    shift: u32,
    has_high_bit: bool,
}

impl Reciprocal {
    /// The least that is exact for a divisor of `bits` bits that is no power of two; `None` of one beyond half of the
    /// type, whose quotients are 0 and 1.
    fn of(divisor: u64, bits: u32) -> Option<Reciprocal> {
        let (divisor, one) = (u128::from(divisor), 1u128);
        if divisor > one << (bits - 1) {
            return None;
        }
        // `2^(bits + shift)` is less than the product of the divisor and the multiplier by no more than `2^shift`.
        let (shift, multiplier) = (0..bits).find_map(|shift| {
            let power = one << (bits + shift);
            let multiplier = power.div_ceil(divisor);
            (multiplier * divisor - power <= one << shift).then_some((shift, multiplier))
        })?;
        let has_high_bit = multiplier >> bits != 0;
        let low = multiplier & ((one << bits) - 1);
        Some(Reciprocal { multiplier: low as u64, shift, has_high_bit })
    }
}

impl Values<'_> {
    /// The quotient or the remainder of an unsigned integer by a constant that is not zero, without a division.
    fn divided(&mut self, op: DivOp, left: ExprId, right: ExprId) -> Option<ExprId> {
        let (ty, divisor) = (self.ty(left), self.constant(right)?);
        if ty.kind() != TypeKind::Unsigned {
            return None;
        }
        if divisor.is_power_of_two() {
            return Some(match op {
                DivOp::Div => {
                    let count = self.word(divisor.trailing_zeros());
                    self.binary(BinaryOp::Shr, left, count)
                }
                DivOp::Rem => {
                    let below = self.of(ty, divisor - 1);
                    self.binary(BinaryOp::And, left, below)
                }
            });
        }
        // The high halves of products are there of 32 and 64 bits alone.
        if ty.bits() < 32 {
            return None;
        }
        let Reciprocal { multiplier, shift, has_high_bit } = Reciprocal::of(divisor, ty.bits())?;
        let multiplier = self.of(ty, multiplier);
        let high = self.binary(BinaryOp::MulHi, left, multiplier);
        let (whole, shift) = if has_high_bit {
            let (one, rest) = (self.word(1), self.binary(BinaryOp::Sub, left, high));
            let half = self.binary(BinaryOp::Shr, rest, one);
            (self.binary(BinaryOp::Add, half, high), shift - 1)
        } else {
            (high, shift)
        };
        let shift = self.word(shift);
        let quotient = self.binary(BinaryOp::Shr, whole, shift);
        Some(match op {
            DivOp::Div => quotient,
            DivOp::Rem => {
                let product = self.binary(BinaryOp::Mul, quotient, right);
                self.binary(BinaryOp::Sub, left, product)
            }
        })
    }
}

impl Legalizer<'_> {
    /// Adds a division behind the check of its divisor, where it needs one.
    pub(super) fn divide(
        &mut self,
        dst: SlotId,
        op: DivOp,
        left: ExprId,
        right: ExprId,
        site: Site,
        made: &mut Vec<Stmt>,
    ) {
        let ty = self.values.ty(left);
        let zero = self.values.of(ty, 0);
        let beyond = vec![Stmt::Fault { fault: Fault::DivisionByZero, index: vec![], site }, self.zero(dst)];
        if right == zero {
            return made.extend(beyond);
        }
        if !self.native.divides_by_constants
            && let Some(value) = self.values.divided(op, left, right)
        {
            return made.push(Stmt::Assign { slot: dst, value });
        }
        let within = self.quotient(dst, op, left, right, site);
        if self.facts.is_not_zero(&self.values, right) {
            return made.extend(within);
        }
        let condition = self.values.binary(BinaryOp::Eq, right, zero);
        made.push(Stmt::If { condition, then: beyond, otherwise: within });
    }

    /// A division by what is not zero.
    fn quotient(&mut self, dst: SlotId, op: DivOp, left: ExprId, right: ExprId, site: Site) -> Vec<Stmt> {
        let (ty, values) = (self.values.ty(left), &mut self.values);
        let divides = (self.native.divides)(op, ty);
        let by = if divides == Divides::Never { DivOp::Div } else { op };
        let minus_one = values.of(ty, u64::MAX >> (64 - ty.bits()));
        let constant = values.constant(right).is_some() && right != minus_one;
        let overflows = !constant && (self.native.divides)(by, ty) == Divides::ButLeast;
        // What is divided by -1 is negated, and leaves no remainder, as what is divided by 1.
        let negates = overflows.then(|| values.binary(BinaryOp::Eq, right, minus_one));
        let divisor = negates.map_or(right, |negates| {
            let one = values.of(ty, 1);
            values.select(negates, one, right)
        });
        if by == op && (by == DivOp::Rem || !overflows) {
            return vec![Stmt::Divide { dst, op, left, right: divisor, site }];
        }
        let made = values.slot(ty);
        let result = values.read(made);
        let result = negates.map_or(result, |negates| {
            let negated = values.unary(UnaryOp::Neg, left);
            values.select(negates, negated, result)
        });
        let value = if by == op {
            result
        } else {
            let whole = values.binary(BinaryOp::Mul, result, right);
            values.binary(BinaryOp::Sub, left, whole)
        };
        vec![Stmt::Divide { dst: made, op: by, left, right: divisor, site }, Stmt::Assign { slot: dst, value }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quotient as the expression has it.
    fn quotient(x: u64, by: Reciprocal, bits: u32) -> u64 {
        let high = ((u128::from(x) * u128::from(by.multiplier)) >> bits) as u64;
        match by.has_high_bit {
            true => (((x - high) >> 1) + high) >> (by.shift - 1),
            false => high >> by.shift,
        }
    }

    #[test]
    fn quotients_are_exact_at_all_edges() {
        let small = (3..3000).chain([641, 6_700_417, 65_535, 65_537, 0x7fff_ffff, 0x5555_5555, 0x5555_5556]);
        let large = [0xffff_fffb, 0x1_0000_0001, 10_000_000_000, (1 << 62) + 1, (1 << 63) - 1, 0x5555_5555_5555_5555];
        let (mut with_high_bit, mut seen) = (0, 0);
        for (bits, divisor) in small.clone().map(|d| (32, d)).chain(small.chain(large).map(|d| (64, d))) {
            let most = u64::MAX >> (64 - bits);
            let Some(by) = (divisor & (divisor - 1) != 0).then(|| Reciprocal::of(divisor, bits)).flatten() else {
                continue;
            };
            (seen, with_high_bit) = (seen + 1, with_high_bit + u32::from(by.has_high_bit));
            let last = most / divisor;
            for times in [0, 1, 2, 3, last / 3, last / 2, last - 1, last].into_iter().filter(|times| *times <= last) {
                let multiple = times * divisor;
                for x in [multiple.saturating_sub(1), multiple, multiple.saturating_add(1).min(most), most, most - 1] {
                    assert_eq!(quotient(x, by, bits), x / divisor, "{x} / {divisor} in {bits} bits: {by:?}");
                }
            }
        }
        assert!(with_high_bit > 500 && with_high_bit < seen, "{with_high_bit} of {seen}");
        assert_eq!((Reciprocal::of((1 << 31) + 1, 32), Reciprocal::of(u64::MAX, 64)), (None, None));
    }
}
