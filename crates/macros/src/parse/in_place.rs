//! `&mut` arguments that are parts of arrays and of items, `f(&mut a[i])`: the part is taken out before the call and put back
//! after it, as `let mut part = a[i]; f(&mut part); a[i] = part;` does. So a device function has variables of the thread's own
//! alone, on every device.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::punctuated::Punctuated;
use syn::{Result, Token};

use super::calls::without_parentheses;
use super::{Parser, error};
use crate::ast::{Block, Callee, Expr, ExprKind, Local, Pattern, Statement};

/// A part that an argument names: the variable that it is of, and how it is written.
struct Part {
    of: Local,
    x: syn::Expr,
}

impl Parser {
    /// A call of `callee`, whose first argument may be known already.
    pub(super) fn call_of(
        &mut self,
        callee: Callee,
        first: Option<Expr>,
        others: &Punctuated<syn::Expr, Token![,]>,
        span: Span,
    ) -> Result<ExprKind> {
        let parts: Vec<_> = others.iter().map(|x| self.part(x)).collect::<Result<_>>()?;
        if parts.iter().all(Option::is_none) {
            let mut arguments: Vec<_> = first.into_iter().collect();
            arguments.extend(self.arguments(others)?);
            self.adapt_all(&mut arguments);
            return Ok(ExprKind::Call { callee, arguments });
        }
        self.scoped(|parser| {
            let (mut arguments, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
            arguments.extend(first.map(|first| parser.held(first, "argument", &mut before)));
            let mut taken: Vec<usize> = Vec::new();
            for (x, part) in others.iter().zip(parts) {
                let Some(Part { of, x: part }) = part else {
                    let argument = parser.argument(x)?;
                    arguments.push(parser.held(argument, "argument", &mut before));
                    continue;
                };
                if taken.contains(&of.number) {
                    let message = format!(
                        "two parts of `{}` are given at once; take one out: `let mut e = …; f(&mut e);`",
                        of.name
                    );
                    return error(x, &message);
                }
                taken.push(of.number);
                let part = parser.with_indices(part, &mut before)?;
                let (value, place) = (parser.expr(&part)?, parser.place(&part)?);
                let at = value.span;
                let local = Local { mutable: true, ..parser.unnamed("part") };
                before.push(binding(&local, value));
                let put = ExprKind::Assign(Box::new(place), Box::new(variable(&local, at)));
                after.push(Statement::Do(Expr { kind: put, span: at }));
                arguments.push(Expr { kind: ExprKind::Exclusive(Box::new(variable(&local, at))), span: at });
            }
            parser.adapt_all(&mut arguments);
            let result = parser.unnamed("result");
            let mut statements = before;
            statements.push(binding(&result, Expr { kind: ExprKind::Call { callee, arguments }, span }));
            statements.extend(after);
            Ok(ExprKind::Block(Block { statements, value: Some(Box::new(variable(&result, span))), span }))
        })
    }

    /// The part that is taken out for an argument; none where it is a value or a variable.
    fn part(&self, x: &syn::Expr) -> Result<Option<Part>> {
        let (of, is_part) = match without_parentheses(x) {
            syn::Expr::Reference(reference) if reference.mutability.is_some() => (&*reference.expr, false),
            // An item is passed on by its name.
            x @ syn::Expr::Path(_) => (x, true),
            _ => return Ok(None),
        };
        let (root, is_within) = root(of);
        let Some(local) = root.and_then(|root| self.find(root)) else { return Ok(None) };
        if is_part && !local.is_item {
            return Ok(None);
        }
        if is_within && self.views.contains_key(&local.number) {
            return error(
                x,
                "`&mut` is for what no other thread touches; take the element out: `let mut e = x[i]; f(&mut e); x[i] = e;`",
            );
        }
        let x = match (local.is_item, of) {
            (true, syn::Expr::Path(item)) => syn::parse_quote!(*#item),
            (_, of) => of.clone(),
        };
        Ok((is_within || local.is_item).then_some(Part { of: local, x }))
    }

    /// A value that is worked out before those behind it.
    fn held(&mut self, x: Expr, what: &str, before: &mut Vec<Statement>) -> Expr {
        if x.is_pure() {
            return x;
        }
        let (local, span) = (self.unnamed(what), x.span);
        before.push(binding(&local, x));
        variable(&local, span)
    }

    /// The same place, whose indices are worked out once.
    fn with_indices(&mut self, place: syn::Expr, before: &mut Vec<Statement>) -> Result<syn::Expr> {
        Ok(match place {
            syn::Expr::Index(mut index) => {
                index.expr = Box::new(self.with_indices(*index.expr, before)?);
                let is_fixed = matches!(without_parentheses(&index.index), syn::Expr::Path(_) | syn::Expr::Lit(_));
                if !is_fixed && !matches!(&*index.index, syn::Expr::Range(_)) {
                    let value = self.expr(&index.index)?;
                    let name: Ident = format_ident!("__wattle_at{}", self.next, span = Span::mixed_site());
                    let local = self.declare(&name, false);
                    before.push(binding(&local, value));
                    *index.index = syn::parse_quote!(#name);
                }
                syn::Expr::Index(index)
            }
            syn::Expr::Field(mut field) => {
                field.base = Box::new(self.with_indices(*field.base, before)?);
                syn::Expr::Field(field)
            }
            syn::Expr::Paren(inner) => self.with_indices(*inner.expr, before)?,
            place => place,
        })
    }
}

/// The variable that a place is of, and whether an index is on the way.
fn root(x: &syn::Expr) -> (Option<&Ident>, bool) {
    match without_parentheses(x) {
        syn::Expr::Path(path) => (path.path.get_ident(), false),
        syn::Expr::Index(index) => (root(&index.expr).0, true),
        syn::Expr::Field(field) => root(&field.base),
        syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => root(&unary.expr),
        _ => (None, false),
    }
}

fn variable(local: &Local, span: Span) -> Expr {
    Expr { kind: ExprKind::Local(local.clone()), span }
}

fn binding(local: &Local, value: Expr) -> Statement {
    let span = value.span;
    Statement::Let { pattern: Pattern::Local(local.clone()), ty: None, value, otherwise: None, span }
}
