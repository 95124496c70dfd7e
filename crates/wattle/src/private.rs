//! The items that the macros' code names; they are not for users.

use std::marker::PhantomData;

pub use std::clone::Clone;
pub use std::marker::Copy;

pub use linkme;
pub use wattle_core::Acc as AccPlaces;
pub use wattle_core::device_fn::*;
pub use wattle_core::methods::*;
pub use wattle_core::operators::*;
pub use wattle_core::{
    Acc, Arg, Atomic, Bound, Bundle, Draft, Indices, IntoArg, KernelInfo, Launch, Range, Read, Shared, ThisDevice,
    Thread, Walk, Warp, printed, range, support,
};
pub use wattle_core::{Ending, Registration, SCENARIOS, Summary};
pub use wattle_core::{Vectors, vectors};
pub use wattle_ir::builder::{self, Variable};
pub use wattle_ir::message;
use wattle_ir::{ByValue, Element, Scalar};
pub use wattle_ir::{Dim, KernelType, Site, WarpMask as Mask};
pub use wattle_ir::{Float, Int, Number, Signed, Word};

/// The items that `#[kernel(wide)]` and `#[device_fn(wide)]` use, in which indices are `u64`.
pub mod wide {
    pub use super::*;
    pub use wattle_core::wide::{AccPlaces, Atomic, Shared};

    pub mod support {
        pub use wattle_core::support::*;
        pub use wattle_core::wide::support::{
            Spot, axis, delinearize, element, extent, get, is_empty, lanes, len, linearize, range_rows, row, set,
            step_by, with_axis,
        };
    }

    pub mod builder {
        pub use wattle_ir::builder::wide::{
            AccPlaces, Atomic, ElementRef, Shared, axis, delinearize, element, extent, get, is_empty, lanes, len,
            linearize, set, step_by, with_axis,
        };
        pub use wattle_ir::builder::*;
    }
}

/// What `#[derive(Element)]` writes with.
pub mod element {
    pub use std::clone::Clone;
    pub use std::marker::Copy;
    pub use std::vec::Vec;

    pub use wattle_ir::builder::{
        Builder, Element, Family, IrValue, Memory, OfElement, Places, Val, Values, Variable, Variables,
    };
    pub use wattle_ir::{
        ByValue, ElementLayout, ExprId, KernelType, KernelValue, Padding, Site, Type, assert_aligned, number_of,
    };

    /// What `part` gives for each constant.
    pub fn each<T, U>(constants: &[T], part: impl Fn(&T) -> U) -> Vec<U> {
        constants.iter().map(part).collect()
    }

    /// What an element is besides its fields.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is an element, and not `Copy`",
        label = "write `#[derive(Clone, Copy, Element)]`"
    )]
    pub trait Copied {}
    impl<T: Copy> Copied for T {}

    /// Refuses an element that cannot be copied.
    pub const fn is_copied<T: Copied>() {}
}

/// A builder that knows a struct: a trait, so that the result is erroneous where the builder is (see [`Once`]).
pub trait Knows<T> {
    /// What stands for the struct.
    type Built;
    /// A struct whose fields are set one by one.
    fn blank(self) -> Self::Built;
}

impl<'b, T: KernelType> Knows<T> for &'b builder::Builder {
    type Built = T::Built<'b>;
    fn blank(self) -> T::Built<'b> {
        builder::IrValue::unreachable(self)
    }
}

/// A struct whose fields are set one by one.
pub fn blank<T, B: Knows<T>>(builder: B) -> B::Built {
    builder.blank()
}

/// `let x: T = value` in a builder.
pub fn typed<'b, T: KernelType>(_: &'b builder::Builder, value: T::Built<'b>) -> T::Built<'b> {
    value
}

/// What a kernel may end with.
#[diagnostic::on_unimplemented(
    message = "a kernel returns nothing",
    label = "a value of type `{Self}`, which nobody takes; end it with `;`"
)]
pub trait Nothing {}
impl Nothing for () {}

/// What a scenario's function returned, as its registration has it.
pub fn ended<R: Ending>(returned: wattle_core::Result<R>) -> wattle_core::Result<Summary> {
    returned.map(Ending::summary)
}

/// Takes the value that a kernel ends with, which must be `()`.
#[inline(always)]
pub fn nothing<T: Nothing>(_: T) {}

/// The constant itself: its bound refuses constants that a kernel cannot name.
#[inline(always)]
pub fn constant<T: builder::Lift + builder::Constant + Copy>(value: T) -> T::Host {
    value.host()
}

/// A struct as a kernel writes it: its bound refuses those that kernels do not know.
#[inline(always)]
pub fn structure<T: Element>(value: T) -> T {
    value
}

/// The array of constants itself, in its place.
#[inline(always)]
pub const fn constants<T: builder::Lift + Copy>(values: &T) -> &T {
    values
}

/// A literal as the type that its place decides.
#[inline(always)]
pub fn float<T: Float>(single: f32, double: f64) -> T {
    // One of 16 bits is rounded once more, which matters only where the literal is within 2^-53 of the middle of two.
    if T::TYPE == f32::TYPE { T::cast_from(single) } else { T::cast_from(double) }
}

/// `T`, but erroneous for rustc where `N` is.
///
/// The builder repeats the host's function, so each of the user's mistakes would be reported twice, the second time in
/// terms of the builder. All types in the builder's signature are therefore `Once<T, N>::Type` with `N` from
/// [`after`]: if the host's function has an error, they have, and rustc is silent about what follows from that.
pub struct Once<T: ?Sized, const N: usize>(PhantomData<T>);

/// The trait behind [`Once`].
pub trait AfterHost {
    /// The type `T` itself.
    type Type: ?Sized;
}
impl<T: ?Sized> AfterHost for Once<T, 0> {
    type Type = T;
}

/// Zero, where the type can be given to a kernel by value.
pub const fn is_value<T: ByValue>() -> usize {
    0
}

/// Zero, where the type is one of elements of memory.
pub const fn is_element<T: Element>() -> usize {
    0
}

/// Zero. Working that out needs the result's layout, and with it that the function's body has no error, if the result
/// is an `impl Sized`.
pub const fn after<F: Function<A>, A>(_: &F) -> usize {
    (size_of::<F::Result>() == usize::MAX) as usize
}

/// A function with parameters `A`.
pub trait Function<A> {
    /// The type that it returns.
    type Result;
}

macro_rules! functions {
    ($($first:ident $($name:ident)*)?) => {
        impl<F: Fn($($first, $($name),*)?) -> R, R, $($first, $($name),*)?> Function<($($first, $($name),*)?)> for F {
            type Result = R;
        }
        $(functions!($($name)*);)?
    };
}
functions!(P0 P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14 P15 P16 P17 P18 P19 P20 P21 P22 P23 P24 P25 P26 P27 P28 P29 P30 P31 P32);
