//! What is asked of a part of the tree as a whole: what is in it, whether it acts, whether control comes out of it.

use std::collections::BTreeSet;

use syn::BinOp;

use super::{Block, BreakTarget, Expr, ExprKind, Operands, Operator, Place, Statement, Step};
use crate::parse::is_faulting;

impl Expr {
    /// The expressions directly within this one, blocks left out.
    fn operands(&self) -> Vec<&Expr> {
        use ExprKind::*;
        match &self.kind {
            Literal(_) | NegativeLiteral(_) | Float { .. } | Local(_) | Constant(_) | RustCast(..) | Continue(_) => {
                vec![]
            }
            // What is in its body happens where it is called.
            Function(_) | Closure(_) => vec![],
            Negate(x, _)
            | Not(x)
            | Deref(x)
            | Exclusive(x)
            | Lent(x)
            | Cast(x, _)
            | Field(x, _)
            | Element(x, _)
            | Repeat(x, _) => {
                vec![x]
            }
            Struct { fields, rest, .. } => fields.iter().map(|(_, x)| x).chain(rest.iter().map(|x| &**x)).collect(),
            FromBits { bits: x, .. } => vec![x],
            Assert { condition, message } => std::iter::once(&**condition).chain(&message.arguments).collect(),
            Print(message) => message.arguments.iter().collect(),
            Binary(_, x, y) | Index(x, y) | Range { begin: x, end: y, .. } => vec![x, y],
            Assign(place, value) | AssignWith(_, place, value) => {
                let mut all = match &**place {
                    Place::Variable(..) => vec![],
                    Place::Index(x, y) | Place::Part { base: x, index: y, .. } => vec![x, y],
                    Place::Deref(x) => vec![x],
                    Place::Element(x, steps) => {
                        std::iter::once(x).chain(steps.iter().filter_map(Step::index)).collect()
                    }
                };
                all.push(value);
                all
            }
            Method { receiver, arguments, .. } => std::iter::once(&**receiver).chain(arguments).collect(),
            Math { operands: all, .. } | Call { arguments: all, .. } | Tuple(all) | Array(all) => all.iter().collect(),
            If { condition, otherwise, .. } => std::iter::once(condition).chain(otherwise).map(|x| &**x).collect(),
            While { condition, .. } => vec![condition],
            For { source, .. } => vec![source],
            Match { value, arms } => {
                std::iter::once(&**value).chain(arms.iter().filter_map(|arm| arm.guard.as_ref())).collect()
            }
            Return(value) | Break { value, .. } => value.iter().map(|x| &**x).collect(),
            Loop { .. } | Block(_) | Labelled { .. } => vec![],
        }
    }

    fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            ExprKind::If { then: block, .. }
            | ExprKind::While { body: block, .. }
            | ExprKind::Loop { body: block, .. }
            | ExprKind::For { body: block, .. }
            | ExprKind::Labelled { body: block, .. }
            | ExprKind::Block(block) => vec![block],
            ExprKind::Match { arms, .. } => arms.iter().map(|arm| &arm.body).collect(),
            _ => vec![],
        }
    }

    /// Calls `visit` with this expression and all within it.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.operands().into_iter().for_each(|x| x.walk(visit));
        self.blocks().into_iter().for_each(|block| block.walk(visit));
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
        self.any(&|x| !x.blocks().is_empty() || matches!(x.kind, ExprKind::Exclusive(_)))
    }

    /// Whether evaluating it does nothing but give a value.
    pub fn is_pure(&self) -> bool {
        !self.any(&|x| {
            let division =
                matches!(&x.kind, ExprKind::Binary(by, ..) if matches!(by.op, BinOp::Div(_) | BinOp::Rem(_)));
            // A struct's operator is a function.
            let calls = matches!(
                &x.kind,
                ExprKind::Binary(Operator { operands: Operands::Any, .. }, ..) | ExprKind::Negate(_, Operands::Any)
            );
            let faults = matches!(&x.kind, ExprKind::Math { name, .. } if is_faulting(&name.to_string()));
            let acts = matches!(
                x.kind,
                ExprKind::Deref(_)
                    | ExprKind::Element(..)
                    | ExprKind::Assign(..)
                    | ExprKind::AssignWith(..)
                    | ExprKind::Index(..)
                    | ExprKind::Method { .. }
                    | ExprKind::Call { .. }
                    | ExprKind::Break { .. }
                    | ExprKind::Continue(_)
                    | ExprKind::Return(_)
                    | ExprKind::Assert { .. }
                    | ExprKind::Print(_)
            );
            division || calls || faults || acts || !x.blocks().is_empty()
        })
    }

    /// Whether control never comes out at its end.
    pub fn diverges(&self) -> bool {
        match &self.kind {
            ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_) => true,
            ExprKind::Block(block) => block.diverges(),
            ExprKind::Labelled { target, body } => body.diverges() && !body.breaks_to(*target),
            ExprKind::If { then, otherwise: Some(otherwise), .. } => then.diverges() && otherwise.diverges(),
            ExprKind::Match { value, arms } => value.diverges() || arms.iter().all(|arm| arm.body.diverges()),
            ExprKind::Loop { target, body } => !body.breaks_to(*target),
            _ => false,
        }
    }
}

impl Block {
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
        self.walk(&mut |x| x.blocks().into_iter().for_each(|block| declared(block, &mut names)));
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
