//! Generic arguments with which a function can be named where it is not called.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericParam, Type, TypeParamBound, WherePredicate};

use crate::ast::Function;

/// Generic arguments that satisfy the function's bounds, or `None` where these are not the library's own.
pub fn of(function: &Function) -> Option<TokenStream> {
    // More parameters than `wattle::__private::Function` has.
    if function.parameters.len() > 33 {
        return None;
    }
    let mut arguments = Vec::new();
    for generic in &function.generics.params {
        arguments.push(match generic {
            GenericParam::Type(ty) => scalar(&bounds_of(function, ty)?)?,
            GenericParam::Const(constant) => value(&constant.ty)?,
            GenericParam::Lifetime(_) => return None,
        });
    }
    Some(if arguments.is_empty() { TokenStream::new() } else { quote!(::<#(#arguments),*>) })
}

/// The names of the bounds on a type parameter.
fn bounds_of(function: &Function, ty: &syn::TypeParam) -> Option<Vec<String>> {
    let mut bounds: Vec<_> = ty.bounds.iter().collect();
    for predicate in function.generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        let WherePredicate::Type(predicate) = predicate else { return None };
        match &predicate.bounded_ty {
            Type::Path(path) if path.path.is_ident(&ty.ident) => bounds.extend(&predicate.bounds),
            Type::Path(path) if path.path.get_ident().is_some() => {}
            _ => return None,
        }
    }
    let name = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    bounds.into_iter().map(name).collect()
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
        "usize" | "u8" | "u16" | "u32" | "u64" | "isize" | "i8" | "i16" | "i32" | "i64" => quote!(1),
        _ => return None,
    })
}
