//! Functions of types that change what they are given: `&mut self`, and `&mut` parameters.
//!
//! Such a function is a value of Rust's that takes values and returns values: it is lent what it changes ([`ByMut`]),
//! and returns it beside its result, the first one outermost: `fn next(&mut self, x: &mut u32) -> f32` returns `((f32,
//! u32), Self)`. Who calls it puts back what comes back. A call by its receiver, `rng.next()`, does not say whether the
//! method changes it, so the function's type does: [`OnHost::__change`] is a method of its own for functions whose
//! first parameter is lent, which rustc prefers to that of the trait, which is for all others.

use std::marker::PhantomData;

use wattle_ir::builder::{Builder, OfElement};
use wattle_ir::{KernelType, KernelValue};

use crate::device_fn::{DeviceFn, Never, Parameters};
use crate::thread::Thread;

/// What a function of a type is given for a parameter `&mut T`.
#[derive(Clone, Copy)]
pub struct ByMut<T>(T);

/// A value, lent to a function of a type.
#[inline(always)]
pub fn lend<T>(value: T) -> ByMut<T> {
    ByMut(value)
}

/// The value that has been lent.
#[inline(always)]
pub fn lent<T>(ByMut(value): ByMut<T>) -> T {
    value
}

// SAFETY: it is the value.
unsafe impl<T: KernelType> KernelType for ByMut<T> {
    type Built<'b> = (T::Built<'b>,);
}

/// What a method with `&mut self` is called on: nothing is, where the call cannot put back what the method leaves.
///
/// # Safety
/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "this method takes `&mut self`, and what it is called on cannot be changed here",
    label = "cannot be changed",
    note = "call it on a variable that is `let mut`, or on an item of `acc.items(&mut out)`; take an element of another view out: \
            `let mut e = x[i]; e.next(); x[i] = e;`; what it gives as an argument of a call on the same variable is worked out \
            before: `let n = rng.next(); rng.add(n);`"
)]
pub unsafe trait Changeable {}

/// The type of a receiver: it is never worked out for it.
#[inline(always)]
pub fn type_on_host<V>(_: impl FnOnce() -> V) -> PhantomData<V> {
    PhantomData
}

/// A builder that knows what its values stand for: a trait, so that the result is erroneous where the builder is (see
/// `Once`).
pub trait KnowsType<V> {
    /// What `V` stands for.
    type Element;
}

impl<'b, V: OfElement<'b>> KnowsType<V> for &'b Builder {
    type Element = V::Element;
}

/// The type of a receiver in a kernel that is being built: it is never worked out for it.
pub fn type_in_builder<B: KnowsType<V>, V>(_: B, _: impl FnOnce() -> V) -> PhantomData<B::Element> {
    PhantomData
}

/// The function of a receiver's type that is called as a method, where nothing that is written says the type. rustc
/// finds it as it finds a method: `find` calls the one that `#[device_fn]` has written beside the function, on a value
/// that it does not look at.
#[inline(always)]
pub fn of_receiver<V: KernelValue, Args, A>(
    _: PhantomData<V>,
    find: impl Fn(V, Parameters<Args>) -> A + Copy + Send + Sync,
) -> impl Fn(Parameters<Args>) -> A + Copy + Send + Sync {
    move |ask| find(V::zero(), ask)
}

/// What no method in a kernel is called on.
pub enum NoReceiver {}

/// A function of a type that kernels can call. Where it is not, rustc is silent about what follows.
#[diagnostic::on_unimplemented(
    message = "a kernel can call no function but those that are marked `#[device_fn]`",
    label = "not marked `#[device_fn]`",
    note = "write `#[device_fn]` above this function in its `impl` or `trait`, if it is yours"
)]
pub trait Marked<Args, A>: Sized {
    /// The function's type.
    type Function;
    /// The function, called as a method.
    type OnHost<'a>;
    /// The function itself, as a value.
    fn itself(self) -> Self::Function;
    /// The function, as this thread calls it as a method.
    fn method<'a>(self, thread: &'a Thread<'a>) -> Self::OnHost<'a>;
}

impl<F: Fn(Parameters<Args>) -> A, Args: KernelType, A> Marked<Args, A> for F {
    type Function = F;
    type OnHost<'a> = OnHost<'a, F, Args>;
    #[inline(always)]
    fn itself(self) -> F {
        self
    }
    #[inline(always)]
    fn method<'a>(self, thread: &'a Thread<'a>) -> OnHost<'a, F, Args> {
        OnHost { function: self, thread, arguments: PhantomData }
    }
}

/// Never applies, as that of [`DeviceFn`].
impl<F, Args, A> Marked<Args, A> for F
where
    Parameters<Args>: Never,
{
    type Function = F;
    type OnHost<'a> = F;
    fn itself(self) -> F {
        self
    }
    fn method<'a>(self, _: &'a Thread<'a>) -> F {
        self
    }
}

/// The function itself: its bound refuses those that `#[device_fn]` has not made.
#[inline(always)]
pub fn marked<F: Marked<Args, A>, Args, A>(function: F) -> F::Function {
    function.itself()
}

/// A function of a type that a thread on the host calls as a method.
pub struct OnHost<'a, F, Args> {
    function: F,
    thread: &'a Thread<'a>,
    arguments: PhantomData<Args>,
}

/// `function`, as this thread calls it as a method.
#[inline(always)]
pub fn method_on_host<'a, F: Marked<Args, A>, Args, A>(thread: &'a Thread<'a>, function: F) -> F::OnHost<'a> {
    function.method(thread)
}

/// A function of a type that is called as a method in a kernel that is being built.
pub struct InBuilder<'b, F, Args> {
    function: F,
    builder: &'b Builder,
    arguments: PhantomData<Args>,
}

/// A builder that calls methods: a trait, so that the result is erroneous where the builder is (see `Once`).
pub trait CallsMethod<'b, F, Args, A> {
    /// The function, to be called.
    type Method;
    /// `function`, as it is called as a method in the kernel that is being built.
    fn method(&'b self, function: F) -> Self::Method;
}

impl<'b, F: Fn(Parameters<Args>) -> A + 'b, Args: KernelType + 'b, A> CallsMethod<'b, F, Args, A> for Builder {
    type Method = InBuilder<'b, F, Args>;
    fn method(&'b self, function: F) -> InBuilder<'b, F, Args> {
        InBuilder { function, builder: self, arguments: PhantomData }
    }
}

/// `function`, as it is called as a method in the kernel that is being built.
pub fn method_in_builder<'b, B: CallsMethod<'b, F, Args, A>, F, Args, A>(builder: &'b B, function: F) -> B::Method {
    builder.method(function)
}

impl<S: KernelType, V: KernelType, Args: Split<First = ByMut<S>>, F> OnHost<'_, F, Args>
where
    F: DeviceFn<Args, Output = (V, S)>,
{
    /// Calls the method: its result, and what its receiver is now.
    #[inline(always)]
    pub fn __change(self, receiver: S, others: Args::Others) -> (V, Option<S>) {
        let (value, receiver) = self.function.on_host(self.thread, Args::join(ByMut(receiver), others));
        (value, Some(receiver))
    }

    /// Refuses, at compile time, a call that would change a receiver which cannot be changed.
    pub fn __keep(self, _: S, _: Args::Others) -> V
    where
        S: Changeable,
    {
        unreachable!("nothing is `Changeable`")
    }
}

impl<'b, S: KernelType, V: KernelType, Args: Split<First = ByMut<S>>, F> InBuilder<'b, F, Args>
where
    F: DeviceFn<Args, Output = (V, S)>,
{
    /// Calls the method: its result, and what its receiver is then.
    pub fn __change(
        self,
        receiver: S::Built<'b>,
        others: <Args::Others as KernelType>::Built<'b>,
    ) -> (V::Built<'b>, Option<S::Built<'b>>) {
        let (value, receiver) = self.function.in_builder(self.builder, Args::join_built((receiver,), others));
        (value, Some(receiver))
    }

    /// Refuses, at compile time, a call that would change a receiver which cannot be changed.
    pub fn __keep(self, _: S::Built<'b>, _: <Args::Others as KernelType>::Built<'b>) -> V::Built<'b>
    where
        S: Changeable,
    {
        unreachable!("nothing is `Changeable`")
    }
}

/// A method whose receiver stays as it is, called on the host.
pub trait HostMethodByValue {
    /// The receiver.
    type Receiver;
    /// The arguments after the first one.
    type Others;
    /// The result.
    type Output;
    /// Calls it on something that could be changed.
    fn __change(self, receiver: Self::Receiver, others: Self::Others) -> (Self::Output, Option<Self::Receiver>);
    /// Calls it on something that cannot.
    fn __keep(self, receiver: Self::Receiver, others: Self::Others) -> Self::Output;
}

impl<Args: Split, F: DeviceFn<Args>> HostMethodByValue for OnHost<'_, F, Args> {
    type Receiver = Args::First;
    type Others = Args::Others;
    type Output = <F as DeviceFn<Args>>::Output;
    #[inline(always)]
    fn __change(self, receiver: Args::First, others: Args::Others) -> (Self::Output, Option<Args::First>) {
        (self.__keep(receiver, others), None)
    }
    #[inline(always)]
    fn __keep(self, receiver: Args::First, others: Args::Others) -> Self::Output {
        self.function.on_host(self.thread, Args::join(receiver, others))
    }
}

/// A method whose receiver stays as it is, called in a kernel that is being built.
pub trait BuilderMethodByValue {
    /// The receiver.
    type Receiver;
    /// The arguments after the first one.
    type Others;
    /// The result.
    type Output;
    /// Calls it on something that could be changed.
    fn __change(self, receiver: Self::Receiver, others: Self::Others) -> (Self::Output, Option<Self::Receiver>);
    /// Calls it on something that cannot.
    fn __keep(self, receiver: Self::Receiver, others: Self::Others) -> Self::Output;
}

impl<'b, Args: Split, F: DeviceFn<Args>> BuilderMethodByValue for InBuilder<'b, F, Args> {
    type Receiver = <Args::First as KernelType>::Built<'b>;
    type Others = <Args::Others as KernelType>::Built<'b>;
    type Output = <<F as DeviceFn<Args>>::Output as KernelType>::Built<'b>;
    fn __change(self, receiver: Self::Receiver, others: Self::Others) -> (Self::Output, Option<Self::Receiver>) {
        (self.__keep(receiver, others), None)
    }
    fn __keep(self, receiver: Self::Receiver, others: Self::Others) -> Self::Output {
        self.function.in_builder(self.builder, Args::join_built(receiver, others))
    }
}

/// The arguments of a method, its receiver apart from the others.
pub trait Split: KernelType {
    /// The receiver.
    type First: KernelType;
    /// The arguments after the first one.
    type Others: KernelType;
    /// The tuple of all arguments, on the host.
    fn join(first: Self::First, others: Self::Others) -> Self;
    /// The tuple of all arguments, in the kernel that is being built.
    fn join_built<'b>(
        first: <Self::First as KernelType>::Built<'b>,
        others: <Self::Others as KernelType>::Built<'b>,
    ) -> Self::Built<'b>;
}

macro_rules! arguments {
    ($(($($name:ident $value:ident),*))+) => {$(
        impl<S: KernelType, $($name: KernelType),*> Split for (S, $($name,)*) {
            type First = S;
            type Others = ($($name,)*);
            #[inline(always)]
            fn join(first: S, ($($value,)*): ($($name,)*)) -> Self {
                (first, $($value,)*)
            }
            fn join_built<'b>(first: S::Built<'b>, ($($value,)*): ($($name::Built<'b>,)*)) -> Self::Built<'b> {
                (first, $($value,)*)
            }
        }
    )+};
}
arguments!(
    ()(A a)(A a, B b)(A a, B b, C c)(A a, B b, C c, D d)(A a, B b, C c, D d, E e)(A a, B b, C c, D d, E e, F f)(
        A a, B b, C c, D d, E e, F f, G g
    )(A a, B b, C c, D d, E e, F f, G g, H h)(A a, B b, C c, D d, E e, F f, G g, H h, I i)(
        A a, B b, C c, D d, E e, F f, G g, H h, I i, J j
    )(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k)
);
