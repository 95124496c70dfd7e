//! Equality: `==` and `!=` of numbers, and of arrays and tuples of them, part by part.

use crate::builder::{Array, Builder, Mask, Sealed as BuiltSealed, Val};
use crate::{BinaryOp, Element, KernelType, Scalar, WarpMask};

/// What `==` and `!=` compare: numbers, truth values, the masks of warps, and arrays and tuples of these, part by part.
///
/// A struct is not among them: its `PartialEq` may be any code of its author's, which no device can run.
#[diagnostic::on_unimplemented(
    message = "`==` and `!=` do not compare `{Self}` in a kernel",
    label = "compared as a whole",
    note = "they compare numbers, bool, and arrays and tuples of these; of a struct compare the fields: `a.x == b.x && a.y == b.y`"
)]
pub trait Comparable: KernelType + Copy + sealed::Sealed {
    /// Whether all parts are equal.
    fn equals(self, other: Self) -> bool;
}

mod sealed {
    pub trait Sealed {}
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> sealed::Sealed for T {}
impl<P: Comparable, const N: usize> sealed::Sealed for [P; N] {}
impl sealed::Sealed for WarpMask {}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Comparable for T {
    #[inline(always)]
    fn equals(self, other: T) -> bool {
        self == other
    }
}

impl<P: Comparable + Element, const N: usize> Comparable for [P; N] {
    #[inline(always)]
    fn equals(self, other: Self) -> bool {
        (0..N).all(|n| self[n].equals(other[n]))
    }
}

impl Comparable for WarpMask {
    #[inline(always)]
    fn equals(self, other: WarpMask) -> bool {
        self == other
    }
}

/// [`Comparable`] while a kernel is built.
#[diagnostic::on_unimplemented(message = "`==` and `!=` do not compare `{Self}` in a kernel")]
pub trait BuiltComparable<'b>: Copy + BuiltSealed {
    /// Whether all parts are equal.
    #[track_caller]
    fn equals(self, builder: &'b Builder, other: Self) -> Val<'b, bool>;
    /// Whether some part is another one.
    #[track_caller]
    fn differs(self, builder: &'b Builder, other: Self) -> Val<'b, bool> {
        builder.not(self.equals(builder, other))
    }
}

impl<'b, T: Scalar> BuiltComparable<'b> for Val<'b, T> {
    fn equals(self, _: &'b Builder, other: Self) -> Val<'b, bool> {
        self.binary(BinaryOp::Eq, other)
    }
    fn differs(self, _: &'b Builder, other: Self) -> Val<'b, bool> {
        self.binary(BinaryOp::Ne, other)
    }
}

/// Whether all of these hold.
fn all<'b>(builder: &'b Builder, parts: impl IntoIterator<Item = Val<'b, bool>>) -> Val<'b, bool> {
    parts.into_iter().reduce(|x, y| builder.bit_and(x, y)).unwrap_or_else(|| builder.lit(true))
}

impl<'b, P: Element<Built<'b>: BuiltComparable<'b>>, const N: usize> BuiltComparable<'b> for Array<'b, P, N> {
    #[track_caller]
    fn equals(self, builder: &'b Builder, other: Self) -> Val<'b, bool> {
        let (left, right) = (self.elements(), other.elements());
        all(builder, left.into_iter().zip(right).map(|(x, y)| BuiltComparable::equals(x, builder, y)))
    }
}

impl<'b> BuiltComparable<'b> for Mask<'b> {
    fn equals(self, builder: &'b Builder, other: Self) -> Val<'b, bool> {
        let (left, right) = (self.all_words(), other.all_words());
        all(builder, left.into_iter().zip(right).map(|(x, y)| builder.eq(x, y)))
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))+) => {$(
        impl<$($name: Comparable),+> sealed::Sealed for ($($name,)+) {}
        impl<$($name: Comparable),+> Comparable for ($($name,)+) {
            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                $(self.$index.equals(other.$index))&&+
            }
        }
        impl<$($name: BuiltSealed),+> BuiltSealed for ($($name,)+) {}
        impl<'b, $($name: BuiltComparable<'b>),+> BuiltComparable<'b> for ($($name,)+) {
            #[track_caller]
            fn equals(self, builder: &'b Builder, other: Self) -> Val<'b, bool> {
                all(builder, [$(self.$index.equals(builder, other.$index)),+])
            }
        }
    )+};
}
with_tuples!(tuples);
