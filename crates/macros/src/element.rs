//! `#[derive(Element)]`: a struct as an element of memory, and what stands for it while a kernel is built.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Fields, Member, Result, Type, Visibility};

use crate::parse::{check_numbers, error};

/// The fields of a struct that can be an element, and whether they are in the order in which they are written; an error for an `enum` or `union`.
fn fields_of(input: &DeriveInput) -> Result<(&Fields, bool)> {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            return error(
                data.enum_token,
                "an enum is no element of memory, since not every bit pattern is a value of it; store a number, and \
                 `match` on it",
            );
        }
        Data::Union(data) => return error(data.union_token, "a union is no element of memory; take a struct"),
    };
    if let Some(generic) = input.generics.params.first() {
        return error(generic, "an element is a struct without parameters; write one for each type that you need");
    }
    let mut is_c = false;
    // `r#repr` is the same attribute to the compiler.
    let is_repr = |attribute: &&Attribute| attribute.path().get_ident().is_some_and(|name| name.unraw() == "repr");
    for attribute in input.attrs.iter().filter(is_repr) {
        attribute.parse_nested_meta(|word| {
            is_c |= word.path.is_ident("C");
            match word.path.is_ident("C") {
                true => Ok(()),
                false => Err(word.error(
                    "an element is `#[repr(C)]` and nothing more; one of 8 or 16 bytes is loaded at once without `align`",
                )),
            }
        })?;
    }
    match fields {
        fields if !fields.is_empty() => Ok((fields, is_c)),
        Fields::Named(_) | Fields::Unnamed(_) | Fields::Unit => {
            error(&input.ident, "an element has at least one number")
        }
    }
}

/// Refuses a field of a type that is none of memory, as far as it shows in its name.
fn check_field(field: &syn::Field) -> Result<()> {
    check_numbers(&field.ty)?;
    let path = match &field.ty {
        Type::Path(path) => path,
        Type::Tuple(tuple) => {
            return error(
                tuple,
                "memory has no tuples; take an array, `[f32; 2]`, or a struct with `#[derive(Element)]`",
            );
        }
        Type::Reference(_) | Type::Ptr(_) | Type::Slice(_) => {
            return error(&field.ty, "memory holds numbers and `bool`, and no references; store an index");
        }
        _ => return Ok(()),
    };
    let name = path.path.segments.first().filter(|_| path.path.segments.len() == 1);
    match name.map(|name| name.ident.to_string()).as_deref() {
        Some("usize" | "isize") => error(&field.ty, "`usize` has another size on other devices; take `u32` or `u64`"),
        Some("Vec" | "Box" | "Option") => {
            error(&field.ty, "memory holds numbers and `bool`; take an array of a constant length, `[f32; 4]`")
        }
        Some("char" | "String") => error(&field.ty, "memory holds numbers and `bool`, and no text"),
        _ => Ok(()),
    }
}

/// A struct that becomes an element: its parts, in the forms in which the generated code names them.
struct Structure<'i> {
    name: &'i Ident,
    visibility: &'i Visibility,
    /// The name of the generated struct that has, for each field, what a family has for it.
    built: Ident,
    fields: &'i Fields,
    /// The names of the fields, or their numbers in a tuple struct.
    names: Vec<Member>,
    types: Vec<&'i Type>,
    /// The names of the fields as text.
    texts: Vec<String>,
    /// The numbers of the fields, from 0.
    numbers: Vec<syn::Index>,
    /// A bound that holds if the struct is `Copy`. One that is not has one error, and the traits with this bound not at
    /// all: a bound for all lifetimes is not looked at where it is written.
    where_copied: TokenStream,
}

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let (fields, is_c) = fields_of(input)?;
    fields.iter().try_for_each(check_field)?;
    let structure = Structure::new(input, fields);
    // Where it alone is missing, the struct is an element all the same, so that nothing else is wrong.
    let layout_checks = match is_c {
        true => structure.layout_checks(),
        false => {
            let message = "an element has its fields in the order in which they are written: put `#[repr(C)]` on it";
            syn::Error::new_spanned(&input.ident, message).into_compile_error()
        }
    };
    let (family, value) = (structure.family(), structure.value());
    let (element, in_builder) = (structure.element(), structure.in_builder());
    Ok(quote! {
        #[allow(unused, private_interfaces, non_camel_case_types, clippy::all, clippy::pedantic, reason = "written by a macro")]
        const _: () = {
            // Under one name, so that a field may be of any type of the user's: of one called `ElementLayout`, say.
            use ::wattle::__private::element as __wattle;

            const _: () = {
                #layout_checks
            };

            #family
            #value
            #element
            #in_builder
        };
    })
}

impl<'i> Structure<'i> {
    fn new(input: &'i DeriveInput, fields: &'i Fields) -> Structure<'i> {
        let name = &input.ident;
        let names: Vec<_> = fields.members().collect();
        Structure {
            name,
            visibility: &input.vis,
            built: format_ident!("__Wattle{name}", span = Span::call_site()),
            fields,
            types: fields.iter().map(|field| &field.ty).collect(),
            texts: names.iter().map(|name| name.to_token_stream().to_string()).collect(),
            numbers: (0..fields.len()).map(syn::Index::from).collect(),
            names,
            where_copied: quote!(where for<'copied> #name: __wattle::Copy),
        }
    }

    /// Statements that do not compile where the struct has padding, between its fields or behind them, or is aligned
    /// beyond its fields.
    fn layout_checks(&self) -> TokenStream {
        let Structure { name, fields, names, types, texts, .. } = self;
        // Each field stands where the one before it ends; the struct ends with its last one.
        let ends: Vec<_> = names
            .iter()
            .zip(types)
            .map(|(field, ty)| quote!(::core::mem::offset_of!(#name, #field) + ::core::mem::size_of::<#ty>()))
            .collect();
        let of = name.to_string();
        let filled = |span: Span, before: &str, from: TokenStream, to: TokenStream| {
            quote_spanned! {span=>
                if #from != #to {
                    const PADDING: ::wattle::__private::element::Padding =
                        ::wattle::__private::element::Padding::new(#of, #before, #from, #to, &[#(#texts),*]);
                    ::core::panic!("{}", PADDING.as_str());
                }
            }
        };
        let places = fields.iter().zip(names).enumerate().map(|(number, (field, field_name))| {
            let end = number.checked_sub(1).map_or_else(|| quote!(0), |before| ends[before].clone());
            filled(field.span(), &texts[number], end, quote!(::core::mem::offset_of!(#name, #field_name)))
        });
        let last = ends.last().cloned();
        let end = filled(Span::call_site(), "", quote!(#last), quote!(::core::mem::size_of::<#name>()));
        // What another macro writes below this one is not seen here, and may align the struct as it likes.
        let aligned = quote_spanned! {name.span()=>
            __wattle::assert_aligned(::core::mem::align_of::<#name>(), &[#(::core::mem::align_of::<#types>()),*]);
        };
        quote! {
            #(#places)*
            #end
            #aligned
        }
    }

    /// The struct that has, for each field, what a family has for it: values, variables, or places in memory.
    fn family(&self) -> TokenStream {
        let Structure { visibility, built, fields, names, types, .. } = self;
        let visibilities = fields.iter().map(|field| &field.vis);
        let body = match fields {
            Fields::Unnamed(_) => quote!((#(#visibilities __F::Ref<#types>,)*);),
            Fields::Named(_) | Fields::Unit => quote!({ #(#visibilities #names: __F::Ref<#types>,)* }),
        };
        quote! {
            /// What a family has for each field.
            #[doc(hidden)]
            #visibility struct #built<__F: __wattle::Family> #body

            impl<__F: __wattle::Family> __wattle::Clone for #built<__F>
            where
                #(__F::Ref<#types>: __wattle::Copy,)*
            {
                #[inline(always)]
                fn clone(&self) -> Self {
                    *self
                }
            }
            impl<__F: __wattle::Family> __wattle::Copy for #built<__F> where #(__F::Ref<#types>: __wattle::Copy,)* {}
        }
    }

    /// The struct as a value of kernels, and as an argument of theirs.
    fn value(&self) -> TokenStream {
        let Structure { name, built, names, types, where_copied, .. } = self;
        let copied = quote_spanned!(name.span()=> __wattle::is_copied::<#name>());
        quote! {
            const _: () = #copied;

            // SAFETY: it stands for the struct alone.
            unsafe impl __wattle::KernelType for #name {
                type Built<'b> = #built<__wattle::Values<'b>>;
            }

            impl __wattle::KernelValue for #name
            #where_copied
            {
                #[inline(always)]
                fn zero() -> Self {
                    #name { #(#names: <#types as __wattle::KernelValue>::zero(),)* }
                }
            }

            // SAFETY: each number is a parameter.
            unsafe impl __wattle::ByValue for #name
            #where_copied
            {
                const NUMBERS: usize = <#name as __wattle::Element>::LAYOUT.count();
                #[inline]
                fn number(&self, number: usize) -> (__wattle::Type, &[u8], ::core::option::Option<&'static __wattle::ElementLayout>) {
                    __wattle::number_of(self, number)
                }
                fn declare_parameters<'b>(builder: &'b __wattle::Builder, name: &'static str) -> #built<__wattle::Values<'b>> {
                    builder.value::<#name>(name)
                }
            }
        }
    }

    /// The struct as an element of memory: its layout, and its fields one after another.
    fn element(&self) -> TokenStream {
        let Structure { name, built, names, types, texts, numbers, where_copied, .. } = self;
        let memory = self.memory();
        // The number of the first number of each field.
        let firsts = (0..types.len()).map(|number| {
            let before = &types[..number];
            quote!(0 #(+ <#before as __wattle::Element>::LAYOUT.count())*)
        });
        quote! {
            // SAFETY: the fields stand one behind the other, as `Structure::layout_checks` asserts.
            unsafe impl __wattle::Element for #name
            #where_copied
            {
                const LAYOUT: &'static __wattle::ElementLayout =
                    &__wattle::ElementLayout::structure() #(.with_field(#texts, <#types as __wattle::Element>::LAYOUT))*;
                type Ids = (#(<#types as __wattle::Element>::Ids,)*);
                type Memory = (#(<#types as __wattle::Element>::Memory,)*);
                type Fields<__F: __wattle::Family> = #built<__F>;
                fn ids(value: Self::Built<'_>) -> Self::Ids {
                    (#(<#types as __wattle::Element>::ids(value.#names),)*)
                }
                fn of_ids<'b>(builder: &'b __wattle::Builder, ids: Self::Ids) -> Self::Built<'b> {
                    #built { #(#names: <#types as __wattle::Element>::of_ids(builder, ids.#numbers),)* }
                }
                fn visit(ids: Self::Ids, visit: &mut dyn FnMut(__wattle::ExprId)) {
                    #(<#types as __wattle::Element>::visit(ids.#numbers, visit);)*
                }
                fn make(make: &mut dyn FnMut(__wattle::Type) -> __wattle::ExprId) -> Self::Ids {
                    (#(<#types as __wattle::Element>::make(make),)*)
                }
                fn raw(&self, to: &mut __wattle::Vec<u64>) {
                    #(<#types as __wattle::Element>::raw(&self.#names, to);)*
                }
                #memory
                #[inline(always)]
                fn fields<__F: __wattle::Places>(of: __F::Ref<Self>) -> #built<__F> {
                    // SAFETY: each field is at its offset, behind as many numbers as those before it have.
                    unsafe {
                        #built {
                            #(#names: __F::part::<#name, #types>(&of, const { #firsts }, ::core::mem::offset_of!(#name, #names)),)*
                        }
                    }
                }
            }
        }
    }

    /// The functions of [`Structure::element`] on arrays in the thread's own memory: an array of structs is an array for
    /// each field.
    fn memory(&self) -> TokenStream {
        let Structure { built, names, types, numbers, .. } = self;
        let first_type = types[0];
        quote! {
            fn declare(builder: &__wattle::Builder, count: usize) -> Self::Memory {
                (#(<#types as __wattle::Element>::declare(builder, count),)*)
            }
            fn declare_constants(builder: &__wattle::Builder, constants: &[Self]) -> Self::Memory {
                (#(<#types as __wattle::Element>::declare_constants(
                    builder,
                    &__wattle::each(constants, |constant| constant.#names),
                ),)*)
            }
            fn declare_ids(
                builder: &__wattle::Builder,
                elements: &[Self::Ids],
                site: __wattle::Site,
            ) -> Self::Memory {
                (#(<#types as __wattle::Element>::declare_ids(
                    builder,
                    &__wattle::each(elements, |ids| ids.#numbers),
                    site,
                ),)*)
            }
            fn behind(
                memory: Self::Memory,
                builder: &__wattle::Builder,
                index: __wattle::Val<'_, u32>,
                exists: ::core::option::Option<__wattle::ExprId>,
            ) -> Self::Memory {
                (#(<#types as __wattle::Element>::behind(memory.#numbers, builder, index, exists),)*)
            }
            fn first(memory: Self::Memory) -> __wattle::Memory {
                <#first_type as __wattle::Element>::first(memory.0)
            }
            fn read<'b>(builder: &'b __wattle::Builder, memory: Self::Memory, site: __wattle::Site) -> Self::Built<'b> {
                #built { #(#names: <#types as __wattle::Element>::read(builder, memory.#numbers, site),)* }
            }
            fn write<'b>(builder: &'b __wattle::Builder, memory: Self::Memory, value: Self::Built<'b>, site: __wattle::Site) {
                #(<#types as __wattle::Element>::write(builder, memory.#numbers, value.#names, site);)*
            }
        }
    }

    /// What stands for the struct while a kernel is built: as a value, and as a variable.
    fn in_builder(&self) -> TokenStream {
        let Structure { name, built, names, where_copied, .. } = self;
        quote! {
            impl<'b> __wattle::OfElement<'b> for #built<__wattle::Values<'b>>
            #where_copied
            {
                type Element = #name;
                fn element_ids(self) -> <#name as __wattle::Element>::Ids {
                    <#name as __wattle::Element>::ids(self)
                }
                fn built(self) -> Self {
                    self
                }
                fn of_built(value: Self) -> Self {
                    value
                }
            }

            impl<'b> __wattle::IrValue<'b> for #built<__wattle::Values<'b>> {
                type Var = #built<__wattle::Variables<'b>>;
                #[track_caller]
                fn bind(self, builder: &'b __wattle::Builder, name: ::core::option::Option<&'static str>) -> Self {
                    #built { #(#names: __wattle::IrValue::bind(self.#names, builder, name),)* }
                }
                #[track_caller]
                fn apart(self, builder: &'b __wattle::Builder, name: ::core::option::Option<&'static str>) -> Self {
                    __wattle::IrValue::bind(self, builder, name)
                }
                #[track_caller]
                fn variable(self, builder: &'b __wattle::Builder, name: ::core::option::Option<&'static str>) -> Self::Var {
                    #built { #(#names: __wattle::IrValue::variable(self.#names, builder, name),)* }
                }
                fn unreachable(builder: &'b __wattle::Builder) -> Self {
                    #built { #(#names: __wattle::IrValue::unreachable(builder),)* }
                }
            }

            impl<'b> __wattle::Variable<'b> for #built<__wattle::Variables<'b>> {
                type Value = #built<__wattle::Values<'b>>;
                fn get(&self) -> Self::Value {
                    #built { #(#names: __wattle::Variable::get(&self.#names),)* }
                }
                #[track_caller]
                fn snapshot(&self) -> Self::Value {
                    #built { #(#names: __wattle::Variable::snapshot(&self.#names),)* }
                }
                #[track_caller]
                fn set(&self, value: Self::Value) {
                    #(__wattle::Variable::set(&self.#names, value.#names);)*
                }
            }
        }
    }
}
