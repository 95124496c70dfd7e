//! The bounds on type parameters, by the names of the traits.

use syn::{PathArguments, TypeParamBound, WherePredicate};

/// The traits whose types are numbers, or truth values.
const NUMBERS: [&str; 8] = ["Scalar", "Number", "Signed", "Int", "Word", "Float", "AtomicScalar", "AtomicFloat"];

/// The other traits, of the library and of `std`, that type parameters of kernels may be bounded by.
const OTHERS: [&str; 14] = [
    "Element",
    "KernelType",
    "KernelValue",
    "DeviceFn",
    "Copy",
    "Clone",
    "Send",
    "Sync",
    "Sized",
    "Default",
    "Debug",
    "Display",
    "PartialEq",
    "PartialOrd",
];

/// The bounds on a type parameter.
pub fn bounds<'g>(
    generics: &'g syn::Generics,
    generic: &'g syn::TypeParam,
) -> impl Iterator<Item = &'g TypeParamBound> {
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let more = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => match &predicate.bounded_ty {
            syn::Type::Path(path) if path.path.is_ident(&generic.ident) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    generic.bounds.iter().chain(more.flatten())
}

/// The generic arguments of a bound `DeviceFn<…>`.
pub fn device_fn(bound: &TypeParamBound) -> Option<&syn::AngleBracketedGenericArguments> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last().filter(|last| last.ident == "DeviceFn")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => Some(arguments),
        _ => None,
    }
}

/// The bounds on a type that is `impl …` or a type parameter.
fn bounds_on<'g>(ty: &'g syn::Type, generics: &'g syn::Generics) -> Vec<&'g TypeParamBound> {
    match ty {
        syn::Type::Group(inner) => bounds_on(&inner.elem, generics),
        syn::Type::ImplTrait(all) => all.bounds.iter().collect(),
        syn::Type::Path(path) => {
            let named = generics.type_params().find(|generic| path.path.is_ident(&generic.ident));
            named.map_or(Vec::new(), |generic| bounds(generics, generic).collect())
        }
        _ => Vec::new(),
    }
}

/// Whether the type of a parameter is a function: `impl DeviceFn<…>`, or a type parameter with that bound.
pub fn is_function(ty: &syn::Type, generics: &syn::Generics) -> bool {
    bounds_on(ty, generics).into_iter().any(|bound| device_fn(bound).is_some())
}

/// The number of arguments that a function takes, where its bound says it: 2 of `DeviceFn<(f32, f32), …>`.
pub fn takes(ty: &syn::Type, generics: &syn::Generics) -> Option<usize> {
    match bounds_on(ty, generics).into_iter().find_map(device_fn)?.args.first()? {
        syn::GenericArgument::Type(syn::Type::Tuple(tuple)) => Some(tuple.elems.len()),
        _ => None,
    }
}

/// Whether a bound is a trait of one of these names.
pub fn is_named(bound: &TypeParamBound, names: &[&str]) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
        }
        _ => false,
    }
}

/// Whether the types are numbers.
pub fn is_bound_of_numbers(bound: &TypeParamBound) -> bool {
    is_named(bound, &NUMBERS)
}

/// Whether the trait is none of the user's.
pub fn is_bound_of_library(bound: &TypeParamBound) -> bool {
    is_named(bound, &NUMBERS) || is_named(bound, &OTHERS) || matches!(bound, TypeParamBound::Lifetime(_))
}

/// Whether the types are elements of memory.
pub fn is_bound_of_elements(bound: &TypeParamBound) -> bool {
    is_named(bound, &["Element"])
}
