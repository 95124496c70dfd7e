//! Generic arguments with which a function can be named where it is not called.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{AngleBracketedGenericArguments, GenericArgument, GenericParam, Type, TypeParamBound, WherePredicate};

use crate::ast::Function;
use crate::numbers::is_int;
use crate::trait_bounds::{bounds, device_fn};

/// Generic arguments that satisfy the function's bounds, or `None` where these are not the library's own.
pub fn of(function: &Function) -> Option<TokenStream> {
    // More parameters than `wattle::__private::Function` has.
    if function.parameters.len() > 33 {
        return None;
    }
    let predicates = function.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let is_of_name = |predicate: &WherePredicate| match predicate {
        WherePredicate::Type(predicate) => {
            matches!(&predicate.bounded_ty, Type::Path(path) if path.path.get_ident().is_some() || is_dimensions(&path.path))
        }
        _ => false,
    };
    if !predicates.into_iter().all(is_of_name) {
        return None;
    }
    let mut known: Vec<(&Ident, TokenStream)> = Vec::new();
    // The types of functions are made of the others.
    for functions in [false, true] {
        for generic in &function.generics.params {
            let sample = match generic {
                GenericParam::Type(ty) => {
                    let bounds: Vec<_> = bounds(&function.generics, ty).collect();
                    match bounds.iter().find_map(|bound| device_fn(bound)) {
                        Some(arguments) if functions => (&ty.ident, pointer(arguments, &known)?),
                        None if !functions => (&ty.ident, scalar(&names(&bounds)?)?),
                        _ => continue,
                    }
                }
                GenericParam::Const(constant) if !functions => (&constant.ident, value(&constant.ty)?),
                GenericParam::Const(_) => continue,
                GenericParam::Lifetime(_) => return None,
            };
            known.push(sample);
        }
    }
    let of_name = |name: &Ident| known.iter().find(|(known, _)| *known == name).map(|(_, sample)| sample);
    let arguments: Option<Vec<_>> = function
        .generics
        .params
        .iter()
        .map(|generic| match generic {
            GenericParam::Type(ty) => of_name(&ty.ident),
            GenericParam::Const(constant) => of_name(&constant.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    let arguments = arguments?;
    Some(if arguments.is_empty() { TokenStream::new() } else { quote!(::<#(#arguments),*>) })
}

/// Whether a path is the library's `Dim<D>`, of which all samples are in bounds.
fn is_dimensions(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    names.next().is_some_and(|name| name == "Dim") && names.next().is_some_and(|name| name == "__private")
}

/// The names of the traits that are bounds.
fn names(bounds: &[&TypeParamBound]) -> Option<Vec<String>> {
    let name = |bound: &&TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    bounds.iter().map(name).collect()
}

/// A type of functions with these parameters and result.
fn pointer(arguments: &AngleBracketedGenericArguments, known: &[(&Ident, TokenStream)]) -> Option<TokenStream> {
    let mut arguments = arguments.args.iter();
    let (Some(GenericArgument::Type(parameters)), Some(GenericArgument::AssocType(output)), None) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return None;
    };
    let output = &output.ty;
    let (parameters, output) = (replaced(quote!(#parameters), known), replaced(quote!(#output), known));
    Some(quote! {
        fn(::wattle::__private::Parameters<#parameters>) -> ::wattle::__private::NoBodies<#parameters, #output>
    })
}

/// The type with samples for generics.
fn replaced(ty: TokenStream, known: &[(&Ident, TokenStream)]) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), replaced(group.stream(), known))).into()
        }
        TokenTree::Ident(name) => match known.iter().find(|(known, _)| **known == name) {
            Some((_, sample)) => sample.clone(),
            None => TokenTree::Ident(name).into(),
        },
        token => token.into(),
    };
    ty.into_iter().map(replace).collect::<Vec<TokenStream>>().into_iter().collect()
}

fn scalar(bounds: &[String]) -> Option<TokenStream> {
    let known = ["Scalar", "Element", "Number", "Signed", "Int", "Float", "AtomicScalar", "AtomicInt", "Copy"];
    if !bounds.iter().all(|bound| known.contains(&bound.as_str())) {
        return None;
    }
    let has = |name: &str| bounds.iter().any(|bound| bound == name);
    Some(match (has("Float"), has("Signed")) {
        (true, _) => quote!(f32),
        (false, true) => quote!(i32),
        (false, false) => quote!(u32),
    })
}

fn value(ty: &Type) -> Option<TokenStream> {
    let Type::Path(path) = ty else { return None };
    Some(match path.path.get_ident()?.to_string().as_str() {
        "bool" => quote!(true),
        "usize" | "isize" => quote!(1),
        name if is_int(name) => quote!(1),
        _ => return None,
    })
}
