//! The types that kernels know, as they are written.

use quote::ToTokens;
use syn::Result;

use super::absent::absent_type;
use super::error;
use crate::ast::{Class, View};
use crate::numbers::TYPES;

/// The names of the types that are wanted by kind and by whether there are atomic operations on them.
fn listed(is_wanted: impl Fn(&str, bool) -> bool) -> String {
    let wanted = TYPES.iter().filter(|(_, row, has_atomics)| is_wanted(row, *has_atomics));
    wanted.map(|(name, ..)| *name).collect::<Vec<_>>().join(" ")
}

/// Refuses the types that kernels do not know.
pub fn check_type(ty: &syn::Type) -> Result<()> {
    match ty {
        syn::Type::Path(path) => {
            let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            if let Some(message) = absent_type(&name) {
                return error(ty, message);
            }
            match name.as_str() {
                "usize" | "isize" => error(ty, "indices and extents in kernels are `u32`"),
                "u128" | "i128" | "f16" | "f128" if TYPES.iter().all(|(known, ..)| *known != name) => {
                    error(ty, &format!("kernels know {} and bool", listed(|row, _| row != "bool")))
                }
                "char" | "String" | "str" => error(ty, "there is no text in kernels"),
                "Vec" | "Box" | "Rc" | "Arc" => {
                    error(ty, "there is no heap in kernels; use an array, `[f32; 16]`, or block shared memory")
                }
                "Option" | "Result" => error(ty, "there is no `Option` or `Result` in kernels; use numbers and `bool`"),
                _ => Ok(()),
            }
        }
        syn::Type::Tuple(tuple) => tuple.elems.iter().try_for_each(check_type),
        syn::Type::Array(array) => check_type(&array.elem),
        syn::Type::Paren(inner) => check_type(&inner.elem),
        // What a macro was given as `$t:ty`.
        syn::Type::Group(inner) => check_type(&inner.elem),
        syn::Type::Infer(_) => Ok(()),
        syn::Type::Reference(reference) if matches!(*reference.elem, syn::Type::Path(_)) => {
            let of = reference.elem.to_token_stream();
            let message = format!(
                "there are no references in kernels; a value is passed as it is, `{of}`, and memory as a view: `Read<T>`, \
                 `PerItem<T>`, `Shared<T>`, `Atomic<T>`"
            );
            error(ty, &message)
        }
        syn::Type::Reference(_) | syn::Type::Ptr(_) | syn::Type::Slice(_) => error(
            ty,
            "there are no references, pointers and slices in kernels; use a view: `Read<T>`, `PerItem<T>`, `Shared<T>`, \
             `Atomic<T>`",
        ),
        syn::Type::FnPtr(_) | syn::Type::ImplTrait(_) | syn::Type::TraitObject(_) => error(
            ty,
            "a function that is given to kernels has the type `impl DeviceFn<(f32,), Output = f32>`, with the types of its \
             parameters and of its result",
        ),
        other => error(
            other,
            "kernels know numbers, bool, tuples, fixed arrays, structs with `#[derive(Element)]`, and views",
        ),
    }
}

pub fn check_cast(ty: &syn::Type) -> Result<()> {
    check_type(ty)?;
    match ty {
        syn::Type::Group(inner) => check_cast(&inner.elem),
        syn::Type::Path(path) if path.path.is_ident("bool") => error(ty, "write `x != 0`"),
        syn::Type::Path(_) => Ok(()),
        other => error(other, "a kernel converts between numbers"),
    }
}

/// The most dimensions of a launch, as in `wattle_ir::MAX_RANK`.
const MOST_DIMENSIONS: u32 = 4;

/// The class of a parameter, by its type.
pub fn class(ty: &syn::Type) -> Result<Class> {
    if let syn::Type::Group(inner) = ty {
        return class(&inner.elem);
    }
    if let syn::Type::Reference(reference) = ty {
        if let syn::Type::Path(path) = &*reference.elem
            && let Some(last) = path.path.segments.last()
            && last.ident == "Acc"
            && reference.mutability.is_none()
        {
            let dimensions = match &last.arguments {
                syn::PathArguments::None => None,
                syn::PathArguments::AngleBracketed(arguments) => {
                    arguments.args.iter().find_map(|argument| match argument {
                        syn::GenericArgument::Const(x) => Some(x.clone()),
                        syn::GenericArgument::Type(syn::Type::Path(path)) => Some(syn::Expr::Path(syn::ExprPath {
                            attrs: Vec::new(),
                            qself: None,
                            path: path.path.clone(),
                        })),
                        _ => None,
                    })
                }
                syn::PathArguments::Parenthesized(_) => return error(ty, "write `&Acc` or `&Acc<2>`"),
            };
            if let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(rank), .. })) = &dimensions
                && !rank.base10_parse::<u32>().is_ok_and(|rank| (1..=MOST_DIMENSIONS).contains(&rank))
            {
                let message = format!(
                    "a launch has 1 to {MOST_DIMENSIONS} dimensions; take further ones apart yourself, `let (y, x) = (i / width, i % \
                     width)`"
                );
                return error(rank, &message);
            }
            return Ok(Class::Acc(dimensions));
        }
        if let syn::Type::Path(path) = &*reference.elem {
            match path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default().as_str() {
                "Buffer" => return class(&reference.elem),
                "Read" | "PerItem" | "Shared" | "Atomic" => {
                    return error(ty, "views are taken by value; leave out the `&`");
                }
                _ => {}
            }
        }
        if reference.mutability.is_some() {
            return check_type(&reference.elem).map(|()| Class::Exclusive);
        }
        return check_type(ty).map(|()| Class::Value);
    }
    if let syn::Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
    {
        let arguments = match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => arguments.args.len(),
            _ => 0,
        };
        if ["Read", "PerItem", "Shared", "Atomic"].iter().any(|view| last.ident == view) {
            check_element(&last.arguments, last.ident == "Atomic")?;
        }
        match last.ident.to_string().as_str() {
            "Read" if arguments == 1 => return Ok(Class::View(View::ReadLine)),
            "PerItem" => return Ok(Class::View(View::PerItem)),
            "Read" => return Ok(Class::View(View::Read)),
            "Shared" => return Ok(Class::View(View::Shared)),
            "Atomic" => return Ok(Class::View(View::Atomic)),
            "Acc" => return error(ty, "write `&Acc`"),
            "Buffer" => {
                return error(
                    ty,
                    "a kernel's parameter says how its threads share the buffer: `Read<T>`, `PerItem<T>`, \
                                  `Shared<T>` or `Atomic<T>`",
                );
            }
            _ => {}
        }
    }
    check_type(ty)?;
    Ok(Class::Value)
}

/// The most numbers of an element, as in `wattle_ir::ElementLayout`.
const MOST_NUMBERS: u64 = 32;

/// How many numbers an element has at least, as far as its type shows.
fn least_numbers(ty: &syn::Type) -> u64 {
    match ty {
        syn::Type::Group(inner) => least_numbers(&inner.elem),
        syn::Type::Paren(inner) => least_numbers(&inner.elem),
        syn::Type::Array(array) => {
            let len = match &array.len {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(len), .. }) => len.base10_parse().unwrap_or(1),
                _ => 1,
            };
            least_numbers(&array.elem).saturating_mul(len)
        }
        _ => 1,
    }
}

/// Refuses an element of more numbers than a parameter of a kernel can have.
pub fn check_numbers(element: &syn::Type) -> Result<()> {
    let numbers = least_numbers(element);
    match numbers > MOST_NUMBERS {
        true => {
            let message = format!(
                "an element of memory has at most {MOST_NUMBERS} numbers, and this one {numbers}; put them into a buffer of \
                 their own, and index it"
            );
            error(element, &message)
        }
        false => Ok(()),
    }
}

/// Refuses the types that views cannot be of; of atomics those that are too narrow.
fn check_element(arguments: &syn::PathArguments, is_atomic: bool) -> Result<()> {
    let syn::PathArguments::AngleBracketed(arguments) = arguments else { return Ok(()) };
    let Some(syn::GenericArgument::Type(element)) = arguments.args.first() else { return Ok(()) };
    check_type(element)?;
    check_numbers(element)?;
    let name = match element {
        syn::Type::Path(path) => path.path.get_ident().map(ToString::to_string).unwrap_or_default(),
        syn::Type::Group(_) => return Ok(()),
        syn::Type::Array(_) if !is_atomic => return Ok(()),
        syn::Type::Array(_) => {
            return error(
                element,
                "atomic operations are on single numbers; give the array's elements to a view by themselves",
            );
        }
        _ => {
            let numbers = listed(|_, _| true);
            let message = format!(
                "a view is of {numbers}, of arrays of them, `[f32; 4]`, or of structs with `#[derive(Element)]`"
            );
            return error(element, &message);
        }
    };
    if is_atomic && TYPES.iter().any(|&(known, _, has_atomics)| known == name && !has_atomics) {
        let ints = listed(|row, has_atomics| has_atomics && row != "float");
        let floats = listed(|row, has_atomics| has_atomics && row == "float");
        let text = format!(
            "atomics exist for {ints} (all operations) and {floats} (load, store, exchange, compare_exchange, add, min, max); \
             have a `u32` for each, or pack several into one; sums of pairs of halves are `wattle::pairs::fetch_add_f16x2`"
        );
        return error(element, &text);
    }
    Ok(())
}
