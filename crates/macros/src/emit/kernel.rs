//! What `#[kernel]` puts in place of a function.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, GenericParam, ItemFn, PathArguments, Result, Type};

use super::{build_parameters, generics, host_attributes, host_parameters, once, quiet, vectors};
use crate::ast::{Class, Expr, ExprKind, Function, Parameter};
use crate::build::Build;
use crate::host::Host;
use crate::names::private;
use crate::numbers::is_number;
use crate::rules::Rules;
use crate::sample;
use crate::signature::{Standing, parse};

/// What a kernel's description says of the parameters whose items it goes over together.
fn together(function: &Function) -> Option<TokenStream> {
    let number = |view: &Expr| {
        let ExprKind::Exclusive(view) = &view.kind else { return None };
        let ExprKind::Local(local) = &view.kind else { return None };
        let arguments = function.parameters[1..].iter().filter(|parameter| parameter.class != Class::Function);
        arguments.enumerate().find(|(_, parameter)| parameter.local.number == local.number).map(|(number, _)| number)
    };
    let mut all = Vec::new();
    function.body.walk(&mut |x| {
        if let ExprKind::Method { name, arguments, .. } = &x.kind
            && name == "items"
            && let Some(ExprKind::Tuple(views)) = arguments.first().map(|views| &views.kind)
        {
            let views = views.iter().filter_map(number);
            all.push(quote!(&[#(#views),*]));
        }
    });
    (!all.is_empty()).then(|| quote!(.with_together(&[#(#all),*])))
}

/// A constant that is erroneous unless the user's own types are ones that kernels know: what hangs on it by `once` is
/// no error besides.
fn known_types(function: &Function) -> Option<TokenStream> {
    let checks = function.parameters.iter().filter_map(|Parameter { ty, class, .. }| match class {
        Class::Value if is_own(function, ty) => {
            Some(quote_spanned!(ty.span()=> ::wattle::__private::is_value::<#ty>()))
        }
        Class::View(_) => element(ty)
            .filter(|element| is_own(function, element))
            .map(|element| quote_spanned!(element.span()=> ::wattle::__private::is_element::<#element>())),
        Class::Acc(_) | Class::Exclusive | Class::Function | Class::Value => None,
    });
    let checks: Vec<_> = checks.collect();
    (!checks.is_empty()).then(|| quote!(0 #(+ #checks)*))
}

/// Whether a type is named that is the user's own.
fn is_own(function: &Function, ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let is_generic = |name: &Ident| function.generics.type_params().any(|generic| generic.ident == *name);
    path.path.get_ident().is_some_and(|name| !is_number(&name.to_string()) && !is_generic(name))
}

/// The type of a view's elements.
fn element(view: &Type) -> Option<&Type> {
    match view {
        Type::Group(inner) => element(&inner.elem),
        Type::Path(path) => match &path.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                GenericArgument::Type(element) => Some(element),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Makes the types of values that are the user's own hang on `known`, the constant of [`known_types`].
fn hang_own_types(function: &mut Function, known: Option<&TokenStream>) {
    for number in 0..function.parameters.len() {
        let Parameter { ty, class, .. } = &function.parameters[number];
        if *class == Class::Value && is_own(function, ty) {
            let ty = once(quote!(#ty), known);
            function.parameters[number].ty = syn::parse_quote!(#ty);
        }
    }
}

/// The generics of the function that a launch calls: of the kernel's, the first `named` ones. They are `'static`, since
/// the bundle is kept while the launch is under way, and known by its type.
fn outer_generics(function: &Function, named: usize) -> impl Iterator<Item = TokenStream> {
    let generics = function.generics.params.iter().filter(|generic| !matches!(generic, GenericParam::Lifetime(_)));
    generics.take(named).map(|generic| match generic {
        GenericParam::Type(ty) => {
            let (name, bounds) = (&ty.ident, ty.bounds.iter());
            quote!(#name: #(#bounds +)* 'static)
        }
        GenericParam::Const(constant) => {
            let (name, ty) = (&constant.ident, &constant.ty);
            quote!(const #name: #ty)
        }
        GenericParam::Lifetime(_) => TokenStream::new(),
    })
}

/// A parameter of the function that a launch calls: for a view whatever can be given for it.
fn outer_parameter(parameter: &Parameter) -> TokenStream {
    let (name, ty) = (&parameter.local.name, &parameter.written);
    match parameter.class {
        Class::View(_) => quote_spanned!(ty.span()=> #name: impl ::wattle::__private::IntoArg<#ty>),
        Class::Function if matches!(ty, Type::ImplTrait(_)) => quote!(#name: #ty + 'static),
        Class::Acc(_) | Class::Exclusive | Class::Function | Class::Value => quote!(#name: #ty),
    }
}

/// What the bundle holds for a parameter.
fn argument(parameter: &Parameter) -> TokenStream {
    let name = &parameter.local.name;
    match parameter.class {
        Class::View(_) => quote!(::wattle::__private::IntoArg::into_arg(#name)),
        Class::Acc(_) | Class::Exclusive | Class::Function | Class::Value => quote!(#name),
    }
}

/// The type of [`argument`].
fn argument_type(parameter: &Parameter) -> TokenStream {
    let ty = &parameter.written;
    match parameter.class {
        Class::View(_) => quote_spanned!(ty.span()=> ::wattle::__private::Bound<#ty>),
        Class::Acc(_) | Class::Exclusive | Class::Function | Class::Value => quote!(#ty),
    }
}

/// The kernel's description: its name, its place, the names of its arguments, and how it uses them.
fn description(function: &Function, rules: Rules, arguments: &[&Parameter]) -> TokenStream {
    let text = function.name.to_string();
    let start = function.name.span().unwrap();
    let (line, column) = (start.line() as u32, start.column() as u32);
    let texts = arguments.iter().map(|parameter| parameter.local.name.to_string());
    let together = together(function);
    let wide = rules.wide.then(|| quote!(.with_wide_indices()));
    quote! {
        ::wattle::__private::KernelInfo::new(
            #text,
            ::wattle::__private::Site { file: ::core::file!(), line: #line, column: #column },
            &[#(#texts),*],
        )#together #wide
    }
}

/// The host's function.
fn host_function(
    function: &Function,
    rules: Rules,
    known: Option<&TokenStream>,
    dimensions: &TokenStream,
) -> TokenStream {
    let (host, thread, acc) = (private("host"), private("thread"), &function.parameters[0].local.name);
    let (host_attributes, host_parameters) = (host_attributes(function), host_parameters(function, known));
    let (generic_parameters, _) = generics(function);
    let where_clause = &function.generics.where_clause;
    let body = rules.apply(Host::new(function, true).body(&function.body));
    quote! {
        #host_attributes
        fn #host<#(#generic_parameters),*>(#(#host_parameters),*) -> impl ::core::marker::Sized #where_clause {
            #[allow(unused_imports, reason = "not every kernel has use for them")]
            use ::wattle::__private::{Called as _, NotMarked as _};
            #[allow(unused, reason = "not every kernel has use for it")]
            let #thread = ::wattle::__private::Acc::<#dimensions>::__thread(#acc);
            #body
            #[allow(unreachable_code, reason = "the body may never end")]
            return;
        }
    }
}

/// The builder's function. Its types hang on a sample of the host's function (see [`once`]), so that rustc reports an
/// error that both have of the host's alone.
fn build_function(function: &Function, rules: Rules) -> TokenStream {
    let (host, build, builder, after_name) = (private("host"), private("build"), private("builder"), private("AFTER"));
    let after_value = sample::of(function).map(|sample| quote!(::wattle::__private::after(&#host #sample)));
    let after_constant =
        after_value.as_ref().map(|value| quote!(const #after_name: ::core::primitive::usize = #value;));
    let after = after_value.as_ref().map(|_| quote!(#after_name));
    let builder_type = once(quote!(::wattle::__private::builder::Builder), after.as_ref());
    let (build_parameters, build_bindings) = build_parameters(function, after.as_ref());
    let (generic_parameters, _) = generics(function);
    let where_clause = &function.generics.where_clause;
    let reassociate = rules.reassociate.then(|| quote!(#builder.reassociate();));
    let body = rules.apply(Build::of(function, true).effect(&function.body));
    let quiet = quiet();
    quote! {
        #after_constant
        #quiet
        fn #build<'kernel, #(#generic_parameters),*>(
            #builder: &'kernel #builder_type,
            #(#build_parameters),*
        ) #where_clause {
            use ::wattle::__private::{Called as _, NotMarked as _};
            #reassociate
            #build_bindings
            #body
        }
    }
}

pub fn kernel(item: ItemFn, rules: Rules) -> Result<TokenStream> {
    let mut function = parse(item, Standing::Kernel, rules)?;
    let known_name = private("KNOWN");
    let known_types = known_types(&function);
    let known_constant =
        known_types.as_ref().map(|known| quote!(const #known_name: ::core::primitive::usize = #known;));
    let known = known_types.map(|_| quote!(#known_name));
    hang_own_types(&mut function, known.as_ref());
    let (_, mut generic_arguments) = generics(&function);
    // What stands for an `impl DeviceFn<…>` has no name out of the two functions.
    let named = generic_arguments.len() - function.anonymous;
    generic_arguments[named..].fill(quote!(_));
    let outer_generics = outer_generics(&function, named);
    let Function { attributes, visibility, name, refused, .. } = &function;
    let where_clause = &function.generics.where_clause;
    let (acc, others) = (&function.parameters[0], &function.parameters[1..]);
    let dimensions = match &acc.class {
        Class::Acc(Some(dimensions)) => quote!({ #dimensions }),
        _ => quote!(1),
    };

    // Functions are no arguments of the launch: each instance of the kernel has its own.
    let values: Vec<_> = others.iter().filter(|parameter| parameter.class != Class::Function).collect();
    let all_names: Vec<_> = others.iter().map(|parameter| &parameter.local.name).collect();
    let names: Vec<_> = values.iter().map(|parameter| &parameter.local.name).collect();
    let outer_parameters = others.iter().map(outer_parameter);
    let arguments = values.iter().copied().map(argument);
    let argument_types = values.iter().copied().map(argument_type);
    let argument_types = quote!((#(#argument_types,)*));
    let kept_types = match known {
        Some(_) => once(argument_types.clone(), known.as_ref()),
        None => quote!(_),
    };

    // Items: the user's own words see them, and must not mean them.
    let (host, build, info) = (private("host"), private("build"), private("INFO"));
    let (acc_at, builder, views, draft) = (private("acc"), private("builder"), private("views"), private("draft"));
    let host_function = host_function(&function, rules, known.as_ref(), &dimensions);
    let build_function = build_function(&function, rules);
    let description = description(&function, rules, &values);
    let fn_token = quote_spanned!(name.span()=> fn);
    let turbofish = quote!(::<#(#generic_arguments),*>);
    let arguments_at = quote!(#turbofish (#acc_at, #(#all_names),*));
    let (wide_functions, wide_calls) = vectors::of(&function, known.as_ref(), &arguments_at).unzip();
    Ok(quote! {
        #refused
        #(#attributes)*
        #[allow(clippy::too_many_arguments, reason = "a kernel has what it needs")]
        #visibility #fn_token #name<#(#outer_generics),*>(
            #(#outer_parameters),*
        ) -> ::wattle::__private::Bundle<#dimensions, #argument_types> #where_clause {
            #known_constant
            #host_function
            #wide_functions
            #build_function
            static #info: ::wattle::__private::KernelInfo = #description;
            let #draft = ::wattle::__private::Draft::<#dimensions, #kept_types, _, _>::new(
                &#info,
                (#(#arguments,)*),
                move |#acc_at: &::wattle::__private::Acc<'_, #dimensions>, #views| {
                    let (#(#names,)*) = #views;
                    #wide_calls
                    #host #arguments_at;
                },
                move |#builder, #acc_at, #views| {
                    let (#(#names,)*) = #views;
                    #build #turbofish (#builder, #acc_at, #(#all_names),*)
                },
            );
            // SAFETY: a kernel's body can name nothing but its own variables, constants, and what this library gives to
            // kernels, so it keeps no view; and what it builds depends on its types alone. No word of the user's is in
            // this block.
            unsafe { ::wattle::__private::Draft::<#dimensions, #kept_types, _, _>::vouch(#draft) }
        }
    })
}
