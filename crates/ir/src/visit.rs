//! What statements and expressions are made of, written once.
//!
//! Everything that walks a kernel asks here: which expressions a statement uses, which slot it sets, which memory it
//! touches, how it is ordered, where it stands in the source, and what is nested in it. No pattern here has `..` or
//! `_`, so a new statement, expression or field does not compile before it is accounted for.

use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::message::Message;
use crate::{Expr, ExprId, Index, Kernel, Label, LocalId, ParamId, Place, Site, SlotId, Stmt};

/// The place that a statement sends its thread to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// The thread goes to the end of the loop or block that has this label.
    Break(Label),
    /// The thread goes to the `continuing` of the loop that has this label.
    Continue(Label),
    /// The thread ends.
    Return,
}

/// The threads that wait for one another at a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meeting {
    /// The threads of a block.
    Block,
    /// The lanes of a warp.
    Warp,
}

/// Defines the parts of statements and expressions, to be read or to be changed.
macro_rules! parts {
    ($what:literal $stmt_parts:ident $expr_parts:ident $order:ident $parts:ident $operands:ident $blocks:ident $as:ident $($mutable:tt)?) => {
        #[doc = concat!("The order of an access or fence, ", $what, ".")]
        #[derive(Debug)]
        pub enum $order<'s> {
            /// The order of an atomic load.
            Read(&'s $($mutable)? ReadOrder),
            /// The order of an atomic store.
            Write(&'s $($mutable)? WriteOrder),
            /// The order of an atomic read-modify-write.
            Update(&'s $($mutable)? UpdateOrder),
            /// The order of a fence.
            Fence(&'s $($mutable)? FenceOrder),
        }

        #[doc = concat!("What a statement is made of, ", $what, ".")]
        #[derive(Debug, Default)]
        pub struct $stmt_parts<'s> {
            /// The index of the element that it accesses.
            pub index: Option<&'s $($mutable)? Index>,
            /// The values of its message, or those that it stores in consecutive elements.
            pub arguments: &'s $($mutable)? [ExprId],
            /// The other expressions that it uses itself, in order.
            pub values: [Option<&'s $($mutable)? ExprId>; 2],
            /// The slot that it sets itself.
            pub slot: Option<&'s $($mutable)? SlotId>,
            /// The array of the thread's own that it sets as a whole.
            pub array: Option<&'s $($mutable)? LocalId>,
            /// The memory that it accesses.
            pub place: Option<&'s $($mutable)? Place>,
            /// The order of a fence or an atomic access.
            pub order: Option<$order<'s>>,
            /// The scope that it is ordered for, if it is a fence or atomic.
            pub scope: Option<&'s $($mutable)? Scope>,
            /// The statement's source line.
            pub site: Option<&'s $($mutable)? Site>,
            /// The loop or block that it is, which jumps in it can name.
            pub label: Option<&'s $($mutable)? Label>,
            /// The place that it sends its thread to.
            pub jump: Option<Jump>,
            /// The threads that wait for one another at it.
            pub meeting: Option<Meeting>,
            /// The blocks nested in it, in the order of the source.
            pub blocks: [Option<&'s $($mutable)? Vec<Stmt>>; 2],
        }

        #[doc = concat!("What an expression is made of, ", $what, ".")]
        #[derive(Debug, Default)]
        pub struct $expr_parts<'e> {
            /// The expression's operands, in order.
            pub operands: [Option<&'e $($mutable)? ExprId>; 3],
            /// The slot that it reads.
            pub slot: Option<&'e $($mutable)? SlotId>,
            /// The parameter that it reads.
            pub param: Option<&'e $($mutable)? ParamId>,
            /// The memory whose extent it reads.
            pub place: Option<&'e $($mutable)? Place>,
        }

        impl Stmt {
            #[doc = concat!("What the statement is made of, ", $what, ".")]
            pub fn $parts(&$($mutable)? self) -> $stmt_parts<'_> {
                let none = $stmt_parts::default();
                match self {
                    Stmt::Assign { slot, value } => {
                        $stmt_parts { slot: Some(slot), values: [Some(value), None], ..none }
                    }
                    Stmt::Divide { dst, op: _, left, right, site } => {
                        $stmt_parts { slot: Some(dst), values: [Some(left), Some(right)], site: Some(site), ..none }
                    }
                    Stmt::Load { dst, place, index, site } => {
                        $stmt_parts { slot: Some(dst), place: Some(place), index: Some(index), site: Some(site), ..none }
                    }
                    Stmt::LoadLanes { dst, place, index, site } => $stmt_parts {
                        array: Some(dst),
                        place: Some(place),
                        values: [Some(index), None],
                        site: Some(site),
                        ..none
                    },
                    Stmt::Store { place, index, value, site } => {
                        $stmt_parts { place: Some(place), index: Some(index), values: [Some(value), None], site: Some(site), ..none }
                    }
                    Stmt::StoreLanes { place, index, values, site } => $stmt_parts {
                        place: Some(place),
                        values: [Some(index), None],
                        arguments: values,
                        site: Some(site),
                        ..none
                    },
                    Stmt::AtomicLoad { dst, place, index, order, scope, site } => $stmt_parts {
                        slot: Some(dst),
                        place: Some(place),
                        index: Some(index),
                        order: Some($order::Read(order)),
                        scope: Some(scope),
                        site: Some(site),
                        ..none
                    },
                    Stmt::AtomicStore { place, index, value, order, scope, site } => $stmt_parts {
                        place: Some(place),
                        index: Some(index),
                        values: [Some(value), None],
                        order: Some($order::Write(order)),
                        scope: Some(scope),
                        site: Some(site),
                        ..none
                    },
                    Stmt::AtomicUpdate { dst, op: _, place, index, operand, order, scope, site } => $stmt_parts {
                        slot: Some(dst),
                        place: Some(place),
                        index: Some(index),
                        values: [Some(operand), None],
                        order: Some($order::Update(order)),
                        scope: Some(scope),
                        site: Some(site),
                        ..none
                    },
                    Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site } => $stmt_parts {
                        slot: Some(dst),
                        place: Some(place),
                        index: Some(index),
                        values: [Some(expected), Some(desired)],
                        order: Some($order::Update(order)),
                        scope: Some(scope),
                        site: Some(site),
                        ..none
                    },
                    Stmt::Fence { order, scope, site } => $stmt_parts {
                        order: Some($order::Fence(order)),
                        scope: Some(scope),
                        site: Some(site),
                        ..none
                    },
                    Stmt::Barrier { site } => {
                        $stmt_parts { meeting: Some(Meeting::Block), site: Some(site), ..none }
                    }
                    Stmt::WarpBarrier { site } => {
                        $stmt_parts { meeting: Some(Meeting::Warp), site: Some(site), ..none }
                    }
                    Stmt::Warp { dst, op: _, value, operand, site } => $stmt_parts {
                        slot: Some(dst),
                        values: [Some(value), operand.$as()],
                        meeting: Some(Meeting::Warp),
                        site: Some(site),
                        ..none
                    },
                    Stmt::If { condition, then, otherwise } => $stmt_parts {
                        values: [Some(condition), None],
                        blocks: [Some(then), Some(otherwise)],
                        ..none
                    },
                    Stmt::Loop { label, body, continuing, bounded: _, site } => $stmt_parts {
                        label: Some(label),
                        blocks: [Some(body), Some(continuing)],
                        site: Some(site),
                        ..none
                    },
                    Stmt::Block { label, body } => {
                        $stmt_parts { label: Some(label), blocks: [Some(body), None], ..none }
                    }
                    Stmt::Break(label) => $stmt_parts { jump: Some(Jump::Break(*label)), ..none },
                    Stmt::Continue(label) => $stmt_parts { jump: Some(Jump::Continue(*label)), ..none },
                    Stmt::Return => $stmt_parts { jump: Some(Jump::Return), ..none },
                    Stmt::Fault { fault: _, index, site } => $stmt_parts { index: Some(index), site: Some(site), ..none },
                    Stmt::Assert { condition, message: Message { text: _, arguments }, site } => {
                        $stmt_parts { values: [Some(condition), None], arguments, site: Some(site), ..none }
                    }
                    Stmt::Print { message: Message { text: _, arguments }, site } => {
                        $stmt_parts { arguments, site: Some(site), ..none }
                    }
                    Stmt::Clock { dst, site } => $stmt_parts { slot: Some(dst), site: Some(site), ..none },
                }
            }

            #[doc = concat!("The expressions that the statement uses itself, in order, ", $what, ".")]
            pub fn $operands(&$($mutable)? self) -> impl Iterator<Item = &$($mutable)? ExprId> {
                let parts = self.$parts();
                parts.index.into_iter().flatten().chain(parts.values.into_iter().flatten()).chain(parts.arguments)
            }

            #[doc = concat!("The blocks nested in the statement, in the order of the source, ", $what, ".")]
            pub fn $blocks(&$($mutable)? self) -> impl Iterator<Item = &$($mutable)? Vec<Stmt>> {
                self.$parts().blocks.into_iter().flatten()
            }
        }

        impl Expr {
            #[doc = concat!("What the expression is made of, ", $what, ".")]
            pub fn $parts(&$($mutable)? self) -> $expr_parts<'_> {
                let none = $expr_parts::default();
                match self {
                    Expr::Const(_) | Expr::Builtin(_, _) => none,
                    Expr::Slot(slot) => $expr_parts { slot: Some(slot), ..none },
                    Expr::Param(param) => $expr_parts { param: Some(param), ..none },
                    Expr::Extent(place, _) => $expr_parts { place: Some(place), ..none },
                    Expr::Unary(_, x) | Expr::Cast(_, x) | Expr::Bits(_, x) => {
                        $expr_parts { operands: [Some(x), None, None], ..none }
                    }
                    Expr::Binary(_, x, y) => $expr_parts { operands: [Some(x), Some(y), None], ..none },
                    Expr::Ternary(_, x, y, z) | Expr::Select(x, y, z) => {
                        $expr_parts { operands: [Some(x), Some(y), Some(z)], ..none }
                    }
                }
            }

            #[doc = concat!("The operands of the expression, in order, ", $what, ".")]
            pub fn $operands(&$($mutable)? self) -> impl DoubleEndedIterator<Item = &$($mutable)? ExprId> {
                self.$parts().operands.into_iter().flatten()
            }
        }
    };
}
parts!("to be read" StmtParts ExprParts StmtOrder parts operands blocks as_ref);
parts!("to be changed" StmtPartsMut ExprPartsMut StmtOrderMut parts_mut operands_mut blocks_mut as_mut mut);

impl StmtOrder<'_> {
    /// Whether the statement is an access of relaxed order, which orders nothing.
    pub fn is_relaxed(&self) -> bool {
        match self {
            StmtOrder::Read(order) => **order == ReadOrder::Relaxed,
            StmtOrder::Write(order) => **order == WriteOrder::Relaxed,
            StmtOrder::Update(order) => **order == UpdateOrder::Relaxed,
            StmtOrder::Fence(_) => false,
        }
    }
}

impl Stmt {
    /// The slot that the statement sets itself.
    pub fn assigned(&self) -> Option<SlotId> {
        self.parts().slot.copied()
    }

    /// The threads that wait for one another at the statement.
    pub fn meeting(&self) -> Option<Meeting> {
        self.parts().meeting
    }

    /// The index of the first element that the statement accesses, and the number of elements from there on; `None` of
    /// one that accesses no memory.
    pub fn accessed(&self, kernel: &Kernel) -> Option<(&[ExprId], u32)> {
        let parts = self.parts();
        parts.place?;
        let several = match (parts.array, parts.arguments.len() as u32) {
            (Some(array), _) => kernel.locals[array.index()].len,
            (None, 0) => return Some((parts.index?, 1)),
            (None, values) => values,
        };
        Some((std::slice::from_ref(parts.values[0]?), several))
    }

    /// The index of the element that the statement accesses; `None` of one that accesses none, or several.
    pub fn index_mut(&mut self) -> Option<&mut Index> {
        let parts = self.parts_mut();
        let several = parts.array.is_some() || !parts.arguments.is_empty();
        parts.index.filter(|_| parts.place.is_some() && !several)
    }

    /// The place that the statement sends its thread to; `None` if the thread goes on behind it.
    pub fn jump(&self) -> Option<Jump> {
        self.parts().jump
    }

    /// The memory that the statement accesses.
    pub fn place(&self) -> Option<Place> {
        self.parts().place.copied()
    }

    /// The memory that the statement accesses atomically.
    pub fn atomic_place(&self) -> Option<Place> {
        let parts = self.parts();
        parts.order.and(parts.place).copied()
    }

    /// The source line of the statement, where it has one; of a check, that of what is checked.
    pub fn site(&self) -> Option<Site> {
        self.parts().site.copied().or_else(|| self.check()?.beyond.first()?.site())
    }

    /// The scope of the statement, where it has one.
    pub fn scope(&self) -> Option<Scope> {
        self.parts().scope.copied()
    }
}

impl Kernel {
    /// Visits every statement, each before those nested in it.
    pub fn walk<'k>(&'k self, visit: &mut dyn FnMut(&'k Stmt)) {
        walk(&self.body, visit);
    }

    /// Visits an expression and those in it, each before its operands. `enter` says whether to go on to them; an
    /// expression that is used several times is offered as often.
    pub fn walk_expr(&self, root: ExprId, enter: &mut dyn FnMut(ExprId, &Expr) -> bool) {
        // A stack of its own: expressions may be nested deeper than calls can be.
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            let Some(expr) = self.exprs.get(id.index()) else { continue };
            if enter(id, expr) {
                open.extend(expr.operands().rev());
            }
        }
    }
}

/// Visits the statements of a block, each before those nested in it.
pub fn walk<'s>(block: &'s [Stmt], visit: &mut dyn FnMut(&'s Stmt)) {
    for stmt in block {
        visit(stmt);
        stmt.blocks().for_each(|inner| walk(inner, visit));
    }
}

/// Visits the statements of a block to change them, each before those nested in it.
pub fn walk_mut(block: &mut [Stmt], visit: &mut dyn FnMut(&mut Stmt)) {
    for stmt in block {
        visit(stmt);
        stmt.blocks_mut().for_each(|inner| walk_mut(inner, visit));
    }
}
