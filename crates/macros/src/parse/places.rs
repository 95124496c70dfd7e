//! What kernels assign to, and `&mut` arguments.

use syn::punctuated::Punctuated;
use syn::{Result, spanned::Spanned};

use super::structs::{is_structs, numbered};
use super::{Parser, error, without_parentheses};
use crate::ast::{Block, Expr, ExprKind, Pattern, Place, Statement, View};

/// What stands for references, which kernels do not have.
pub(super) const REFERENCES: &str = "a kernel has no references but for arguments: `f(&mut x)` for a `#[device_fn]` with a \
                                     parameter `x: &mut f32`, and `acc.items(&mut out)`; pass the value or the view itself";

/// The message about an assignment to an element of a `Read` view.
const READ_ONLY: &str = "nobody writes to a `Read` view; take `PerItem` where each element has its one thread, `Shared` where \
                         threads write as they like";

impl Parser {
    /// `place = value`, or `(a, b) = value`: the value is worked out first, then the places from left to right.
    pub(super) fn assignment(&mut self, assign: &syn::ExprAssign) -> Result<ExprKind> {
        let mut value = self.boxed(&assign.right)?;
        let left = without_parentheses(&assign.left);
        let takes_apart = match left {
            syn::Expr::Tuple(_) | syn::Expr::Array(_) | syn::Expr::Infer(_) | syn::Expr::Struct(_) => true,
            left => numbered_structure(left).is_some(),
        };
        if !takes_apart {
            self.adapt(&mut value);
            let place = self.place(left)?;
            if let (Place::Variable(local, _), Some(_)) = (&place, self.view(&value))
                && local.is_later
            {
                let message = format!("`{0}` is a view: it is given where it is declared, `let {0} = …;`", local.name);
                return error(assign, &message);
            }
            return Ok(ExprKind::Assign(Box::new(place), value));
        }
        let span = assign.span();
        let mut assignments = Vec::new();
        let pattern = self.assignee(left, &mut assignments)?;
        let mut statements = vec![Statement::Let { pattern, ty: None, value: *value, otherwise: None, span }];
        statements.extend(assignments.into_iter().map(Statement::Do));
        Ok(ExprKind::Block(Block { statements, value: None, span }))
    }

    /// What takes the parts of the value; the assignments of the parts to their places go to `assignments`.
    fn assignee(&mut self, left: &syn::Expr, assignments: &mut Vec<Expr>) -> Result<Pattern> {
        match without_parentheses(left) {
            syn::Expr::Tuple(all) => {
                let parts = all.elems.iter().map(|x| self.assignee(x, assignments)).collect::<Result<_>>()?;
                Ok(Pattern::Tuple(parts, all.span()))
            }
            syn::Expr::Array(all) => {
                let parts = all.elems.iter().map(|x| self.assignee(x, assignments)).collect::<Result<_>>()?;
                Ok(Pattern::Array(parts, all.span()))
            }
            syn::Expr::Struct(all) if all.rest.is_none() => {
                let field =
                    |field: &syn::FieldValue| Ok((field.member.clone(), self.assignee(&field.expr, assignments)?));
                let fields = all.fields.iter().map(field).collect::<Result<_>>()?;
                Ok(Pattern::Struct { path: all.path.clone(), fields, rest: all.dot2_token.is_some() })
            }
            syn::Expr::Infer(wild) => Ok(Pattern::Wild(wild.span())),
            syn::Expr::Range(rest) => {
                error(rest, "write each part of the tuple or array in its place, with `_` for others")
            }
            left => {
                if let Some((path, parts)) = numbered_structure(left) {
                    let parts = parts.iter().map(|x| self.assignee(x, assignments)).collect::<Result<Vec<_>>>()?;
                    return Ok(Pattern::Struct { path: path.clone(), fields: numbered(parts).collect(), rest: false });
                }
                let (local, span) = (self.unnamed("assigned"), left.span());
                let value = Box::new(Expr { kind: ExprKind::Local(local.clone()), span });
                let kind = ExprKind::Assign(Box::new(self.place(left)?), value);
                assignments.push(Expr { kind, span });
                Ok(Pattern::Local(local))
            }
        }
    }

    pub(super) fn place(&mut self, x: &syn::Expr) -> Result<Place> {
        let place = self.expr(x)?;
        let place = match self.steps(place) {
            Ok((of, steps)) if !steps.is_empty() => {
                if let ExprKind::Index(view, _) = &of.kind
                    && matches!(self.view(view), Some(View::Read | View::ReadLine))
                {
                    return error(x, READ_ONLY);
                }
                return Ok(Place::Element(of, steps));
            }
            Ok((place, _)) => place,
            Err(place) => *place,
        };
        match place.kind {
            ExprKind::Local(local) => {
                check_self(&local, x)?;
                Ok(Place::Variable(local, Vec::new()))
            }
            ExprKind::Index(base, _) if matches!(self.view(&base), Some(View::Read | View::ReadLine)) => {
                error(x, READ_ONLY)
            }
            ExprKind::Index(base, index) => Ok(Place::Index(*base, *index)),
            ExprKind::Deref(item) => Ok(Place::Deref(*item)),
            ExprKind::Field(base, index) => match part(*base, index) {
                Some((Root::Local(local), fields)) => {
                    check_self(&local, x)?;
                    Ok(Place::Variable(local, fields))
                }
                Some((Root::Index(base, index), fields)) => Ok(Place::Part { base: *base, index: *index, fields }),
                None => error(
                    x,
                    "a kernel assigns to parts of variables, `pair.0`; take the tuple into one: `let mut pair = …`",
                ),
            },
            _ => error(x, "a kernel assigns to variables, their parts `pair.0`, elements `x[i]`, and items `*x`"),
        }
    }

    /// An expression of which a part is taken or a method called, or which is dereferenced: it may be a `&mut`
    /// parameter by its name alone.
    pub(super) fn base(&mut self, x: &syn::Expr) -> Result<Expr> {
        if let syn::Expr::Path(path) = without_parentheses(x) {
            let kind = self.path(path)?;
            return Ok(Expr { kind, span: x.span() });
        }
        self.expr(x)
    }

    /// An argument of a device function or of `items`: `&mut x` besides values.
    pub(super) fn argument(&mut self, x: &syn::Expr) -> Result<Expr> {
        let span = x.span();
        let of = match without_parentheses(x) {
            syn::Expr::Reference(reference) if reference.mutability.is_some() => self.base(&reference.expr)?.kind,
            // A `&mut` parameter is passed on by its name.
            syn::Expr::Path(path) => match self.argument_path(path)? {
                ExprKind::Local(local) if local.is_reference => ExprKind::Local(local),
                kind => return Ok(Expr { kind, span }),
            },
            syn::Expr::Closure(closure) => {
                return Ok(Expr { kind: ExprKind::Closure(self.closure(closure)?), span });
            }
            syn::Expr::Macro(call)
                if call.mac.path.segments.last().is_some_and(|last| last.ident == "device_closure") =>
            {
                let closure = call.mac.parse_body::<syn::ExprClosure>()?;
                return Ok(Expr { kind: ExprKind::Closure(self.closure(&closure)?), span });
            }
            x => return self.expr(x),
        };
        let is_variable = match &of {
            ExprKind::Local(_) => true,
            ExprKind::Field(base, _) => is_part(base),
            _ => false,
        };
        if !is_variable {
            return error(x, REFERENCES);
        }
        Ok(Expr { kind: ExprKind::Exclusive(Box::new(Expr { kind: of, span })), span })
    }

    pub(super) fn arguments<'e>(&mut self, all: impl IntoIterator<Item = &'e syn::Expr>) -> Result<Vec<Expr>> {
        all.into_iter().map(|x| self.argument(x)).collect()
    }
}

/// The name and the fields of a struct whose fields have numbers: `Pair(a, b)`.
fn numbered_structure(x: &syn::Expr) -> Option<(&syn::Path, &Punctuated<syn::Expr, syn::Token![,]>)> {
    let syn::Expr::Call(call) = x else { return None };
    let syn::Expr::Path(path) = &*call.func else { return None };
    let is_type = path.path.segments.last()?.ident.to_string().starts_with(char::is_uppercase);
    (is_type && is_structs(&path.path)).then_some((&path.path, &call.args))
}

/// Refuses an assignment to a `self` that stays as it is.
fn check_self(local: &crate::ast::Local, x: &syn::Expr) -> Result<()> {
    match local.is_self() && !local.mutable {
        true => {
            error(x, "`self` stays as it is here; a method that changes it takes `&mut self`, or `mut self` for a copy")
        }
        false => Ok(()),
    }
}

/// Whether an expression is a variable, or a part of one.
fn is_part(x: &Expr) -> bool {
    match &x.kind {
        ExprKind::Local(_) => true,
        ExprKind::Field(base, _) => is_part(base),
        _ => false,
    }
}

/// What parts are of that are assigned to.
enum Root {
    Local(crate::ast::Local),
    /// An element of an array.
    Index(Box<Expr>, Box<Expr>),
}

/// The part `index` of a part of a variable or of an element of an array, outermost first.
fn part(base: Expr, index: syn::Member) -> Option<(Root, Vec<syn::Member>)> {
    let (root, mut fields) = match base.kind {
        ExprKind::Local(local) => (Root::Local(local), Vec::new()),
        ExprKind::Index(of, at) => (Root::Index(of, at), Vec::new()),
        ExprKind::Field(base, outer) => part(*base, outer)?,
        _ => return None,
    };
    fields.push(index);
    Some((root, fields))
}
