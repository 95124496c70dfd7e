//! Which function a method is, where it is one of the user's: rustc finds it by the receiver's type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ItemFn;

use super::{Written, associated};
use crate::ast::{Method, Owner};
use crate::names::{by_receiver, private};
use crate::parse::OfNumbers;
use crate::rules::Rules;

impl Method {
    /// The function that is called. `receiver` gives the receiver's type, as rustc infers it.
    pub fn function(&self, receiver: TokenStream) -> TokenStream {
        let Method { name, generics, of } = self;
        let (hidden, span) = (by_receiver(name), name.span());
        let of_numbers = match of {
            Owner::Written(of) => return quote!(#of::#name #generics),
            Owner::Inferred => None,
            Owner::OrNumbers(method) => Some(as_method(method, span)),
        };
        quote_spanned! {span=>
            ::wattle::__private::of_receiver(
                ::wattle::__private::#receiver,
                |of, ask| { #of_numbers of.#hidden #generics(ask) },
            )
        }
    }
}

/// A method of numbers, as a method of a trait that numbers alone have. rustc takes it where the receiver is one, and
/// otherwise the user's, which has the name too.
fn as_method(method: &OfNumbers, span: Span) -> TokenStream {
    let ident = |name: &str| Ident::new(name, span);
    let (name, class, of_numbers) = (ident(method.name), ident(method.class), private("numbers"));
    let ty = |text: &str| {
        let text = if text.is_empty() { "Self" } else { text };
        // The table's types are written as types.
        text.parse::<TokenStream>().unwrap_or_default()
    };
    let operands: Vec<_> = (1..=method.operands.len()).map(|number| format_ident!("y{number}", span = span)).collect();
    let (types, result) = (method.operands.iter().map(|text| ty(text)), ty(method.result));
    let item: ItemFn = syn::parse_quote! {
        fn #name(self, #(#operands: #types),*) -> #result where Self: ::wattle::__private::#class {
            self.#name(#(#operands),*)
        }
    };
    let written = associated(item, Rules::default(), Written::Method).unwrap_or_else(syn::Error::into_compile_error);
    quote! {
        trait #of_numbers: ::wattle::__private::#class { #written }
        impl<T: ::wattle::__private::#class> #of_numbers for T {}
    }
}
