//! Facts about values at a point of a kernel: conditions that were tested on the way there, so that a check which cannot
//! fail is left out.

use super::values::Values;
use crate::{BinaryOp, Expr, ExprId, Place, SlotId, Stmt, Type, UnaryOp};

/// What is known at a point of a kernel.
#[derive(Default)]
pub(super) struct Facts {
    all: Vec<Fact>,
    /// The number of blocks around the point.
    depth: usize,
}

struct Fact {
    value: ExprId,
    known: Known,
    /// The depth of the block to whose end the fact holds.
    depth: usize,
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It is less than this.
    Below(u32),
    /// It is less than the extent of a place in one dimension.
    Within(Place, u8),
    /// It is not zero.
    NotZero,
}

/// How deep an expression is looked into for its greatest value.
pub(super) const DEPTH: u32 = 8;

impl Facts {
    /// Enters a block: what is learnt in it holds to its end.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    /// Leaves a block.
    pub(super) fn leave(&mut self) {
        self.all.retain(|fact| fact.depth < self.depth);
        self.depth -= 1;
    }

    /// Records that the condition holds, or does not, from here to the end of the block.
    pub(super) fn learn(&mut self, values: &Values<'_>, condition: ExprId, holds: bool) {
        let (op, x, y) = match values.expr(condition) {
            Expr::Binary(op, x, y) => (op, x, y),
            Expr::Unary(UnaryOp::Not, x) => return self.learn(values, x, !holds),
            _ => return,
        };
        let word = values.ty(x) == Type::U32;
        match (op, holds) {
            (BinaryOp::And, true) | (BinaryOp::Or, false) if values.ty(x) == Type::Bool => {
                self.learn(values, x, holds);
                self.learn(values, y, holds);
            }
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) if word => self.below(values, x, y),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) if word => self.below(values, y, x),
            (BinaryOp::Ne, true) | (BinaryOp::Eq, false) if values.constant(y) == Some(0) => {
                self.add(x, Known::NotZero);
            }
            _ => {}
        }
    }

    fn below(&mut self, values: &Values<'_>, value: ExprId, bound: ExprId) {
        match values.expr(bound) {
            Expr::Const(constant) => self.add(value, Known::Below(constant.raw as u32)),
            Expr::Extent(place, dimension) => self.add(value, Known::Within(place, dimension)),
            _ => {}
        }
    }

    fn add(&mut self, value: ExprId, known: Known) {
        self.all.push(Fact { value, known, depth: self.depth });
    }

    /// Drops what is known of the slot, which has another value from here on.
    pub(super) fn forget(&mut self, values: &Values<'_>, slot: SlotId) {
        self.all.retain(|fact| !values.reads(fact.value, slot));
    }

    /// Drops what is known of the slots that are set in the block.
    pub(super) fn forget_all(&mut self, values: &Values<'_>, block: &[Stmt]) {
        crate::visit::walk(block, &mut |stmt| stmt.assigned().into_iter().for_each(|slot| self.forget(values, slot)));
    }

    /// Whether the value is an index within a dimension of the place, and so are those of `lanes - 1` elements behind.
    pub(super) fn is_within(
        &self,
        values: &Values<'_>,
        value: ExprId,
        place: Place,
        dimension: u8,
        lanes: u32,
    ) -> bool {
        match values.kernel.known_extent(place, dimension) {
            Some(len) => self.greatest(values, value, DEPTH) + u64::from(lanes) <= u64::from(len),
            None => lanes == 1 && self.has(value, Known::Within(place, dimension)),
        }
    }

    /// Whether the value is not zero.
    pub(super) fn is_not_zero(&self, values: &Values<'_>, value: ExprId) -> bool {
        values.constant(value).map_or_else(|| self.has(value, Known::NotZero), |constant| constant != 0)
    }

    /// The greatest value that an unsigned expression can have.
    pub(super) fn greatest(&self, values: &Values<'_>, value: ExprId, depth: u32) -> u64 {
        let by_type = u64::MAX >> (64 - values.ty(value).bits());
        let of = |value| if depth == 0 { u64::MAX } else { self.greatest(values, value, depth - 1) };
        let by_value = match values.expr(value) {
            Expr::Const(constant) => constant.raw,
            Expr::Binary(BinaryOp::And | BinaryOp::Min, x, y) => of(x).min(of(y)),
            Expr::Binary(BinaryOp::Shr, x, count) => {
                of(x) >> (values.constant(count).unwrap_or(0) & u64::from(values.ty(value).bits() - 1))
            }
            Expr::Select(_, x, y) => of(x).max(of(y)),
            Expr::Cast(to, x) if to.is_int() && !values.ty(x).is_signed() => of(x),
            _ => by_type,
        };
        let known = self.all.iter().filter(|fact| fact.value == value).filter_map(|fact| match fact.known {
            Known::Below(bound) => Some(u64::from(bound.saturating_sub(1))),
            Known::Within(place, d) => values.kernel.known_extent(place, d).map(|len| u64::from(len.saturating_sub(1))),
            Known::NotZero => None,
        });
        known.fold(by_type.min(by_value), u64::min)
    }

    fn has(&self, value: ExprId, known: Known) -> bool {
        self.all.iter().any(|fact| fact.value == value && fact.known == known)
    }
}
