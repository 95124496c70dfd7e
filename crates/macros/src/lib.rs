//! The attributes `#[kernel]`, `#[device_fn]` and `#[scenario]`; users have them from the `wattle` crate.
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
mod scenario;
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
///
/// # Mathematical functions
/// An error is the distance from the true value of the function, for the operands as they are, in units in the last
/// place (ulp) of that value. The bounds hold on every device and for all operands, also the largest.
///
/// | function | result | error at most |
/// |---|---|---|
/// | `x + y`, `x - y`, `x * y`, `x / y` | of floats | 0.5 ulp |
/// | `x.sqrt()` | square root; NaN below zero | 0.5 ulp |
/// | `x.fma(y, z)` | `x * y + z`, rounded once | 0.5 ulp |
/// | `x.rsqrt()` | 1 by the square root; NaN below zero, an infinity of a zero | 1.5 ulp |
/// | `x.exp()` | exponential | 1.5 ulp |
/// | `x.ln()` | natural logarithm; NaN below zero, -infinity of a zero | 1.5 ulp |
/// | `x.sin()` | sine of an angle in radians, however large; NaN of an infinity | 1.5 ulp |
/// | `x.cos()` | cosine, likewise | 1.5 ulp |
/// | `x.tanh()` | hyperbolic tangent | 3 ulp |
/// | `x.pow(y)` | power; NaN below zero unless `y` is whole; 1 where `y` is 0 or `x` is 1 | 1.5 ulp |
/// | `x.abs()`, `x.floor()`, `x.ceil()`, `x.round()` | `round`: halves away from zero | exact |
/// | `x.min(y)`, `x.max(y)`, `x.clamp(y, z)` | of floats the one that is a number; -0 is less than +0 | exact |
/// | `x.is_nan()`, `x.to_bits()`, `T::from_bits(n)` | of floats | exact |
/// | `x.mul_hi(y)` | of `u32` and `u64`, the high half of the full product | exact |
/// | `x.count_ones()`, `x.leading_zeros()`, `x.trailing_zeros()` | of integers, as `u32` | exact |
///
/// `clamp` is `x.max(y).min(z)`. Special values are those of C (ISO C 2011, annex F.10). Where the true value is within
/// the bound of the largest finite number, the result may be infinite. A subnormal operand may count as a zero of its
/// sign, and a result whose true value is subnormal may be any number from zero to the least normal one, with its sign.
/// The sign and payload of a NaN are not promised.
///
/// CUDA and Vulkan devices run Wattle's own expansions of these functions. The host and the simulated device use the C
/// library's `exp`, `ln`, `tanh` and `pow`, and its `sin` and `cos` of reduced angles; with it their results, and whether
/// they are within the bounds, can change. The bounds are tested with glibc.
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

/// Registers a scenario: a function that allocates, launches, waits and checks. Being linked makes it known to
/// `Scenario::all` and, in a program with `wattle_cli::main`, to every command of `wattle`.
///
/// ```ignore
/// /// A dot product, summed per block in shared memory.
/// ///
/// /// Integers wrap, so the order in which the blocks add does not matter.
/// #[scenario(sizes = Sizes { full: 1 << 20, small: 1 << 10, proof: 4 })]
/// fn dot_product(device: &Device, n: usize) -> Result<()> {
///     let values = device.from_slice(&vec![1u32; n])?;
///     // …
///     Ok(())
/// }
/// ```
///
/// The function stays as it is. It takes `&Device`, and a size if its work has one, and returns `Result<()>` or
/// `Result<Summary>`. The first paragraph of its doc comment is the summary that `wattle list` shows; what follows is
/// the page of `wattle list NAME`.
///
/// | argument | what it is | without it |
/// |---|---|---|
/// | `name = "dot-product"` | the name that the commands take | the function's, with hyphens |
/// | `expect = refuted` | what should come of it: `holds`, or `refuted` where it is wrong on purpose | `holds` |
/// | `sizes = Sizes { … }` | the size on the host and GPUs, on simulated devices, and under the checker | no size |
/// | `documentation = include_str!("dot.md")` | the page | the rest of the doc comment |
///
/// Two scenarios of one name are an error for a program that asks for all of them; the error names both places.
#[proc_macro_attribute]
pub fn scenario(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let message = "`#[scenario]` stands on a function: `fn(device: &Device) -> Result<()>`";
            let error = syn::Error::new(proc_macro2::Span::call_site(), message).into_compile_error();
            return quote::quote!(#item #error).into();
        }
    };
    let expanded = syn::parse(attribute).and_then(|arguments| scenario::scenario(&arguments, &function));
    // The function stays where its registration is refused: what calls it has no second error.
    expanded
        .unwrap_or_else(|error| {
            let error = error.into_compile_error();
            quote::quote!(#function #error)
        })
        .into()
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
