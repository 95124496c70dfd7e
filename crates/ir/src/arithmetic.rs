//! Arithmetic by element: `+ - * / %` of numbers, and of arrays of them, element by element.

use crate::builder::{Array, Builder, Val};
use crate::{Element, KernelType};

/// What `+ - * /` apply to: numbers, and arrays of numbers of one length, element by element.
#[diagnostic::on_unimplemented(
    message = "`+ - * /` do not apply to `{Self}`",
    note = "they apply to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64, and to arrays of these element by element"
)]
pub trait Arithmetic: KernelType + Copy {
    /// The type of the numbers.
    type Number: Element;
    /// What `f` gives for each pair of numbers.
    #[doc(hidden)]
    fn zip(self, other: Self, f: impl FnMut(Self::Number, Self::Number) -> Self::Number) -> Self;
}

impl<T: Element> Arithmetic for T {
    type Number = T;
    #[inline(always)]
    fn zip(self, other: T, mut f: impl FnMut(T, T) -> T) -> T {
        f(self, other)
    }
}

impl<T: Element, const N: usize> Arithmetic for [T; N] {
    type Number = T;
    #[inline(always)]
    fn zip(self, other: Self, mut f: impl FnMut(T, T) -> T) -> Self {
        std::array::from_fn(|n| f(self[n], other[n]))
    }
}

/// [`Arithmetic`] while a kernel is built.
#[diagnostic::on_unimplemented(message = "`+ - * /` do not apply to `{Self}`")]
pub trait BuiltArithmetic<'b>: Copy {
    /// The type of the numbers.
    type Number: Element;
    /// What `f` gives for each pair of numbers.
    #[track_caller]
    fn zip(
        self,
        builder: &'b Builder,
        other: Self,
        f: impl FnMut(Val<'b, Self::Number>, Val<'b, Self::Number>) -> Val<'b, Self::Number>,
    ) -> Self;
}

impl<'b, T: Element> BuiltArithmetic<'b> for Val<'b, T> {
    type Number = T;
    fn zip(self, _: &'b Builder, other: Self, mut f: impl FnMut(Self, Self) -> Self) -> Self {
        f(self, other)
    }
}

impl<'b, T: Element, const N: usize> BuiltArithmetic<'b> for Array<'b, T, N> {
    type Number = T;
    #[track_caller]
    fn zip(self, builder: &'b Builder, other: Self, mut f: impl FnMut(Val<'b, T>, Val<'b, T>) -> Val<'b, T>) -> Self {
        let (left, right) = (self.elements(), other.elements());
        builder.array(std::array::from_fn(|n| f(left[n], right[n])))
    }
}
