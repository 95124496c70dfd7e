//! The attributes `#[kernel]`, `#[device_fn]` and `#[scenario]`; users have them from the `wattle` crate.
//!
//! Here live the subset of Rust that kernels are written in (`ast`, with every refusal in `parse`) and the two
//! functions that each kernel becomes: the host's (`host`) and the builder of its intermediate representation
//! (`build`). What never will: types, arithmetic, memory; rustc infers the first, and the other crates hold the rest.
//!
//! What they write names everything by `::wattle::`, and promises in `unsafe` blocks what it has made sure of: that holds where
//! this name is the `wattle` crate's. Who gives it to another crate (`extern crate … as wattle`) makes these promises himself.

mod ast;
mod build;
mod element;
mod emit;
mod host;
mod names;
mod parse;
mod recursion;
mod rules;
mod sample;
mod scenario;
mod signature;
mod source;
mod surroundings;

use emit::Written;
use proc_macro::TokenStream;
use rules::Arguments;
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
/// | variables | `let`, `let mut`, with tuples `(a, b)` and arrays `[y, x]` taken apart; `let x;`, given its value later; `let 0..=9 = n else { return };` |
/// | literals | `1`, `1u8`, `0.5`, `true`, and bytes `b'a'`, which are `u8` |
/// | constants | `const N: usize = 8;` in the body, and whatever constant a path names; arrays of constants, see below |
/// | structs | those with [`#[derive(Element)]`](macro@Element): literals, `Metres(2.0)`, `..base`, fields, patterns; see below |
/// | assignment | to variables, parts of tuples `v.0 += 1.0`, fields `b.mass = 1.0`, elements `x[i]` and `a[i][j]`, items `*x`; to several at once, `(a, b) = (b, a)`: the value is worked out first, then the places from left to right |
/// | arithmetic | `+ - * / %` on numbers, on arrays of equal length element by element, and on structs that have them, see below; `& \| ^ ! << >>`, comparison (`==` and `!=` also of arrays and tuples, part by part), `&&` and `\|\|`, `as` between numbers, and from `bool` to numbers (0 and 1), also to floats |
/// | choice | `if`, `else`, `if let`, `match`, `matches!`, all also as values; `let` among other conditions, `if n > 3 && let 5 = x` |
/// | patterns | literals, constants, ranges `1..=9`, `10..`, alternatives `1 \| 2`, names, `n @ 1..=9`, `_`, tuples, arrays and structs of these, guards `n if n > 3`; rustc sees whether they are exhaustive |
/// | loops | `while`, `while let`, `loop` with `break value`, `for` over ranges (of `a..b` with `.rev()`, of `u32` with `.step_by(k)`), `acc.indices(…)`, `acc.items(&mut x)` and `acc.items((&mut x, &mut y))`, and over arrays, `for d in [-1, 0, 1]`; `break`, `continue`, labels, also on blocks |
/// | arrays | `[0.0; 16]`, `[[0; 4]; 8]`, `a[i][j]`, rows `a[i]` as values, `a.len()` as `u32`; at most 16 KiB |
/// | functions | those with [`macro@device_fn`], also with `&mut` parameters: `f(&mut x)`, `f(&mut a[i])`, `f(&mut body.mass)`; those of types and traits, `S::area(x)`, `body.energy(x)`; parameters that are functions, see below; the mathematical functions as methods |
/// | closures | as arguments for parameters that are functions: `twice(\|x\| x * 2.0, y)`; they capture nothing |
/// | indices | `u32`, or `u64` in `#[kernel(wide)]`, see below; `+ - * / %` of `[u32; D]`, and of other arrays of numbers, element by element; `i.linearize(extent)`, `n.delinearize(extent)`, `i.axis(d)`, `i.with_axis(d, n)` |
/// | assertions | `assert!`, `assert_eq!`, `assert_ne!`, which the launch reports, with values in their text: `assert!(x < n, "x = {x}")`; `debug_assert!` and its like are the same, in release builds too |
/// | printing | `println!("thread {i}: {:.3}", x[i])`, see below |
/// | the clock | `acc.clock()`: ticks as `u64`, for the time between two places |
///
/// A `break` or `return` in a loop over `acc.indices(…)` or `acc.items(…)` ends the share of the thread that comes to it, and of no
/// other. How many items a thread has is the device's choice: what is left out is then another part on each. A condition that
/// leaves out one item is `if c { … }` or `continue`.
///
/// Views stay what they are while a kernel runs: they are not assigned to, and no `if`, `match` or loop gives one. Where the source
/// of a step changes, as between the two halves of a scan, a number does: `tile[from + i]`, and `(from, to) = (to, from)`.
///
/// # Constants and arrays of them
/// `const ORIGIN: Body = Body { … };` of a struct with [`#[derive(Element)]`](macro@Element) is a value like others.
/// `const TABLE: [f32; 256] = …;`, also of structs, in the kernel or outside, is read as `TABLE[i]`, by any index, and given
/// to device functions by value; so is a `static TABLE`, whose values no thread can change. On CUDA devices it is constant memory (`.const`; global memory where a kernel has more than 64 KiB
/// of it), on Vulkan devices constant data of the shader. For the checker it is no memory: to read it is no event.
///
/// # Structs and short vectors
/// A struct with `#[derive(Clone, Copy, Element)] #[repr(C)]` and an array `[f32; 4]` are elements of buffers, views and
/// block shared memory, parameters and variables, and what device functions take and return: CUDA's `float4`, with names.
/// `bodies[i].mass` and, of an item, `body.position[0] += 1.0` touch that field alone, which is memory of its own for the
/// race detectors and the checker. Elements of 8 and 16 bytes are one load and one store on a GPU (`LDG.E.128`). Vectors
/// are `x + y * [k; 4]`. Padding is refused, with its bytes and what to write.
///
/// Structs have operators, `v + w * t` and `-v`, by `#[device_fn]` on the `impl` of `Add`, `Sub`, `Mul`, `Div`, `Rem` or `Neg`:
///
/// ```ignore
/// #[device_fn]
/// impl Mul<f32> for Vector {
///     type Output = Self;
///     fn mul(self, t: f32) -> Self {
///         Vector { x: self.x * t, y: self.y * t }
///     }
/// }
/// ```
///
/// The `impl` stays the host's as well, unless its body calls a device function. `v += w` is `v = v + w`. In a kernel with
/// `contract` or `reassociate` operators are those of numbers alone; beside type parameters that are numbers a literal is
/// written with its type, `v * 0.5f32`; and so are the parameters of a closure, `|v: Vector, w: Vector| v + w`.
///
/// Of a view of numbers `x.lanes::<4>(i)` reads consecutive elements under one check, and `out.store_lanes(i, [a, b, c, d])`
/// writes them to a `Shared` view or to block shared memory (CUDA's `reinterpret_cast<float4*>`): accesses of 16 bytes
/// where `i` is a multiple of 4, for other threads each element by itself. On the host the elements of arrays and of
/// structs in `Read` and `PerItem` views are packed as those of a loop that is written by hand.
///
/// # Block shared memory
/// `let tile = acc.shared::<f32, 64>();` at the top of a kernel is an array of the block's (CUDA's `__shared__`), and
/// `acc.shared_nd::<f32, 16, 17>()` one of two dimensions, up to four, read and written as `tile[[y, x]]` with a check of
/// each index by itself; `acc.shared_at_launch::<f32>()` has the length that the launch gives (`extern __shared__`).
///
/// # Literals in generic kernels
/// Where something else decides the type, a literal with a point is of a generic type too: `x * 0.5`, `x.max(0.0)`,
/// `*y = 0.5` and `let z: T = 0.5` for `T: Float`, rounded once. Elsewhere a number of type `T` is written `2 as T`, `0.5 as T` or
/// `T::from_f64(0.5)`: where `T: Number` or `T: Int`, and where a variable begins with it, `let mut sum = T::ZERO`.
///
/// # Functions as parameters
/// `f: F` with `F: DeviceFn<(T, T), Output = T>`, or `f: impl DeviceFn<(T, T), Output = T>`, is a function that the launch
/// gives: one with [`macro@device_fn`] by its name, or [`device_closure!`]. The kernel calls it as `f(x, y)` and passes it to
/// device functions. It is built in place, so it costs no more than the same words in the kernel; each function makes
/// another instance of the kernel. (In CUDA: a functor or an extended lambda as a template argument.)
///
/// ```ignore
/// /// Folds the elements that fall to each thread.
/// #[kernel]
/// fn fold<T: Element, F: DeviceFn<(T, T), Output = T>>(acc: &Acc, x: Read<T>, out: PerItem<T>, start: T, f: F) {
///     for (thread, out) in acc.items(&mut out) {
///         let mut result = start;
///         for i in (thread..x.len()).step_by(acc.threads_in_grid()) {
///             result = f(result, x[i]);
///         }
///         *out = result;
///     }
/// }
/// queue.launch(spec, fold(&x, &mut out, f32::MIN, device_closure!(|a, b| a.max(b))))?;
/// ```
///
/// # Kernels that are generic over a trait
/// `fn measure<S: Shape>(acc: &Acc, sizes: Read<f32>, …)` calls `S::area(sizes[i])` where `Shape` has `#[device_fn] fn
/// area(size: f32) -> f32;`, and reads its constants, `S::SIDES as f32`. (In CUDA: a policy class as a template argument.)
///
/// # Functors
/// What a function needs besides its arguments is a value with functions, an element whose type is a parameter:
///
/// ```ignore
/// trait Op: Element {
///     #[device_fn]
///     fn apply(self, x: f32, y: f32) -> f32;
/// }
/// #[derive(Clone, Copy, Element)]
/// #[repr(C)]
/// struct Axpy {
///     a: f32,
/// }
/// impl Op for Axpy {
///     #[device_fn]
///     fn apply(self, x: f32, y: f32) -> f32 {
///         self.a * x + y
///     }
/// }
///
/// #[kernel]
/// fn combine<O: Op>(acc: &Acc, op: O, x: Read<f32>, out: PerItem<f32>) {
///     for (i, out) in acc.items(&mut out) {
///         *out = op.apply(x[i], *out);
///     }
/// }
/// queue.launch(spec, combine(Axpy { a: 2.0 }, &x, &mut out))?;
/// ```
///
/// (In CUDA: a functor with members, given by value.)
///
/// # Kernels in any number of dimensions
/// `fn fill<T: Element, const D: usize>(acc: &Acc<D>, out: PerItem<T, D>, value: T)` is for launches in 1 to 4 dimensions.
/// Its indices are `u32` for `D = 1` and `[u32; D]` for more, so what applies to both is written: arithmetic by element,
/// `i.axis(d)` for a part, `i.with_axis(d, n)` for the index with another one, and the loop over all indices of an extent,
/// `for i in acc.indices(THREADS_IN_GRID, x.extent())`. `i.linearize(extent)` is the row-major number of an index, and
/// `n.delinearize(extent)` the index of that number. An axis that an index does not have is a fault.
///
/// # More than 2³² elements
/// Indices, extents and places in the launch are `u32`, and a launch with more is refused: a view of 2³² elements or more, or
/// as many threads. In `#[kernel(wide)]` they are `u64`, and such launches run; the rest of the body stays as it is, since
/// their type is rarely written:
///
/// ```ignore
/// #[kernel(wide)]
/// fn triad(acc: &Acc, factor: f32, x: Read<f32>, y: Read<f32>, mut out: PerItem<f32>) {
///     for (i, out) in acc.items(&mut out) {
///         *out = x[i] + factor * y[i]; // `i` is a `u64`
///     }
/// }
/// ```
///
/// So are the indices of block shared memory and arrays there, and `x.len()`; a number that a loop ends with is written
/// `n as u64`. What belongs to warps (lanes, masks) stays `u32`. A device function with indices, places or `len` in it
/// is `#[device_fn(wide)]`; one without may be called as well.
///
/// On GPUs the code has indices of 64 bits in launches that need them alone. In all others a place, an extent and a counter
/// are computed with 32 bits, and so are comparisons, quotients and remainders of them and accesses at them; only sums,
/// differences and products of indices that the kernel itself writes have 64.
/// [`LaunchOptions::long_indices`](../wattle/struct.LaunchOptions.html#method.long_indices) runs the other code on any data.
/// The host, the simulated device, the checker and CUDA devices run such launches. On Vulkan a shader reaches at most 2³² - 1
/// bytes of a buffer (`maxStorageBufferRange`), so a launch that needs more is refused there, and one that does not runs.
///
/// # Items of several views
/// `for (i, (a, b)) in acc.items((&mut x, &mut y))` goes over 2 to 6 `PerItem` views of one extent by one map. Views of
/// different extents are refused when the kernel is launched.
///
/// # Printing
/// `println!` writes a line into a log of the launch; nothing else of `print!` and its like is there. What stands between
/// braces is as in Rust, and so is the text that comes out: `{}`, `{i}`, `{0}`, `{name}`, `{:?}`, `{:x}`, `{:#010b}`,
/// `{:>8.3}`, `{:e}`, with up to 16 numbers and truth values; a width is written as a number (not `{:w$}`), and text is no
/// value. The device keeps the raw values and the host makes the text, so a line, and the message of an assertion, reads the
/// same on every device. The values of a message of an assertion are computed where it fails alone.
///
/// The lines come once the launch's end is waited for, on the standard output or where
/// [`Queue::print_to`](../wattle/struct.Queue.html#method.print_to) says, in the order of the launches and then of the
/// threads. The log has room for 1 MiB
/// ([`LaunchOptions::print_buffer`](../wattle/struct.LaunchOptions.html#method.print_buffer)); lines beyond it are counted
/// and lost, and what comes out says so. A kernel that does not print pays nothing. To the checker a line is no event, and
/// it prints none. CUDA's `printf` is this.
///
/// # Atomics
/// `u32 i32 u64 i64` have `load`, `store`, `exchange`, `compare_exchange` (`atomicCAS`), `fetch_add`, `fetch_sub`,
/// `fetch_min`, `fetch_max` (`atomicMin`, `atomicMax`), `fetch_and`, `fetch_or`, `fetch_xor`, `fetch_inc` and `fetch_dec`;
/// `f32` and `f64` have `load`, `store`, `exchange`, `compare_exchange`, `fetch_add`, `fetch_min` and `fetch_max`. Of floats
/// the minimum is that of `min`: the one that is a number, and -0 is less than +0; and a compare-exchange compares bits, so
/// that -0 is not +0 and a NaN is found by its own bits. What a target has no instruction for (minimum and maximum of
/// floats on all of them) is a loop of compare-exchanges. There are no atomics of 8, 16 and 128 bits; pairs of halves (CUDA's
/// `atomicAdd` on `__half2`) lie in an `Atomic<u32>`, to which [`wattle::pairs`](../wattle/pairs/index.html) adds.
///
/// # What is not there
/// Known by these names elsewhere, and refused with what to do instead: asynchronous copies to shared memory
/// (`memcpy_async`, `cp.async`): copy in a loop over `acc.indices(THREADS_IN_BLOCK, …)`, then `acc.sync_block()`. Tensor
/// cores (`wmma`, `mma`): multiply tiles in shared memory with `x.fma(y, z)`. Textures, surfaces and samplers: a `Read`
/// view and an index that is clamped. Dynamic parallelism (launches from kernels): the next launch on the same queue, or a
/// list of work that the kernel itself extends. A barrier of the whole grid: the end of the launch, or a counter of blocks
/// in a cooperative launch. `__syncthreads` is `acc.sync_block()`, `__threadfence` is `acc.mem_fence(…)`, `atomicAdd` is
/// `fetch_add` on an `Atomic` view, `printf` is `println!`, `clock64` is `acc.clock()`, `__constant__` is an array of constants, `threadIdx` is `acc.thread_in_block()`.
///
/// # Warps
/// The lanes of a warp exchange values by methods of `acc.warp()`: `shuffle` (`__shfl_sync`), `shuffle_up`, `shuffle_down`,
/// `shuffle_xor`, `ballot`, `any`, `all`, `reduce_sum`, `inclusive_sum` and their like, and `sync` (`__syncwarp`); the page
/// of `Warp` has CUDA's names for all of them, and says what every lane owes the others. The masks that `ballot` gives are
/// combined and compared: `a & !b`, `a | b`, `a ^ b`, `a == b`; `!a` is of the other lanes of a whole warp.
///
/// # Barriers
/// `acc.sync_block()` (`__syncthreads`) is reached by all threads of the block or by none, in the same iteration of a loop. The
/// host, the simulated device and the checker report where that is not so; **CUDA and Vulkan devices do not notice it**: what
/// such a kernel does there has no meaning, and it may never end. The same holds of a warp's operations, for its lanes.
///
/// # The device
/// `acc.device()` says what the kernel is built for: `if acc.device().has_f64() { … } else { … }`,
/// `acc.device().compute_capability() >= 90` (`__CUDA_ARCH__`), `acc.device().warp_size()` (`warpSize`). Each device has its own
/// variant, in which the side that is not taken is left out, so that it may use what the device lacks.
///
/// # Arithmetic
/// It is the same on every device and in every build profile: integers wrap, shift counts are taken modulo the width,
/// conversions from float saturate, an integer divided by zero is a fault and gives 0, and nothing is contracted unless the
/// kernel permits it.
///
/// # Floats of 16 bits
/// `f16` (IEEE 754 binary16; CUDA's `__half`) and `bf16` (bfloat16; CUDA's `__nv_bfloat16`) are the types of the crate
/// `half`, which the prelude has. They are elements of views, arguments, variables and constants like `f32`, but have no
/// atomic operations. Every operation is rounded once, and has the same bits on every device: `x + y`, `x.fma(y, z)`, `x as
/// f16` of an `f64` or a `u64`. CUDA devices have instructions for `+ - *` and `fma` of `f16`, for `fma` of `bf16` since
/// compute capability 8.0, and for its `+ - *` since 9.0; Vulkan devices for `+ - *` of `f16` where they promise its rounding
/// and subnormal numbers. Elsewhere, and for all other operations, it is `f32` between two conversions. A mathematical function is that of `f32`, rounded once more: within 0.501 ulp where the table says at most 3.
/// Subnormal numbers of `f16` are promised, those of `bf16` are not. Rust has no literals of these types: where the type is
/// no generic one, `x * 0.5` works in a function that names `f16` or `bf16`; else write `x * (0.5 as f16)`, or `const HALF:
/// f16 = f16::from_f32_const(0.5);`.
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
/// | `x.fma(y, z)`, `x.mul_add(y, z)` | `x * y + z`, rounded once | 0.5 ulp |
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
/// | `x.pow(y)`, `x.powf(y)` | power; NaN below zero unless `y` is whole; 1 where `y` is 0 or `x` is 1 | 1.5 ulp |
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
/// | `x % y`, `x.fmod(y)` | of floats, the remainder with the sign of `x`; NaN for a `y` of zero | exact |
/// | `x.rem_euclid(y)`, `x.div_euclid(y)` | of floats, as the standard library's, but a remainder that is subnormal counts as zero | rounded once, and as `x / y` |
/// | `x.abs()`, `x.signum()` | as the standard library's, of floats and of signed integers | exact |
/// | `x.copysign(y)` | of floats, as the standard library's | exact |
/// | `x.floor()`, `x.ceil()`, `x.trunc()`, `x.fract()` | as the standard library's | exact |
/// | `x.round()`, `x.round_ties_even()` | halves away from zero; halves to the even number | exact |
/// | `x.min(y)`, `x.max(y)`, `x.clamp(y, z)` | of floats the one that is a number; -0 is less than +0 | exact |
/// | `x.is_nan()`, `x.is_finite()`, `x.is_infinite()`, `x.is_sign_negative()`, `x.is_sign_positive()` | of floats | exact |
/// | `x.to_bits()`, `T::from_bits(n)` | of floats | exact |
/// | `x.count_ones()`, `x.count_zeros()`, `x.leading_zeros()`, `x.trailing_zeros()`, `x.leading_ones()`, `x.trailing_ones()` | of integers, as `u32` | exact |
/// | `x.pow(n)` | of integers, a power of a `u32`, which wraps | exact |
/// | `x.rem_euclid(y)`, `x.div_euclid(y)` | of integers; zero is a fault, as of `x / y` and `x % y` | exact |
/// | `x.div_ceil(y)` | of `u32` and `u64`, the quotient rounded up; zero is a fault | exact |
/// | `x.checked_add(y)`, `x.checked_sub(y)`, `x.checked_mul(y)`, `x.checked_neg()`, `x.checked_pow(n)` | of integers; a result beyond the type is a fault, and 0 | exact |
/// | `x.ilog2()` | of integers, as `u32`: the number of the highest one; 0 for zero | exact |
/// | `x.rotate_left(n)`, `x.rotate_right(n)`, `x.reverse_bits()`, `x.swap_bytes()` | of integers | exact |
/// | `x.saturating_add(y)`, `x.saturating_sub(y)`, `x.saturating_mul(y)` | of integers | exact |
/// | `x.wrapping_add(y)`, `x.wrapping_sub(y)`, `x.wrapping_mul(y)` | of integers, what `x + y`, `x - y` and `x * y` are in kernels | exact |
/// | `x.mul_hi(y)` | of `u32` and `u64`, the high half of the full product | exact |
/// | `x.isqrt()`, `x.abs_diff(y)`, `x.is_power_of_two()` | of `u32` and `u64` | exact |
///
/// `clamp` is `x.max(y).min(z)`. Special values are those of C (ISO C 2011, annex F.10). Where the true value is within
/// the bound of the largest finite number, the result may be infinite. A subnormal operand may count as a zero of its
/// sign, and a result whose true value is subnormal may be any number from zero to the least normal one, with its sign.
/// The sign and payload of a NaN are not promised. Nor does the promise of equal bits hold for these.
///
/// # Short forms
/// Where speed counts for more than the last bits, a kernel says so at each call. **These have other bits on other
/// devices**: on CUDA devices each is the processor's own instruction (`ex2.approx` and its like), elsewhere a short series
/// and the device's own quotient and root. The bounds hold on every device. The simulated device and the checker compute
/// the series, so a verdict holds for what the series give. Subnormal numbers count as zeros, and nothing is promised of
/// results beyond the range. Of `f64` they are the functions without `_fast`; of floats of 16 bits those of `f32`, rounded.
///
/// | function of `f32` | for | error at most |
/// |---|---|---|
/// | `x.recip_fast()` | sizes from 2^-126 to 2^126 | 3 ulp |
/// | `x.div_fast(y)` | sizes of `y` from 2^-126 to 2^126 | 5 ulp |
/// | `x.sqrt_fast()` | `x` from 2^-126 on | 5 ulp |
/// | `x.rsqrt_fast()` | `x` from 2^-126 on | 8 ulp |
/// | `x.exp2_fast()` | -126 to 128 | 2^-21 of the value |
/// | `x.exp_fast()` | -87 to 88 | 2^-21 + \|x\| 2^-23 of the value |
/// | `x.log2_fast()` | `x` from 2^-126 on | 2^-21 from 0.5 to 2, else 2^-21 of the value |
/// | `x.ln_fast()`, `x.log10_fast()` | `x` from 2^-126 on | 2^-21 from 0.5 to 2, else 2^-20 of the value |
/// | `x.pow_fast(y)` | `x` from 2 on | 2^-21 (1 + \|y log2 x\|) of the value |
/// | `x.sin_fast()`, `x.cos_fast()` | -π to π; the error grows with the angle | 2^-20 |
/// | `x.tan_fast()` | -1 to 1 | 2^-18 (1 + \|tan x\|) |
/// | `x.tanh_fast()` | all | 2^-10 of the value |
///
/// # Fused and reordered sums
/// What is written is what is computed, unless the kernel permits more, for itself and the closures in it (a device
/// function has its own attribute, `#[device_fn(contract)]`):
///
/// - `#[kernel(contract)]`: `x * y + z`, `z + x * y`, `x * y - z`, `z - x * y`, and `v += x * y`, `v -= x * y` of whatever can
///   be assigned to (a variable, an item, `out[i]`, a field), are one fused multiply-add each where they are floats. Where
///   both sides of a sum are products, the first one is fused. It is always so, not as a compiler likes: **the bits are
///   still equal on every device**, and the checker sees the same operation. On the host it is one instruction where the
///   program is compiled for a processor that has it (`RUSTFLAGS="-C target-feature=+fma"` on x86-64), and otherwise a
///   function call, which is slower than the product and the sum, and keeps a loop from becoming packed instructions.
/// - `#[kernel(reassociate)]`: sums over a loop may be added in another order. On the host, a loop over
///   `acc.indices(…)` that does nothing with a variable outside of it but `sum += …`, once in each iteration, keeps 32
///   sums, of every thirty-second iteration each, which are added by halves behind the loop; so it becomes packed
///   instructions (of a dot product's `sum += x[i] * y[i]` on x86-64, `mulps` and `addps`). Other devices, and the checker,
///   add in the order that is written. So sums of floats **may have other bits on other devices**, each the sum of the same
///   numbers in some order; a verdict of the checker holds for the order that is written. Sums of integers are the same.
///   Nothing else is reordered.
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
/// `acc: &Acc`, the views `Read`, `Shared` and `Atomic`, by value, and variables of the caller's to change, `x: &mut T`:
/// `fn next(state: &mut u32) -> u32` is called as `next(&mut seed)`, or `next(&mut seeds[i])`: an element of an array, a field
/// or an item is taken out before the call and put back after it. It is built in place wherever it is called, so it
/// cannot be recursive: one that calls itself is refused where it does, and a circle of several when it is launched. `use` and paths work as for functions; in the documentation it is a type with the function's name.
/// (In CUDA: `__device__`.)
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
/// A kernel with `S: Shape` calls it as `S::area(x)`, and `Sphere::area` can be given for a parameter that is a function.
/// Such a function takes values, `&mut` variables and the views `Read`, `Shared` and `Atomic`; one that is generic itself is
/// called with its types, `Sphere::volume::<f32>(x)`. `self` is a parameter like others, of a type that is a value in kernels:
/// `self`, `mut self` and `&self` are the value, and `&mut self` is changed where it is:
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
/// A device function is called in kernels and in other device functions, and not by the host, where a kernel on `Device::host_serial()`
/// runs it, in a test say.
///
/// It is called as `Body::energy(body, x)` or `Rng::next(&mut rng)`, and as a method, `body.energy(x)`, `rng.next()`, of
/// whatever expression has the type: `ray.at(t).plus(offset).length()`. It may be named as a method of numbers or views, `min` or
/// `load`, or as one of Rust's that kernels have not, `sum` or `get`, where the kernel stands in the same file; elsewhere it is
/// then called by its path, `Vector::min(v, w)`. One that is named as a method of arrays, `len`, is a method where the receiver's type
/// is written, `let queue: Queue = …;`. Written by another macro, whose source is elsewhere, it says
/// where it stands: `#[device_fn(associated)]`.
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
        || surroundings::is_in_impl(item.sig.fn_token.span.unwrap());
    if let Some(of) = item.sig.receiver().and_then(|_| surroundings::implemented(item.sig.fn_token.span.unwrap()))
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
/// The types of the parameters are those that the kernel takes; where nothing says them, as in a `let`, they are written:
/// `let f = device_closure!(|x: f32| x * x);`. Its body is in the subset of [`kernel`]. It captures nothing: what it needs
/// is a parameter of it, which the kernel passes. Within kernels it is written as a closure alone.
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
