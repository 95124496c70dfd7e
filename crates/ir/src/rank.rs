//! The number of dimensions, as a type.

use std::fmt::Debug;

use crate::MAX_RANK;
use crate::arithmetic::{Arithmetic, BuiltArithmetic};
use crate::builder::{Array, Builder, IrValue, Val};

/// `D` dimensions. [`Rank`] holds for 1 to 4 of them.
#[derive(Clone, Copy, Debug)]
pub struct Dim<const D: usize>;

/// An index or extent in `D` dimensions: `u32` for one, `[u32; D]` for more. Dimension 0 varies slowest.
pub type Idx<const D: usize> = <Dim<D> as Rank>::Index;

/// What depends on the number of dimensions.
#[diagnostic::on_unimplemented(message = "launches and views have 1 to 4 dimensions")]
pub trait Rank: sealed::Sealed {
    /// The number of dimensions.
    const RANK: usize;
    /// See [`Idx`].
    type Index: GridIndex<Rank = Self>;
    /// An index while a kernel is built.
    type Built<'b>: BuiltIndex<'b, Rank = Self>;

    /// The index in an array of [`MAX_RANK`], filled up with `fill`.
    fn spread(index: Self::Index, fill: u32) -> [u32; MAX_RANK];
    /// The index from the front of an array of [`MAX_RANK`].
    fn gather(all: [u32; MAX_RANK]) -> Self::Index;
    #[doc(hidden)]
    fn spread_built<'b: 'b>(index: Self::Built<'b>) -> Vec<Val<'b, u32>>;
    #[doc(hidden)]
    fn gather_built<'b>(builder: &'b Builder, all: &[Val<'b, u32>]) -> Self::Built<'b>;
}

/// An index or extent in 1 to 4 dimensions: `u32`, `[u32; 2]`, `[u32; 3]` or `[u32; 4]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index or extent",
    note = "an index is a `u32` in one dimension, `[u32; 2]` to `[u32; 4]` in more"
)]
pub trait GridIndex: Arithmetic<Number = u32> + Debug + PartialEq + Send + Sync + 'static {
    /// The number of its dimensions, as a type.
    type Rank: Rank<Index = Self>;
}

/// A [`GridIndex`] while a kernel is built.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an index or extent")]
pub trait BuiltIndex<'b>: BuiltArithmetic<'b, Number = u32> + IrValue<'b> {
    /// The number of its dimensions, as a type.
    type Rank: Rank<Built<'b> = Self>;
}

mod sealed {
    pub trait Sealed {}
    impl<const D: usize> Sealed for super::Dim<D> {}
}

impl GridIndex for u32 {
    type Rank = Dim<1>;
}

impl<'b> BuiltIndex<'b> for Val<'b, u32> {
    type Rank = Dim<1>;
}

impl Rank for Dim<1> {
    const RANK: usize = 1;
    type Index = u32;
    type Built<'b> = Val<'b, u32>;

    #[inline(always)]
    fn spread(index: u32, fill: u32) -> [u32; MAX_RANK] {
        [index, fill, fill, fill]
    }
    #[inline(always)]
    fn gather(all: [u32; MAX_RANK]) -> u32 {
        all[0]
    }
    fn spread_built<'b: 'b>(index: Val<'b, u32>) -> Vec<Val<'b, u32>> {
        vec![index]
    }
    fn gather_built<'b>(_: &'b Builder, all: &[Val<'b, u32>]) -> Val<'b, u32> {
        all[0]
    }
}

macro_rules! rank {
    ($($d:literal)+) => {$(
        impl GridIndex for [u32; $d] {
            type Rank = Dim<$d>;
        }

        impl<'b> BuiltIndex<'b> for Array<'b, u32, $d> {
            type Rank = Dim<$d>;
        }

        impl Rank for Dim<$d> {
            const RANK: usize = $d;
            type Index = [u32; $d];
            type Built<'b> = Array<'b, u32, $d>;

            #[inline(always)]
            fn spread(index: [u32; $d], fill: u32) -> [u32; MAX_RANK] {
                std::array::from_fn(|d| index.get(d).copied().unwrap_or(fill))
            }
            #[inline(always)]
            fn gather(all: [u32; MAX_RANK]) -> [u32; $d] {
                std::array::from_fn(|d| all[d])
            }
            fn spread_built<'b: 'b>(index: Array<'b, u32, $d>) -> Vec<Val<'b, u32>> {
                (0..$d).map(|d| index.element(d)).collect()
            }
            fn gather_built<'b>(builder: &'b Builder, all: &[Val<'b, u32>]) -> Array<'b, u32, $d> {
                builder.array(std::array::from_fn(|d| all[d]))
            }
        }
    )+};
}
rank!(2 3 4);
