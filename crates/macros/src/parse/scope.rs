//! The variables that are known where an expression stands.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Local, View};

/// What a variable is found by: its name, and where that comes from. A variable of a macro that writes a kernel is not
/// the one of the same name that the macro's user has written.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) text: String,
    /// The macro expansion that the identifier comes from.
    origin: String,
}

impl Name {
    pub(super) fn of(name: &Ident) -> Name {
        // Spans do not compare; their text begins with the expansion's number: `#0 bytes(7..8)`. It decides only
        // between variables of one name, and rustc sees the identifier itself.
        let span = format!("{:?}", name.span());
        let origin = span.split(' ').next().filter(|origin| origin.starts_with('#')).unwrap_or_default().to_owned();
        Name { text: name.to_string(), origin }
    }
}

/// The variables of a block.
pub(super) type Scope = HashMap<Name, Local>;

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
            is_literal: false,
            is_later: false,
        };
        self.next += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Name::of(&local.name), local.clone());
        }
        local
    }

    /// Declares a `&mut` parameter.
    pub fn declare_reference(&mut self, name: &Ident) -> Local {
        let local = Local { is_reference: true, ..self.declare(name, true) };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Name::of(&local.name), local.clone());
        }
        local
    }

    /// Declares a parameter that is a function of `count` arguments, where that is known.
    pub fn declare_function(&mut self, name: &Ident, count: Option<usize>) -> Local {
        let local = Local { is_function: true, ..self.declare(name, false) };
        self.counts.extend(count.map(|count| (local.number, count)));
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Name::of(&local.name), local.clone());
        }
        local
    }

    /// Notes that a variable begins with a literal without a type.
    pub(super) fn mark_literal(&mut self, local: &mut Local) {
        local.is_literal = true;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Name::of(&local.name), local.clone());
        }
    }

    /// Declares a variable without a value.
    pub(super) fn declare_later(&mut self, name: &Ident, mutable: bool) -> Local {
        let local = Local { is_later: true, ..self.declare(name, mutable) };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Name::of(&local.name), local.clone());
        }
        local
    }

    /// Declares `self`, by another name: two functions have it.
    pub fn declare_self(&mut self, span: Span, mutable: Option<syn::Token![mut]>, is_reference: bool) -> Local {
        let name = Ident::new("__wattle_self", Span::mixed_site().located_at(span));
        let local = self.declare(&name, is_reference || mutable.is_some());
        let mut_span = mutable.map_or(local.mut_span, |token| token.span);
        let local = Local { mut_span, is_reference, ..local };
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Name::of(&Ident::new("self", span)), local.clone());
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
            is_literal: false,
            is_later: false,
        }
    }

    /// Notes that a variable is a view.
    pub fn is_view(&mut self, local: &Local, view: View) {
        self.views.insert(local.number, view);
    }

    /// Notes that a variable is the `Acc`.
    pub fn mark_acc(&mut self, local: &Local) {
        self.accs.insert(local.number);
    }

    pub(super) fn view(&self, x: &Expr) -> Option<View> {
        match &x.kind {
            ExprKind::Local(local) => self.views.get(&local.number).copied(),
            _ => None,
        }
    }

    pub(super) fn find(&self, name: &Ident) -> Option<Local> {
        let name = Name::of(name);
        let last_of_text = |scope: &Scope| {
            let locals = scope.iter().filter(|(known, _)| known.text == name.text).map(|(_, local)| local);
            locals.max_by_key(|local| local.number).cloned()
        };
        let exact = self.scopes.iter().rev().find_map(|scope| scope.get(&name).cloned());
        exact.or_else(|| self.scopes.iter().rev().find_map(last_of_text))
    }

    pub(super) fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(Scope::new());
        let parsed = parse(self);
        self.scopes.pop();
        parsed
    }
}
