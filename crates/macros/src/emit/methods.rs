//! Which function a method is, where it is one of the user's: rustc finds it by the receiver's type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ItemFn;

use super::{Written, associated};
use crate::ast::{Method, Owner};
use crate::names::{by_receiver, private};
use crate::numbers::OfNumbers;
use crate::parse::instead;
use crate::rules::Rules;

impl Method {
    /// A method of this name that every type has by reference, with as many arguments, and that none can call: rustc
    /// finds it where the receiver's type has no device function of the name, and reports the bound. It comes with its
    /// own name, since a function has one, however often it writes the call. None where the type is written.
    pub fn absent(&self, arguments: usize) -> Option<(Ident, TokenStream)> {
        let Method { name, generics, of } = self;
        if let Owner::Written(_) = of {
            return None;
        }
        let generics = generics.as_ref().map(|generics| generics.args.len()).unwrap_or_default();
        let called = |what: &str| {
            format_ident!("__wattle_{what}_{}_{}_{}", name, generics, arguments, span = Span::mixed_site())
        };
        let (has_method, absent) = (called("has"), called("lacks"));
        let hidden = by_receiver(name);
        let some = |count, what: &str| (0..count).map(|number| private(&format!("{what}{number}"))).collect::<Vec<_>>();
        let (generics, arguments) = (some(generics, "Generic"), some(arguments, "Argument"));
        let message = format!("a kernel can call no method `{name}` of `{{Self}}`");
        let label = format!("no device function `{name}` of this type is in scope");
        let of_numbers = instead(&name.to_string()).map(|write| {
            let note = format!("for numbers: {write}");
            quote!(note = #note,)
        });
        let item = quote! {
            #[diagnostic::on_unimplemented(
                message = #message,
                label = #label,
                #of_numbers
                note = "a method of a type of yours has `#[device_fn]` above it, and its trait, if it is one of a trait, is imported or \
                        among the bounds of the type parameter; what numbers have in kernels is in the documentation of `Number`, \
                        `Int` and `Float`",
            )]
            trait #has_method {
                type Answer;
            }
            // With an implementation rustc does not advise to write one.
            #[diagnostic::do_not_recommend]
            impl #has_method for ::wattle::__private::NoReceiver {
                type Answer = ();
            }
            trait #absent<#(#arguments),*>: ::core::marker::Sized {
                fn #hidden<#(#generics),*>(
                    &self,
                    _: ::wattle::__private::Parameters<(Self, #(#arguments,)*)>,
                ) -> Self::Answer
                where
                    Self: #has_method,
                {
                    ::core::unreachable!()
                }
            }
            impl<V, #(#arguments),*> #absent<#(#arguments),*> for V {}
        };
        Some((absent, item))
    }

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
