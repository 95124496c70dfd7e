//! Device functions as values: closures, and functions of types and traits. Both bodies are closures of one function,
//! since only so do they see the generics around them.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{ItemFn, Result, Type, WherePredicate};

use super::quiet;
use crate::ast::{Block, Class, Closure, Function, Local, Parameter, Pattern};
use crate::build::Build;
use crate::host::Host;
use crate::names::{self, private};
use crate::rules::Rules;
use crate::signature::{Standing, parse};
use crate::surroundings::{self, Around};

/// A function whose bodies are written as values.
struct Bodies<'f> {
    /// The function's name in reports.
    name: &'f str,
    parameters: &'f [(Pattern, Option<Type>)],
    /// The parameters that are `&mut`, by number: they are lent, and given back beside the result.
    lent: BTreeMap<usize, Local>,
    result: Option<&'f Type>,
    body: &'f Block,
    /// Whether there is a `return` in the body.
    returns: bool,
    /// Whether the body was refused.
    is_refused: bool,
    /// Whether the function may stand within another body, which then declares what calls of methods that do not exist
    /// find.
    is_closure: bool,
}

impl Bodies<'_> {
    /// The statements that make the bodies, of what asks for them.
    fn write(&self, ask: &Ident) -> TokenStream {
        let (host, both, draft) = (private("host"), private("both"), private("draft"));
        let (host_body, build_body) = (self.host(), self.build());
        let quiet = quiet();
        quote! {
            let #draft = ::wattle::__private::draft_bodies(#ask, |#ask| {
                #[allow(
                    unused_parens, unused_braces, unused_labels, clippy::all, clippy::pedantic,
                    reason = "a macro has written around it"
                )]
                let #host = ::wattle::__private::draft_host(#ask, #host_body);
                #quiet
                let #both = ::wattle::__private::DraftHost::build(#host, #build_body);
                #both
            });
            // SAFETY: these are the two bodies of one function, in the subset that keeps no view and names nothing but
            // its own variables, constants and what this library gives to kernels; the closure around them captures
            // nothing. No word of the user's is in this block.
            unsafe { ::wattle::__private::DraftBodies::vouch(#draft) }
        }
    }

    fn host(&self) -> TokenStream {
        let (thread, value) = (private("thread"), private("value"));
        let names: Vec<_> = self.lent.values().map(|local| &local.name).collect();
        let mut host = Host::of_closure();
        host.lent = names.iter().map(|name| (*name).clone()).collect();
        let pattern = |(number, (pattern, _)): (usize, &(Pattern, _))| match self.lent.get(&number) {
            Some(Local { name, .. }) => quote!(#name),
            None => host.pattern(pattern, false),
        };
        let patterns: Vec<_> = self.parameters.iter().enumerate().map(pattern).collect();
        let types = self.parameters.iter().map(|(_, ty)| ty.as_ref().map_or_else(|| quote!(_), |ty| quote!(#ty)));
        let body = match (self.is_refused, self.is_closure) {
            (false, false) => host.body(self.body),
            (false, true) => host.block(self.body),
            (true, _) => quote!(::core::unreachable!()),
        };
        let result = self.result.map(|result| quote!(: #result));
        let returned = host.returned(quote!(#value));
        quote! {
            |#thread, (#(#patterns,)*): (#(#types,)*)| {
                #[allow(unused_imports, reason = "not every function has use for them")]
                use ::wattle::__private::{Called as _, NotMarked as _};
                #(let #names = &mut ::wattle::__private::lent(#names);)*
                let #value #result = #body;
                #[allow(unreachable_code, reason = "the body may never end")]
                return #returned;
            }
        }
    }

    fn build(&self) -> TokenStream {
        let (builder, value, result, body) = (private("builder"), private("value"), private("result"), private("body"));
        let mut build = Build::new(false);
        let parts: Vec<_> = (0..self.parameters.len()).map(|number| private(&format!("parameter{number}"))).collect();
        let bindings: TokenStream = self
            .parameters
            .iter()
            .zip(&parts)
            .enumerate()
            .map(|(number, ((pattern, _), part))| match self.lent.get(&number) {
                Some(local @ Local { name, .. }) => {
                    let text = local.display();
                    quote!(let #name = #builder.variable(#part.0, #text);)
                }
                None => build.parameter(pattern, quote!(#part)),
            })
            .collect();
        let built = match self.is_refused {
            true => quote!(#builder.unreachable()),
            false => build.value(self.body),
        };
        // A `return` leaves a block around the body, with the value in a variable.
        let built = match self.result {
            Some(ty) if self.returns && !self.is_refused => quote! {
                let #result = #builder.join(
                    #builder.unreachable::<<#ty as ::wattle::__private::KernelType>::Built<'_>>(),
                );
                let #body = #builder.block_begin();
                let #value = #built;
                ::wattle::__private::Variable::set(&#result, #value);
                #builder.block_end();
                let #value = ::wattle::__private::Variable::get(&#result);
            },
            _ => quote!(let #value = #built;),
        };
        let (name, lent) = (self.name, self.lent.values().map(|local| &local.name));
        let mut returned = quote!(#value);
        for lent in lent.rev() {
            returned = quote!((#returned, ::wattle::__private::Variable::get(&#lent)));
        }
        // What is returned may be made of what is lent, which the caller changes before it uses it.
        let hold = (!self.lent.is_empty()).then(|| quote!(let #value = #builder.copied(#value);));
        quote! {
            |#builder, (#(#parts,)*)| {
                if !#builder.call_begin(#name) {
                    return #builder.unreachable();
                }
                use ::wattle::__private::{Called as _, NotMarked as _};
                #bindings
                #built
                #hold
                let #value = #returned;
                #builder.call_end();
                #value
            }
        }
    }
}

/// A closure, as a value that is a device function.
pub fn closure(closure: &Closure) -> TokenStream {
    let Closure { parameters, result, body, returns } = closure;
    let bodies = Bodies {
        name: "closure",
        parameters,
        lent: BTreeMap::new(),
        result: result.as_ref(),
        body,
        returns: *returns,
        is_refused: false,
        is_closure: true,
    };
    let ask = private("ask");
    let bodies = bodies.write(&ask);
    let types: Option<Vec<_>> = parameters.iter().map(|(_, ty)| ty.as_ref()).collect();
    match types {
        // It can stand by itself.
        Some(types) => {
            let result = result.as_ref().map_or_else(|| quote!(_), |result| quote!(#result));
            quote!(::wattle::__private::typed_closure::<(#(#types,)*), #result, _>(|#ask| { #bodies }))
        }
        None => quote!(|#ask| { #bodies }),
    }
}

/// The type of what a `&mut` parameter refers to.
fn value_type(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => &reference.elem,
        Type::Group(inner) => value_type(&inner.elem),
        ty => ty,
    }
}

/// What a function of a type is given for a parameter.
fn given(parameter: &Parameter) -> Type {
    let ty = value_type(&parameter.ty);
    match parameter.class {
        Class::Exclusive => syn::parse_quote!(::wattle::__private::ByMut<#ty>),
        Class::Acc(_) | Class::View(_) | Class::Function | Class::Value => ty.clone(),
    }
}

/// The functions that are written for a device function of an `impl` or `trait`.
#[derive(Clone, Copy, PartialEq)]
pub enum Written {
    /// The function of its name, and the method beside it that finds it by its receiver.
    Both,
    /// The function and the method, as a trait declares them: without bodies.
    Declaration,
    /// The method that is found by its receiver.
    Method,
    /// What gives the bodies of an operator.
    Operator,
}

/// A device function of an `impl` or `trait`.
pub fn associated(item: ItemFn, rules: Rules, written: Written) -> Result<TokenStream> {
    Ok(write(&parsed(item, rules, written)?, rules, written))
}

/// A device function of an `impl` or `trait`, checked.
pub(super) fn parsed(mut item: ItemFn, rules: Rules, written: Written) -> Result<Function> {
    let has_receiver = item.sig.receiver().is_some();
    let around = surroundings::around(item.sig.ident.span());
    let is_generic = around.as_ref().is_none_or(|around| around.is_generic);
    if written != Written::Method {
        let Around { numbers, is_generic_impl, .. } = around.unwrap_or_default();
        let is_number = numbers.iter().any(|(name, _)| name == "Self");
        let predicates = &mut item.sig.generics.make_where_clause().predicates;
        // The parser sees them there.
        predicates
            .extend(numbers.iter().map(|(name, traits)| -> WherePredicate { syn::parse_quote!(#name: #(#traits)+*) }));
        // Where `Self` is made of parameters, a bound would hide what stands for it in a builder.
        if has_receiver && !is_number && !is_generic_impl && written != Written::Operator {
            predicates.push(syn::parse_quote!(Self: ::core::marker::Sized + ::wattle::__private::KernelType));
        }
    }
    parse(item, Standing::Associated { is_generic }, rules)
}

/// The parameters of a function that are lent to it, by number: their values come back beside its result.
fn lent(function: &Function) -> impl DoubleEndedIterator<Item = (usize, &Parameter)> {
    function.parameters.iter().enumerate().filter(|(_, parameter)| parameter.class == Class::Exclusive)
}

/// The two bodies of a function with this result.
fn bodies(function: &Function, rules: Rules, result: &Type) -> TokenStream {
    let parameter = |parameter: &Parameter| (Pattern::Local(parameter.local.clone()), Some(given(parameter)));
    let parameters: Vec<_> = function.parameters.iter().map(parameter).collect();
    let bodies = Bodies {
        name: &function.name.to_string(),
        parameters: &parameters,
        lent: lent(function).map(|(number, parameter)| (number, parameter.local.clone())).collect(),
        result: Some(result),
        body: &function.body,
        returns: function.returns,
        is_refused: function.refused.is_some(),
        is_closure: false,
    };
    rules.apply(bodies.write(&private("ask")))
}

/// The functions that are written for a device function of an `impl` or `trait`.
pub(super) fn write(function: &Function, rules: Rules, written: Written) -> TokenStream {
    let (name, ask) = (&function.name, private("ask"));
    let (attributes, visibility, refused) = (&function.attributes, &function.visibility, &function.refused);
    let generics = &function.generics;
    // That of an operator's function is the trait's, which has none.
    let where_clause = generics.where_clause.as_ref().filter(|_| written != Written::Operator);
    let has_receiver = function.parameters.first().is_some_and(|parameter| parameter.local.is_self());
    let types: Vec<_> = function.parameters.iter().map(given).collect();
    let unit = syn::parse_quote!(());
    let result = function.result.as_ref().unwrap_or(&unit);
    // The first one is outermost, so that a call can take back its receiver and know nothing of the others.
    let output = lent(function).rev().fold(quote!(#result), |result, (_, parameter)| {
        let ty = value_type(&parameter.ty);
        quote!((#result, #ty))
    });
    let fn_token = quote::quote_spanned!(name.span()=> fn);
    let signature = |name: &Ident, receiver: Option<TokenStream>| {
        quote! {
            #fn_token #name #generics (
                #receiver
                #ask: ::wattle::__private::Parameters<(#(#types,)*)>,
            ) -> impl ::wattle::__private::GivesBodies<(#(#types,)*), Output = #output> #where_clause
        }
    };
    let method = names::by_receiver(name);
    let bodies = || bodies(function, rules, result);
    // Of a trait's function the trait has it: an `impl` could not say which of two traits' functions it means.
    let by_receiver = |is_of_trait: bool| {
        let (_, arguments) = super::generics(function);
        let of_function = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        let signature = signature(&method, Some(quote!(self,)));
        (has_receiver && !is_of_trait).then(|| {
            quote! {
                #(#of_function)*
                #[doc(hidden)]
                #[inline]
                #[allow(dead_code, reason = "not every function is called as a method")]
                #visibility #signature {
                    Self::#name::<#(#arguments),*>(#ask)
                }
            }
        })
    };
    match written {
        Written::Declaration => {
            let (signature, by_receiver) = (signature(name, None), by_receiver(false));
            quote!(#(#attributes)* #visibility #signature; #by_receiver)
        }
        Written::Both => {
            let by_receiver = by_receiver(surroundings::implemented(name.span()).is_some());
            let (signature, bodies) = (signature(name, None), bodies());
            quote! {
                #(#attributes)*
                #[inline]
                #visibility #signature {
                    #refused
                    #bodies
                }
                #by_receiver
            }
        }
        Written::Method => {
            let (signature, bodies) = (signature(&method, Some(quote!(self,))), bodies());
            quote!(#[inline] #signature { #bodies })
        }
        Written::Operator => {
            let (signature, bodies) = (signature(&Ident::new("bodies", name.span()), None), bodies());
            quote!(#[inline] #signature { #refused #bodies })
        }
    }
}
