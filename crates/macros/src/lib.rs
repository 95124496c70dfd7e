//! The attributes `#[kernel]`, `#[device_fn]` and `#[scenario]`; users have them from the `wattle` crate.
//!
//! Here live the subset of Rust that kernels are written in (`ast`, with every refusal in `parse`) and the two
//! functions that each kernel becomes: the host's (`host`) and the builder of its intermediate representation
//! (`build`). What never will: types, arithmetic, memory; rustc infers the first, and the other crates hold the rest.
//!
//! What they write names everything by `::wattle::`, and promises in `unsafe` blocks what it has made sure of: that
//! holds where this name is the `wattle` crate's, as the page of `#[kernel]` says.

mod ast;
mod build;
mod element;
mod emit;
mod host;
mod names;
mod numbers;
mod parse;
mod recursion;
mod rules;
mod sample;
mod scenario;
mod signature;
mod source;
mod surroundings;
mod trait_bounds;

use emit::Written;
use proc_macro::TokenStream;
use rules::Arguments;
use syn::{ItemFn, parse_macro_input};

#[doc = include_str!("kernel.md")]
#[doc(alias("__global__", "__constant__", "printf", "assert"))]
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    let expanded = Arguments::parse(attribute.into(), "kernel").and_then(|given| emit::kernel(item, given.rules));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function callable from kernels: `#[device_fn] fn square(x: f32) -> f32 { x * x }`.
///
/// `#[device_fn(wide)]` has indices of `u64`, as `#[kernel(wide)]` has: see [`kernel`].
///
/// It is written in the subset of [`kernel`], takes and returns numbers, tuples and arrays of them, and can also take
/// `acc: &Acc`, the views `Read`, `Shared` and `Atomic`, by value, and variables of the caller's to change, `x: &mut
/// T`: `fn next(state: &mut u32) -> u32` is called as `next(&mut seed)`, or `next(&mut seeds[i])`: an element of an
/// array, a field or an item is taken out before the call and put back after it. It is built in place wherever it is
/// called, so it cannot be recursive: one that calls itself is refused where it does, and a circle of several when it
/// is launched. `use` and paths work as for functions; in the documentation it is a type with the function's name. (In
/// CUDA: `__device__`.)
///
/// # Functions of types and traits
/// It stands in `impl` blocks and traits too, there on the declaration and on each implementation:
///
/// ```ignore
/// trait Shape {
///     #[device_fn]
///     fn area(size: f32) -> f32;
/// }
/// struct Sphere;
/// impl Shape for Sphere {
///     #[device_fn]
///     fn area(radius: f32) -> f32 {
///         12.566 * radius * radius
///     }
/// }
/// ```
///
/// A kernel with `S: Shape` calls it as `S::area(x)`, and `Sphere::area` can be given for a parameter that is a
/// function. Such a function takes values, `&mut` variables and the views `Read`, `Shared` and `Atomic`; one that is
/// generic itself is called with its types, `Sphere::volume::<f32>(x)`. `self` is a parameter like others, of a type
/// that is a value in kernels: `self`, `mut self` and `&self` are the value, and `&mut self` is changed where it is:
///
/// ```ignore
/// impl Rng {
///     #[device_fn]
///     fn new(seed: u32) -> Self {
///         Rng { state: seed * 2 + 1 }
///     }
///     #[device_fn]
///     fn next(&mut self) -> u32 {
///         self.state ^= self.state << 13;
///         self.state ^= self.state >> 17;
///         self.state ^= self.state << 5;
///         self.state
///     }
/// }
/// // In a kernel:
/// let mut rng = Rng::new(acc.thread_in_grid());
/// let x = rng.next();
/// ```
///
/// A device function is called in kernels and in other device functions, and not by the host, where a kernel on
/// `Device::host_serial()` runs it, in a test say.
///
/// It is called as `Body::energy(body, x)` or `Rng::next(&mut rng)`, and as a method, `body.energy(x)`, `rng.next()`,
/// of whatever expression has the type: `ray.at(t).plus(offset).length()`. It may be named as a method of numbers or
/// views, `min` or `load`, or as one of Rust's that kernels have not, `sum` or `get`, where the kernel stands in the
/// same file; elsewhere it is then called by its path, `Vector::min(v, w)`. One that is named as a method of arrays,
/// `len`, is a method where the receiver's type is written, `let queue: Queue = …;`. Written by another macro, whose
/// source is elsewhere, it says where it stands: `#[device_fn(associated)]`.
#[doc(alias("__device__", "__host__ __device__"))]
#[proc_macro_attribute]
pub fn device_fn(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let Arguments { rules, associated } = match Arguments::parse(attribute.into(), "device_fn") {
        Ok(given) => given,
        Err(error) => return error.into_compile_error().into(),
    };
    let (item, is_declaration) = match parse_macro_input!(item as Device) {
        Device::Function(item) => (item, false),
        Device::Declaration(item) => (item, true),
        Device::Impl(item) => {
            let refused = |error: syn::Error| {
                let error = error.into_compile_error();
                quote::quote!(#error #item)
            };
            return emit::operator(&item, rules).unwrap_or_else(refused).into();
        }
    };
    // `#[device_fn(associated)]` says what the source cannot where another macro has written it.
    let is_associated = is_declaration
        || associated
        || mentions_self(quote::quote!(#item))
        || surroundings::is_in_impl(item.sig.fn_token.span);
    if let Some(of) = item.sig.receiver().and_then(|_| surroundings::implemented(item.sig.fn_token.span))
        && names::is_operator(&of, &item.sig.ident)
    {
        let message = match names::structs_may_have(&of) {
            true => format!("mark the `impl` and not its function: `#[device_fn] impl {of} for …`"),
            false => emit::refusal_of_operator(&of),
        };
        let error = syn::Error::new(item.sig.ident.span(), message).into_compile_error();
        let without_attribute = &item;
        return quote::quote!(#error #without_attribute).into();
    }
    let expanded = match is_associated {
        true => emit::associated(item, rules, if is_declaration { Written::Declaration } else { Written::Both }),
        false => emit::device_fn(item, rules),
    };
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A device function without a name: `device_closure!(|x, y| x.max(y))` is given to a kernel for a parameter that is a
/// `DeviceFn`. (In CUDA this is a lambda with `__device__`.)
///
/// The types of the parameters are those that the kernel takes; where nothing says them, as in a `let`, they are
/// written: `let f = device_closure!(|x: f32| x * x);`. Its body is in the subset of [`kernel`]. It captures nothing:
/// what it needs is a parameter of it, which the kernel passes. Within kernels it is written as a closure alone.
#[doc(alias("lambda", "__device__ lambda"))]
#[proc_macro]
pub fn device_closure(item: TokenStream) -> TokenStream {
    let closure = parse_macro_input!(item as syn::ExprClosure);
    let expanded = parse::closure(&closure).map(|closure| emit::closure(&closure));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// What `#[device_fn]` is written on.
#[allow(clippy::large_enum_variant, reason = "there is one of them")]
enum Device {
    Function(ItemFn),
    /// A function of a trait that has no body there.
    Declaration(ItemFn),
    /// The `impl` of an operator.
    Impl(syn::ItemImpl),
}

impl syn::parse::Parse for Device {
    fn parse(input: syn::parse::ParseStream) -> syn::Result<Self> {
        use syn::parse::discouraged::Speculative;
        let whole = input.fork();
        if let Ok(item) = whole.parse::<ItemFn>() {
            input.advance_to(&whole);
            return Ok(Device::Function(item));
        }
        let whole = input.fork();
        if let Ok(item) = whole.parse::<syn::ItemImpl>() {
            input.advance_to(&whole);
            return Ok(Device::Impl(item));
        }
        let declared: syn::TraitItemFn = input.parse()?;
        let (attributes, signature) = (&declared.attrs, &declared.sig);
        let item = syn::parse2(quote::quote!(#(#attributes)* #signature {}))?;
        Ok(Device::Declaration(item))
    }
}

/// Whether `self` or `Self` is in it, which only functions of types and traits have.
fn mentions_self(tokens: proc_macro2::TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Group(group) => mentions_self(group.stream()),
        proc_macro2::TokenTree::Ident(name) => name == "self" || name == "Self",
        _ => false,
    })
}

/// Makes a struct an element of memory: see the trait `Element`.
///
/// The struct is `#[repr(C)]`, without padding, `Clone` and `Copy`, and its fields are elements: numbers, arrays of
/// elements, and other such structs.
#[doc(alias("float2", "float4", "make_float4"))]
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
