//! The type parameters and const generics of a function in kernels: which it may have, and what is added to their
//! bounds.

use proc_macro2::Ident;
use syn::punctuated::Punctuated;
use syn::{PathArguments, Result, Token, TypeParamBound, WherePredicate};

use crate::ast::{Class, Parameter};
use crate::parse::error;
use crate::source;
use crate::trait_bounds::{bounds, is_bound_of_numbers, is_named};

/// Refuses a type parameter that may be anything: by bounds of the standard library alone kernels know nothing of it.
pub(super) fn refuse_unbounded(generics: &syn::Generics, generic: &syn::TypeParam) -> Result<()> {
    const FUNCTIONS: [&str; 3] = ["Fn", "FnMut", "FnOnce"];
    const OTHERS: [&str; 18] = [
        "Copy",
        "Clone",
        "Send",
        "Sync",
        "Sized",
        "Default",
        "Debug",
        "Display",
        "PartialEq",
        "Eq",
        "PartialOrd",
        "Ord",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Rem",
        "Neg",
    ];
    let bounds: Vec<_> = bounds(generics, generic).collect();
    let is_of_functions = |bound: &TypeParamBound| is_named(bound, &FUNCTIONS);
    let is_function = bounds.iter().any(|bound| is_of_functions(bound));
    let is_standard = |bound: &TypeParamBound| is_of_functions(bound) || is_named(bound, &OTHERS);
    if !bounds.iter().all(|bound| matches!(bound, TypeParamBound::Lifetime(_)) || is_standard(bound)) {
        return Ok(());
    }
    let name = &generic.ident;
    let message = match is_function {
        true => format!("a function that a kernel takes has the bound `{name}: DeviceFn<(f32,), Output = f32>`"),
        false => format!(
            "`{name}` may be any type; bound it by what the kernel does with it: `{name}: Element` in memory, `{name}: Number`, \
             `{name}: Float` or `{name}: Int` for arithmetic, `{name}: AtomicScalar` for atomics"
        ),
    };
    error(generic, &message)
}

/// Bounds the const generics that are numbers of dimensions, `D` of `Acc<D>` and `Read<T, D>`: there are 1 to 4.
pub(super) fn bound_ranks(generics: &mut syn::Generics, parameters: &[Parameter]) {
    let is_rank = |name: &Ident| {
        parameters.iter().any(|parameter| match &parameter.class {
            Class::Acc(Some(rank)) => matches!(rank, syn::Expr::Path(path) if path.path.is_ident(name)),
            Class::View(_) => rank(&parameter.ty).is_some_and(|rank| is_name(rank, name)),
            Class::Acc(None) | Class::Exclusive | Class::Function | Class::Value => false,
        })
    };
    let ranks: Vec<Ident> = generics.const_params().map(|constant| constant.ident.clone()).filter(is_rank).collect();
    for rank in ranks {
        let bound = syn::parse_quote_spanned!(rank.span()=> ::wattle::__private::Dim<#rank>: ::wattle::__private::Walk);
        generics.make_where_clause().predicates.push(bound);
    }
}

/// Leaves out the bound `Element` of types that are numbers, which are elements anyway. Where it is written, rustc
/// takes nothing from the library's own `impl`s for numbers: neither what stands for one in the builder, nor its
/// operators.
pub(super) fn leave_out_elements(generics: &mut syn::Generics) {
    let is_redundant = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => match bound.path.get_ident() {
            Some(name) => name == "Element" && !source::may_have_type("Element", name.span()),
            None => {
                let segments = &bound.path.segments;
                segments.first().is_some_and(|root| root.ident == "wattle")
                    && segments.last().is_some_and(|last| last.ident == "Element")
            }
        },
        _ => false,
    };
    let of_numbers = generics.type_params().filter(|generic| bounds(generics, generic).any(is_bound_of_numbers));
    let of_numbers: Vec<Ident> = of_numbers.map(|generic| generic.ident.clone()).collect();
    let kept = |all: &mut Punctuated<TypeParamBound, Token![+]>| {
        *all = std::mem::take(all).into_iter().filter(|bound| !is_redundant(bound)).collect();
    };
    for generic in generics.type_params_mut().filter(|generic| of_numbers.contains(&generic.ident)) {
        kept(&mut generic.bounds);
    }
    for predicate in generics.where_clause.iter_mut().flat_map(|clause| &mut clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate
            && matches!(&predicate.bounded_ty, syn::Type::Path(path) if of_numbers.iter().any(|name| path.path.is_ident(name)))
        {
            kept(&mut predicate.bounds);
        }
    }
}

/// The number of dimensions of a view, where its type says one.
pub fn rank(view: &syn::Type) -> Option<&syn::GenericArgument> {
    match view {
        syn::Type::Group(inner) => rank(&inner.elem),
        syn::Type::Reference(inner) => rank(&inner.elem),
        syn::Type::Path(path) => match &path.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().nth(1),
            PathArguments::None | PathArguments::Parenthesized(_) => None,
        },
        _ => None,
    }
}

/// Whether a generic argument is this name alone.
fn is_name(argument: &syn::GenericArgument, name: &Ident) -> bool {
    match argument {
        syn::GenericArgument::Type(syn::Type::Path(path)) => path.path.is_ident(name),
        syn::GenericArgument::Const(syn::Expr::Path(path)) => path.path.is_ident(name),
        _ => false,
    }
}
