//! Assignments: a value, or what a compound one makes of it and of what its place holds.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::exprs::is_of_one_type;
use super::places::Indexed;
use super::{Host, private_at, support, variable};
use crate::ast::{Change, Expr, Place};

impl Host {
    /// `place = value`, or with a change `place += value` and its like.
    pub(super) fn assign(&mut self, change: Option<&Change>, place: &Place, value: &Expr, span: Span) -> TokenStream {
        let (support, thread, held) = (support(span), private_at("thread", span), private_at("value", value.span));
        let is_literal = value.is_number();
        let value = self.expr(value);
        let write = match place {
            Place::Variable(local, fields) => {
                let to = variable(local, fields);
                if change.is_none() {
                    return quote_spanned!(span=> #to = #value);
                }
                let is_literal = is_literal || fields.is_empty() && local.is_literal;
                let result = self.changed(change, is_literal, span, to.clone(), &held);
                quote_spanned!(span=> #to = #result)
            }
            Place::Deref(item) => {
                let item = self.expr(item);
                if change.is_none() {
                    return quote_spanned!(span=> *#item = #value);
                }
                let result = self.changed(change, is_literal, span, quote!(*#item), &held);
                quote_spanned!(span=> *#item = #result)
            }
            Place::Index(base, index) => {
                let (first, read, written, at) = match self.shared(base, index) {
                    Some((line, number)) => (None, quote!(#line), quote_spanned!(base.span=> &#line), quote!(#number)),
                    None => {
                        let Indexed { first, read, written } = self.indexed(base);
                        let (index, at) = (self.expr(index), private_at("index", index.span));
                        (Some(quote_spanned!(span=> #first let #at = #index;)), read, written, quote!(#at))
                    }
                };
                let old = private_at("old", span);
                let read = change.map(|_| quote_spanned!(span=> let #old = #support::get(&#read, #at, #thread);));
                let result = self.changed(change, is_literal, span, quote!(#old), &held);
                quote_spanned!(span=> #first #read #support::set(#written, #at, #result, #thread))
            }
            Place::Element(of, steps) => {
                self.written(of, steps, span, |host, old| host.changed(change, is_literal, span, old, &held))
            }
            Place::Part { base, index, fields } => {
                let row = private_at("row", span);
                let (first, written) = self.row(base, index);
                let to = quote!(#row #(.#fields)*);
                let result = self.changed(change, is_literal, span, to.clone(), &held);
                quote_spanned! {span=>
                    #first
                    if let ::core::option::Option::Some(#row) = #written {
                        #to = #result;
                    }
                }
            }
        };
        quote_spanned!(span=> { let #held = #value; #write })
    }

    /// What an assignment leaves of what its place holds, with the value in the variable `held`; `is_literal` says
    /// whether one of the two is a number that is written, which may meet a generic type.
    fn changed(
        &self,
        change: Option<&Change>,
        is_literal: bool,
        span: Span,
        old: TokenStream,
        held: &Ident,
    ) -> TokenStream {
        let support = support(span);
        match change {
            None => quote!(#held),
            Some(Change::Op(operator)) if self.is_generic && is_literal && is_of_one_type(operator) => {
                self.binary_of_one_type(operator, span, old, quote!(#held))
            }
            Some(Change::Op(operator)) => self.binary(operator, span, old, quote!(#held)),
            Some(Change::Fused(name)) => quote_spanned!(span=> #support::#name(#old, #held.0, #held.1)),
        }
    }
}
