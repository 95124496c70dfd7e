//! What the attributes put in place of a function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, GenericParam, ItemFn, PathArguments, Result, Type};

use crate::ast::{Class, Expr, ExprKind, Function, Parameter, View};
use crate::build::Build;
use crate::host::Host;
use crate::names::private;
use crate::sample;
use crate::signature::parse;

/// The parameters of the host's function.
fn host_parameters(function: &Function) -> Vec<TokenStream> {
    let parameter = |parameter: &Parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
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
/// `wattle::__private::Once`. `after` is the constant that says so.
fn once(ty: TokenStream, after: Option<&TokenStream>) -> TokenStream {
    match after {
        Some(after) => quote!(<::wattle::__private::Once<#ty, { #after }> as ::wattle::__private::AfterHost>::Type),
        None => ty,
    }
}

/// Parameters of the builder, and what makes variables of those that are `mut`.
fn build_parameters(function: &Function, after: Option<&TokenStream>) -> (Vec<TokenStream>, TokenStream) {
    let builder = private("builder");
    let mut bindings = TokenStream::new();
    let parameter = |parameter: &Parameter| {
        let (name, ty) = (&parameter.local.name, &parameter.ty);
        let is_items = parameter.class == Class::View(View::PerItem);
        let built = match &parameter.class {
            Class::Acc(dimensions) => {
                let dimensions = dimensions.as_ref().map_or_else(|| quote!(1), |dimensions| quote!({ #dimensions }));
                quote!(::wattle::__private::builder::Acc<'kernel, #dimensions>)
            }
            Class::View(View::PerItem) => {
                quote_spanned!(ty.span()=> <::wattle::__private::Bound<#ty> as ::wattle::__private::Arg>::Built<'kernel>)
            }
            Class::Exclusive => variable(function, ty),
            _ => built(function, ty),
        };
        if parameter.local.mutable && parameter.class == Class::Value {
            let text = name.to_string();
            bindings.extend(quote!(let #name = #builder.variable(#name, #text);));
        }
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
            if function.generics.type_params().any(|generic| path.path.is_ident(&generic.ident)) {
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
        Type::Path(path) if function.generics.type_params().any(|generic| path.path.is_ident(&generic.ident)) => {
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

/// What a kernel's description says of the parameters whose items it goes over together.
fn together(function: &Function) -> Option<TokenStream> {
    let number = |view: &Expr| {
        let ExprKind::Exclusive(view) = &view.kind else { return None };
        let ExprKind::Local(local) = &view.kind else { return None };
        function.parameters[1..].iter().position(|parameter| parameter.local.number == local.number)
    };
    let mut all = Vec::new();
    function.body.walk(&mut |x| {
        if let ExprKind::Method { name, arguments, .. } = &x.kind
            && name == "items_together"
            && let Some(ExprKind::Tuple(views)) = arguments.first().map(|views| &views.kind)
        {
            let views = views.iter().filter_map(number);
            all.push(quote!(&[#(#views),*]));
        }
    });
    (!all.is_empty()).then(|| quote!(.with_together(&[#(#all),*])))
}

pub fn kernel(item: ItemFn) -> Result<TokenStream> {
    let function = parse(item, true)?;
    let (generic_parameters, generic_arguments) = generics(&function);
    let where_clause = &function.generics.where_clause;
    let Function { attributes, visibility, name, refused, .. } = &function;
    let (acc, others) = (&function.parameters[0], &function.parameters[1..]);
    let dimensions = match &acc.class {
        Class::Acc(Some(dimensions)) => quote!({ #dimensions }),
        _ => quote!(1),
    };
    let acc_name = &acc.local.name;
    let (thread, builder, views) = (private("thread"), private("builder"), private("views"));
    // Items: the user's own words see them, and must not mean them.
    let (host, build, info, after_name) = (private("host"), private("build"), private("INFO"), private("AFTER"));
    let (acc_at, draft) = (private("acc"), private("draft"));

    let host_attributes = host_attributes(&function);
    let host_parameters = host_parameters(&function);
    let host_body = Host::new(&function, true).body(&function.body);
    let after_value = sample::of(&function).map(|sample| quote!(::wattle::__private::after(&#host #sample)));
    let after_constant =
        after_value.as_ref().map(|value| quote!(const #after_name: ::core::primitive::usize = #value;));
    let after = after_value.as_ref().map(|_| quote!(#after_name));
    let builder_type = once(quote!(::wattle::__private::builder::Builder), after.as_ref());
    let (build_parameters, build_bindings) = build_parameters(&function, after.as_ref());
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
    let together = together(&function);
    let fn_token = quote_spanned!(name.span()=> fn);
    let text = name.to_string();
    let start = name.span().unwrap();
    let (line, column) = (start.line() as u32, start.column() as u32);
    let turbofish = quote!(::<#(#generic_arguments),*>);
    let quiet = quiet();
    Ok(quote! {
        #refused
        #(#attributes)*
        #[allow(clippy::too_many_arguments, reason = "a kernel has what it needs")]
        #visibility #fn_token #name<#(#generic_parameters),*>(
            #(#outer_parameters),*
        ) -> impl ::wattle::__private::Launch<#dimensions> #where_clause {
            #host_attributes
            fn #host<#(#generic_parameters),*>(#(#host_parameters),*) -> impl ::core::marker::Sized #where_clause {
                #[allow(unused_imports, reason = "not every kernel has use for them")]
                use ::wattle::__private::NotMarked as _;
                #[allow(unused, reason = "not every kernel has use for it")]
                let #thread = ::wattle::__private::Acc::__thread(#acc_name);
                #host_body
                #[allow(unreachable_code, reason = "the body may never end")]
                return;
            }
            #after_constant
            #quiet
            fn #build<'kernel, #(#generic_parameters),*>(
                #builder: &'kernel #builder_type,
                #(#build_parameters),*
            ) #where_clause {
                use ::wattle::__private::NotMarked as _;
                #build_bindings
                #build_body
            }
            static #info: ::wattle::__private::KernelInfo = ::wattle::__private::KernelInfo::new(
                #text,
                ::wattle::__private::Site { file: ::core::file!(), line: #line, column: #column },
                &[#(#texts),*],
            )#together;
            let #draft = ::wattle::__private::Draft::new(
                &#info,
                (#(#arguments,)*),
                |#acc_at: &::wattle::__private::Acc<'_, #dimensions>, #views| {
                    let (#(#names,)*) = #views;
                    #host #turbofish (#acc_at, #(#names),*);
                },
                |#builder, #acc_at, #views| {
                    let (#(#names,)*) = #views;
                    #build #turbofish (#builder, #acc_at, #(#names),*)
                },
            );
            // SAFETY: a kernel's body can name nothing but its own variables, constants, and what this library gives to
            // kernels, so it keeps no view; and what it builds depends on its types alone. No word of the user's is in
            // this block.
            unsafe { ::wattle::__private::Draft::vouch(#draft) }
        }
    })
}

/// Whether an attribute on a device function is for the type that has its documentation.
fn is_for_type(attribute: &Attribute) -> bool {
    ["doc", "cfg", "deprecated", "allow", "expect", "warn", "deny", "forbid"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

/// Whether it is for the function that `use` and calls name.
fn is_for_function(attribute: &Attribute) -> bool {
    ["cfg", "deprecated", "allow", "expect"].iter().any(|name| attribute.path().is_ident(name))
}

pub fn device_fn(item: ItemFn) -> Result<TokenStream> {
    let function = parse(item, false)?;
    let (generic_parameters, generic_arguments) = generics(&function);
    let where_clause = &function.generics.where_clause;
    let Function { attributes, visibility, name, refused, .. } = &function;
    let (thread, builder) = (private("thread"), private("builder"));
    let (value, result, body) = (private("value"), private("result"), private("body"));
    let unit = syn::parse_quote!(());
    let result_type = function.result.as_ref().unwrap_or(&unit);
    let built_type = built(&function, result_type);

    let host_attributes = host_attributes(&function);
    let host_parameters = host_parameters(&function);
    let host_body = match refused {
        None => Host::new(&function, false).block(&function.body),
        Some(_) => quote!(::core::unreachable!()),
    };
    let after_value = sample::of(&function).map(|sample| quote!(::wattle::__private::after(&#name::__host #sample)));
    let after_constant = after_value.as_ref().map(|value| quote!(const __AFTER: ::core::primitive::usize = #value;));
    let after = after_value.as_ref().map(|_| quote!(#name::__AFTER));
    let builder_type = once(quote!(::wattle::__private::builder::Builder), after.as_ref());
    let (build_parameters, build_bindings) = build_parameters(&function, after.as_ref());
    let value_type = once(built_type.clone(), after.as_ref());
    let mut build = Build::new(false);
    let build_value = match (&function.result, refused) {
        (_, Some(_)) => quote!(#builder.unreachable()),
        (Some(_), _) => build.value(&function.body),
        (None, _) => {
            let effect = build.effect(&function.body);
            quote!({ #effect })
        }
    };
    // A `return` leaves a block around the body, with the value in a variable.
    let build_body = if function.returns {
        quote! {
            let #result = #builder.join(#builder.unreachable::<#value_type>());
            let #body = #builder.block_begin();
            let #value: #value_type = #build_value;
            ::wattle::__private::Variable::set(&#result, #value);
            #builder.block_end();
            let #value = ::wattle::__private::Variable::get(&#result);
        }
    } else {
        quote!(let #value: #value_type = #build_value;)
    };
    // What is returned may be made of the caller's variables, which the caller can change before it uses it.
    let exclusive = function.parameters.iter().any(|parameter| parameter.class == Class::Exclusive);
    let hold = exclusive.then(|| quote!(let #value: #value_type = #builder.copied(#value);));
    let fn_token = quote_spanned!(name.span()=> fn);
    let text = name.to_string();
    let quiet = quiet();
    let of_type = attributes.iter().filter(|attribute| is_for_type(attribute));
    let of_function = attributes.iter().filter(|attribute| is_for_function(attribute));
    let host_name = Ident::new("__host", name.span());
    // The user's own `self` is not this one.
    let this = Ident::new("self", Span::mixed_site());
    Ok(quote! {
        #refused
        // The type has the bodies, and the documentation. It is `Copy`, so that no user's code can run when it is
        // dropped, which is within the kernel.
        #(#of_type)*
        #[derive(::wattle::__private::Clone, ::wattle::__private::Copy)]
        #[allow(non_camel_case_types, dead_code, reason = "it stands for the function")]
        #visibility struct #name<'kernel> {
            call: ::wattle::__private::OnlyInKernels<'kernel>,
        }

        // The function is what a call names; a variable of the same name may shadow it.
        #(#of_function)*
        #[doc(hidden)]
        #[inline(always)]
        #visibility #fn_token #name(call: ::wattle::__private::OnlyInKernels<'_>) -> #name<'_> {
            #name { call }
        }

        // SAFETY: these are the two bodies of one function, in the subset that keeps no view.
        unsafe impl<'kernel> ::wattle::__private::Bodies<'kernel> for #name<'kernel> {
            #[inline(always)]
            fn within(call: ::wattle::__private::OnlyInKernels<'kernel>) -> Self {
                #name { call }
            }
        }

        #[allow(dead_code, reason = "not every device function is called")]
        impl<'kernel> #name<'kernel> {
            #[doc(hidden)]
            #host_attributes
            #visibility fn #host_name<#(#generic_parameters),*>(
                #this,
                #(#host_parameters),*
            ) -> (#result_type, impl ::core::marker::Sized + use<#(#generic_arguments),*>) #where_clause {
                #[allow(unused_imports, reason = "not every function has use for them")]
                use ::wattle::__private::NotMarked as _;
                #[allow(unused, reason = "not every function has use for it")]
                let #thread = #this.call.thread();
                let #value: #result_type = #host_body;
                #[allow(unreachable_code, reason = "the body may never end")]
                return (#value, ());
            }

            #after_constant

            #[doc(hidden)]
            #quiet
            #visibility fn __build<#(#generic_parameters),*>(#this, #(#build_parameters),*) -> #built_type #where_clause {
                let #builder: &'kernel #builder_type = #this.call.builder();
                if !#builder.call_begin(#text) {
                    return #builder.unreachable();
                }
                use ::wattle::__private::NotMarked as _;
                #build_bindings
                #build_body
                #hold
                #builder.call_end();
                #value
            }
        }
    })
}
