//! The variables that are known where an expression stands.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Local, View};

impl Parser {
    pub fn declare(&mut self, name: &Ident, mutable: bool) -> Local {
        let (name, number) = (name.clone(), self.next);
        let local = Local {
            mut_span: name.span(),
            name,
            mutable,
            number,
            is_view: false,
            is_reference: false,
            is_function: false,
            is_item: false,
        };
        self.next += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(local.name.to_string(), local.clone());
        }
        local
    }

    /// Declares a `&mut` parameter.
    pub fn declare_reference(&mut self, name: &Ident) -> Local {
        let local = Local { is_reference: true, ..self.declare(name, true) };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(local.name.to_string(), local.clone());
        }
        local
    }

    /// Declares a parameter that is a function.
    pub fn declare_function(&mut self, name: &Ident) -> Local {
        let local = Local { is_function: true, ..self.declare(name, false) };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(local.name.to_string(), local.clone());
        }
        local
    }

    /// Declares `self`, by another name: two functions have it.
    pub fn declare_self(&mut self, span: Span) -> Local {
        let local = self.declare(&Ident::new("__wattle_self", Span::mixed_site().located_at(span)), false);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert("self".to_owned(), local.clone());
        }
        local
    }

    /// A variable of the parser's own, which no name in the source means.
    pub(super) fn unnamed(&mut self, what: &str) -> Local {
        self.next += 1;
        let name = format_ident!("{what}{}", self.next, span = Span::mixed_site());
        Local {
            mut_span: name.span(),
            name,
            mutable: false,
            number: self.next - 1,
            is_view: false,
            is_reference: false,
            is_function: false,
            is_item: false,
        }
    }

    /// Notes that a variable is a view.
    pub fn is_view(&mut self, local: &Local, view: View) {
        self.views.insert(local.number, view);
    }

    pub(super) fn view(&self, x: &Expr) -> Option<View> {
        match &x.kind {
            ExprKind::Local(local) => self.views.get(&local.number).copied(),
            _ => None,
        }
    }

    pub(super) fn find(&self, name: &Ident) -> Option<Local> {
        let name = name.to_string();
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(&name))?;
        // Errors and lines belong to where it is used.
        Some(found.clone())
    }

    pub(super) fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(HashMap::new());
        let parsed = parse(self);
        self.scopes.pop();
        parsed
    }
}
