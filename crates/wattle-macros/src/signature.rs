//! What the attributes put in place of a function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, GenericParam, ItemFn, Pat, Path, PathArguments, Result, ReturnType};

use crate::ast::{Class, Function, Parameter, View};
use crate::build::Build;
use crate::host::Host;
use crate::parse::{Parser, check_type, class, error};

/// The path of a function that belongs to a device function, and the generic arguments of its call.
pub fn associated(path: &Path, name: &str) -> (TokenStream, Option<TokenStream>) {
    let mut path = path.clone();
    let mut generics = None;
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = std::mem::take(&mut last.arguments)
    {
        let arguments = arguments.args;
        generics = Some(quote!(::<#arguments>));
    }
    let span = path.segments.last().map_or_else(Span::call_site, |last| last.ident.span());
    let name = Ident::new(name, span);
    (quote_spanned!(span=> #path::#name), generics)
}

fn parse(item: ItemFn, is_kernel: bool) -> Result<Function> {
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
    let mut parser = Parser::new(is_kernel);
    let mut parameters = Vec::new();
    for (number, input) in signature.inputs.iter().enumerate() {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                let message = format!("{what} is a free function; pass what it needs as parameters");
                return error(receiver, &message);
            }
        };
        let Pat::Ident(name) = &*typed.pat else {
            return error(&typed.pat, "a parameter here is a name; take tuples apart in the body");
        };
        let class = class(&typed.ty)?;
        match (&class, is_kernel, number) {
            (Class::Acc(_), true, 0) | (Class::Acc(_), false, _) => {}
            (Class::Acc(_), true, _) => return error(&typed.ty, "`&Acc` is a kernel's first parameter"),
            (_, true, 0) => {
                return error(&typed.ty, "a kernel's first parameter is `acc: &Acc`, or `acc: &Acc<2>` for launches in 2-D");
            }
            (Class::View(View::PerItem), false, _) => {
                return error(
                    &typed.ty,
                    "a device function cannot take a `PerItem` view; loop over its items in the kernel, and pass values",
                );
            }
            (Class::Value, true, _) if !matches!(&*typed.ty, syn::Type::Path(_)) => {
                return error(&typed.ty, "a kernel's parameters are numbers and views; put arrays and tuples into buffers");
            }
            _ => {}
        }
        let local = parser.declare(&name.ident, name.mutability.is_some() && class == Class::Value);
        parameters.push(Parameter { local, ty: (*typed.ty).clone(), class });
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
    let body = parser.body(&item.block)?;
    Ok(Function {
        attributes: item.attrs,
        visibility: item.vis,
        name: item.sig.ident,
        generics: item.sig.generics,
        parameters,
        result,
        body,
        returns: parser.returns,
    })
}

fn private(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Parameters of the host's function.
fn host_parameters(function: &Function) -> Vec<TokenStream> {
    let parameter = |parameter: &Parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
        let mutable = parameter.local.mutable || parameter.class == Class::View(View::PerItem);
        let mutable = mutable.then(|| quote!(mut));
        quote!(#mutable #name: #ty)
    };
    function.parameters.iter().map(parameter).collect()
}

/// Parameters of the builder, and what makes variables of those that are `mut`.
fn build_parameters(function: &Function) -> (Vec<TokenStream>, TokenStream) {
    let builder = private("builder");
    let mut bindings = TokenStream::new();
    let parameter = |parameter: &Parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
        match &parameter.class {
            Class::Acc(dimensions) => {
                let dimensions = dimensions.as_ref().map_or_else(|| quote!(1), |dimensions| quote!({ #dimensions }));
                quote!(#name: ::wattle::__private::build::Acc<'b, #dimensions>)
            }
            Class::View(View::PerItem) => quote!(mut #name: <#ty as ::wattle::__private::Parameter>::Built<'b>),
            _ => {
                if parameter.local.mutable {
                    let text = name.to_string();
                    bindings.extend(quote!(let #name = #builder.variable(#name, #text);));
                }
                quote!(#name: <#ty as ::wattle::__private::KernelType>::Built<'b>)
            }
        }
    };
    (function.parameters.iter().map(parameter).collect(), bindings)
}

/// The generics as parameters, with `'b` in front, and as arguments.
fn generics(function: &Function) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
    for generic in &function.generics.params {
        match generic {
            GenericParam::Type(ty) => {
                let mut ty = ty.clone();
                ty.default = None;
                arguments.push({
                    let name = &ty.ident;
                    quote!(#name)
                });
                parameters.push(quote!(#ty));
            }
            GenericParam::Const(constant) => {
                let mut constant = constant.clone();
                constant.default = None;
                arguments.push({
                    let name = &constant.ident;
                    quote!(#name)
                });
                parameters.push(quote!(#constant));
            }
            GenericParam::Lifetime(_) => {}
        }
    }
    (parameters, arguments)
}

/// Attributes on code that nobody reads.
fn quiet() -> TokenStream {
    quote!(#[allow(unused, clippy::all, clippy::pedantic, reason = "written by a macro")])
}

pub fn kernel(item: ItemFn) -> Result<TokenStream> {
    let function = parse(item, true)?;
    let (generic_parameters, generic_arguments) = generics(&function);
    let where_clause = &function.generics.where_clause;
    let Function { attributes, visibility, name, .. } = &function;
    let (acc, others) = (&function.parameters[0], &function.parameters[1..]);
    let dimensions = match &acc.class {
        Class::Acc(Some(dimensions)) => quote!({ #dimensions }),
        _ => quote!(1),
    };
    let acc_name = &acc.local.name;
    let (thread, builder) = (private("thread"), private("builder"));

    let host_parameters = host_parameters(&function);
    let host_body = Host::new(&function, true).block(&function.body);
    let (build_parameters, build_bindings) = build_parameters(&function);
    let build_body = Build::new(true).effect(&function.body);

    let names: Vec<_> = others.iter().map(|parameter| &parameter.local.name).collect();
    let texts: Vec<_> = names.iter().map(ToString::to_string).collect();
    let outer_parameters = others.iter().map(|parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
        match parameter.class {
            Class::View(_) => quote_spanned!(ty.span()=> #name: impl ::wattle::__private::IntoArg<#ty>),
            _ => quote!(#name: #ty),
        }
    });
    let arguments = others.iter().map(|parameter| {
        let name = &parameter.local.name;
        match parameter.class {
            Class::View(_) => quote!(::wattle::__private::IntoArg::into_arg(#name)),
            _ => quote!(#name),
        }
    });
    let text = name.to_string();
    let start = name.span().unwrap();
    let (line, column) = (start.line() as u32, start.column() as u32);
    let turbofish = quote!(::<#(#generic_arguments),*>);
    let quiet = quiet();
    Ok(quote! {
        #(#attributes)*
        #[allow(clippy::too_many_arguments, reason = "a kernel has what it needs")]
        #visibility fn #name<#(#generic_parameters),*>(
            #(#outer_parameters),*
        ) -> impl ::wattle::__private::Launch<#dimensions> #where_clause {
            #[allow(unused_mut, unused_parens, unused_braces, clippy::all, clippy::pedantic, reason = "a macro has written around it")]
            #[inline(always)]
            fn host<#(#generic_parameters),*>(#(#host_parameters),*) #where_clause {
                #[allow(unused_imports, reason = "not every kernel has an array")]
                use ::wattle::__private::support::ArrayAccess as _;
                #[allow(unused, reason = "not every kernel has use for it")]
                let #thread = #acc_name.__thread();
                #host_body
            }
            #quiet
            fn build<'b, #(#generic_parameters),*>(
                #builder: &'b ::wattle::__private::build::Builder,
                #(#build_parameters),*
            ) #where_clause {
                #build_bindings
                #build_body
            }
            static INFO: ::wattle::__private::KernelInfo = ::wattle::__private::KernelInfo {
                name: #text,
                site: ::wattle::__private::Site { file: file!(), line: #line, column: #column },
                parameters: &[#(#texts),*],
            };
            ::wattle::__private::Bundle::new(
                &INFO,
                (#(#arguments,)*),
                |acc: &::wattle::__private::Acc<'_, #dimensions>, (#(#names,)*)| {
                    host #turbofish (acc, #(#names),*)
                },
                |builder, acc, (#(#names,)*)| build #turbofish (builder, acc, #(#names),*),
            )
        }
    })
}

pub fn device_fn(item: ItemFn) -> Result<TokenStream> {
    let function = parse(item, false)?;
    let (generic_parameters, _) = generics(&function);
    let where_clause = &function.generics.where_clause;
    let Function { attributes, visibility, name, .. } = &function;
    let (thread, builder) = (private("thread"), private("builder"));
    let (value, result, body) = (private("value"), private("result"), private("body"));
    let result_type = function.result.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty));
    let built_type = quote!(<#result_type as ::wattle::__private::KernelType>::Built<'b>);

    let host_parameters = host_parameters(&function);
    let host_body = Host::new(&function, false).block(&function.body);
    let (build_parameters, build_bindings) = build_parameters(&function);
    let mut build = Build::new(false);
    let build_value = match (&function.result, function.returns) {
        (Some(_), _) => build.value(&function.body),
        (None, _) => {
            let effect = build.effect(&function.body);
            quote!({ #effect })
        }
    };
    // A `return` leaves a block around the body, with the value in a variable.
    let build_body = if function.returns {
        quote! {
            let #result = #builder.join(#builder.unreachable::<#built_type>());
            let #body = #builder.block_begin();
            let #value: #built_type = #build_value;
            ::wattle::__private::Variable::set(&#result, #value);
            #builder.block_end();
            let #value = ::wattle::__private::Variable::get(&#result);
        }
    } else {
        quote!(let #value: #built_type = #build_value;)
    };
    let text = name.to_string();
    let quiet = quiet();
    Ok(quote! {
        #(#attributes)*
        #[allow(non_camel_case_types, reason = "it stands for the function")]
        #visibility struct #name {
            never: ::std::convert::Infallible,
        }

        #quiet
        impl #name {
            #[doc(hidden)]
            #[inline(always)]
            #visibility fn __host<#(#generic_parameters),*>(
                #thread: &::wattle::__private::Thread<'_>,
                #(#host_parameters),*
            ) -> #result_type #where_clause {
                use ::wattle::__private::support::ArrayAccess as _;
                #host_body
            }

            #[doc(hidden)]
            #[track_caller]
            #visibility fn __build<'b, #(#generic_parameters),*>(
                #builder: &'b ::wattle::__private::build::Builder,
                #(#build_parameters),*
            ) -> #built_type #where_clause {
                if !#builder.call_begin(#text) {
                    return #builder.unreachable();
                }
                #build_bindings
                #build_body
                #builder.call_end();
                #value
            }
        }
    })
}
