//! The attributes `#[kernel]`, `#[device_fn]` and `#[scenario]`; users have them from the `wattle` crate.
//!
//! Here live the subset of Rust that kernels are written in (`ast`, with every refusal in `parse`) and the two
//! functions that each kernel becomes: the host's (`host`) and the builder of its intermediate representation
//! (`build`). What never will: types, arithmetic, memory; rustc infers the first, and the other crates hold the rest.

mod ast;
mod build;
mod element;
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
/// The first parameter is `acc: &Acc`, or `&Acc<2>` and so on for launches in more dimensions. The others, at most 32, are
/// numbers, arrays and structs by value, and the views `Read<T>`, `PerItem<T>`, `Shared<T>` and `Atomic<T>`. Generic scalars (`T: Float`) and const
/// generics work. A kernel may come from `macro_rules!`.
///
/// # The subset
/// Each thing outside it is refused where it stands, with the way out.
///
/// | what | how |
/// |---|---|
/// | variables | `let`, `let mut`, with tuples `(a, b)` and arrays `[y, x]` taken apart; `let 0..=9 = n else { return };` |
/// | constants | `const N: usize = 8;` in the body, and whatever constant a path names; arrays of constants, see below |
/// | structs | those with [`#[derive(Element)]`](macro@Element): literals, `..base`, fields, patterns; see below |
/// | assignment | to variables, parts of tuples `v.0 += 1.0`, fields `b.mass = 1.0`, elements `x[i]` and `a[i][j]`, items `*x`; to several at once, `(a, b) = (b, a)`: the value is worked out first, then the places from left to right |
/// | arithmetic | `+ - * /` on numbers, and on arrays of equal length element by element; `%`, `& \| ^ ! << >>`, comparison, `&&` and `\|\|`, `as` between numbers |
/// | choice | `if`, `else`, `if let`, `match`, `matches!`, all also as values |
/// | patterns | literals, constants, ranges `1..=9`, `10..`, alternatives `1 \| 2`, names, `n @ 1..=9`, `_`, tuples, arrays and structs of these, guards `n if n > 3`; rustc sees whether they are exhaustive |
/// | loops | `while`, `while let`, `loop` with `break value`, `for` over ranges (with `.rev()` and `.step_by(k)`), `acc.indices(…)`, `acc.items(&mut x)` and `acc.items((&mut x, &mut y))`; `break`, `continue`, labels, also on blocks |
/// | arrays | `[0.0; 16]`, `[[0; 4]; 8]`, `a[i][j]`, rows `a[i]` as values, `a.len()` as `u32`; at most 16 KiB |
/// | functions | those with [`macro@device_fn`], also with `&mut` parameters: `f(&mut x)`; the mathematical functions as methods |
/// | assertions | `assert!`, `assert_eq!`, `assert_ne!`, which the launch reports |
///
/// # Arrays of constants
/// `const TABLE: [f32; 256] = …;`, in the kernel or outside, is read as `TABLE[i]`, by any index, and given to device
/// functions by value. On CUDA devices it is constant memory (`.const`; global memory where a kernel has more than 64 KiB
/// of it), on Vulkan devices constant data of the shader. For the checker it is no memory: to read it is no event.
///
/// # Structs and short vectors
/// A struct with `#[derive(Clone, Copy, Element)] #[repr(C)]` and an array `[f32; 4]` are elements of buffers, views and
/// block shared memory, parameters and variables, and what device functions take and return: CUDA's `float4`, with names.
/// `bodies[i].mass` and, of an item, `body.position[0] += 1.0` touch that field alone, which is memory of its own for the
/// race detectors and the checker. Elements of 8 and 16 bytes are one load and one store on a GPU (`LDG.E.128`). Vectors
/// are `x + y * [k; 4]`.
///
/// # Literals in generic kernels
/// Where something else decides the type, a literal with a point is of a generic type too: `x * 0.5`, `x.max(0.0)`,
/// `*y = 0.5` and `let z: T = 0.5` for `T: Float`, rounded once. A variable that begins with one is not: write
/// `let mut sum = T::ZERO`.
///
/// # Items of several views
/// `for (i, (a, b)) in acc.items((&mut x, &mut y))` goes over 2 to 6 `PerItem` views of one extent by one map. Views of
/// different extents are refused when the kernel is launched.
///
/// # What is not there
/// Known by these names elsewhere, and refused with what to do instead: asynchronous copies to shared memory
/// (`memcpy_async`, `cp.async`): copy in a loop over `acc.indices(THREADS_IN_BLOCK, …)`, then `acc.sync_block()`. Tensor
/// cores (`wmma`, `mma`): multiply tiles in shared memory with `x.fma(y, z)`. Textures, surfaces and samplers: a `Read`
/// view and an index that is clamped. Dynamic parallelism (launches from kernels): the next launch on the same queue, or a
/// list of work that the kernel itself extends. A barrier of the whole grid: the end of the launch, or a counter of blocks
/// in a cooperative launch. `__syncthreads` is `acc.sync_block()`, `__threadfence` is `acc.mem_fence(…)`, `atomicAdd` is
/// `fetch_add` on an `Atomic` view, `__constant__` is an array of constants, `threadIdx` is `acc.thread_in_block()`.
///
/// # Arithmetic
/// It is the same on every device and in every build profile: integers wrap, shift counts are taken modulo the width,
/// conversions from float saturate, an integer divided by zero is a fault and gives 0, and nothing is contracted.
///
/// # Mathematical functions
/// An error is the distance from the true value of the function, for the operands as they are, in units in the last
/// place (ulp) of that value. The bounds hold on every device and for all operands, also the largest, and **every function
/// has the same bits on every device**: each is one expansion into the arithmetic of IEEE 754, which the host, the
/// simulated device, CUDA and Vulkan share.
///
/// | function | result | error at most |
/// |---|---|---|
/// | `x + y`, `x - y`, `x * y`, `x / y` | of floats | 0.5 ulp |
/// | `x.sqrt()` | square root; NaN below zero | 0.5 ulp |
/// | `x.fma(y, z)` | `x * y + z`, rounded once | 0.5 ulp |
/// | `x.recip()` | 1 by the number | 0.5 ulp |
/// | `x.rsqrt()` | 1 by the square root; NaN below zero, an infinity of a zero | 1.5 ulp |
/// | `x.cbrt()` | cube root, with the sign | 1 ulp |
/// | `x.hypot(y)` | square root of the sum of both squares, without overflow on the way | 1.5 ulp |
/// | `x.exp()` | exponential | 1.5 ulp |
/// | `x.exp2()` | 2 to the power; exact of whole numbers | 1.5 ulp |
/// | `x.exp_m1()` | exponential less 1 | 1.5 ulp |
/// | `x.ln()` | natural logarithm; NaN below zero, -infinity of a zero | 1.5 ulp |
/// | `x.log2()` | logarithm to base 2, likewise; exact of powers of 2 | 1.5 ulp |
/// | `x.log10()` | logarithm to base 10, likewise | 1.5 ulp |
/// | `x.ln_1p()` | natural logarithm of 1 more; NaN below -1, -infinity of -1 | 1.5 ulp |
/// | `x.pow(y)` | power; NaN below zero unless `y` is whole; 1 where `y` is 0 or `x` is 1 | 1.5 ulp |
/// | `x.powi(n)` | power of an `i32`; 1 where `n` is 0 | 1.5 ulp |
/// | `x.sin()` | sine of an angle in radians, however large; NaN of an infinity | 1.5 ulp |
/// | `x.cos()` | cosine, likewise | 1.5 ulp |
/// | `x.tan()` | tangent, likewise | 3 ulp |
/// | `x.sin_cos()` | both, each as by itself; the angle is reduced once | 1.5 ulp |
/// | `x.asin()` | angle from -π/2 to π/2; NaN beyond 1 | 1.5 ulp |
/// | `x.acos()` | angle from 0 to π; NaN beyond 1 | 1.5 ulp |
/// | `x.atan()` | angle from -π/2 to π/2 | 1.5 ulp |
/// | `y.atan2(x)` | angle of the point from -π to π; the signs of zeros count | 2 ulp |
/// | `x.sinh()` | hyperbolic sine | 3 ulp |
/// | `x.cosh()` | hyperbolic cosine | 2 ulp |
/// | `x.tanh()` | hyperbolic tangent | 3 ulp |
/// | `x.asinh()` | inverse hyperbolic sine | 3 ulp |
/// | `x.acosh()` | inverse hyperbolic cosine; NaN below 1 | 3 ulp |
/// | `x.atanh()` | inverse hyperbolic tangent; an infinity of 1 and -1, NaN beyond | 3 ulp |
/// | `x.to_degrees()`, `x.to_radians()` | product with the nearest number to 180/π or π/180 | 1.5 ulp |
/// | `x.abs()`, `x.signum()`, `x.copysign(y)` | as the standard library's | exact |
/// | `x.floor()`, `x.ceil()`, `x.trunc()`, `x.fract()` | as the standard library's | exact |
/// | `x.round()`, `x.round_ties_even()` | halves away from zero; halves to the even number | exact |
/// | `x.min(y)`, `x.max(y)`, `x.clamp(y, z)` | of floats the one that is a number; -0 is less than +0 | exact |
/// | `x.is_nan()`, `x.is_finite()`, `x.is_infinite()`, `x.is_sign_negative()` | of floats | exact |
/// | `x.to_bits()`, `T::from_bits(n)` | of floats | exact |
/// | `x.count_ones()`, `x.leading_zeros()`, `x.trailing_zeros()` | of integers, as `u32` | exact |
/// | `x.ilog2()` | of integers, as `u32`: the number of the highest one; 0 for zero | exact |
/// | `x.rotate_left(n)`, `x.rotate_right(n)`, `x.reverse_bits()`, `x.swap_bytes()` | of integers | exact |
/// | `x.saturating_add(y)`, `x.saturating_sub(y)` | of integers | exact |
/// | `x.mul_hi(y)` | of `u32` and `u64`, the high half of the full product | exact |
/// | `x.saturating_mul(y)`, `x.abs_diff(y)`, `x.isqrt()` | of `u32` and `u64` | exact |
///
/// `clamp` is `x.max(y).min(z)`. Special values are those of C (ISO C 2011, annex F.10). Where the true value is within
/// the bound of the largest finite number, the result may be infinite. A subnormal operand may count as a zero of its
/// sign, and a result whose true value is subnormal may be any number from zero to the least normal one, with its sign.
/// The sign and payload of a NaN are not promised. Nor does the promise of equal bits hold for these.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand(attribute, parse_macro_input!(item as ItemFn), "kernel", emit::kernel)
}

/// Makes a function callable from kernels: `#[device_fn] fn square(x: f32) -> f32 { x * x }`.
///
/// It is written in the subset of [`kernel`], takes and returns numbers, tuples and arrays of them, and can also take
/// `acc: &Acc`, the views `Read`, `Shared` and `Atomic`, by value, and variables of the caller's to change, `x: &mut T`:
/// `fn next(state: &mut u32) -> u32` is called as `next(&mut seed)`. It is built in place wherever it is called, so it
/// cannot be recursive. `use` and paths work as for functions; in the documentation it is a type with the function's name.
#[proc_macro_attribute]
pub fn device_fn(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand(attribute, parse_macro_input!(item as ItemFn), "device_fn", emit::device_fn)
}

/// Makes a struct an element of memory: see the trait `Element`.
///
/// The struct is `#[repr(C)]`, without padding, `Clone` and `Copy`, and its fields are elements: numbers, arrays of
/// elements, and other such structs.
#[proc_macro_derive(Element)]
pub fn element(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    element::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
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
