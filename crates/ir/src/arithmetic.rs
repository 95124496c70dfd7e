//! Arithmetic by element: `+ - * / %` of numbers, and of arrays of them, element by element.

use crate::builder::{Array, Builder, Val};
use crate::{Element, KernelType, Number, Signed};

/// What `+ - * /` apply to: numbers, and arrays of numbers of one length, element by element.
#[diagnostic::on_unimplemented(
    message = "`+ - * /` do not apply to `{Self}`",
    note = "they apply to the numbers that `wattle::prelude::Number` lists, and to arrays of these element by element; structs \
            have them by `#[device_fn] impl Add for …`, where `#[kernel(contract)]` and `#[kernel(reassociate)]` are not; beside type \
            parameters a literal has its type then, `v * 0.5f32`, and a closure's parameter too, `|v: Vector| v + v`"
)]
pub trait Arithmetic: KernelType + Copy + sealed::Sealed {
    /// The type of the numbers.
    type Number: Number;
    /// What `f` gives for each pair of numbers.
    #[doc(hidden)]
    fn zip(self, other: Self, f: impl FnMut(Self::Number, Self::Number) -> Self::Number) -> Self;
    /// What `f` gives for each three numbers.
    #[doc(hidden)]
    fn zip3(
        self,
        second: Self,
        third: Self,
        f: impl FnMut(Self::Number, Self::Number, Self::Number) -> Self::Number,
    ) -> Self;
    /// What `f` gives for each pair of numbers while a kernel is built.
    #[doc(hidden)]
    #[track_caller]
    fn zip_in<'b>(
        builder: &'b Builder,
        x: Self::Built<'b>,
        y: Self::Built<'b>,
        f: impl FnMut(Val<'b, Self::Number>, Val<'b, Self::Number>) -> Val<'b, Self::Number>,
    ) -> Self::Built<'b>;
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Number> sealed::Sealed for T {}
impl<P: Arithmetic, const N: usize> sealed::Sealed for [P; N] {}

impl<T: Number> Arithmetic for T {
    type Number = T;
    #[inline(always)]
    fn zip(self, other: T, mut f: impl FnMut(T, T) -> T) -> T {
        f(self, other)
    }
    #[inline(always)]
    fn zip3(self, second: T, third: T, mut f: impl FnMut(T, T, T) -> T) -> T {
        f(self, second, third)
    }
    fn zip_in<'b>(
        _: &'b Builder,
        x: Val<'b, T>,
        y: Val<'b, T>,
        mut f: impl FnMut(Val<'b, T>, Val<'b, T>) -> Val<'b, T>,
    ) -> Val<'b, T> {
        f(x, y)
    }
}

impl<P: Arithmetic + Element, const N: usize> Arithmetic for [P; N] {
    type Number = P::Number;
    #[inline(always)]
    fn zip(self, other: Self, mut f: impl FnMut(P::Number, P::Number) -> P::Number) -> Self {
        std::array::from_fn(|n| self[n].zip(other[n], &mut f))
    }
    #[inline(always)]
    fn zip3(self, second: Self, third: Self, mut f: impl FnMut(P::Number, P::Number, P::Number) -> P::Number) -> Self {
        std::array::from_fn(|n| self[n].zip3(second[n], third[n], &mut f))
    }
    #[track_caller]
    fn zip_in<'b>(
        builder: &'b Builder,
        x: Array<'b, P, N>,
        y: Array<'b, P, N>,
        mut f: impl FnMut(Val<'b, P::Number>, Val<'b, P::Number>) -> Val<'b, P::Number>,
    ) -> Array<'b, P, N> {
        Array::zip(x, y, |x, y| P::zip_in(builder, x, y, &mut f))
    }
}

/// What `-x` applies to: signed numbers, and arrays of them, element by element.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no negative values",
    note = "signed integers and floats have them, and arrays of these element by element; convert first, `x as i32`, or write \
            `0 - x` where wrapping is meant"
)]
pub trait Negative: Arithmetic {
    /// The number or numbers with the other sign, on the host.
    #[doc(hidden)]
    fn negative(self) -> Self;
    /// The number or numbers with the other sign, in the kernel that is being built.
    #[doc(hidden)]
    fn negative_in<'b>(builder: &'b Builder, x: Self::Built<'b>) -> Self::Built<'b>;
}

impl<T: Signed> Negative for T {
    #[inline(always)]
    fn negative(self) -> T {
        self.negated()
    }
    fn negative_in<'b>(builder: &'b Builder, x: Val<'b, T>) -> Val<'b, T> {
        builder.neg(x)
    }
}

impl<P: Negative + Element, const N: usize> Negative for [P; N] {
    #[inline(always)]
    fn negative(self) -> Self {
        self.map(P::negative)
    }
    fn negative_in<'b>(builder: &'b Builder, x: Array<'b, P, N>) -> Array<'b, P, N> {
        Array::of_ids(builder, x.ids().map(|ids| P::ids(P::negative_in(builder, P::of_ids(builder, ids)))))
    }
}

/// [`Arithmetic`] while a kernel is built.
#[diagnostic::on_unimplemented(message = "`+ - * /` do not apply to `{Self}`")]
pub trait BuiltArithmetic<'b>: Copy + crate::builder::Sealed {
    /// The type of the numbers.
    type Number: Number;
    /// What `f` gives for each pair of numbers.
    #[track_caller]
    fn zip(
        self,
        builder: &'b Builder,
        other: Self,
        f: impl FnMut(Val<'b, Self::Number>, Val<'b, Self::Number>) -> Val<'b, Self::Number>,
    ) -> Self;
    /// What `f` gives for each three numbers.
    fn zip3(
        self,
        builder: &'b Builder,
        second: Self,
        third: Self,
        f: impl FnMut(Val<'b, Self::Number>, Val<'b, Self::Number>, Val<'b, Self::Number>) -> Val<'b, Self::Number>,
    ) -> Self;
}

impl<'b, T: Number> BuiltArithmetic<'b> for Val<'b, T> {
    type Number = T;
    fn zip(self, _: &'b Builder, other: Self, mut f: impl FnMut(Self, Self) -> Self) -> Self {
        f(self, other)
    }
    fn zip3(self, _: &'b Builder, second: Self, third: Self, mut f: impl FnMut(Self, Self, Self) -> Self) -> Self {
        f(self, second, third)
    }
}

impl<'b, P: Element<Built<'b>: BuiltArithmetic<'b>>, const N: usize> BuiltArithmetic<'b> for Array<'b, P, N> {
    type Number = <P::Built<'b> as BuiltArithmetic<'b>>::Number;
    #[track_caller]
    fn zip(
        self,
        builder: &'b Builder,
        other: Self,
        mut f: impl FnMut(Val<'b, Self::Number>, Val<'b, Self::Number>) -> Val<'b, Self::Number>,
    ) -> Self {
        Array::zip(self, other, |x, y| x.zip(builder, y, &mut f))
    }
    fn zip3(
        self,
        builder: &'b Builder,
        second: Self,
        third: Self,
        mut f: impl FnMut(Val<'b, Self::Number>, Val<'b, Self::Number>, Val<'b, Self::Number>) -> Val<'b, Self::Number>,
    ) -> Self {
        let parts = |all: Self| all.ids().map(|ids| P::of_ids(builder, ids));
        let (first, second, third) = (parts(self), parts(second), parts(third));
        let ids = std::array::from_fn(|n| P::ids(first[n].zip3(builder, second[n], third[n], &mut f)));
        Array::of_ids(builder, ids)
    }
}
