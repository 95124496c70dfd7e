//! Operators of the user's structs: `v + w` and `-v`, as `#[device_fn]` on `impl Add for Vector` gives them to kernels.
//!
//! A kernel's `+` whose operands do not show that they are numbers goes by [`Operator`], which numbers and arrays of
//! them have too: so rustc chooses by the types, and finds them as it does for Rust's own operators.

use std::marker::PhantomData;

use wattle_ir::builder::{Builder, OfElement};
use wattle_ir::{Arithmetic, KernelType, Negative, Site};

use crate::device_fn::{DeviceFn, GivesBodies, Parameters};
use crate::support;
use crate::thread::Thread;

/// What an operator makes of a value of this type and one of type `Y`.
///
/// `#[device_fn]` on an `impl` of `Add`, `Sub`, `Mul`, `Div` or `Rem` implements it.
#[diagnostic::on_unimplemented(
    message = "`+ - * / %` do not apply to `{Self}` and `{Y}`",
    label = "one operand is of type `{Self}`, the other of type `{Y}`",
    note = "they apply to two numbers of one type, to arrays of these element by element, `a * [2.0; 4]`, and to structs whose `impl Add for …` is \
            marked `#[device_fn]`",
    note = "in a generic kernel a number of type `T` is written `2 as T`, `T::from_f64(0.5)` or `T::ONE`, and a variable begins \
            with one, `let mut sum = T::ZERO`; a literal with a point that is an operand itself, `x * 0.5`, has the type of `x` \
            where `T: Float`"
)]
pub trait Operator<Op, Y: KernelType>: KernelType + Sized {
    /// The type of the result.
    type Output: KernelType;
    /// The bodies of the operator's function, which the `impl` gives.
    fn bodies(ask: Parameters<(Self, Y)>) -> impl GivesBodies<(Self, Y), Output = Self::Output>;
}

/// What `-` makes of a value of this type: `#[device_fn]` on an `impl` of `Neg` implements it.
#[diagnostic::on_unimplemented(
    message = "kernels have no `-x` of `{Self}`",
    note = "it applies to signed integers, to floats, to arrays of these element by element, and to structs whose `impl Neg for …` \
            is marked `#[device_fn]`"
)]
pub trait Negation: KernelType + Sized {
    /// The type of the result.
    type Output: KernelType;
    /// The bodies of the operator's function, which the `impl` gives.
    fn bodies(ask: Parameters<(Self,)>) -> impl GivesBodies<(Self,), Output = Self::Output>;
}

/// The operation of numbers that an operator stands for.
pub trait OfNumbers {
    /// Applies the operator to two numbers, or to two arrays of them, on the host.
    #[track_caller]
    fn on_host<V: Arithmetic>(x: V, y: V, thread: &Thread<'_>) -> V;
    /// Applies the operator in the kernel that is being built.
    #[track_caller]
    fn in_builder<'b, V: Arithmetic>(builder: &'b Builder, x: V::Built<'b>, y: V::Built<'b>) -> V::Built<'b>;
}

macro_rules! operators {
    ($($name:ident $function:ident $($thread:ident)?, |$builder:ident, $x:ident, $y:ident, $site:pat_param| $built:expr;)+) => {
        /// The operators that structs may have.
        pub mod operator {$(
            #[doc = concat!("`core::ops::", stringify!($name), "`.")]
            pub struct $name;
        )+}
        $(impl OfNumbers for operator::$name {
            #[inline(always)]
            fn on_host<V: Arithmetic>(x: V, y: V, _thread: &Thread<'_>) -> V {
                support::$function(x, y $(, { let $thread = _thread; $thread })?)
            }
            fn in_builder<'b, V: Arithmetic>($builder: &'b Builder, x: V::Built<'b>, y: V::Built<'b>) -> V::Built<'b> {
                let $site = Site::caller();
                V::zip_in($builder, x, y, |$x, $y| $built)
            }
        })+
    };
}
operators! {
    Add add, |builder, x, y, _| builder.add(x, y);
    Sub sub, |builder, x, y, _| builder.sub(x, y);
    Mul mul, |builder, x, y, _| builder.mul(x, y);
    Div div thread, |builder, x, y, site| builder.div_at(x, y, site);
    Rem rem thread, |builder, x, y, site| builder.rem_at(x, y, site);
}

/// The bodies of an operation of numbers.
struct Numbers<Op, V>(PhantomData<fn(V) -> Op>);

#[diagnostic::do_not_recommend]
impl<Op: OfNumbers, V: Arithmetic> Operator<Op, V> for V {
    type Output = V;
    #[inline(always)]
    fn bodies(_: Parameters<(V, V)>) -> impl GivesBodies<(V, V), Output = V> {
        Numbers::<Op, V>(PhantomData)
    }
}

// SAFETY: both bodies are those of the operation.
unsafe impl<Op: OfNumbers, V: Arithmetic> GivesBodies<(V, V)> for Numbers<Op, V> {
    type Output = V;
    #[inline(always)]
    unsafe fn on_host(thread: &Thread<'_>, (x, y): (V, V)) -> V {
        Op::on_host(x, y, thread)
    }
    fn in_builder<'b>(self, builder: &'b Builder, (x, y): (V::Built<'b>, V::Built<'b>)) -> V::Built<'b> {
        Op::in_builder::<V>(builder, x, y)
    }
}

#[diagnostic::do_not_recommend]
impl<V: Negative> Negation for V {
    type Output = V;
    #[inline(always)]
    fn bodies(_: Parameters<(V,)>) -> impl GivesBodies<(V,), Output = V> {
        Numbers::<(), V>(PhantomData)
    }
}

// SAFETY: both bodies are those of the negation.
unsafe impl<V: Negative> GivesBodies<(V,)> for Numbers<(), V> {
    type Output = V;
    #[inline(always)]
    unsafe fn on_host(_: &Thread<'_>, (x,): (V,)) -> V {
        support::neg(x)
    }
    fn in_builder<'b>(self, builder: &'b Builder, (x,): (V::Built<'b>,)) -> V::Built<'b> {
        V::negative_in(builder, x)
    }
}

/// What the operator makes of two values, for a thread on the host.
#[inline(always)]
#[track_caller]
pub fn operate_on_host<Op, X: Operator<Op, Y>, Y: KernelType>(thread: &Thread<'_>, _: Op, x: X, y: Y) -> X::Output {
    X::bodies.on_host(thread, (x, y))
}

/// What `-` makes of a value, for a thread on the host.
#[inline(always)]
pub fn negate_on_host<X: Negation>(thread: &Thread<'_>, x: X) -> X::Output {
    X::bodies.on_host(thread, (x,))
}

/// A builder that knows operators of structs: a trait, so that the result is erroneous where the builder is (see
/// `Once`).
pub trait Operates<'b, Op, X, Y> {
    /// What stands for the result.
    type Result;
    /// What the operator makes of two values.
    #[track_caller]
    fn operate(&'b self, x: X, y: Y) -> Self::Result;
}

impl<'b, Op, X: OfElement<'b, Element: Operator<Op, Y::Element>>, Y: OfElement<'b>> Operates<'b, Op, X, Y> for Builder {
    type Result = <<X::Element as Operator<Op, Y::Element>>::Output as KernelType>::Built<'b>;
    fn operate(&'b self, x: X, y: Y) -> Self::Result {
        <X::Element as Operator<Op, Y::Element>>::bodies.in_builder(self, (x.built(), y.built()))
    }
}

/// A builder that knows `-` of structs: a trait, so that the result is erroneous where the builder is (see `Once`).
pub trait Negates<'b, X> {
    /// What stands for the result.
    type Result;
    /// What `-` makes of a value.
    fn negate(&'b self, x: X) -> Self::Result;
}

impl<'b, X: OfElement<'b, Element: Negation>> Negates<'b, X> for Builder {
    type Result = <<X::Element as Negation>::Output as KernelType>::Built<'b>;
    fn negate(&'b self, x: X) -> Self::Result {
        X::Element::bodies.in_builder(self, (x.built(),))
    }
}

/// What the operator makes of two values, in the kernel that is being built.
#[track_caller]
pub fn operate_in_builder<'b, B: Operates<'b, Op, X, Y>, Op, X, Y>(builder: &'b B, _: Op, x: X, y: Y) -> B::Result {
    builder.operate(x, y)
}

/// What `-` makes of a value, in the kernel that is being built.
pub fn negate_in_builder<'b, B: Negates<'b, X>, X>(builder: &'b B, x: X) -> B::Result {
    builder.negate(x)
}
