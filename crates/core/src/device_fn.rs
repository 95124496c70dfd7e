//! Device functions as values: what a kernel is given for a parameter `f: F` with `F: DeviceFn<…>`.
//!
//! A device function has two bodies, the host's and the builder's. As a value it is a Rust function that answers with a
//! type which has both ([`GivesBodies`]), and only macros can make a value of such a type. So it is asked once: where a
//! kernel is built, on the thread that launches it. The host's threads, which have small stacks and are built for what
//! the macros wrote, run the type's body without asking: a closure of a user's may do whatever it likes before it
//! passes the question on. It cannot pass it on to one of several functions, since their answers have different types.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ptr::NonNull;

use wattle_ir::KernelType;
use wattle_ir::builder::{Builder, Lift};

use crate::thread::Thread;

/// A function that kernels call and that is given as a parameter, with parameters `Args`, a tuple, and result `Output`.
///
/// A kernel and a device function take it as `f: F` with `F: DeviceFn<(f32, f32), Output = f32>`, or as
/// `f: impl DeviceFn<(f32, f32), Output = f32>`, and call it as `f(x, y)`. What is given for it:
///
/// - a function with `#[device_fn]`, by its name: `reduce(&x, &y, add)`, also an associated one, `Sphere::area`;
/// - a closure, `device_closure!(|x, y| x.max(y))`; within kernels `|x, y| x.max(y)` alone.
///
/// ```ignore
/// /// Each element by itself.
/// #[kernel]
/// fn map<T: Element, U: Element>(acc: &Acc, x: Read<T>, out: PerItem<U>, f: impl DeviceFn<(T,), Output = U>) {
///     for (i, out) in acc.items(&mut out) {
///         *out = f(x[i]);
///     }
/// }
/// queue.launch(FrameSpec::cover(n, 64), map(&x, &mut out, device_closure!(|x| x * 2.0)))?;
/// ```
///
/// It is one function for a launch, part of the kernel's type as the closure of Rust's `Iterator::map` is: the kernel
/// is compiled for each function that it is given, and the call is built in place. (In CUDA such parameters are
/// functors or lambdas with `__device__`, as template arguments.) It captures nothing: what it needs is a parameter of
/// it.
///
/// Everything that takes `Parameters<Args>` and gives the bodies implements it, which is what the macros write.
///
/// # Safety
/// `on_host` keeps no view beyond its call, gives none to code that could, and has no value with a destructor where it
/// may wait; `in_builder` builds what it does. Nobody but this library has to implement it.
#[diagnostic::on_unimplemented(
    message = "this is not a device function with parameters `{Args}`",
    label = "not a device function with parameters `{Args}`",
    note = "give a function that is marked `#[device_fn]` by its name, or `device_closure!(|x, y| x + y)`; it takes values and \
            views, as many as the kernel passes",
    note = "of a generic function the parameters say all generics; else write a closure around it: \
            `device_closure!(|x| f::<4>(x))`"
)]
#[doc(alias("functor", "lambda"))]
pub unsafe trait DeviceFn<Args: KernelType>:
    Fn(Parameters<Args>) -> <Self as DeviceFn<Args>>::Answer + Copy + Send + Sync
{
    /// The type of the result.
    type Output: KernelType;
    #[doc(hidden)]
    type Answer;
    #[doc(hidden)]
    #[track_caller]
    fn on_host(self, thread: &Thread<'_>, arguments: Args) -> <Self as DeviceFn<Args>>::Output;
    #[doc(hidden)]
    #[track_caller]
    fn in_builder<'b>(
        self,
        builder: &'b Builder,
        arguments: Args::Built<'b>,
    ) -> <<Self as DeviceFn<Args>>::Output as KernelType>::Built<'b>;
}

// SAFETY: `GivesBodies` promises it of the bodies, and these are they.
unsafe impl<F, Args: KernelType, A: GivesBodies<Args>> DeviceFn<Args> for F
where
    F: Fn(Parameters<Args>) -> A + Copy + Send + Sync,
{
    type Output = A::Output;
    type Answer = A;
    #[inline(always)]
    fn on_host(self, thread: &Thread<'_>, arguments: Args) -> A::Output {
        // SAFETY: who has a thread runs a kernel; that has been built (`Kernel::run`), so there has been such an
        // answer.
        unsafe { A::on_host(thread, arguments) }
    }
    fn in_builder<'b>(self, builder: &'b Builder, arguments: Args::Built<'b>) -> <A::Output as KernelType>::Built<'b> {
        self(Parameters(PhantomData)).in_builder(builder, arguments)
    }
}

/// Never applies. Where a trait has one implementation alone, rustc reports what that one lacks, which is no word of
/// the user's: here how many arguments an `Fn` takes.
// SAFETY: it never applies.
unsafe impl<F, Args: KernelType> DeviceFn<Args> for F
where
    F: Fn(Parameters<Args>) -> Args + Copy + Send + Sync,
    Parameters<Args>: Never,
{
    type Output = Args;
    type Answer = Args;
    fn on_host(self, _: &Thread<'_>, _: Args) -> Args {
        unreachable!("nothing is `Never`")
    }
    fn in_builder<'b>(self, _: &'b Builder, _: Args::Built<'b>) -> Args::Built<'b> {
        unreachable!("nothing is `Never`")
    }
}

/// Implemented by nothing.
pub trait Never {}

/// A type that has the bodies of a function with parameters `Args`.
///
/// # Safety
/// Where there is a value of the type, the bodies are those that a macro wrote of one function: the kernel is built
/// with one, and the host runs the other.
pub unsafe trait GivesBodies<Args: KernelType>: Sized {
    /// The type of the function's result.
    type Output: KernelType;
    /// Runs the host's body.
    ///
    /// # Safety
    /// There has been a value of the type.
    #[track_caller]
    unsafe fn on_host(thread: &Thread<'_>, arguments: Args) -> Self::Output;
    /// Runs the builder's body.
    #[track_caller]
    fn in_builder<'b>(
        self,
        builder: &'b Builder,
        arguments: Args::Built<'b>,
    ) -> <Self::Output as KernelType>::Built<'b>;
}

// SAFETY: `DraftBodies::vouch` promises it.
unsafe impl<Args: KernelType, R: KernelType, P: Fn(Parameters<Args>) -> BothBodies<Args, R>> GivesBodies<Args>
    for DeviceBodies<Args, R, P>
{
    type Output = R;
    #[inline(always)]
    unsafe fn on_host(thread: &Thread<'_>, arguments: Args) -> R {
        // SAFETY: a value of this type, which the caller says there has been, is `DraftBodies::vouch`'s.
        (unsafe { place::<P>() }(Parameters(PhantomData)).host)(thread, arguments).0
    }
    fn in_builder<'b>(self, builder: &'b Builder, arguments: Args::Built<'b>) -> R::Built<'b> {
        // SAFETY: this value is `DraftBodies::vouch`'s.
        (unsafe { place::<P>() }(Parameters(PhantomData)).build)(builder, arguments)
    }
}

/// The closure of this type.
///
/// # Safety
/// It is that of a closure which a macro wrote and which captures nothing.
#[inline(always)]
unsafe fn place<'p, P: 'p>() -> &'p P {
    const { assert!(size_of::<P>() == 0, "a macro's closure captures nothing") }
    // SAFETY: nothing is read of what has no size, and the program has had the closure.
    unsafe { NonNull::<P>::dangling().as_ref() }
}

/// The answer of a function that is never asked: it stands for all where a kernel's generics need an example.
pub struct NoBodies<Args, R>(Infallible, PhantomData<fn(Args) -> R>);

// SAFETY: there is no value of the type.
unsafe impl<Args: KernelType, R: KernelType> GivesBodies<Args> for NoBodies<Args, R> {
    type Output = R;
    unsafe fn on_host(_: &Thread<'_>, _: Args) -> R {
        unreachable!("there has been no such value")
    }
    fn in_builder<'b>(self, _: &'b Builder, _: Args::Built<'b>) -> R::Built<'b> {
        match self.0 {}
    }
}

/// What a function that `#[device_fn]` made of a function of a module answers: the type `N` that has its bodies.
pub struct Asked<N, Args>(PhantomData<fn(Args) -> N>);

impl<N, Args> Asked<N, Args> {
    /// The answer to this question.
    #[inline(always)]
    pub fn of(_: Parameters<Args>) -> Asked<N, Args> {
        Asked(PhantomData)
    }
}

// SAFETY: `Takes` promises it.
unsafe impl<N: Takes<Args>, Args: KernelType> GivesBodies<Args> for Asked<N, Args> {
    type Output = N::Output;
    #[inline(always)]
    unsafe fn on_host(thread: &Thread<'_>, arguments: Args) -> N::Output {
        #[inline(always)]
        fn of<A: GivesBodies<Args>, Args: KernelType>(
            _: fn(Parameters<Args>) -> A,
            thread: &Thread<'_>,
            arguments: Args,
        ) -> A::Output {
            // SAFETY: the function returns one.
            unsafe { A::on_host(thread, arguments) }
        }
        of(N::bodies, thread, arguments)
    }
    fn in_builder<'b>(self, builder: &'b Builder, arguments: Args::Built<'b>) -> <N::Output as KernelType>::Built<'b> {
        N::bodies(Parameters(PhantomData)).in_builder(builder, arguments)
    }
}

/// Asks a device function for its bodies for parameters `Args`.
pub struct Parameters<Args>(PhantomData<fn(Args)>);

/// The bodies of a device function with parameters `Args` and result `R`, which the closure of type `P` returns that a
/// macro wrote.
pub struct DeviceBodies<Args, R, P>(PhantomData<fn(Args) -> (R, P)>);

/// The host's body. The result has a companion, so that bodies of all functions are written alike.
type HostBody<Args, R> = fn(&Thread<'_>, Args) -> (R, ());

/// The builder's body.
type BuildBody<Args, R> = for<'b> fn(&'b Builder, <Args as KernelType>::Built<'b>) -> <R as KernelType>::Built<'b>;

/// The two bodies of a function with parameters `Args` and result `R`.
pub struct BothBodies<Args: KernelType, R: KernelType> {
    host: HostBody<Args, R>,
    build: BuildBody<Args, R>,
}

/// The host's body of a function; the builder's follows.
pub struct DraftHost<Args: KernelType, R: KernelType>(HostBody<Args, R>);

/// The bodies of a function, that of the host first: it decides the result's type.
#[inline(always)]
pub fn draft_host<Args: KernelType, R: KernelType>(_: Parameters<Args>, host: HostBody<Args, R>) -> DraftHost<Args, R> {
    DraftHost(host)
}

impl<Args: KernelType, R: KernelType> DraftHost<Args, R> {
    /// Adds the builder's body.
    #[inline(always)]
    pub fn build(self, build: BuildBody<Args, R>) -> BothBodies<Args, R> {
        BothBodies { host: self.0, build }
    }
}

/// Bodies that are not promised to be those of one function yet: the macros make them of the user's words, and then
/// promise, in an `unsafe` block without any of them, what they have made sure of.
pub struct DraftBodies<Args, R, P>(PhantomData<fn(Args) -> (R, P)>);

/// The bodies that `place` returns. It is not called: its type says which closure it is.
#[inline(always)]
pub fn draft_bodies<Args: KernelType, R: KernelType, P: Fn(Parameters<Args>) -> BothBodies<Args, R>>(
    _: Parameters<Args>,
    _: P,
) -> DraftBodies<Args, R, P> {
    DraftBodies(PhantomData)
}

impl<Args, R, P> DraftBodies<Args, R, P> {
    /// The bodies, whose safety the caller promises.
    ///
    /// # Safety
    /// `P` is the type of a closure that captures nothing and does nothing but return both bodies. The host's body
    /// keeps no view beyond its call, gives none to code that could, and has no value with a destructor where it may
    /// wait; the builder's builds what the host's does.
    #[inline(always)]
    pub unsafe fn vouch(self) -> DeviceBodies<Args, R, P> {
        DeviceBodies(PhantomData)
    }
}

/// `function`, called by a thread on the host.
#[inline(always)]
pub fn call_on_host<F: DeviceFn<Args, Output = R>, Args: KernelType, R: KernelType>(
    thread: &Thread<'_>,
    function: F,
    arguments: Args,
) -> R {
    function.on_host(thread, arguments)
}

/// A builder that calls functions that are values: a trait, so that the result is erroneous where the builder is (see
/// `Once`).
pub trait CallsValue<'b, F, Args: KernelType> {
    /// What stands for the result.
    type Result;
    /// `function`, called in the kernel that is being built.
    fn call(&'b self, function: F, arguments: Args::Built<'b>) -> Self::Result;
}

impl<'b, F: DeviceFn<Args>, Args: KernelType> CallsValue<'b, F, Args> for Builder {
    type Result = <<F as DeviceFn<Args>>::Output as KernelType>::Built<'b>;
    fn call(&'b self, function: F, arguments: Args::Built<'b>) -> Self::Result {
        function.in_builder(self, arguments)
    }
}

/// `function`, called in the kernel that is being built.
pub fn call_in_builder<'b, B: CallsValue<'b, F, Args>, F, Args: KernelType>(
    builder: &'b B,
    function: F,
    arguments: Args::Built<'b>,
) -> B::Result {
    builder.call(function, arguments)
}

/// A closure whose parameters' types are written.
#[inline(always)]
pub fn typed_closure<Args: KernelType, R: KernelType, F: DeviceFn<Args, Output = R>>(function: F) -> F {
    function
}

/// What a device function that `#[device_fn]` made of a function of a module can be passed as: with parameters `Args`.
///
/// # Safety
/// The bodies are those that the macro writes, of the function that has the type's name.
pub unsafe trait Takes<Args: KernelType> {
    /// The type of the result.
    type Output: KernelType;
    /// The bodies of the function, of which a call takes the one that fits its arguments.
    fn bodies(_: Parameters<Args>) -> impl GivesBodies<Args, Output = Self::Output>;
}

/// Stands for the parameters of a function that is called by its name, where each argument is checked by itself.
pub enum Direct {}

/// The argument that a device function is called with, which only kernels have.
#[derive(Clone, Copy)]
pub struct OnlyInKernels<'a>(Within<'a>);

#[derive(Clone, Copy)]
enum Within<'a> {
    Host(&'a Thread<'a>),
    Builder(&'a Builder),
}

impl<'a> OnlyInKernels<'a> {
    /// The calling thread, for the host's function.
    #[inline(always)]
    pub fn thread(self) -> &'a Thread<'a> {
        match self.0 {
            Within::Host(thread) => thread,
            Within::Builder(_) => unreachable!("a builder calls builders"),
        }
    }

    /// The calling kernel's builder, for the function's builder.
    pub fn builder(self) -> &'a Builder {
        match self.0 {
            Within::Builder(builder) => builder,
            Within::Host(_) => unreachable!("the host calls the host's functions"),
        }
    }
}

/// A function that a kernel calls, and where it does.
pub struct Callee<'a, F> {
    function: PhantomData<F>,
    call: OnlyInKernels<'a>,
}

/// `function`, as this thread calls it.
#[inline(always)]
pub fn on_host<'a, F: Copy>(thread: &'a Thread<'_>, _: F) -> Callee<'a, F> {
    Callee { function: PhantomData, call: OnlyInKernels(Within::Host(thread)) }
}

/// A builder that calls `F`: a trait, so that the result is erroneous where the builder is (see `Once`).
pub trait Calls<'a, F> {
    /// The [`Callee`] that the builder makes.
    type Callee;
    /// `function`, as it is called in the kernel that is being built.
    fn callee(&'a self, function: F) -> Self::Callee;
}
impl<'a, F: 'a> Calls<'a, F> for Builder {
    type Callee = Callee<'a, F>;
    fn callee(&'a self, _: F) -> Callee<'a, F> {
        Callee { function: PhantomData, call: OnlyInKernels(Within::Builder(self)) }
    }
}

/// `function`, as it is called in the kernel that is being built.
pub fn in_builder<'a, B: Calls<'a, F>, F>(builder: &'a B, function: F) -> B::Callee {
    builder.callee(function)
}

impl<'a, F: FnOnce(Parameters<Direct>) -> Asked<B, Direct>, B: Bodies> Callee<'a, F> {
    /// The bodies of a function that `#[device_fn]` has made. The function itself is not called: it only names them,
    /// and one that a user has written could as well.
    #[inline(always)]
    pub fn __bodies(self) -> B::In<'a> {
        B::within(self.call)
    }
}

/// The type that `#[device_fn]` makes, which has the function's two bodies.
///
/// # Safety
/// The bodies are those that the macro writes of the user's function: `__host` keeps no view, and `__build` builds what
/// `__host` does.
pub unsafe trait Bodies {
    /// The type in the kernel that calls it.
    type In<'a>: Called;
    /// The bodies, for the place that `call` comes from.
    fn within<'a>(call: OnlyInKernels<'a>) -> Self::In<'a>;
}

/// What a function's bodies are methods of.
///
/// They are the type's own methods `__host` and `__build`, which rustc prefers to those of traits. Where it does not
/// know the type, as behind an `impl Bodies`, it finds this trait's methods of these names, which nothing can call:
/// they see to it that a user's trait with such methods is at best ambiguous, and is never given a view.
pub trait Called: Sized {
    /// The host's body of a type that is not known: it cannot be called.
    fn __host(self, never: Infallible) -> Infallible {
        never
    }
    /// The builder's body of a type that is not known: it cannot be called.
    fn __build(self, never: Infallible) -> Infallible {
        never
    }
}

/// The bound of `__bodies` on all other functions, whose error is in words.
///
/// # Safety
/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "a kernel can call no function but those that are marked `#[device_fn]`",
    label = "not marked `#[device_fn]`",
    note = "write `#[device_fn]` above this function, if it is yours; mathematical functions are methods: `x.sqrt()`; a kernel \
            cannot call a kernel: put what both do into a device function"
)]
pub unsafe trait DeviceFunction {
    /// The type of `__bodies`, which does not exist, since nothing implements the trait.
    type Bodies;
}

/// The method that a call of an unmarked function finds; see [`DeviceFunction`].
pub trait NotMarked<F> {
    /// The bodies that an unmarked function lacks: nothing can call this.
    fn __bodies(self) -> F::Bodies
    where
        F: DeviceFunction;
}
impl<F> NotMarked<F> for Callee<'_, F> {
    fn __bodies(self) -> F::Bodies
    where
        F: DeviceFunction,
    {
        unreachable!("nothing is a `DeviceFunction`")
    }
}

/// What a kernel passes to a device function by a path in lower case: a function as a rule, or a constant.
pub struct Passed<V>(pub V);

impl<V: Lift> Passed<V> {
    /// The constant in the kernel that is being built.
    pub fn __in(self, builder: &Builder) -> V::Built<'_> {
        self.0.lift(builder)
    }
}

/// The method that all else has.
pub trait PassedAsIs {
    /// The type itself.
    type Itself;
    /// The function as a kernel that is being built calls it.
    fn __in(self, _: &Builder) -> Self::Itself;
}

impl<V: Copy> PassedAsIs for Passed<V> {
    type Itself = V;
    fn __in(self, _: &Builder) -> V {
        self.0
    }
}
