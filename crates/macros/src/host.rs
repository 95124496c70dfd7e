//! Emits the host's function: the user's body, with its memory accesses and arithmetic as calls, compiled by rustc.
//!
//! Expressions are written in `host/exprs.rs`, loops in `host/loops.rs` and `host/rows.rs`, assignments in `host/assign.rs`, what stands in memory in
//! `host/places.rs`, `match` and patterns in `host/patterns.rs`.

mod assign;
mod cuts;
mod decided;
mod exprs;
mod loops;
mod message;
mod patterns;
mod places;
mod rows;
mod sums;
mod windows;

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::Lifetime;

use crate::ast::{Block, BreakTarget, Class, Expr, ExprKind, Function, Local, Pattern, Statement, View};
use crate::names;
use windows::Windows;

pub struct Host {
    /// The `Read` and `Shared` views, by number.
    views: BTreeMap<usize, View>,
    /// The accesses that move along with the index of the loop that is being written.
    windows: Option<Windows>,
    /// The loops around, outermost first.
    loops: Vec<Labels>,
    next: usize,
    is_kernel: bool,
    /// Whether sums over a loop may be added in another order.
    reassociate: bool,
    /// Whether the function has type parameters, so that a literal may meet a value of one.
    is_generic: bool,
    ranks: Option<names::Ranks>,
    /// What the methods find whose receivers have none of their names, by its own name.
    absent: BTreeMap<Ident, TokenStream>,
    /// The variables that are given back beside the result, the first one outermost.
    pub lent: Vec<Ident>,
}

/// The labels of a loop or labelled block that is being written: what `break` and `continue` name.
#[derive(Clone)]
struct Labels {
    target: BreakTarget,
    out: Lifetime,
    again: Lifetime,
}

fn support(span: Span) -> TokenStream {
    quote_spanned!(span=> ::wattle::__private::support)
}

/// A name that the user's code cannot mean; what rustc says about it belongs to `span`.
fn private_at(name: &str, span: Span) -> Ident {
    Ident::new(&format!("__wattle_{name}"), Span::mixed_site().located_at(span))
}

/// A variable, or a part of one that is a tuple, as a place.
fn variable(local: &Local, fields: &[syn::Member]) -> TokenStream {
    let name = &local.name;
    let root = if local.is_reference { quote_spanned!(name.span()=> (*#name)) } else { quote!(#name) };
    quote!(#root #(.#fields)*)
}

/// `{ … }` in the place of the user's own block.
fn braces(span: Span, content: TokenStream) -> TokenStream {
    let mut group = Group::new(Delimiter::Brace, content);
    group.set_span(span);
    TokenTree::Group(group).into()
}

impl Host {
    pub fn new(function: &Function, is_kernel: bool) -> Self {
        let views = function.parameters.iter().filter_map(|parameter| match parameter.class {
            Class::View(view @ (View::ReadLine | View::Read | View::Shared)) => Some((parameter.local.number, view)),
            Class::View(View::PerItem | View::Atomic)
            | Class::Acc(_)
            | Class::Exclusive
            | Class::Function
            | Class::Value => None,
        });
        Host {
            views: views.collect(),
            is_kernel,
            reassociate: function.reassociate,
            is_generic: function.generics.type_params().next().is_some(),
            ranks: Some(names::Ranks::of(function)),
            ..Host::of_closure()
        }
    }

    /// Writes a device function none of whose parameters is known to be a view.
    pub fn of_closure() -> Self {
        Host {
            views: BTreeMap::new(),
            windows: None,
            loops: Vec::new(),
            next: 0,
            is_kernel: false,
            reassociate: false,
            is_generic: false,
            ranks: None,
            absent: BTreeMap::new(),
            lent: Vec::new(),
        }
    }

    pub fn block(&mut self, block: &Block) -> TokenStream {
        let statements: Vec<_> = block.statements.iter().map(|statement| self.statement(statement)).collect();
        let value = block.value.as_ref().map(|value| self.expr(value));
        braces(block.span, quote!(#(#statements)* #value))
    }

    /// The body of the function.
    pub fn body(&mut self, block: &Block) -> TokenStream {
        let body = self.body_alone(block);
        let absent = self.absent.values();
        match self.absent.is_empty() {
            true => body,
            false => quote!({ #(#absent)* #body }),
        }
    }

    fn body_alone(&mut self, block: &Block) -> TokenStream {
        let is_method = |value: &&Expr| self.is_kernel && matches!(value.kind, ExprKind::Method { .. });
        let Some(value) = block.value.as_deref().filter(is_method) else {
            return self.block(block);
        };
        // The error that a kernel has no value is reported at the value, not at its parts.
        let span = value.span;
        let statements: Vec<_> = block.statements.iter().map(|statement| self.statement(statement)).collect();
        let value = self.expr(value);
        let nothing = quote_spanned!(span=> ::wattle::__private::nothing(#value));
        braces(block.span, quote!(#(#statements)* #nothing))
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Let { pattern, ty, value, otherwise, span } => {
                let mut tokens = self.expr(value);
                if let (Pattern::Local(local), ExprKind::Method { name, .. }) = (pattern, &value.kind)
                    && name.to_string().starts_with("shared")
                {
                    if crate::parse::SHARED.iter().any(|known| name == known) {
                        self.views.insert(local.number, View::Shared);
                    }
                    let name = local.name.to_string();
                    let support = support(*span);
                    tokens = quote_spanned!(*span=> #support::named(#tokens, #name));
                }
                let ty = ty.as_ref().map(|ty| quote!(: #ty));
                let pattern = self.pattern(pattern, otherwise.is_some());
                let otherwise = otherwise.as_ref().map(|otherwise| {
                    let otherwise = self.block(otherwise);
                    quote!(else #otherwise)
                });
                quote_spanned!(*span=> let #pattern #ty = #tokens #otherwise;)
            }
            Statement::Declare { local, ty, span } => {
                let pattern = self.pattern(&Pattern::Local(local.clone()), false);
                let ty = ty.as_ref().map(|ty| quote!(: #ty));
                quote_spanned!(*span=> let #pattern #ty;)
            }
            Statement::CallOn { pattern, back, call, put } => {
                let (span, back) = (call.span, &back.name);
                let (pattern, call, put) =
                    (self.pattern(pattern, false), self.method(call, "__change"), self.expr(put));
                quote_spanned! {span=>
                    let (#pattern, #back) = #call;
                    #[allow(unused_assignments, reason = "it may be the last use")]
                    {
                        if let ::core::option::Option::Some(#back) = #back { #put }
                    }
                }
            }
            Statement::Const(item) => quote!(#item),
            Statement::Do(x) => {
                let (tokens, span) = (self.expr(x), x.span);
                quote_spanned!(span=> #tokens;)
            }
        }
    }

    fn exprs(&mut self, all: &[Expr]) -> Vec<TokenStream> {
        all.iter().map(|x| self.expr(x)).collect()
    }

    /// The end of a thread that must stop.
    fn leave(&self) -> TokenStream {
        if self.is_kernel {
            quote!(return;)
        } else {
            let support = support(Span::call_site());
            quote!(return (#support::zero(), ());)
        }
    }

    /// What a device function returns for this value.
    pub fn returned(&self, value: TokenStream) -> TokenStream {
        let value = self.lent.iter().rev().fold(value, |value, lent| quote!((#value, *#lent)));
        quote!((#value, ()))
    }
}
