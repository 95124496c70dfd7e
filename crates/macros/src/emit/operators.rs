//! What `#[device_fn]` makes of an operator's `impl`: the `impl` itself for the host, and the library's beside it for
//! kernels.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{GenericArgument, ImplItem, ItemFn, ItemImpl, Path, PathArguments, Result, Type};

use super::Written;
use super::bodies::{parsed, write};
use crate::ast::{ExprKind, Function};
use crate::names;
use crate::rules::Rules;

pub fn operator(item: &ItemImpl, rules: Rules) -> Result<TokenStream> {
    let (path, of, other) = of_trait(item)?;
    let (mut output, mut functions) = (None, Vec::new());
    for part in &item.items {
        match part {
            ImplItem::Type(ty) if ty.ident == "Output" => output = Some(&ty.ty),
            ImplItem::Fn(function) => functions.push(function),
            part => return Err(syn::Error::new(part.span(), "an operator has `type Output` and its function")),
        }
    }
    if functions.len() > 1 {
        return Err(syn::Error::new(functions[1].span(), "an operator has one function"));
    }
    // What is missing rustc says of the `impl` itself.
    let (Some(output), [function]) = (output, &functions[..]) else { return Ok(item.to_token_stream()) };
    for ty in [Some(&*item.self_ty), other.as_ref(), Some(output)].into_iter().flatten() {
        if let Type::Reference(reference) = ty {
            let message = "kernels have values and no references to them: mark the `impl` for the types themselves";
            return Err(syn::Error::new(reference.span(), message));
        }
    }
    let function: ItemFn = syn::parse2(function.to_token_stream())?;
    let function = parsed(function, rules, Written::Operator)?;
    let of_host = match function.refused.is_none() && !calls(&function) {
        true => item.to_token_stream(),
        // A device function has no body that the host could call. The trait is imported for nothing else.
        false => {
            let (generics, where_clause) = (&item.generics, &item.generics.where_clause);
            let attributes = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
            quote! {
                #(#attributes)*
                const _: () = {
                    #[allow(dead_code, reason = "it uses the import")]
                    trait OfHost #generics: #path + ::core::marker::Sized #where_clause {}
                };
            }
        }
    };
    let bodies = write(&function, rules, Written::Operator);
    let (generics, _, where_clause) = item.generics.split_for_impl();
    let own = &item.self_ty;
    let attributes = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let of_kernels = match other {
        None if of == "Neg" => quote!(::wattle::__private::Negation),
        other => {
            let other = other.as_ref().unwrap_or(own);
            quote!(::wattle::__private::Operator<::wattle::__private::operator::#of, #other>)
        }
    };
    Ok(quote! {
        #of_host
        #(#attributes)*
        impl #generics #of_kernels for #own #where_clause {
            type Output = #output;
            #bodies
        }
    })
}

/// The trait, its name, and the type of its other operand where it is written.
fn of_trait(item: &ItemImpl) -> Result<(&Path, &Ident, Option<Type>)> {
    let Some((path, _)) = &item.trait_ else {
        let message = "`#[device_fn]` stands on each function of an `impl`; on an `impl` as a whole it marks an operator: `impl Add \
                       for Vector`";
        return Err(syn::Error::new(item.impl_token.span, message));
    };
    let Some(last) = path.segments.last() else {
        return Err(syn::Error::new(path.span(), "an operator's `impl` names its trait"));
    };
    let of = last.ident.to_string();
    if !names::structs_may_have(&of) {
        return Err(syn::Error::new(last.span(), refusal(&of)));
    }
    let other = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty.clone()),
            _ => None,
        }),
        PathArguments::None | PathArguments::Parenthesized(_) => None,
    };
    Ok((path, &last.ident, other))
}

/// What is said of the `impl` of a trait that is no operator of structs in kernels.
pub fn refusal(of: &str) -> String {
    if let Some(of) = of.strip_suffix("Assign").filter(|of| names::structs_may_have(of)) {
        return format!(
            "in kernels `v += w` is `v = v + w`, as with every operator: mark `impl {of} for …` and leave this one as it is"
        );
    }
    match of {
        "PartialEq" => "kernels compare structs part by part, `v == w`, without an `impl`: leave out the attribute".to_owned(),
        of if names::is_trait_of_operators(of) => format!(
            "structs in kernels have the operators `+ - * / %` and `-x`, and not those of `{of}`; write a method with `#[device_fn]` \
             in an `impl` of the type, and call it"
        ),
        _ => "`#[device_fn]` stands on each function of an `impl`; on an `impl` as a whole it marks an operator, `impl Add for Vector`"
            .to_owned(),
    }
}

/// Whether the body calls a function of the user's.
fn calls(function: &Function) -> bool {
    function.body.any(&|x| matches!(x.kind, ExprKind::Call { .. }))
}
