//! What is asked of a part of the tree as a whole: what is in it, whether it acts, whether control comes out of it.

use std::collections::BTreeSet;

use syn::BinOp;

use super::{Block, BreakTarget, Expr, ExprKind, Operands, Place, Statement, Step};
use crate::numbers::is_faulting;

/// What an expression has directly within it, and what it does itself.
#[derive(Default)]
struct Parts<'e> {
    operands: Vec<&'e Expr>,
    blocks: Vec<&'e Block>,
    /// Whether evaluating it, beside what is within it, does more than give a value: it may fault, touch memory, call
    /// what the user wrote, or go elsewhere.
    acts: bool,
}

impl<'e> Parts<'e> {
    /// The parts of an expression that only computes a value from its operands.
    fn of(operands: impl IntoIterator<Item = &'e Expr>) -> Parts<'e> {
        Parts { operands: operands.into_iter().collect(), ..Parts::default() }
    }

    /// The parts of an expression that has effects.
    fn acting(operands: impl IntoIterator<Item = &'e Expr>) -> Parts<'e> {
        Parts { acts: true, ..Parts::of(operands) }
    }

    /// Adds nested blocks to the parts.
    fn around(self, blocks: impl IntoIterator<Item = &'e Block>) -> Parts<'e> {
        Parts { blocks: blocks.into_iter().collect(), ..self }
    }
}

impl Expr {
    /// Whether a loop over it goes over a range or an index map; else over an array, as far as it shows.
    pub fn is_range_or_map(&self) -> bool {
        match &self.kind {
            ExprKind::Range { .. } => true,
            ExprKind::Method { name, .. } => {
                matches!(name.to_string().as_str(), "indices" | "items" | "contiguous" | "strided" | "step_by" | "rev")
            }
            _ => false,
        }
    }

    /// What is directly within it, and what it does itself.
    fn parts(&self) -> Parts<'_> {
        use ExprKind::*;
        match &self.kind {
            Literal(_) | NegativeLiteral(_) | Float { .. } | Local(_) | Constant(_) | RustCast(..) => Parts::of([]),
            // What is in its body happens where it is called.
            Function(_) | Closure(_) => Parts::of([]),
            // A struct's operator is a function.
            Negate(x, operands) => Parts { acts: *operands == Operands::Any, ..Parts::of([&**x]) },
            Binary(operator, x, y) => {
                let divides = matches!(operator.op, BinOp::Div(_) | BinOp::Rem(_));
                Parts { acts: divides || operator.operands == Operands::Any, ..Parts::of([&**x, &**y]) }
            }
            Not(x) | Exclusive(x) | Lent(x) | Cast(x, _) | Field(x, _) | Repeat(x, _) | FromBits { bits: x, .. } => {
                Parts::of([&**x])
            }
            Deref(x) | Element(x, _) => Parts::acting([&**x]),
            Struct { fields, rest, .. } => Parts::of(fields.iter().map(|(_, x)| x).chain(rest.as_deref())),
            Tuple(all) | Array(all) => Parts::of(all),
            Range { begin: x, end: y, .. } => Parts::of([&**x, &**y]),
            Index(x, y) => Parts::acting([&**x, &**y]),
            Assign(place, value) | AssignWith(_, place, value) => {
                let place = match &**place {
                    Place::Variable(..) => vec![],
                    Place::Index(x, y) | Place::Part { base: x, index: y, .. } => vec![x, y],
                    Place::Deref(x) => vec![x],
                    Place::Element(x, steps) => {
                        std::iter::once(x).chain(steps.iter().filter_map(Step::index)).collect()
                    }
                };
                Parts::acting(place.into_iter().chain([&**value]))
            }
            Method { receiver, arguments, .. } => Parts::acting(std::iter::once(&**receiver).chain(arguments)),
            Call { arguments, .. } => Parts::acting(arguments),
            Math { name, operands } => Parts { acts: is_faulting(&name.to_string()), ..Parts::of(operands) },
            Assert { condition, message } => Parts::acting(std::iter::once(&**condition).chain(&message.arguments)),
            Print(message) => Parts::acting(&message.arguments),
            Return(value) | Break { value, .. } => Parts::acting(value.as_deref()),
            Continue(_) => Parts::acting([]),
            If { condition, then, otherwise } => {
                Parts::of(std::iter::once(&**condition).chain(otherwise.as_deref())).around([then])
            }
            Match { value, arms } => {
                Parts::of(std::iter::once(&**value).chain(arms.iter().filter_map(|arm| arm.guard.as_ref())))
                    .around(arms.iter().map(|arm| &arm.body))
            }
            While { condition, body, .. } => Parts::of([&**condition]).around([body]),
            For { source, body, .. } => Parts::of([&**source]).around([body]),
            Loop { body, .. } | Labelled { body, .. } | Block(body) => Parts::of([]).around([body]),
        }
    }

    /// Calls `visit` with this expression and all within it.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        let parts = self.parts();
        parts.operands.into_iter().for_each(|x| x.walk(visit));
        parts.blocks.into_iter().for_each(|block| block.walk(visit));
    }

    /// Whether `is_so` holds for some expression within, at any depth.
    pub fn any(&self, is_so: &dyn Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |x| found |= is_so(x));
        found
    }

    /// Whether there are statements within, or calls with `&mut`, which may assign to variables that are read beside
    /// them.
    pub fn may_assign(&self) -> bool {
        self.any(&|x| !x.parts().blocks.is_empty() || matches!(x.kind, ExprKind::Exclusive(_)))
    }

    /// Whether evaluating it does nothing but give a value.
    pub fn is_pure(&self) -> bool {
        !self.any(&|x| {
            let parts = x.parts();
            parts.acts || !parts.blocks.is_empty()
        })
    }

    /// Whether control never comes out at its end.
    pub fn diverges(&self) -> bool {
        use ExprKind::*;
        match &self.kind {
            Break { .. } | Continue(_) | Return(_) => true,
            Block(block) => block.diverges(),
            Labelled { target, body } => body.diverges() && !body.breaks_to(*target),
            If { then, otherwise: Some(otherwise), .. } => then.diverges() && otherwise.diverges(),
            Match { value, arms } => value.diverges() || arms.iter().all(|arm| arm.body.diverges()),
            Loop { target, body } => !body.breaks_to(*target),
            Literal(_)
            | NegativeLiteral(_)
            | Float { .. }
            | Local(_)
            | Constant(_)
            | RustCast(..)
            | Function(_)
            | Closure(_) => false,
            // What is evaluated first may not come to its end: nothing here needs to see that.
            Negate(..)
            | Not(_)
            | Deref(_)
            | Exclusive(_)
            | Lent(_)
            | Binary(..)
            | Assign(..)
            | AssignWith(..)
            | Index(..)
            | Method { .. }
            | Math { .. }
            | Call { .. }
            | FromBits { .. }
            | Cast(..)
            | Tuple(_)
            | Field(..)
            | Element(..)
            | Struct { .. }
            | Array(_)
            | Repeat(..)
            | Range { .. }
            | Assert { .. }
            | Print(_) => false,
            // They may end after no iteration, or without a branch.
            If { otherwise: None, .. } | While { .. } | For { .. } => false,
        }
    }
}

impl Block {
    /// Whether no loop is in it.
    pub fn is_innermost(&self) -> bool {
        !self.any(&|x| matches!(x.kind, ExprKind::For { .. } | ExprKind::While { .. } | ExprKind::Loop { .. }))
    }

    /// Calls `visit` with this block and all within it, the outer ones first.
    pub fn each_block(&self, visit: &mut dyn FnMut(&Block)) {
        visit(self);
        for statement in &self.statements {
            if let Statement::Let { otherwise: Some(block), .. } = statement {
                visit(block);
            }
        }
        self.walk(&mut |x| x.parts().blocks.into_iter().for_each(&mut *visit));
    }

    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        for statement in &self.statements {
            match statement {
                Statement::Let { value, otherwise, .. } => {
                    value.walk(visit);
                    otherwise.iter().for_each(|block| block.walk(visit));
                }
                Statement::Do(x) => x.walk(visit),
                Statement::CallOn { call, put, .. } => {
                    call.walk(visit);
                    put.walk(visit);
                }
                Statement::Declare { .. } | Statement::Const(_) => {}
            }
        }
        if let Some(value) = &self.value {
            value.walk(visit);
        }
    }

    pub fn any(&self, is_so: &dyn Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |x| found |= is_so(x));
        found
    }

    /// The names of the constants that are declared within, at any depth.
    pub fn constants(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let declared = |block: &Block, names: &mut BTreeSet<String>| {
            for statement in &block.statements {
                match statement {
                    Statement::Const(constant) => {
                        names.insert(constant.ident.to_string());
                    }
                    Statement::Let { otherwise, .. } => names.extend(otherwise.iter().flat_map(Block::constants)),
                    Statement::Do(_) | Statement::CallOn { .. } | Statement::Declare { .. } => {}
                }
            }
        };
        declared(self, &mut names);
        self.walk(&mut |x| x.parts().blocks.into_iter().for_each(|block| declared(block, &mut names)));
        names
    }

    /// Whether some `break` within leaves that loop or block.
    pub fn breaks_to(&self, target: BreakTarget) -> bool {
        self.any(&|x| matches!(x.kind, ExprKind::Break { target: to, .. } if to == target))
    }

    /// Whether some `break` out of that loop or block has a value.
    pub fn gives_value(&self, target: BreakTarget) -> bool {
        self.any(&|x| matches!(x.kind, ExprKind::Break { target: to, value: Some(_) } if to == target))
    }

    pub fn diverges(&self) -> bool {
        let within = self.statements.iter().any(|statement| match statement {
            Statement::Let { value, .. } => value.diverges(),
            Statement::Do(x) | Statement::CallOn { call: x, .. } => x.diverges(),
            Statement::Declare { .. } | Statement::Const(_) => false,
        });
        within || self.value.as_ref().is_some_and(|value| value.diverges())
    }
}
