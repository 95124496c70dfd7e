//! Facts about values at a point of a kernel, so that a check which cannot fail is left out: what was tested on the way
//! there, what variables were set to, and what loops count.
//!
//! A fact is about an expression, and holds from where it is learnt to the end of the block around that point, unless a
//! variable that the expression reads is set before. A turn of a loop begins with what holds in each: nothing is known
//! of the variables that the loop sets, but for its counter ([`Facts::learn_counter`]).
//!
//! Facts are about the expressions of [`Values`], which in turn ask here what an expression is by its form alone.

use rustc_hash::FxHashMap;

use super::ranges::{Range, mask};
use super::values::Values;
use crate::counted::Counter;
use crate::{BinaryOp, Builtin, Expr, ExprId, Label, Place, SlotId, Stmt, Type, TypeKind, UnaryOp};

/// What is known at a point of a kernel.
#[derive(Default)]
pub(super) struct Facts {
    all: FxHashMap<ExprId, Vec<Fact>>,
    /// The number of blocks around the point.
    depth: usize,
    blocks: Blocks,
}

/// What a target knows of the blocks of its launches.
#[derive(Clone, Copy, Default)]
pub(super) struct Blocks {
    /// The most threads that a block has.
    pub(super) most_threads: Option<u32>,
    /// The lanes of a warp.
    pub(super) warp_size: Option<u32>,
}

struct Fact {
    known: Known,
    /// The depth of the block to whose end the fact holds.
    depth: usize,
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// The value, an unsigned integer, is in this range.
    In(Range),
    /// The value is less than the extent of the place in this dimension.
    Within(Place, u8),
    /// The value is at most the extent of the place in this dimension.
    AtMost(Place, u8),
    /// The value is not zero.
    NotZero,
}

/// The depth to which an expression is looked into for its range.
const DEPTH: u32 = 24;
/// The depth to which an expression is compared with an extent, for which nothing is kept that was found.
const EXTENT_DEPTH: u32 = 6;

/// The ranges of expressions that were found for one question.
type Found = FxHashMap<ExprId, Range>;

impl Facts {
    pub(super) fn of_blocks(blocks: Blocks) -> Facts {
        Facts { blocks, ..Facts::default() }
    }

    /// Enters a block: what is learnt in it holds to its end.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    /// Leaves the innermost block, and forgets what was known in it alone.
    pub(super) fn leave(&mut self) {
        let depth = self.depth;
        self.all.retain(|_, facts| {
            facts.retain(|fact| fact.depth < depth);
            !facts.is_empty()
        });
        self.depth -= 1;
    }

    /// Records that the condition holds, or does not, from here to the end of the block.
    pub(super) fn learn(&mut self, values: &Values<'_>, condition: ExprId, holds: bool) {
        let (op, x, y) = match values.expr(condition) {
            Expr::Binary(op, x, y) => (op, x, y),
            Expr::Unary(UnaryOp::Not, x) => return self.learn(values, x, !holds),
            _ => return,
        };
        let unsigned = values.ty(x).kind() == TypeKind::Unsigned;
        match (op, holds) {
            (BinaryOp::And, true) | (BinaryOp::Or, false) if values.ty(x) == Type::Bool => {
                self.learn(values, x, holds);
                self.learn(values, y, holds);
            }
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) if unsigned => self.below(values, x, y, true),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) if unsigned => self.below(values, y, x, true),
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) if unsigned => self.below(values, x, y, false),
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) if unsigned => self.below(values, y, x, false),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) if unsigned => {
                let both = self.range(values, x).and(self.range(values, y));
                self.add(x, Known::In(both));
                self.add(y, Known::In(both));
            }
            (BinaryOp::Ne, true) | (BinaryOp::Eq, false) if values.constant(y) == Some(0) => {
                self.add(x, Known::NotZero);
            }
            _ => {}
        }
    }

    /// Records that `x < y`, or `x <= y`, of unsigned integers.
    fn below(&mut self, values: &Values<'_>, x: ExprId, y: ExprId, strictly: bool) {
        let (less, more) = (self.range(values, x), self.range(values, y));
        let one = u64::from(strictly);
        let by_type = mask(values.ty(x).bits());
        // Where nothing is below, no thread comes.
        let (greatest, least) = (more.greatest.saturating_sub(one), less.least.saturating_add(one).min(by_type));
        self.add(x, Known::In(Range { least: 0, greatest, zeros: 0 }));
        self.add(y, Known::In(Range { least, greatest: by_type, zeros: 0 }));
        for (place, dimension) in values.extents() {
            let is_less = self.is_below_extent(values, y, place, dimension, EXTENT_DEPTH);
            if is_less || (strictly && self.is_at_most_extent(values, y, place, dimension, EXTENT_DEPTH)) {
                self.add(x, Known::Within(place, dimension));
            } else if self.is_at_most_extent(values, y, place, dimension, EXTENT_DEPTH) {
                self.add(x, Known::AtMost(place, dimension));
            }
        }
    }

    fn add(&mut self, value: ExprId, known: Known) {
        self.all.entry(value).or_default().push(Fact { known, depth: self.depth });
    }

    /// Drops what is known of the slot, which has another value from here on.
    pub(super) fn forget(&mut self, values: &Values<'_>, slot: SlotId) {
        self.all.retain(|&value, _| !values.reads(value, slot));
    }

    /// Drops what is known of the slots that are set in the block.
    pub(super) fn forget_all(&mut self, values: &Values<'_>, block: &[Stmt]) {
        crate::visit::walk(block, &mut |stmt| stmt.assigned().into_iter().for_each(|slot| self.forget(values, slot)));
    }

    /// What is known, before the statement, of the value that it gives its slot.
    pub(super) fn of_result(&self, values: &Values<'_>, stmt: &Stmt) -> Vec<Known> {
        match *stmt {
            Stmt::Assign { value, .. } if values.ty(value).kind() == TypeKind::Unsigned => {
                let extents = values.extents().filter_map(|(place, dimension)| {
                    if self.is_below_extent(values, value, place, dimension, EXTENT_DEPTH) {
                        Some(Known::Within(place, dimension))
                    } else if self.is_at_most_extent(values, value, place, dimension, EXTENT_DEPTH) {
                        Some(Known::AtMost(place, dimension))
                    } else {
                        None
                    }
                });
                std::iter::once(Known::In(self.range(values, value))).chain(extents).collect()
            }
            Stmt::Divide { op, left, right, .. } if values.ty(left).kind() == TypeKind::Unsigned => {
                vec![Known::In(Range::divide(op, self.range(values, left), self.range(values, right)))]
            }
            _ => Vec::new(),
        }
    }

    /// Records what is known of a slot that was set.
    pub(super) fn hold(&mut self, values: &Values<'_>, slot: SlotId, known: Vec<Known>) {
        let Some(value) = values.known(Expr::Slot(slot)) else { return };
        let all = Known::In(Range::all(values.ty(value).bits()));
        known.into_iter().filter(|known| *known != all).for_each(|known| self.add(value, known));
    }

    /// Records, at the beginning of a loop, what holds of its counter at the beginning of each turn: it is not below
    /// the value that it has before the loop, of which `before` is what is known. The variables that the loop sets have
    /// been forgotten.
    ///
    /// That is so if nothing else in the loop sets the counter; if each turn begins by leaving the loop unless `counter
    /// < end`; and if what is behind a turn sets it to `counter + step`, where that cannot wrap, or to that where it is
    /// below the end and else to the end. A power of two that divides what it begins with, the step, and the end if it
    /// may become that, divides it always.
    pub(super) fn learn_counter(
        &mut self,
        values: &Values<'_>,
        counter: &Counting,
        body: &[Stmt],
        continuing: &[Stmt],
    ) {
        let &Counting { counter: loop_counter, before } = counter;
        let Counter { slot, read: counter, end } = loop_counter;
        let sets = |block: &[Stmt]| {
            let mut count = 0;
            crate::visit::walk(block, &mut |stmt| count += usize::from(stmt.assigned() == Some(slot)));
            count
        };
        let next = continuing.iter().find_map(|stmt| match stmt {
            Stmt::Assign { slot: to, value } if *to == slot => Some(*value),
            _ => None,
        });
        let (Some(next), 0, 1) = (next, sets(body), sets(continuing)) else { return };
        let Some(step) = loop_counter.step(&values.kernel, next) else { return };
        let by = self.range(values, step.by);
        let zeros = if step.stops_at_end {
            let is_fixed = |id| {
                let mut fixed = true;
                for block in [body, continuing] {
                    crate::visit::walk(block, &mut |stmt| {
                        fixed &= stmt.assigned().is_none_or(|slot| !values.reads(id, slot));
                    });
                }
                fixed
            };
            if !is_fixed(end) {
                return;
            }
            by.zeros.min(self.range(values, end).zeros)
        } else {
            let most = self.range(values, end).greatest.saturating_sub(1).checked_add(by.greatest);
            if most.is_none_or(|most| most > mask(values.ty(counter).bits())) {
                return;
            }
            by.zeros
        };
        let greatest = mask(values.ty(counter).bits());
        self.add(counter, Known::In(Range { least: before.least, greatest, zeros: before.zeros.min(zeros) }));
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
            Some(len) => self.range(values, value).greatest.saturating_add(u64::from(lanes)) <= u64::from(len),
            None => lanes == 1 && self.is_below_extent(values, value, place, dimension, EXTENT_DEPTH),
        }
    }

    /// Whether the value is not zero.
    pub(super) fn is_not_zero(&self, values: &Values<'_>, value: ExprId) -> bool {
        let unsigned = values.ty(value).kind() == TypeKind::Unsigned;
        values.constant(value).is_some_and(|constant| constant != 0)
            || self.has(value, Known::NotZero)
            || (unsigned && self.range(values, value).least > 0)
    }

    /// Whether the value is less than the extent of a place, whatever that is.
    fn is_below_extent(&self, values: &Values<'_>, value: ExprId, place: Place, d: u8, depth: u32) -> bool {
        if self.has(value, Known::Within(place, d)) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let below = |id| self.is_below_extent(values, id, place, d, depth);
        match values.expr(value) {
            Expr::Binary(BinaryOp::Min | BinaryOp::And, x, y) => below(x) || below(y),
            Expr::Binary(BinaryOp::Max, x, y) | Expr::Select(_, x, y) => below(x) && below(y),
            Expr::Binary(BinaryOp::Shr, x, _) => below(x),
            // What cannot wrap is not more than it was; and less, if something is taken away.
            Expr::Binary(BinaryOp::Sub, x, y) => {
                let (whole, part) = (self.range(values, x), self.range(values, y));
                part.greatest <= whole.least
                    && (below(x) || (part.least > 0 && self.is_at_most_extent(values, x, place, d, depth)))
            }
            _ => false,
        }
    }

    /// Whether the value is at most the extent of a place, whatever that is.
    fn is_at_most_extent(&self, values: &Values<'_>, value: ExprId, place: Place, d: u8, depth: u32) -> bool {
        if self.has(value, Known::Within(place, d)) || self.has(value, Known::AtMost(place, d)) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let at_most = |id| self.is_at_most_extent(values, id, place, d, depth);
        match values.expr(value) {
            Expr::Extent(of, dimension) => of == place && dimension == d,
            Expr::Binary(BinaryOp::Min | BinaryOp::And, x, y) => at_most(x) || at_most(y),
            Expr::Binary(BinaryOp::Max, x, y) | Expr::Select(_, x, y) => at_most(x) && at_most(y),
            Expr::Binary(BinaryOp::Shr, x, _) => at_most(x),
            Expr::Binary(BinaryOp::Sub, x, y) => {
                self.range(values, y).greatest <= self.range(values, x).least && at_most(x)
            }
            _ => false,
        }
    }

    /// The greatest value that an unsigned expression can have.
    pub(super) fn greatest(&self, values: &Values<'_>, value: ExprId) -> u64 {
        self.range(values, value).greatest
    }

    /// What an unsigned expression can be.
    pub(super) fn range(&self, values: &Values<'_>, value: ExprId) -> Range {
        self.found(values, value, DEPTH, &mut Found::default())
    }

    fn found(&self, values: &Values<'_>, value: ExprId, depth: u32, found: &mut Found) -> Range {
        if let Some(&known) = found.get(&value) {
            return known;
        }
        let (ty, mut range) = (values.ty(value), Range::all(values.ty(value).bits()));
        if ty.kind() == TypeKind::Unsigned {
            range = self.by_parts(values, value, depth, found);
            for fact in self.all.get(&value).into_iter().flatten() {
                range = match fact.known {
                    Known::In(known) => range.and(known),
                    Known::NotZero => range.and(Range { least: 1, greatest: u64::MAX, zeros: 0 }),
                    Known::Within(..) | Known::AtMost(..) => range,
                };
            }
        }
        found.insert(value, range);
        range
    }

    /// What an unsigned expression can be by what its operands can be.
    fn by_parts(&self, values: &Values<'_>, value: ExprId, depth: u32, found: &mut Found) -> Range {
        let bits = values.ty(value).bits();
        let all = Range::all(bits);
        let Some(depth) = depth.checked_sub(1) else { return all };
        match values.expr(value) {
            Expr::Const(constant) => Range::constant(constant.raw),
            Expr::Binary(op, x, y) => {
                let (x, y) = (self.found(values, x, depth, found), self.found(values, y, depth, found));
                Range::binary(op, bits, x, y)
            }
            Expr::Select(_, x, y) => self.found(values, x, depth, found).or(self.found(values, y, depth, found)),
            Expr::Cast(_, x) => match values.ty(x).kind() {
                TypeKind::Bool => Range::between(0, 1),
                TypeKind::Unsigned => {
                    let from = self.found(values, x, depth, found);
                    if from.greatest <= mask(bits) { from } else { Range { zeros: from.zeros, ..all } }
                }
                TypeKind::Signed | TypeKind::Float => all,
            },
            Expr::Unary(UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros, x) => {
                Range::between(0, u64::from(values.ty(x).bits()))
            }
            Expr::Builtin(builtin, _) => self.of_builtin(builtin, bits),
            Expr::Slot(_)
            | Expr::Param(_)
            | Expr::Extent(..)
            | Expr::Unary(..)
            | Expr::Ternary(..)
            | Expr::Bits(..) => all,
        }
    }

    /// What a thread's place and a launch's shape can be. Extents of launches are at least 1.
    fn of_builtin(&self, builtin: Builtin, bits: u32) -> Range {
        let greatest = mask(bits);
        let threads = self.blocks.most_threads.map_or(greatest, u64::from).max(1);
        let lanes = self.blocks.warp_size.map(u64::from);
        match builtin {
            Builtin::ThreadInBlock => Range::between(0, threads - 1),
            Builtin::WarpInBlock => Range::between(0, (threads - 1) / lanes.unwrap_or(1)),
            Builtin::Lane => Range::between(0, lanes.unwrap_or(threads).min(threads) - 1),
            Builtin::BlockExtent => Range::between(1, threads),
            Builtin::GridExtent | Builtin::FrameCount | Builtin::FrameExtent => Range::between(1, greatest),
            Builtin::BlockInGrid => Range::between(0, greatest - 1),
            Builtin::WarpSize | Builtin::Device(_) => Range::all(bits),
        }
    }

    fn has(&self, value: ExprId, known: Known) -> bool {
        self.all.get(&value).is_some_and(|facts| facts.iter().any(|fact| fact.known == known))
    }
}

/// A loop's counter, of unsigned integers, at the point before the loop.
pub(super) struct Counting {
    counter: Counter,
    /// The range of the counter before the loop.
    before: Range,
}

impl Facts {
    /// The counter of a loop, at the point before it.
    pub(super) fn counter(&self, values: &Values<'_>, label: Label, body: &[Stmt]) -> Option<Counting> {
        let counter = Counter::of(&values.kernel, label, body)?;
        let unsigned = values.ty(counter.read).kind() == TypeKind::Unsigned;
        unsigned.then(|| Counting { counter, before: self.range(values, counter.read) })
    }
}
