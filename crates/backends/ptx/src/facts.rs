//! Facts about indices at a point of the code: conditions that were tested on the way there, so that a check which
//! cannot fail is left out.

use rustc_hash::FxHashSet;
use wattle_ir::{BinaryOp, Expr, ExprId, Kernel, Place, SlotId, Stmt, Type};

use crate::emit::Emitter;

/// The bounds of indices that are known at a point of the code.
#[derive(Default)]
pub struct Facts {
    all: Vec<Fact>,
    /// The number of blocks around the code.
    depth: usize,
}

struct Fact {
    index: ExprId,
    below: Bound,
    /// The depth of the block to whose end the fact holds.
    depth: usize,
}

/// An upper bound of an index, which the index is below.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Constant(u32),
    Extent(Place, u8),
}

fn bound(kernel: &Kernel, id: ExprId) -> Option<Bound> {
    match kernel.exprs[id.index()] {
        Expr::Const(constant) if constant.ty == Type::U32 => Some(Bound::Constant(constant.raw as u32)),
        Expr::Extent(place, dimension) => Some(Bound::Extent(place, dimension)),
        _ => None,
    }
}

/// Whether two expressions are structurally equal.
pub fn same(kernel: &Kernel, x: ExprId, y: ExprId) -> bool {
    if x == y {
        return true;
    }
    match (kernel.exprs[x.index()], kernel.exprs[y.index()]) {
        (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) => op == other && same(kernel, a, c) && same(kernel, b, d),
        (Expr::Cast(to, a), Expr::Cast(other, b)) => to == other && same(kernel, a, b),
        (Expr::Slot(_) | Expr::Const(_) | Expr::Param(_) | Expr::Extent(..) | Expr::Builtin(..), other) => {
            kernel.exprs[x.index()] == other
        }
        _ => false,
    }
}

/// Whether the expression reads the slot.
fn reads(kernel: &Kernel, id: ExprId, slot: SlotId) -> bool {
    let (mut seen, mut found) = (FxHashSet::default(), false);
    kernel.walk_expr(id, &mut |id, expr| {
        found |= expr.parts().slot == Some(&slot);
        !found && seen.insert(id)
    });
    found
}

/// Whether a block ends with a jump, so that code behind it is not reached.
pub fn leaves(block: &[Stmt]) -> bool {
    block.last().is_some_and(|last| last.jump().is_some())
}

impl Emitter<'_> {
    /// Runs `make` for a block: facts that are learnt in it hold to its end.
    pub(crate) fn in_block<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.facts.depth += 1;
        let made = make(self);
        let depth = self.facts.depth;
        self.facts.all.retain(|fact| fact.depth < depth);
        self.facts.depth -= 1;
        made
    }

    /// Records that the condition holds, or does not, from here to the end of the block.
    pub(crate) fn learn(&mut self, condition: ExprId, holds: bool) {
        let Expr::Binary(op, x, y) = self.kernel.exprs[condition.index()] else { return };
        if op == BinaryOp::And && self.types[x.index()] == Type::Bool && holds {
            self.learn(x, true);
            return self.learn(y, true);
        }
        if self.types[x.index()] != Type::U32 {
            return;
        }
        let (index, below) = match (op, holds) {
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (x, y),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (y, x),
            _ => return,
        };
        if let Some(below) = bound(self.kernel, below) {
            self.facts.all.push(Fact { index, below, depth: self.facts.depth });
        }
    }

    /// Drops what is known of the slot, which has another value from here on.
    pub(crate) fn forget(&mut self, slot: SlotId) {
        let kernel = self.kernel;
        self.facts.all.retain(|fact| !reads(kernel, fact.index, slot));
    }

    /// Drops what is known of the slots that are set in the block.
    pub(crate) fn forget_all(&mut self, block: &[Stmt]) {
        for stmt in block {
            if let Some(slot) = stmt.assigned() {
                self.forget(slot);
            }
            stmt.blocks().for_each(|block| self.forget_all(block));
        }
    }

    /// Whether the index is known to be within a dimension of the place.
    pub(crate) fn is_within(&self, index: ExprId, place: Place, dimension: u8) -> bool {
        let len = self.kernel.known_len(place);
        self.facts.all.iter().any(|fact| {
            let fits = match fact.below {
                Bound::Constant(below) => len.is_some_and(|len| below <= len),
                extent => extent == Bound::Extent(place, dimension),
            };
            fits && same(self.kernel, fact.index, index)
        })
    }
}
