//! What `#[device_fn]` puts in place of a function.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Attribute, GenericParam, ItemFn, Result, Type};

use super::{build_parameters, built, generics, host_attributes, host_parameters, once, quiet};
use crate::ast::{Class, Function};
use crate::build::Build;
use crate::host::Host;
use crate::names::private;
use crate::rules::Rules;
use crate::sample;
use crate::signature::{Standing, parse};

/// Whether an attribute on a device function is for the type that has its documentation.
fn is_for_type(attribute: &Attribute) -> bool {
    ["doc", "cfg", "deprecated", "allow", "expect", "warn", "deny", "forbid"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

/// Whether an attribute on a device function is for the function that `use` and calls name.
fn is_for_function(attribute: &Attribute) -> bool {
    ["cfg", "deprecated", "allow", "expect"].iter().any(|name| attribute.path().is_ident(name))
}

pub fn device_fn(item: ItemFn, rules: Rules) -> Result<TokenStream> {
    let function = parse(item, Standing::Free, rules)?;
    let Function { attributes, visibility, name, refused, .. } = &function;
    let fn_token = quote_spanned!(name.span()=> fn);
    let of_type = attributes.iter().filter(|attribute| is_for_type(attribute));
    let of_function = attributes.iter().filter(|attribute| is_for_function(attribute));
    let (ask, passed) = (private("ask"), private("Passed"));
    let (generic_parameters, generic_arguments) = generics(&function);
    let as_value = as_value(&function, &generic_parameters, &generic_arguments);
    let (host_body, build_body) = (host_body(&function, rules), build_body(&function, rules));
    Ok(quote! {
        #refused
        // The type has the bodies, and the documentation. It is `Copy`, so that no user's code can run when it is
        // dropped, which is within the kernel.
        #(#of_type)*
        #[derive(::wattle::__private::Clone, ::wattle::__private::Copy)]
        #[allow(non_camel_case_types, dead_code, reason = "it stands for the function")]
        #visibility struct #name<'kernel> {
            call: ::wattle::__private::OnlyInKernels<'kernel>,
        }

        // The function is what a call names; a variable of the same name may shadow it.
        #(#of_function)*
        #[doc(hidden)]
        #[inline(always)]
        #visibility #fn_token #name<#passed>(
            #ask: ::wattle::__private::Parameters<#passed>,
        ) -> ::wattle::__private::Asked<#name<'static>, #passed> {
            ::wattle::__private::Asked::of(#ask)
        }

        // SAFETY: these are the two bodies of one function, in the subset that keeps no view.
        unsafe impl ::wattle::__private::Bodies for #name<'static> {
            type In<'kernel> = #name<'kernel>;
            #[inline(always)]
            fn within<'kernel>(call: ::wattle::__private::OnlyInKernels<'kernel>) -> #name<'kernel> {
                #name { call }
            }
        }

        impl<'kernel> ::wattle::__private::Called for #name<'kernel> {}

        #as_value

        #[allow(dead_code, reason = "not every device function is called")]
        impl<'kernel> #name<'kernel> {
            #host_body
            #build_body
        }
    })
}

/// The `self` of the bodies: the user's own is not this one.
fn this() -> Ident {
    Ident::new("self", Span::mixed_site())
}

/// The type of a function's result, which is `()` where none is written.
fn result_type(function: &Function) -> Type {
    function.result.clone().unwrap_or_else(|| syn::parse_quote!(()))
}

/// The method that is the host's body.
fn host_body(function: &Function, rules: Rules) -> TokenStream {
    let Function { visibility, name, refused, .. } = function;
    let (this, thread, value) = (this(), private("thread"), private("value"));
    let (generic_parameters, generic_arguments) = generics(function);
    let where_clause = &function.generics.where_clause;
    let (host_attributes, host_parameters) = (host_attributes(function), host_parameters(function, None));
    let (host_name, result_type) = (Ident::new("__host", name.span()), result_type(function));
    let body = match refused {
        None => rules.apply(Host::new(function, false).body(&function.body)),
        Some(_) => quote!(::core::unreachable!()),
    };
    quote! {
        #[doc(hidden)]
        #host_attributes
        #visibility fn #host_name<#(#generic_parameters),*>(
            #this,
            #(#host_parameters),*
        ) -> (#result_type, impl ::core::marker::Sized + use<#(#generic_arguments),*>) #where_clause {
            #[allow(unused_imports, reason = "not every function has use for them")]
            use ::wattle::__private::{Called as _, NotMarked as _};
            #[allow(unused, reason = "not every function has use for it")]
            let #thread = #this.call.thread();
            let #value: #result_type = #body;
            #[allow(unreachable_code, reason = "the body may never end")]
            return (#value, ());
        }
    }
}

/// The method that is the builder's body. Its types hang on a sample of the host's body (see [`once`]), so that rustc
/// reports an error that both have of the host's alone.
fn build_body(function: &Function, rules: Rules) -> TokenStream {
    let Function { visibility, name, refused, .. } = function;
    let (this, builder, value, text) = (this(), private("builder"), private("value"), name.to_string());
    let (generic_parameters, _) = generics(function);
    let where_clause = &function.generics.where_clause;
    let after_value = sample::of(function).map(|sample| quote!(::wattle::__private::after(&#name::__host #sample)));
    let after_constant = after_value.as_ref().map(|value| quote!(const __AFTER: ::core::primitive::usize = #value;));
    let after = after_value.as_ref().map(|_| quote!(#name::__AFTER));
    let builder_type = once(quote!(::wattle::__private::builder::Builder), after.as_ref());
    let (build_parameters, build_bindings) = build_parameters(function, after.as_ref());
    let built_type = built(function, &result_type(function));
    let value_type = once(built_type.clone(), after.as_ref());
    let mut build = Build::of(function, false);
    let body = match (&function.result, refused) {
        (_, Some(_)) => quote!(#builder.unreachable()),
        (Some(_), _) => build.value(&function.body),
        (None, _) => {
            let effect = build.effect(&function.body);
            quote!({ #effect })
        }
    };
    let body = with_returns(function, rules.apply(body), &value_type);
    // What is returned may be made of the caller's variables, which the caller can change before it uses it.
    let exclusive = function.parameters.iter().any(|parameter| parameter.class == Class::Exclusive);
    let hold = exclusive.then(|| quote!(let #value: #value_type = #builder.copied(#value);));
    let quiet = quiet();
    quote! {
        #after_constant

        #[doc(hidden)]
        #quiet
        #visibility fn __build<#(#generic_parameters),*>(#this, #(#build_parameters),*) -> #built_type #where_clause {
            let #builder: &'kernel #builder_type = #this.call.builder();
            if !#builder.call_begin(#text) {
                return #builder.unreachable();
            }
            use ::wattle::__private::{Called as _, NotMarked as _};
            #build_bindings
            #body
            #hold
            #builder.call_end();
            #value
        }
    }
}

/// The statements that bind the value of a body. A `return` leaves a block around the body, with the value in a
/// variable.
fn with_returns(function: &Function, body: TokenStream, value_type: &TokenStream) -> TokenStream {
    let (builder, value) = (private("builder"), private("value"));
    if !function.returns {
        return quote!(let #value: #value_type = #body;);
    }
    let (result, around) = (private("result"), private("body"));
    quote! {
        let #result = #builder.join(#builder.unreachable::<#value_type>());
        let #around = #builder.block_begin();
        let #value: #value_type = #body;
        ::wattle::__private::Variable::set(&#result, #value);
        #builder.block_end();
        let #value = ::wattle::__private::Variable::get(&#result);
    }
}

/// What makes the function one that can be given for a parameter, where its parameters say all of its generics.
fn as_value(function: &Function, generics: &[TokenStream], arguments: &[TokenStream]) -> Option<TokenStream> {
    let types: Vec<_> = function.parameters.iter().map(|parameter| &parameter.ty).collect();
    let are_values =
        function.parameters.iter().all(|parameter| matches!(parameter.class, Class::Value | Class::View(_)));
    let said = quote!(#(#types),*);
    let names = function.generics.params.iter().map(|generic| match generic {
        GenericParam::Type(ty) => ty.ident.to_string(),
        GenericParam::Const(constant) => constant.ident.to_string(),
        GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_string(),
    });
    if !are_values || types.len() > MOST_PASSED || !names.into_iter().all(|name| says(said.clone(), &name)) {
        return None;
    }
    let (name, where_clause) = (&function.name, &function.generics.where_clause);
    let result = result_type(function);
    let turbofish = (!arguments.is_empty()).then(|| quote!(::<#(#arguments),*>));
    let parts: Vec<_> = (0..types.len()).map(|number| private(&format!("parameter{number}"))).collect();
    let (ask, thread, builder) = (private("ask"), private("thread"), private("builder"));
    let (host, draft, quiet) = (private("host"), private("draft"), quiet());
    Some(quote! {
        #quiet
        // SAFETY: these are the two bodies of one function, in the subset that keeps no view.
        unsafe impl<#(#generics),*> ::wattle::__private::Takes<(#(#types,)*)> for #name<'static> #where_clause {
            type Output = #result;
            #[inline(always)]
            fn bodies(
                #ask: ::wattle::__private::Parameters<(#(#types,)*)>,
            ) -> impl ::wattle::__private::GivesBodies<(#(#types,)*), Output = #result> {
                let #draft = ::wattle::__private::draft_bodies(#ask, |#ask| {
                    let #host = ::wattle::__private::draft_host(#ask, |#thread, (#(#parts,)*)| {
                        (::wattle::__private::on_host(#thread, #name).__bodies().__host #turbofish (#(#parts),*).0, ())
                    });
                    ::wattle::__private::DraftHost::build(#host, |#builder, (#(#parts,)*)| {
                        ::wattle::__private::in_builder(#builder, #name).__bodies().__build #turbofish (#(#parts),*)
                    })
                });
                // SAFETY: these are the two bodies of one function, in the subset that keeps no view; the closure
                // around them captures nothing.
                unsafe { ::wattle::__private::DraftBodies::vouch(#draft) }
            }
        }
    })
}

/// The most parameters of a function that is a value: as many have tuples that are values in kernels.
const MOST_PASSED: usize = 12;

/// Whether the types say a generic parameter: a part of what it has, `T::Bits`, does not.
fn says(types: TokenStream, generic: &str) -> bool {
    let mut tokens = types.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => says(group.stream(), generic),
            TokenTree::Ident(name) if name == generic => {
                !matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
            }
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}
