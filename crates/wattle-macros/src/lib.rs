//! The attributes `#[kernel]` and `#[device_fn]`; users have them from the `wattle` crate.
//!
//! Here live the subset of Rust that kernels are written in (`ast`, with every refusal in `parse`) and the two
//! functions that each kernel becomes: the host's (`host`) and the builder of its intermediate representation
//! (`build`). What never will: types, arithmetic, memory; rustc infers the first, and the other crates hold the rest.

mod ast;
mod build;
mod emit;
mod host;
mod names;
mod parse;
mod sample;
mod signature;

use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a function a kernel: calling it with its arguments gives a bundle that `Queue::launch` takes.
///
/// The first parameter is `acc: &Acc`, or `&Acc<2>` and so on for launches in more dimensions. The others are numbers
/// and the views `Read<T>`, `PerItem<T>`, `Shared<T>` and `Atomic<T>`. Generic scalars (`T: Float`) and const generics
/// work.
///
/// # The subset
/// `let` and `let mut`; assignment and compound assignment to variables, elements `x[i]` and items `*x`; arithmetic,
/// comparison, `&&` and `||`; `as` between numbers; `if` and `else`, also as values; `while`, `loop`, `for` over
/// ranges (with `.rev()` and `.step_by(k)`), `acc.indices(…)` and `acc.items(…)`; `break`, `continue`, `return`, labels
/// on loops; `match` on integers with a last arm `_`; tuples and fixed arrays of numbers; calls of functions with
/// `#[device_fn]`; the mathematical functions as methods; `assert!`, `assert_eq!`, `assert_ne!`. Each thing outside it
/// is refused where it stands, with the way out.
///
/// # Arithmetic
/// It is the same on every device and in every build profile: integers wrap, shift counts are taken modulo the width,
/// conversions from float saturate, an integer divided by zero is a fault and gives 0, and nothing is contracted.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand(attribute, parse_macro_input!(item as ItemFn), "kernel", emit::kernel)
}

/// Makes a function callable from kernels: `#[device_fn] fn square(x: f32) -> f32 { x * x }`.
///
/// It is written in the subset of [`kernel`], takes and returns numbers, tuples and arrays of them, and can also take
/// `acc: &Acc` and the views `Read`, `Shared` and `Atomic`, by value. It is built in place wherever it is called, so it
/// cannot be recursive. `use` and paths work as for functions; in the documentation it is a type with the function's name.
#[proc_macro_attribute]
pub fn device_fn(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand(attribute, parse_macro_input!(item as ItemFn), "device_fn", emit::device_fn)
}

fn expand(
    attribute: TokenStream,
    item: ItemFn,
    name: &str,
    expand: fn(ItemFn) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    if let Some(first) = attribute.into_iter().next() {
        let message = format!("`#[{name}]` has no arguments");
        return syn::Error::new(first.span().into(), message).into_compile_error().into();
    }
    expand(item).unwrap_or_else(syn::Error::into_compile_error).into()
}
