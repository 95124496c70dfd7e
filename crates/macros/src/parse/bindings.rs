//! `let`: with a value, without one, and with an `else`.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Pat, Result};

use super::names::{SHARED, SHARED_ATOMIC};
use super::{Parser, check_type, error, indices, markers, without_parentheses};
use crate::ast::{Block, ExprKind, Local, Pattern, Statement, View};

impl Parser {
    pub(super) fn binding(&mut self, local: &syn::Local, top: bool) -> Result<Statement> {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some((*typed.ty).clone())),
            pattern => (pattern, None),
        };
        if let Some(ty) = &ty {
            check_type(ty)?;
        }
        let Some(init) = &local.init else { return self.declaration(pattern, ty, local.let_token.span) };
        self.shared_allowed = top && self.is_kernel && matches!(pattern, Pat::Ident(_));
        let value = self.expr(&init.expr);
        self.shared_allowed = false;
        let mut value = match value {
            Ok(value) => value,
            Err(error) => {
                // Its names are known all the same, so that no error is about what uses them.
                let _ = self.pattern(pattern, true);
                return Err(error);
            }
        };
        markers::check_variable(&init.expr)?;
        if ty.is_none() {
            check_lanes(&init.expr)?;
        }
        if let Err(error) = indices::check_let(pattern, &value) {
            let _ = self.pattern(pattern, true);
            return Err(error);
        }
        if ty.as_ref().is_some_and(|ty| !matches!(ty, syn::Type::Infer(_))) {
            self.adapt(&mut value);
        }
        let otherwise = match &init.diverge {
            Some((_, otherwise)) => Some(self.else_block(otherwise)?),
            None => None,
        };
        // Before the pattern, whose name may be that of a variable in the value.
        let known = ty.clone().or_else(|| self.type_of(&init.expr));
        let is_no_struct = self.is_no_struct(&init.expr);
        let (is_number, is_users) = (self.is_number(&init.expr), self.is_users(&init.expr));
        let is_warp = self.is_warp(&init.expr);
        let mut pattern = self.pattern(pattern, otherwise.is_some())?;
        if let Pattern::Local(local) = &mut pattern
            && ty.is_none()
            && value.is_open_literal()
        {
            self.mark_literal(local);
        }
        let view = match &value.kind {
            ExprKind::Method { name, .. } if SHARED_ATOMIC.iter().any(|known| name == known) => Some(View::Atomic),
            ExprKind::Method { name, .. } if SHARED.iter().any(|known| name == known) => Some(View::Shared),
            _ => self.view(&value),
        };
        if is_no_struct {
            self.mark_no_structs(&pattern);
        }
        if let Pattern::Local(local) = &pattern {
            if let Some(view) = view {
                self.is_view(local, view);
            }
            if let Some(known) = known {
                self.has_type(local, &known);
            }
            if is_number {
                self.known_numbers.insert(local.number);
            }
            if is_warp {
                self.warps.insert(local.number);
            }
            if is_users {
                self.users.insert(local.number);
            }
        }
        Ok(Statement::Let { pattern, ty, value, otherwise, span: local.let_token.span })
    }

    /// `let x;`, or `let x: f32;`.
    fn declaration(&mut self, pattern: &Pat, ty: Option<syn::Type>, span: Span) -> Result<Statement> {
        let Pat::Ident(name) = pattern else {
            let refused = error(pattern, "variables without values are declared one by one here: `let a; let b;`");
            // Its names are known all the same, so that no error is about what uses them.
            let _ = self.pattern(pattern, false);
            return refused;
        };
        let local = self.declare_later(&name.ident, name.mutability.is_some());
        if let Some(ty) = &ty {
            self.has_type(&local, ty);
        }
        let mut_span = name.mutability.map_or(local.mut_span, |token| token.span);
        Ok(Statement::Declare { local: Local { mut_span, ..local }, ty, span })
    }

    /// The block of a `let … else`.
    fn else_block(&mut self, otherwise: &syn::Expr) -> Result<Block> {
        match otherwise {
            syn::Expr::Block(block) => self.block(&block.block),
            other => error(other, "a block follows `else`"),
        }
    }
}

/// Refuses lanes whose number nothing says.
fn check_lanes(value: &syn::Expr) -> Result<()> {
    match without_parentheses(value) {
        syn::Expr::MethodCall(call) if call.method == "lanes" && call.turbofish.is_none() && call.args.len() == 1 => {
            let (of, index) = (call.receiver.to_token_stream(), call.args.to_token_stream());
            error(&call.method, &format!("say how many elements are read at once: `{of}.lanes::<4>({index})`"))
        }
        _ => Ok(()),
    }
}
