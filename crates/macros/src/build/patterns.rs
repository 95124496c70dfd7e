//! What patterns that always match bind.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use super::{Build, builder};
use crate::ast::{Local, Pattern};

impl Build {
    /// Binds a parameter of a device function to what the caller passes.
    pub fn parameter(&mut self, pattern: &Pattern, value: TokenStream) -> TokenStream {
        self.bind(pattern, value, false)
    }

    /// Binds the names of a pattern. What a loop binds is fixed for its iteration, and needs no copy.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: TokenStream, hold: bool) -> TokenStream {
        let builder = builder();
        match pattern {
            Pattern::Local(Local { name, mutable, .. }) => {
                let text = name.to_string();
                match (mutable, hold) {
                    (true, _) => quote_spanned!(name.span()=> let #name = #builder.variable(#value, #text);),
                    (false, true) => quote_spanned!(name.span()=> let #name = #builder.bind(#value, #text);),
                    (false, false) => quote!(let #name = #value;),
                }
            }
            Pattern::At(local, pattern) => {
                let part = self.fresh("part");
                let first = self.bind(pattern, quote!(#part), hold);
                let second = self.bind(&Pattern::Local(local.clone()), quote!(#part), hold);
                quote!(let #part = #value; #first #second)
            }
            Pattern::Wild(_) | Pattern::Value(_) | Pattern::Range { .. } | Pattern::Or(_) => quote!(let _ = #value;),
            Pattern::Rest(_) => TokenStream::new(),
            Pattern::Tuple(all, _) => {
                let (parts, bindings) = self.bind_parts(all, hold);
                quote!(let (#(#parts,)*) = #value; #bindings)
            }
            Pattern::Struct { fields, .. } => {
                let whole = self.fresh("whole");
                let bindings: TokenStream = fields
                    .iter()
                    .map(|(field, pattern)| self.bind(pattern, quote_spanned!(field.span()=> #whole.#field), hold))
                    .collect();
                quote!(let #whole = #value; #bindings)
            }
            Pattern::Array(all, _) => {
                let (parts, bindings) = self.bind_parts(all, hold);
                quote!(let [#(#parts),*] = ::wattle::__private::builder::Array::elements(&#value); #bindings)
            }
        }
    }

    /// What stands for the parts where they are taken apart.
    pub(super) fn parts(&mut self, all: &[Pattern]) -> Vec<TokenStream> {
        let part = |pattern: &Pattern| match pattern {
            Pattern::Rest(span) => quote_spanned!(*span=> ..),
            Pattern::Local(_)
            | Pattern::At(..)
            | Pattern::Wild(_)
            | Pattern::Tuple(..)
            | Pattern::Array(..)
            | Pattern::Struct { .. }
            | Pattern::Value(_)
            | Pattern::Range { .. }
            | Pattern::Or(_) => self.fresh("part").into_token_stream(),
        };
        all.iter().map(part).collect()
    }

    pub(super) fn bind_parts(&mut self, all: &[Pattern], hold: bool) -> (Vec<TokenStream>, TokenStream) {
        let parts = self.parts(all);
        let bindings = all.iter().zip(&parts).map(|(pattern, part)| self.bind(pattern, quote!(#part), hold)).collect();
        (parts, bindings)
    }
}
