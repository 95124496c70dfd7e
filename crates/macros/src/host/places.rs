//! Elements and their parts, read and written in their places.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{Host, private_at, support, variable};
use crate::ast::{Expr, ExprKind, Step};

/// What is read or written to by index.
pub(super) struct Indexed {
    /// Statements that come before.
    pub(super) first: TokenStream,
    /// The place.
    pub(super) read: TokenStream,
    /// What writes to it: a view, or an exclusive reference.
    pub(super) written: TokenStream,
}

impl Host {
    /// What is read or written to by index, as a place. The indices of its rows are worked out once, before it.
    pub(super) fn indexed(&mut self, base: &Expr) -> Indexed {
        let (span, support) = (base.span, support(base.span));
        let thread = private_at("thread", span);
        match &base.kind {
            ExprKind::Local(local) if local.is_view => {
                let view = variable(local, &[]);
                Indexed { first: TokenStream::new(), read: view.clone(), written: quote_spanned!(span=> &#view) }
            }
            ExprKind::Index(of, index) => {
                let Indexed { first, read, written } = self.indexed(of);
                let index_span = index.span;
                self.next += 1;
                let at = private_at(&format!("row{}", self.next), index_span);
                let index = self.expr(index);
                Indexed {
                    first: quote!(#first let #at = #index;),
                    read: quote_spanned!(span=> #support::get(&#read, #at, #thread)),
                    written: quote_spanned!(span=> #support::row(#written, #at, #thread)),
                }
            }
            ExprKind::Field(of, field) if self.is_indexed(of) => {
                let Indexed { first, read, written } = self.indexed(of);
                let row = private_at("row", span);
                Indexed {
                    first,
                    read: quote_spanned!(span=> #read.#field),
                    written: quote_spanned!(span=> #support::within(#written, |#row| &mut #row.#field)),
                }
            }
            _ => {
                let place = self.expr(base);
                Indexed { first: TokenStream::new(), read: place.clone(), written: quote_spanned!(span=> &mut #place) }
            }
        }
    }

    /// Writes the read of `base[index]`.
    pub(super) fn read_at(&mut self, base: &Expr, index: &Expr, span: Span) -> TokenStream {
        let (support, thread) = (support(span), private_at("thread", span));
        if let Some(element) = self.window(base, index) {
            return quote_spanned!(span=> #element);
        }
        if let Some((line, number)) = self.shared(base, index) {
            return quote_spanned!(span=> #support::get(&#line, #number, #thread));
        }
        let index = self.expr(index);
        let base = match &base.kind {
            ExprKind::Local(local) if local.is_item => {
                let name = &local.name;
                quote!(&*#name)
            }
            ExprKind::Element(of, fields) if !self.is_item(of) => {
                let window = match &of.kind {
                    ExprKind::Index(view, at) => self.window(view, at),
                    _ => None,
                };
                match window {
                    Some(element) => quote_spanned!(base.span=> &#element #(.#fields)*),
                    None => {
                        let place = self.element(of, fields);
                        quote!(&#place)
                    }
                }
            }
            ExprKind::Index(view, at)
                if matches!(&view.kind, ExprKind::Local(local) if local.is_view) && self.window(view, at).is_none() =>
            {
                let place = self.element(base, &[]);
                quote!(&#place)
            }
            // In its place: a copy of a long array would take longer than the access.
            ExprKind::Constant(path) => quote_spanned!(base.span=> ::wattle::__private::constants(&#path)),
            _ => {
                let place = self.expr(base);
                quote!(&#place)
            }
        };
        quote_spanned!(span=> #support::get(#base, #index, #thread))
    }

    /// Whether an expression is a part of an element of an array.
    pub(super) fn is_indexed(&self, x: &Expr) -> bool {
        match &x.kind {
            ExprKind::Index(..) => true,
            ExprKind::Field(of, _) => self.is_indexed(of),
            _ => false,
        }
    }

    /// Whether an expression is an item, whose fields are places for rustc too.
    pub(super) fn is_item(&self, x: &Expr) -> bool {
        matches!(&x.kind, ExprKind::Local(_) | ExprKind::Deref(_))
    }

    /// An element of an array as something to write to, which may not exist, and the statements before it.
    pub(super) fn row(&mut self, base: &Expr, index: &Expr) -> (TokenStream, TokenStream) {
        let (span, support, thread) = (base.span, support(base.span), private_at("thread", base.span));
        let (Indexed { first, written, .. }, at) = (self.indexed(base), private_at("index", index.span));
        let index = self.expr(index);
        (quote!(#first let #at = #index;), quote_spanned!(span=> #support::row(#written, #at, #thread)))
    }

    /// A write to a part of an element in its place; `value` is given what the part holds.
    pub(super) fn written(
        &mut self,
        of: &Expr,
        steps: &[Step],
        span: Span,
        value: impl FnOnce(&Self, TokenStream) -> TokenStream,
    ) -> TokenStream {
        let (support, thread, at) = (support(span), private_at("thread", span), private_at("place", span));
        let is_item = self.is_item(of);
        let fields_alone = steps.iter().all(|step| step.index().is_none());
        let mut first = TokenStream::new();
        let mut indices = Vec::new();
        for index in steps.iter().filter_map(Step::index) {
            self.next += 1;
            let at = private_at(&format!("at{}", self.next), index.span);
            let index = self.expr(index);
            first.extend(quote!(let #at = #index;));
            indices.push(at);
        }
        let mut indices = indices.into_iter();
        if is_item && fields_alone {
            let of = self.expr(of);
            let fields = steps.iter().filter_map(Step::field);
            let to = quote!(#of #(.#fields)*);
            let value = value(self, to.clone());
            return quote_spanned!(span=> #to = #value);
        }
        let root = match (is_item, &of.kind) {
            (true, ExprKind::Deref(item)) => {
                let item = self.expr(item);
                quote!(::core::option::Option::Some(&mut *#item))
            }
            (true, _) => {
                let item = self.expr(of);
                quote!(::core::option::Option::Some(&mut *#item))
            }
            (false, _) => {
                let (root, held) = (self.element(of, &[]), private_at("root", span));
                first = quote!(let #held = #root; #first);
                quote!(#held)
            }
        };
        let place = steps.iter().fold(root, |of, step| match (step, is_item) {
            (Step::Field(field), true) => {
                quote_spanned!(field.span()=> #support::within(#of, |#at| &mut #at.#field))
            }
            (Step::Field(field), false) => quote_spanned!(field.span()=> #support::fields(#of).#field),
            (Step::Index(index), is_item) => {
                let index_at = indices.next();
                match is_item {
                    true => quote_spanned!(index.span=> #support::row(#of, #index_at, #thread)),
                    false => quote_spanned!(index.span=> #support::Spot::part(#of, #index_at, #thread)),
                }
            }
        });
        if is_item {
            let value = value(self, quote!(*#at));
            return quote_spanned!(span=> {
                #first
                if let ::core::option::Option::Some(#at) = #place {
                    *#at = #value;
                }
            });
        }
        let value = value(self, quote_spanned!(span=> #support::read(#at)));
        quote_spanned!(span=> {
            #first
            let #at = #place;
            #support::assign(#at, #value)
        })
    }

    /// An element of a view, or a field of one, in its place.
    pub(super) fn element(&mut self, of: &Expr, fields: &[syn::Member]) -> TokenStream {
        let (span, support) = (of.span, support(of.span));
        let ExprKind::Index(view, index) = &of.kind else { return self.expr(of) };
        let thread = private_at("thread", span);
        let (view, index) = (self.expr(view), self.expr(index));
        let root = quote_spanned!(span=> #support::element(&#view, #index, #thread));
        fields.iter().fold(root, |of, field| quote_spanned!(field.span()=> #support::fields(#of).#field))
    }
}
