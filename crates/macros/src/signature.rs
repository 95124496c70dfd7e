//! A function's signature, as it may be in kernels.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{
    FnArg, GenericParam, ItemFn, Pat, Path, PathArguments, ReceiverKind, Result, ReturnType, Token, TypeParamBound,
    WherePredicate,
};

use crate::ast::{Block, Class, Function, Parameter, View};
use crate::parse::{Parser, check_marker_parameter, check_type, class, error, is_bound_of_numbers, is_half};
use crate::recursion;
use crate::rules::Rules;
use crate::source;

/// The path of a device function, and the generic arguments of its call.
pub fn callee(path: &Path) -> (Path, Option<TokenStream>) {
    let mut path = path.clone();
    let mut generics = None;
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = std::mem::take(&mut last.arguments)
    {
        let arguments = arguments.args;
        generics = Some(quote!(::<#arguments>));
    }
    (path, generics)
}

/// The most parameters of a kernel behind its first: as many have types in `wattle`.
const MOST_PARAMETERS: usize = 32;

/// Attributes within a function. The compiler has not looked at them when it calls this macro, and what is written in
/// the function's place would be without them.
#[derive(Default)]
struct Attributes(Option<syn::Error>);

impl<'ast> Visit<'ast> for Attributes {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        let what = if attribute.path().is_ident("cfg") {
            "`cfg` does not reach into kernels; put it on the whole function, or choose by a constant: `if FAST { … }`"
        } else {
            "attributes within a kernel are not kept; put it on the whole function"
        };
        let error = syn::Error::new_spanned(attribute, what);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }
}

/// The attributes of a function that stay on what is written in its place: those that change no code. An attribute
/// macro would be given the host's function, which holds views, and could write anything around it.
const PLAIN: [&str; 11] =
    ["doc", "cfg", "allow", "expect", "warn", "deny", "forbid", "deprecated", "must_use", "inline", "cold"];
/// The tools whose attributes rustc passes over.
const TOOLS: [&str; 3] = ["rustfmt", "clippy", "diagnostic"];

/// `cfg_attr` is not among them: rustc has put what it holds in its place.
fn is_plain(attribute: &syn::Attribute) -> bool {
    let path = attribute.path();
    let is_of_tool = || path.segments.first().is_some_and(|first| TOOLS.iter().any(|tool| first.ident == tool));
    PLAIN.iter().any(|name| path.is_ident(name)) || (path.segments.len() > 1 && is_of_tool())
}

fn refuse_attributes(item: &ItemFn) -> Result<()> {
    if let Some(other) = item.attrs.iter().find(|attribute| !is_plain(attribute)) {
        let name = other.path().to_token_stream().to_string().replace(' ', "");
        let message = format!(
            "`{name}` might change what is written for a kernel: put it above `#[kernel]` or `#[device_fn]`, where it sees the \
             function as you wrote it"
        );
        return error(other, &message);
    }
    let mut attributes = Attributes::default();
    item.sig.inputs.iter().for_each(|input| attributes.visit_fn_arg(input));
    attributes.visit_block(&item.block);
    attributes.0.map_or(Ok(()), Err)
}

/// The place in the program where a function is defined.
#[derive(Clone, Copy, PartialEq)]
pub enum Standing {
    Kernel,
    /// A device function of a module.
    Free,
    /// A device function of an `impl` or `trait`; `is_generic` says whether its types may be type parameters from
    /// there.
    Associated {
        is_generic: bool,
    },
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
fn is_function(ty: &syn::Type, generics: &syn::Generics) -> bool {
    bounds_on(ty, generics).into_iter().any(|bound| device_fn(bound).is_some())
}

/// How many arguments a function takes, where its bound says them: `DeviceFn<(f32, f32), …>`.
fn takes(ty: &syn::Type, generics: &syn::Generics) -> Option<usize> {
    match bounds_on(ty, generics).into_iter().find_map(device_fn)?.args.first()? {
        syn::GenericArgument::Type(syn::Type::Tuple(tuple)) => Some(tuple.elems.len()),
        _ => None,
    }
}

/// Refuses a type parameter that may be anything: by bounds of the standard library alone kernels know nothing of it.
fn is_bounded(generics: &syn::Generics, generic: &syn::TypeParam) -> Result<()> {
    const STANDARD: [&str; 21] = [
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
        "Fn",
        "FnMut",
        "FnOnce",
    ];
    let bounds: Vec<_> = bounds(generics, generic).collect();
    let is_function = bounds.iter().any(|bound| is_named(bound, &STANDARD[18..]));
    if !bounds.iter().all(|bound| matches!(bound, TypeParamBound::Lifetime(_)) || is_named(bound, &STANDARD)) {
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

/// Whether a bound is a trait of one of these names.
fn is_named(bound: &TypeParamBound, names: &[&str]) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
        }
        _ => false,
    }
}

/// Bounds the const generics that are numbers of dimensions, `D` of `Acc<D>` and `Read<T, D>`: there are 1 to 4.
fn bound_ranks(generics: &mut syn::Generics, parameters: &[Parameter]) {
    let is_rank = |name: &Ident| {
        parameters.iter().any(|parameter| match &parameter.class {
            Class::Acc(Some(rank)) => matches!(rank, syn::Expr::Path(path) if path.path.is_ident(name)),
            Class::View(_) => rank(&parameter.ty).is_some_and(|rank| rank == name),
            _ => false,
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
fn leave_out_elements(generics: &mut syn::Generics) {
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

/// The name that is the number of dimensions of a view, where it is one.
fn rank(view: &syn::Type) -> Option<&Ident> {
    match view {
        syn::Type::Group(inner) => rank(&inner.elem),
        syn::Type::Path(path) => match &path.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.iter().nth(1)? {
                syn::GenericArgument::Type(syn::Type::Path(path)) => path.path.get_ident(),
                syn::GenericArgument::Const(syn::Expr::Path(path)) => path.path.get_ident(),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

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

/// Whether a float of 16 bits is named.
fn names_half(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => names_half(group.stream()),
        TokenTree::Ident(name) => is_half(&name.to_string()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The function, checked. Its body alone may be refused: then it is empty, and the errors are beside it.
pub fn parse(mut item: ItemFn, standing: Standing, rules: Rules) -> Result<Function> {
    let is_kernel = standing == Standing::Kernel;
    refuse_attributes(&item)?;
    let signature = &item.sig;
    let what = if is_kernel { "a kernel" } else { "a device function" };
    let unsafe_token = match &signature.safety {
        syn::Safety::Unsafe(token) => Some(token),
        _ => None,
    };
    for (found, word) in [
        (signature.asyncness.map(|token| token.span()), "async"),
        (unsafe_token.map(|token| token.span()), "unsafe"),
        (signature.constness.map(|token| token.span()), "const"),
        (signature.abi.as_ref().map(Spanned::span), "extern"),
    ] {
        if let Some(span) = found {
            return Err(syn::Error::new(span, format!("{what} is a plain function; leave out `{word}`")));
        }
    }
    for generic in &signature.generics.params {
        if let GenericParam::Lifetime(lifetime) = generic {
            return error(lifetime, "kernels and device functions have no lifetimes; views are written without");
        }
    }
    let is_associated = matches!(standing, Standing::Associated { .. });
    if !is_associated {
        signature.generics.type_params().try_for_each(|generic| is_bounded(&signature.generics, generic))?;
    }
    let mut parser = Parser::new(is_kernel, &signature.generics, rules);
    // Rust has no literals of 16 bits, so they take the type that their place decides as in a generic function.
    if standing == (Standing::Associated { is_generic: true }) || names_half(quote!(#item)) {
        parser.assume_generic();
    }
    let mut parameters = Vec::new();
    let mut anonymous: Vec<GenericParam> = Vec::new();
    for (number, input) in signature.inputs.iter().enumerate() {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) if is_associated => {
                let (class, mutable) = match &receiver.kind {
                    ReceiverKind::Value => (Class::Value, receiver.mutability),
                    ReceiverKind::Reference(_, _, None) => (Class::Value, None),
                    ReceiverKind::Reference(_, _, Some(_)) => (Class::Exclusive, None),
                    _ => return error(receiver, "a device function takes `self`, `&self` or `&mut self`"),
                };
                let local = parser.declare_self(receiver.self_token.span, mutable, class == Class::Exclusive);
                let ty: syn::Type = syn::parse_quote!(Self);
                parser.has_type(&local, &ty);
                parameters.push(Parameter { local, written: ty.clone(), ty, class });
                continue;
            }
            FnArg::Receiver(receiver) => {
                let message = format!("{what} is a free function; pass what it needs as parameters");
                return error(receiver, &message);
            }
        };
        let Pat::Ident(name) = &*typed.pat else {
            return error(&typed.pat, "a parameter here is a name; take tuples apart in the body");
        };
        check_marker_parameter(&typed.ty, &signature.generics)?;
        if is_kernel && number > MOST_PARAMETERS {
            let message = format!(
                "a kernel has at most {MOST_PARAMETERS} parameters behind `acc`; put numbers that belong together into a \
                 buffer, `x: Read<f32>`, or views into one with more dimensions"
            );
            return error(typed, &message);
        }
        let class = match is_function(&typed.ty, &signature.generics) {
            true => Class::Function,
            false => class(&typed.ty)?,
        };
        match (&class, is_kernel, number) {
            (Class::Acc(_), true, 0) => {}
            (Class::Acc(_), true, _) => return error(&typed.ty, "`&Acc` is a kernel's first parameter"),
            (_, true, 0) => {
                return error(
                    &typed.ty,
                    "a kernel's first parameter is `acc: &Acc`, or `acc: &Acc<2>` for launches in 2-D",
                );
            }
            (Class::View(View::PerItem), false, _) => {
                return error(
                    &typed.ty,
                    "a device function cannot take a `PerItem` view; loop over its items in the kernel, and pass values",
                );
            }
            (Class::Exclusive, true, _) => {
                return error(
                    &typed.ty,
                    "a kernel's parameters are numbers and views; it writes to `PerItem`, `Shared` or `Atomic`",
                );
            }
            (Class::Value, true, _)
                if !matches!(&*typed.ty, syn::Type::Path(_) | syn::Type::Group(_) | syn::Type::Array(_)) =>
            {
                return error(
                    &typed.ty,
                    "a kernel's parameters are numbers, arrays of numbers, structs with `#[derive(Element)]`, and views; put \
                     other things into buffers",
                );
            }
            (Class::Acc(_) | Class::Function, false, _) if is_associated => {
                return error(
                    &typed.ty,
                    "a device function of an `impl` or `trait` takes values, `&mut` variables and views; one that takes `&Acc` or \
                     functions stands outside of it",
                );
            }
            (Class::Acc(_), false, _)
            | (Class::View(View::ReadLine | View::Read | View::Shared | View::Atomic), _, _)
            | (Class::View(View::PerItem), true, _)
            | (Class::Exclusive, false, _)
            | (Class::Function | Class::Value, _, _) => {}
        }
        let local = match class {
            Class::Exclusive => parser.declare_reference(&name.ident),
            Class::Function => parser.declare_function(&name.ident, takes(&typed.ty, &signature.generics)),
            _ => parser.declare(&name.ident, name.mutability.is_some() && class == Class::Value),
        };
        if let Class::View(view) = class {
            parser.is_view(&local, view);
        }
        if let Class::Acc(_) = class {
            parser.mark_acc(&local);
        }
        if matches!(class, Class::View(_) | Class::Exclusive | Class::Value) {
            parser.has_type(&local, &typed.ty);
        }
        let written = (*typed.ty).clone();
        let ty = match &written {
            syn::Type::ImplTrait(bounds) => {
                let (name, bounds) = (format_ident!("Function{number}", span = bounds.span()), &bounds.bounds);
                anonymous.push(syn::parse_quote!(#name: #bounds));
                syn::parse_quote!(#name)
            }
            written => written.clone(),
        };
        parameters.push(Parameter { local, ty, written, class });
    }
    if is_kernel && parameters.is_empty() {
        return error(&signature.ident, "a kernel's first parameter is `acc: &Acc`");
    }
    let result = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) if is_kernel => {
            return error(ty, "a kernel returns nothing; write its results to a buffer");
        }
        ReturnType::Type(_, ty) => {
            check_type(ty)?;
            Some((**ty).clone())
        }
    };
    let body = parser.body(&item.block).and_then(|body| recursion::refuse(&item.sig.ident, body));
    // A body that is refused leaves the function as it is called, so that its callers are not in error too.
    let (body, refused) = match body {
        Ok(body) => (body, None),
        Err(error) => {
            (Block { statements: Vec::new(), value: None, span: Span::call_site() }, Some(error.into_compile_error()))
        }
    };
    bound_ranks(&mut item.sig.generics, &parameters);
    leave_out_elements(&mut item.sig.generics);
    let anonymous_count = anonymous.len();
    item.sig.generics.params.extend(anonymous);
    Ok(Function {
        attributes: item.attrs,
        visibility: item.vis,
        name: item.sig.ident,
        is_kernel,
        generics: item.sig.generics,
        anonymous: anonymous_count,
        parameters,
        result,
        body,
        returns: parser.returns && refused.is_none(),
        reassociate: rules.reassociate,
        refused,
    })
}
