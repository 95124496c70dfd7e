//! Updates of one place that can be exchanged.

use wattle_ir::{AtomicLaw, AtomicOp, BinaryOp, FloatFormat, Type, eval};
use wattle_memory::Level;

use super::super::process::Change;
use super::Cell;
use super::exact::Exact;

/// The operation of updates, or of stores, that commute: with the operand where it matters that all have the same one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::search) struct Commuting {
    op: AtomicOp,
    ty: Type,
    operand: Option<u64>,
    level: Level,
}

impl Commuting {
    /// The operation of an update, if any two of it commute. Sums of floats do where they are exact ([`Exact`]); their
    /// least and greatest values do, since -0 is less than +0, but for NaNs, of which the payload may be that of
    /// either.
    pub fn of(change: Change, level: Level) -> Option<Commuting> {
        let Change::Apply { op, ty, operand: Some(operand) } = change else { return None };
        let (operand, of_floats) = match op.law() {
            AtomicLaw::Combines(BinaryOp::Min | BinaryOp::Max) => (None, is_number(ty, operand)),
            AtomicLaw::Combines(BinaryOp::Add | BinaryOp::Sub) => (None, Exact::of(ty, operand).is_some()),
            AtomicLaw::Combines(_) => (None, false),
            AtomicLaw::CountsUp | AtomicLaw::CountsDown => (Some(operand), false),
            AtomicLaw::Replaces => return Some(Commuting::sets(operand, level)),
        };
        (ty.is_int() || of_floats).then_some(Commuting { op, ty, operand, level })
    }

    /// What an update leaves of a value.
    pub fn applied(&self, value: u64, operand: u64) -> u64 {
        eval::atomic(self.op, self.ty, value, operand)
    }

    /// Storing a value, whatever was there.
    pub fn sets(value: u64, level: Level) -> Commuting {
        Commuting { op: AtomicOp::Exchange, ty: Type::U64, operand: Some(value), level }
    }
}

/// Whether these are the bits of a float that is a number.
fn is_number(ty: Type, bits: u64) -> bool {
    match ty.float_format() {
        Some(FloatFormat::F32) => !f32::from_bits(bits as u32).is_nan(),
        Some(FloatFormat::F64) => !f64::from_bits(bits).is_nan(),
        // The least and the greatest of them are searched in every order.
        Some(FloatFormat::Half(_)) | None => false,
    }
}

/// The operation of an update, and what it and those that commute with it have added up, where that is floats; no
/// operation where an order of their sums might round.
pub(super) fn with_sum(
    commuting: Option<Commuting>,
    change: Change,
    cell: &Cell,
) -> (Option<Commuting>, Option<Exact>) {
    let (Some(of), Change::Apply { op: AtomicOp::Add | AtomicOp::Sub, ty, operand: Some(operand) }) =
        (commuting, change)
    else {
        return (commuting, None);
    };
    if ty.is_int() {
        return (commuting, None);
    }
    let before = if cell.commuting == Some(of) { cell.sum } else { Exact::of(ty, cell.value) };
    let sum = before.zip(Exact::of(ty, operand)).and_then(|(before, operand)| before.and(operand));
    (commuting.filter(|_| sum.is_some()), sum)
}
