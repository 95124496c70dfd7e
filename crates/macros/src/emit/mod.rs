//! What the macros put in place of a function.
//!
//! This module calls those that write the two bodies (`host.rs`, `build.rs`), and they call it: a closure in a body is a
//! function, with two bodies of its own.

mod bodies;
mod device_fn;
mod kernel;
mod methods;
mod operators;
mod vectors;

pub use bodies::{Written, associated, closure};
pub use device_fn::device_fn;
pub use kernel::kernel;
pub use operators::{operator, refusal as refusal_of_operator};

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, PathArguments, Type, TypeParamBound, TypePath};

use crate::ast::{Class, Function, Parameter, View};
use crate::names::private;
use crate::trait_bounds::{bounds, is_bound_of_elements, is_bound_of_library, is_bound_of_numbers};

/// The parameters of the host's function. `known` is the constant that its types hang on, if there is one.
fn host_parameters(function: &Function, known: Option<&TokenStream>) -> Vec<TokenStream> {
    let parameter = |parameter: &Parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
        let ty = match parameter.class {
            Class::View(_) => once(quote!(#ty), known),
            Class::Acc(_) | Class::Exclusive | Class::Function | Class::Value => quote!(#ty),
        };
        if parameter.class == Class::View(View::PerItem) {
            return quote!(#[allow(unused_mut, reason = "`items` takes it exclusively")] mut #name: #ty);
        }
        let mut_span = parameter.local.mut_span;
        let mutable =
            (parameter.local.mutable && parameter.class == Class::Value).then(|| quote_spanned!(mut_span=> mut));
        quote!(#mutable #name: #ty)
    };
    function.parameters.iter().map(parameter).collect()
}

/// The builder's types hang on the host's function, so that rustc is silent about them where that has an error: see
/// `wattle::__private::Once`. `after` is the constant that says so. The host's hang on the user's own types in the same
/// way.
fn once(ty: TokenStream, after: Option<&TokenStream>) -> TokenStream {
    match after {
        Some(after) => quote!(<::wattle::__private::Once<#ty, { #after }> as ::wattle::__private::AfterHost>::Type),
        None => ty,
    }
}

/// Parameters of the builder, and what makes variables of those that are `mut`.
fn build_parameters(function: &Function, after: Option<&TokenStream>) -> (Vec<TokenStream>, TokenStream) {
    let builder = private("builder");
    let is_device_fn = !function.is_kernel;
    let mut bindings = TokenStream::new();
    let of_its_own = |parameter: &Parameter| {
        let (name, text) = (&parameter.local.name, parameter.local.name.to_string());
        let is_variable = parameter.local.mutable && parameter.class == Class::Value;
        is_variable.then(|| quote!(let #name = #builder.variable(#name, #text);))
    };
    let parameter = |parameter: &Parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
        if parameter.class == Class::Function {
            return quote!(#name: #ty);
        }
        let is_items = parameter.class == Class::View(View::PerItem);
        let built = match &parameter.class {
            Class::Acc(dimensions) => {
                let dimensions = dimensions.as_ref().map_or_else(|| quote!(1), |dimensions| quote!({ #dimensions }));
                quote!(::wattle::__private::builder::Acc<'kernel, #dimensions>)
            }
            Class::View(View::PerItem) => {
                quote_spanned!(ty.span()=> <::wattle::__private::Bound<#ty> as ::wattle::__private::Arg>::Built<'kernel>)
            }
            // From the projection rustc could not infer the type of the argument.
            Class::Exclusive if is_device_fn && is_any_element(function, referred(ty)) => {
                let ty = referred(ty);
                bindings.extend(quote! {
                    let #name = ::wattle::__private::builder::ElementVariable::new(#name);
                });
                let value = quote_spanned!(ty.span()=> ::wattle::__private::builder::OfElement<'kernel, Element = #ty>);
                return quote!(#name: impl ::wattle::__private::Variable<'kernel, Value: #value>);
            }
            Class::Exclusive => variable(function, ty),
            Class::Value if is_device_fn && is_any_element(function, ty) => {
                bindings.extend(quote!(let #name = ::wattle::__private::builder::OfElement::built(#name);));
                bindings.extend(of_its_own(parameter));
                return quote_spanned!(ty.span()=> #name: impl ::wattle::__private::builder::OfElement<'kernel, Element = #ty>);
            }
            Class::View(_) | Class::Function | Class::Value => built(function, ty),
        };
        bindings.extend(of_its_own(parameter));
        let (built, mutable) = (once(built, after), is_items.then(|| quote!(mut)));
        quote!(#mutable #name: #built)
    };
    (function.parameters.iter().map(parameter).collect(), bindings)
}

/// What stands for a type in the builder. It is said as directly as it can be: from the projection alone, rustc could
/// not infer the `T` of a generic function from its arguments.
fn built(function: &Function, ty: &Type) -> TokenStream {
    let span = ty.span();
    let build = quote_spanned!(span=> ::wattle::__private::builder);
    match ty {
        Type::Paren(inner) => return built(function, &inner.elem),
        Type::Group(inner) => return built(function, &inner.elem),
        Type::Tuple(tuple) => {
            let all = tuple.elems.iter().map(|ty| built(function, ty));
            return quote_spanned!(span=> (#(#all,)*));
        }
        Type::Array(array) => {
            let (element, len) = (&array.elem, &array.len);
            return quote_spanned!(span=> #build::Array<'kernel, #element, { #len }>);
        }
        Type::Path(path) => {
            if is_number(function, path) {
                return quote_spanned!(span=> #build::Val<'kernel, #ty>);
            }
            if let Some(last) = path.path.segments.last()
                && ["Read", "Shared", "Atomic"].iter().any(|view| last.ident == view)
                && let PathArguments::AngleBracketed(arguments) = &last.arguments
            {
                let (view, arguments) = (&last.ident, &arguments.args);
                return quote_spanned!(span=> #build::#view<'kernel, #arguments>);
            }
        }
        _ => {}
    }
    quote_spanned!(span=> <#ty as ::wattle::__private::KernelType>::Built<'kernel>)
}

/// Whether a path names a generic type of numbers.
fn is_number(function: &Function, path: &TypePath) -> bool {
    let mut generics = function.generics.type_params();
    generics.any(|generic| {
        path.path.is_ident(&generic.ident) && bounds(&function.generics, generic).any(is_bound_of_numbers)
    })
}

/// Whether a type is a generic one of elements, which may be a number, an array or a struct: one with a trait of the
/// user's is.
fn is_any_element(function: &Function, ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let is_of_elements = |bound: &TypeParamBound| !is_bound_of_library(bound) || is_bound_of_elements(bound);
    let mut generics = function.generics.type_params();
    generics.any(|generic| {
        path.path.is_ident(&generic.ident)
            && !is_number(function, path)
            && bounds(&function.generics, generic).any(is_of_elements)
    })
}

/// The type of what a reference refers to.
fn referred(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => referred(&reference.elem),
        Type::Paren(inner) => referred(&inner.elem),
        Type::Group(inner) => referred(&inner.elem),
        ty => ty,
    }
}

/// What stands for a `&mut` parameter in the builder: the caller's variable.
fn variable(function: &Function, ty: &Type) -> TokenStream {
    let span = ty.span();
    match ty {
        Type::Reference(reference) => variable(function, &reference.elem),
        Type::Paren(inner) => variable(function, &inner.elem),
        Type::Group(inner) => variable(function, &inner.elem),
        Type::Tuple(tuple) => {
            let all = tuple.elems.iter().map(|ty| variable(function, ty));
            quote_spanned!(span=> (#(#all,)*))
        }
        Type::Path(path) if is_number(function, path) => {
            quote_spanned!(span=> ::wattle::__private::builder::Var<'kernel, #ty>)
        }
        // A variable that is an array is the array itself.
        Type::Array(_) => built(function, ty),
        _ => {
            let built = built(function, ty);
            quote_spanned!(span=> <#built as ::wattle::__private::builder::IrValue<'kernel>>::Var)
        }
    }
}

/// The generics as parameters and as arguments.
fn generics(function: &Function) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
    for generic in &function.generics.params {
        match generic {
            GenericParam::Type(ty) => {
                let mut ty = ty.clone();
                ty.default = None;
                let name = &ty.ident;
                arguments.push(quote!(#name));
                parameters.push(quote!(#ty));
            }
            GenericParam::Const(constant) => {
                let mut constant = constant.clone();
                constant.default = None;
                let name = &constant.ident;
                arguments.push(quote!(#name));
                parameters.push(quote!(#constant));
            }
            GenericParam::Lifetime(_) => {}
        }
    }
    (parameters, arguments)
}

/// Attributes on generated code, about which lints are to be silent.
fn quiet() -> TokenStream {
    quote!(#[allow(unused, private_interfaces, clippy::all, clippy::pedantic, reason = "written by a macro")])
}

/// Attributes on the host's function: the user's own code, with some more parentheses and blocks.
fn host_attributes(function: &Function) -> TokenStream {
    let unused = function.refused.is_some().then(|| quote!(unused,));
    quote! {
        #[allow(
            #unused unused_parens, unused_braces, unused_labels, non_shorthand_field_patterns, private_interfaces, elided_lifetimes_in_paths, clippy::all, clippy::pedantic,
            reason = "a macro has written around it"
        )]
        #[inline(always)]
    }
}
