//! What operators are applied to: numbers, as far as it shows, or what may be a struct that has the operator.
//!
//! Whichever it is, rustc finds the operation by the types. What shows to be numbers is written as theirs, which costs
//! rustc less, is known to do nothing but to give a value, and has the messages of numbers.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{BinOp, Lit, Result, Stmt, Type, UnOp};

use super::{Parser, error, without_parentheses};
use crate::ast::{Expr, ExprKind, Operands, Operator, Pattern};
use crate::names::{is_method, trait_of};
use crate::numbers::{is_half, is_number, math};
use crate::source;

impl Parser {
    pub(super) fn operator(&self, op: BinOp, left: &syn::Expr, right: &syn::Expr) -> Operator {
        // Where such a literal is of the type of the other operand, that must show it.
        let is_adapted = self.is_generic && is_open_float(left) != is_open_float(right);
        match trait_of(&op) {
            Some(_) if !is_adapted => Operator { op, operands: self.operands(&[left, right]) },
            Some(_) | None => Operator::of_numbers(op),
        }
    }

    /// Refuses an array where a number stands on the other side, and where arrays are compared by their order.
    pub(super) fn check_arrays(&self, op: &BinOp, left: &syn::Expr, right: &syn::Expr) -> Result<()> {
        let is_ordered = matches!(op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
        let is_literal = |x: &syn::Expr| matches!(without_parentheses(x), syn::Expr::Lit(_));
        for (array, other) in [(left, right), (right, left)] {
            if let Some(name) = self.constant_array(array).filter(|_| is_ordered || is_literal(other)) {
                let message = format!("`{name}` is an array: write an element, `{name}[i]`, or `{name}.len()`");
                return error(&name, &message);
            }
            if let Some(Type::Array(ty)) = self.type_of(array)
                && trait_of(op).is_some()
                && self.is_number(other)
            {
                let number = match without_parentheses(other) {
                    syn::Expr::Lit(_) | syn::Expr::Path(_) => other.to_token_stream().to_string(),
                    _ => "k".to_owned(),
                };
                let len = ty.len.to_token_stream();
                let message = format!(
                    "an array and a number have no operator; arrays have them element by element: write `[{number}; {len}]` for the \
                     number"
                );
                return error(other, &message);
            }
        }
        Ok(())
    }

    /// The name, where it is that of an array of constants.
    fn constant_array(&self, x: &syn::Expr) -> Option<Ident> {
        let syn::Expr::Path(path) = without_parentheses(x) else { return None };
        let name = path.path.get_ident().filter(|name| self.find(name).is_none())?;
        source::is_constant_array(&name.to_string(), name.span()).then(|| name.clone())
    }

    /// What an operator that structs may have is applied to. In a kernel that permits to contract or to reorder they
    /// have none.
    pub(super) fn operands(&self, all: &[&syn::Expr]) -> Operands {
        match self.rules.contract || self.rules.reassociate || all.iter().all(|x| self.is_no_struct(x)) {
            true => Operands::Numbers,
            false => Operands::Any,
        }
    }

    /// Whether the form of an expression shows that its value is a number, a truth value or a mask, or an array or
    /// tuple of these.
    pub(super) fn is_no_struct(&self, x: &syn::Expr) -> bool {
        let x = without_parentheses(x);
        if self.is_number(x) {
            return true;
        }
        if let Some(ty) = self.type_of(x) {
            return self.is_type_of_no_struct(&ty);
        }
        match x {
            syn::Expr::Path(path) => match path.path.get_ident() {
                Some(name) => match self.find(name) {
                    Some(local) => self.no_structs.contains(&local.number),
                    None => source::is_constant_number(&name.to_string(), name.span()),
                },
                None => self.is_of_numbers(&path.path),
            },
            // `T::from_f64(0.5)`.
            syn::Expr::Call(call) => match &*call.func {
                syn::Expr::Path(path) => self.is_of_numbers(&path.path),
                _ => false,
            },
            syn::Expr::Binary(binary) => {
                trait_of(&binary.op).is_none() || self.is_no_struct(&binary.left) && self.is_no_struct(&binary.right)
            }
            syn::Expr::Unary(unary) => self.is_no_struct(&unary.expr),
            syn::Expr::Array(all) => all.elems.iter().all(|x| self.is_no_struct(x)),
            syn::Expr::Tuple(all) => all.elems.iter().all(|x| self.is_no_struct(x)),
            syn::Expr::Repeat(repeat) => self.is_no_struct(&repeat.expr),
            syn::Expr::Index(index) => self.is_no_struct(&index.expr),
            syn::Expr::Field(field) => self.is_no_struct(&field.base),
            syn::Expr::If(branch) => {
                let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| &**otherwise);
                tail(&branch.then_branch).into_iter().chain(otherwise).all(|x| self.is_no_struct(x))
            }
            syn::Expr::Block(block) => tail(&block.block).is_some_and(|x| self.is_no_struct(x)),
            syn::Expr::MethodCall(call) => {
                let name = call.method.to_string();
                if source::has_method(&name, call.method.span()) && !self.is_librarys(&call.receiver) {
                    return false;
                }
                // What lanes exchange is of whatever type it is.
                let exchanges = name.starts_with("shuffle");
                match math(&name) {
                    Some(_) => self.is_no_struct(&call.receiver),
                    None if exchanges => call.args.first().is_some_and(|x| self.is_no_struct(x)),
                    None => is_method(&name),
                }
            }
            _ => false,
        }
    }

    /// `x as T`. A constant whose type does not show may be an enumeration, which is nothing but rustc's to convert;
    /// that is possible to the types of Rust's own alone, and to what may be another name of one.
    pub(super) fn cast(&mut self, x: &syn::Expr, ty: Type) -> Result<ExprKind> {
        let value = self.base(x)?;
        let is_rusts = self.is_alias(&ty) || is_of_rust(&ty) && !self.is_no_struct(x);
        match value.kind {
            ExprKind::Constant(path) if is_rusts => Ok(ExprKind::RustCast(path, ty)),
            kind => Ok(ExprKind::Cast(Box::new(Expr { kind, span: value.span }), ty)),
        }
    }

    /// Whether a type is none that is known here: no number by its name, and none of the type parameters.
    fn is_alias(&self, ty: &Type) -> bool {
        match ty {
            Type::Group(inner) => self.is_alias(&inner.elem),
            Type::Path(path) if path.qself.is_none() => path
                .path
                .segments
                .first()
                .is_some_and(|first| first.ident != "Self" && !self.is_type_of_numbers(&first.ident)),
            _ => false,
        }
    }

    /// Whether a path names a constant or function of a type of numbers.
    fn is_of_numbers(&self, path: &syn::Path) -> bool {
        path.segments.len() == 2 && self.is_type_of_numbers(&path.segments[0].ident)
    }

    fn is_type_of_no_struct(&self, ty: &Type) -> bool {
        match ty {
            Type::Group(inner) => self.is_type_of_no_struct(&inner.elem),
            Type::Array(array) => self.is_type_of_no_struct(&array.elem),
            Type::Tuple(all) => all.elems.iter().all(|ty| self.is_type_of_no_struct(ty)),
            Type::Path(path) => match path.path.get_ident() {
                Some(name) => self.is_type_of_numbers(name),
                None => Self::element_of(ty).is_some_and(|element| self.is_type_of_no_struct(&element)),
            },
            _ => false,
        }
    }

    /// Notes the variables of a pattern that is matched with what shows to be no struct.
    pub(super) fn mark_no_structs(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Local(local) => {
                self.no_structs.insert(local.number);
            }
            Pattern::At(local, inner) => {
                self.no_structs.insert(local.number);
                self.mark_no_structs(inner);
            }
            Pattern::Tuple(all, _) | Pattern::Array(all, _) | Pattern::Or(all) => {
                all.iter().for_each(|part| self.mark_no_structs(part));
            }
            Pattern::Struct { .. }
            | Pattern::Wild(_)
            | Pattern::Rest(_)
            | Pattern::Value(_)
            | Pattern::Range { .. } => {}
        }
    }

    /// Notes the variables of a `for` that are indices or parts of what shows to be no struct.
    pub(super) fn mark_counted(&mut self, written: &syn::Expr, source: &Expr, pattern: &Pattern) {
        match (&source.kind, pattern) {
            (ExprKind::Range { .. }, pattern) => {
                if let Pattern::Local(local) = pattern {
                    self.known_numbers.insert(local.number);
                }
                self.mark_no_structs(pattern);
            }
            (ExprKind::Method { name, .. }, Pattern::Tuple(both, _)) if name.to_string().starts_with("items") => {
                both.iter().take(1).for_each(|index| self.mark_no_structs(index));
            }
            (ExprKind::Method { .. }, pattern) => self.mark_no_structs(pattern),
            (_, pattern) if self.is_no_struct(written) => self.mark_no_structs(pattern),
            _ => {}
        }
    }
}

/// Whether a type is one of the numbers that Rust has itself.
fn is_of_rust(ty: &Type) -> bool {
    match ty {
        Type::Group(inner) => is_of_rust(&inner.elem),
        Type::Path(path) => path.path.get_ident().is_some_and(|name| {
            let name = name.to_string();
            is_number(&name) && !is_half(&name)
        }),
        _ => false,
    }
}

/// Whether an expression is a literal with a point and without a type.
fn is_open_float(x: &syn::Expr) -> bool {
    match without_parentheses(x) {
        syn::Expr::Lit(literal) => matches!(&literal.lit, Lit::Float(number) if number.suffix().is_empty()),
        syn::Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && is_open_float(&unary.expr),
        _ => false,
    }
}

/// The value of a block.
fn tail(block: &syn::Block) -> Option<&syn::Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(x, None)) => Some(x),
        _ => None,
    }
}
