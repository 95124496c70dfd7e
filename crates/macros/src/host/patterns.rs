//! Patterns and `match` of the host's function: Rust's own, so that rustc sees whether the arms are exhaustive.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::Host;
use crate::ast::{Arm, Expr, ExprKind, Local, Pattern};

impl Host {
    pub(super) fn matching(&mut self, value: &Expr, arms: &[Arm], span: Span) -> TokenStream {
        let value = self.expr(value);
        let arms = arms.iter().map(|arm| {
            let pattern = self.pattern(&arm.pattern, true);
            let guard = arm.guard.as_ref().map(|guard| {
                let guard = self.expr(guard);
                quote!(if #guard)
            });
            let body = self.block(&arm.body);
            quote!(#pattern #guard => #body)
        });
        let arms: Vec<_> = arms.collect();
        quote_spanned!(span=> match #value { #(#arms)* })
    }

    /// A pattern. In one that need not match, the name of a constant would be the constant for rustc, and a variable
    /// for the builder: `name @ _` is always a variable, or an error.
    pub fn pattern(&self, pattern: &Pattern, refutable: bool) -> TokenStream {
        let name = |Local { name, mutable, mut_span, .. }: &Local| match mutable {
            true => quote_spanned!(*mut_span=> mut #name),
            false => quote!(#name),
        };
        let all = |all: &[Pattern]| -> Vec<_> { all.iter().map(|pattern| self.pattern(pattern, refutable)).collect() };
        match pattern {
            Pattern::Local(local) => {
                let (name, rest) = (name(local), refutable.then(|| quote!(@ _)));
                quote!(#name #rest)
            }
            Pattern::At(local, pattern) => {
                let (name, pattern) = (name(local), self.pattern(pattern, refutable));
                quote!(#name @ (#pattern))
            }
            Pattern::Wild(span) => quote_spanned!(*span=> _),
            Pattern::Rest(span) => quote_spanned!(*span=> ..),
            Pattern::Tuple(parts, span) => {
                let all = all(parts);
                quote_spanned!(*span=> (#(#all,)*))
            }
            Pattern::Array(parts, span) => {
                let all = all(parts);
                quote_spanned!(*span=> [#(#all),*])
            }
            Pattern::Struct { path, fields, rest } => {
                let (members, patterns): (Vec<_>, Vec<_>) =
                    fields.iter().map(|(member, pattern)| (member, self.pattern(pattern, refutable))).unzip();
                let rest = rest.then(|| quote!(..));
                quote!(#path { #(#members: #patterns,)* #rest })
            }
            Pattern::Value(x) => value(x),
            Pattern::Range { begin, end, inclusive } => {
                let (begin, end) = (begin.as_deref().map(value), end.as_deref().map(value));
                let dots = if *inclusive { quote!(..=) } else { quote!(..) };
                quote!(#begin #dots #end)
            }
            Pattern::Or(parts) => {
                let all = all(parts);
                quote!((#(#all)|*))
            }
        }
    }
}

/// A literal or constant in a pattern.
fn value(x: &Expr) -> TokenStream {
    match &x.kind {
        ExprKind::Literal(literal) => quote!(#literal),
        ExprKind::NegativeLiteral(literal) => quote!(-#literal),
        ExprKind::Constant(path) => quote!(#path),
        // The parser takes nothing else in patterns.
        _ => quote_spanned!(x.span=> _),
    }
}
