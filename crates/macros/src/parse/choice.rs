//! Turns `match` in kernels into comparisons.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{BinOp, Pat, Result};

use super::{Parser, error};
use crate::ast::{Block, Expr, ExprKind, Local, Pattern, Statement};

impl Parser {
    /// `match` as a chain of comparisons: both emitters then have one thing less to know.
    pub(super) fn choice(&mut self, choice: &syn::ExprMatch) -> Result<ExprKind> {
        let value = self.expr(&choice.expr)?;
        let span = value.span;
        self.scoped(|parser| {
            let name = Ident::new("matched", Span::mixed_site());
            let matched = Local { name, mutable: false, mut_span: span, number: parser.next, is_view: false };
            parser.next += 1;
            let mut chain = None;
            for (number, arm) in choice.arms.iter().enumerate().rev() {
                if let Pat::Guard(guard) = &arm.pat {
                    return error(&guard.guard, "there are no guards in kernels; use `if` in the arm");
                }
                let body = |parser: &mut Self| -> Result<Block> {
                    let value = parser.expr(&arm.body)?;
                    let span = value.span;
                    Ok(Block { statements: Vec::new(), value: Some(Box::new(value)), span })
                };
                let last = number + 1 == choice.arms.len();
                if last {
                    chain = Some(parser.scoped(|parser| {
                        let statements = match &arm.pat {
                            Pat::Wild(_) => Vec::new(),
                            Pat::Ident(name) => {
                                let kind = ExprKind::Local(matched.clone());
                                let value = Expr { kind, span: name.span() };
                                let pattern = parser.pattern(&arm.pat)?;
                                vec![Statement::Let { pattern, ty: None, value, span: name.span() }]
                            }
                            other => return error(other, "the last arm of a `match` in a kernel is `_ => …`"),
                        };
                        let Block { value, span, .. } = body(parser)?;
                        let kind = ExprKind::Block(Block { statements, value, span });
                        Ok(Expr { kind, span: arm.span() })
                    })?);
                    continue;
                }
                let condition = Box::new(parser.arm_condition(&matched, &arm.pat)?);
                let then = parser.scoped(body)?;
                let kind = ExprKind::If { condition, then, otherwise: chain.map(Box::new) };
                chain = Some(Expr { kind, span: arm.span() });
            }
            let Some(chain) = chain else {
                return error(choice, "the last arm of a `match` in a kernel is `_ => …`");
            };
            let statements = vec![Statement::Let { pattern: Pattern::Local(matched), ty: None, value, span }];
            let value = Some(Box::new(Expr { span, ..chain }));
            Ok(ExprKind::Block(Block { statements, value, span }))
        })
    }

    fn arm_condition(&mut self, matched: &Local, pattern: &Pat) -> Result<Expr> {
        let span = pattern.span();
        let matched_expr = || Box::new(Expr { kind: ExprKind::Local(matched.clone()), span });
        let compare = |op, with: Expr| Expr { kind: ExprKind::Binary(op, matched_expr(), Box::new(with)), span };
        match pattern {
            Pat::Lit(literal) => {
                let value = self.expr(&syn::Expr::Lit(literal.clone()))?;
                Ok(compare(BinOp::Eq(Default::default()), value))
            }
            Pat::Ident(name) if name.ident.to_string().starts_with(char::is_uppercase) => {
                let value = Expr { kind: ExprKind::Constant(name.ident.clone().into()), span };
                Ok(compare(BinOp::Eq(Default::default()), value))
            }
            Pat::Path(path) => {
                let value = Expr { kind: ExprKind::Constant(path.path.clone()), span };
                Ok(compare(BinOp::Eq(Default::default()), value))
            }
            Pat::Range(range) => match (&range.start, &range.end) {
                (Some(begin), Some(end)) => {
                    let (begin, end) = (self.expr(begin)?, self.expr(end)?);
                    let above = compare(BinOp::Ge(Default::default()), begin);
                    let op = match range.limits {
                        syn::RangeLimits::Closed(_) => BinOp::Le(Default::default()),
                        syn::RangeLimits::HalfOpen(_) => BinOp::Lt(Default::default()),
                    };
                    let kind =
                        ExprKind::Binary(BinOp::And(Default::default()), Box::new(above), Box::new(compare(op, end)));
                    Ok(Expr { kind, span })
                }
                _ => error(range, "a range in a pattern has a begin and an end: `0..=9`"),
            },
            Pat::Or(any) => {
                let mut conditions = Vec::new();
                for pattern in &any.cases {
                    conditions.push(self.arm_condition(matched, pattern)?);
                }
                let or = |x, y| Expr {
                    kind: ExprKind::Binary(BinOp::Or(Default::default()), Box::new(x), Box::new(y)),
                    span,
                };
                match conditions.into_iter().reduce(or) {
                    Some(condition) => Ok(condition),
                    None => error(any, "an empty pattern"),
                }
            }
            Pat::Paren(inner) => self.arm_condition(matched, &inner.pat),
            other => error(other, "a `match` in a kernel is on integers: `3`, `3 | 4`, `5..=9`, and `_` last"),
        }
    }
}
