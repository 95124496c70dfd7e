//! The host's function of a kernel, compiled once more for each set of vector instructions that may be chosen when it runs.
//!
//! Each is a function that has the instructions and into which the host's own is inlined. Only kernels that repeat something
//! have use for them, and only optimized builds have them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use wattle_operations::vectors;

use super::{generics, host_parameters};
use crate::ast::{ExprKind, Function};
use crate::names::private;

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident $text:literal [$($feature:literal)+])+) => {
        &[$((stringify!($name), $text, &[$($feature),+])),+]
    };
}

/// The names of the instructions, and the features of the processor that they are.
const VECTORS: &[(&str, &str, &[&str])] = vectors!(table);

/// The functions, and the choice among them with these `arguments`; none where a kernel repeats nothing.
pub fn of(
    function: &Function,
    known: Option<&TokenStream>,
    arguments: &TokenStream,
) -> Option<(TokenStream, TokenStream)> {
    use ExprKind::{Call, For, Loop, While};
    if !function.body.any(&|x| matches!(x.kind, For { .. } | While { .. } | Loop { .. } | Call { .. })) {
        return None;
    }
    let (parameters, own_arguments) = generics(function);
    let (host, host_parameters) = (private("host"), host_parameters(function, known));
    let names = function.parameters.iter().map(|parameter| &parameter.local.name);
    let call = quote!(#host::<#(#own_arguments),*>(#(#names),*););
    let where_clause = &function.generics.where_clause;
    let (mut functions, mut choices) = (TokenStream::new(), TokenStream::new());
    for (name, text, features) in VECTORS {
        let (wide, name) = (private(&format!("host_{text}")), format_ident!("{name}"));
        functions.extend(quote! {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            #[allow(unused_mut, private_interfaces, elided_lifetimes_in_paths, clippy::all, reason = "written by a macro")]
            #[target_feature(#(enable = #features),*)]
            fn #wide<#(#parameters),*>(#(#host_parameters),*) #where_clause {
                #call
            }
        });
        choices.extend(quote! {
            // SAFETY: the processor has the instructions, or they would not have been chosen. The only words of the user's in
            // this block are names of generics and of the variables that the arguments are in.
            ::core::option::Option::Some(::wattle::__private::Vectors::#name) => return unsafe { #wide #arguments },
        });
    }
    let choice = quote! {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        match ::wattle::__private::vectors() {
            #choices
            ::core::option::Option::None => {}
        }
    };
    Some((functions, choice))
}
