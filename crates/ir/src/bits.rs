//! Bits: `& | ^ !` of integers and truth values, and of the masks of warps, lane by lane.

use crate::builder::{Builder, Logic, Mask, Sealed as BuiltSealed, Val};
use crate::{BinaryOp, Builtin, Expr, KernelType, UnaryOp, WarpMask};

/// What `& | ^ !` apply to: integers, truth values and the masks of warps.
#[diagnostic::on_unimplemented(
    message = "`& | ^ !` apply to integers, bool and the masks of warps, not to `{Self}`",
    label = "has no bits in a kernel"
)]
pub trait Bits: KernelType + Copy + sealed::Sealed {
    /// What `f` makes of the bits of both.
    fn zip_bits(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self;
    /// The other bits; of a mask those of the lanes of a warp of this size.
    #[must_use]
    fn complement(self, warp_size: u32) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

#[diagnostic::do_not_recommend]
impl<T: Logic> sealed::Sealed for T {}
impl sealed::Sealed for WarpMask {}

#[diagnostic::do_not_recommend]
impl<T: Logic> Bits for T {
    #[inline(always)]
    fn zip_bits(self, other: T, f: impl Fn(u64, u64) -> u64) -> T {
        T::from_raw(f(self.to_raw(), other.to_raw()))
    }
    #[inline(always)]
    fn complement(self, _: u32) -> T {
        T::from_raw(!self.to_raw())
    }
}

impl Bits for WarpMask {
    #[inline(always)]
    fn zip_bits(self, other: WarpMask, f: impl Fn(u64, u64) -> u64) -> WarpMask {
        self.zip_words(other, |x, y| f(x.into(), y.into()) as u32)
    }
    #[inline(always)]
    fn complement(self, warp_size: u32) -> WarpMask {
        WarpMask::all(warp_size).zip_words(self, |lanes, word| lanes & !word)
    }
}

/// [`Bits`] while a kernel is built.
#[diagnostic::on_unimplemented(message = "`& | ^ !` apply to integers, bool and the masks of warps, not to `{Self}`")]
pub trait BuiltBits<'b>: Copy + BuiltSealed {
    /// What the operation makes of the bits of both.
    fn zip_bits(self, builder: &'b Builder, op: BinaryOp, other: Self) -> Self;
    /// The other bits; of a mask those of the lanes of a warp.
    #[must_use]
    fn complement(self, builder: &'b Builder) -> Self;
}

impl<'b, T: Logic> BuiltBits<'b> for Val<'b, T> {
    fn zip_bits(self, _: &'b Builder, op: BinaryOp, other: Self) -> Self {
        self.binary(op, other)
    }
    fn complement(self, _: &'b Builder) -> Self {
        self.unary(UnaryOp::Not)
    }
}

impl<'b> BuiltBits<'b> for Mask<'b> {
    fn zip_bits(self, _: &'b Builder, op: BinaryOp, other: Self) -> Self {
        self.zip_words(other, |x, y| x.binary(op, y))
    }
    fn complement(self, builder: &'b Builder) -> Self {
        let size = builder.val(Expr::Builtin(Builtin::WarpSize, 0));
        Mask::below(builder, size).zip_words(self, |lanes, word| builder.bit_and(lanes, word.complement(builder)))
    }
}
