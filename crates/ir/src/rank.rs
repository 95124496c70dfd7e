//! The number of dimensions, as a type.

use std::fmt::Debug;
use std::ops;

use crate::arithmetic::{Arithmetic, BuiltArithmetic};
use crate::builder::{Array, Builder, IrValue, Val};
use crate::comparison::{BuiltComparable, Comparable};
use crate::{MAX_RANK, Word};

/// `D` dimensions, whose indices are of `u32`. [`Rank`] holds for 1 to 4 of them.
#[derive(Clone, Copy, Debug)]
pub struct Dim<const D: usize>;

/// `D` dimensions, whose indices are of `u64`: those of `#[kernel(wide)]`.
#[derive(Clone, Copy, Debug)]
pub struct Wide<const D: usize>;

/// An index or extent in `D` dimensions: `u32` for one, `[u32; D]` for more. Dimension 0 varies slowest.
pub type Idx<const D: usize> = <Dim<D> as Axes>::Index;

/// An index or extent in `D` dimensions in `#[kernel(wide)]`: `u64` for one, `[u64; D]` for more.
pub type WideIdx<const D: usize> = <<Dim<D> as Axes>::Wide as Axes>::Index;

/// The number of dimensions of a launch or a view.
#[diagnostic::on_unimplemented(message = "launches and views have 1 to 4 dimensions")]
pub trait Rank: Axes<Word = u32, Wide: Axes<Word = u64, Narrow = Self>> {}

/// What depends on the number of dimensions, and on the type of the numbers of an index.
pub trait Axes: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// The number of dimensions.
    const RANK: usize;
    /// The axes of as many dimensions with indices of `u32`.
    type Narrow;
    /// The axes of as many dimensions with indices of `u64`.
    type Wide;
    /// The type of the numbers that an index is made of.
    type Word: IndexWord;
    /// An index.
    type Index: GridIndex<Self::Word, Rank = Self>;
    /// An index while a kernel is built.
    type Built<'b>: BuiltIndex<'b, Self::Word, Rank = Self>;

    /// The index in an array of [`MAX_RANK`], filled up with `fill`.
    fn spread(index: Self::Index, fill: Self::Word) -> [Self::Word; MAX_RANK];
    /// The index from the front of an array of [`MAX_RANK`].
    fn gather(all: [Self::Word; MAX_RANK]) -> Self::Index;
    #[doc(hidden)]
    fn spread_built<'b: 'b>(index: Self::Built<'b>) -> Vec<Val<'b, Self::Word>>;
    #[doc(hidden)]
    fn gather_built<'b>(builder: &'b Builder, all: &[Val<'b, Self::Word>]) -> Self::Built<'b>;
}

/// A number of an index: `u32`, or `u64` in `#[kernel(wide)]`.
pub trait IndexWord:
    Word
    + Ord
    + Into<u64>
    + ops::Add<Output = Self>
    + ops::Sub<Output = Self>
    + ops::Mul<Output = Self>
    + ops::Div<Output = Self>
    + ops::Rem<Output = Self>
{
    /// The low bits of a number.
    fn truncated(number: u64) -> Self;
    /// The sum, which wraps.
    fn plus(self, other: Self) -> Self;
    /// The product, which wraps.
    fn times(self, other: Self) -> Self;
}

/// An index or extent in 1 to 4 dimensions: `u32`, `[u32; 2]`, `[u32; 3]` or `[u32; 4]`, or the same of `u64` in
/// `#[kernel(wide)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index or extent",
    note = "an index is a `u32` in one dimension, `[u32; 2]` to `[u32; 4]` in more; in `#[kernel(wide)]` a `u64`, `[u64; 2]` to \
            `[u64; 4]`"
)]
pub trait GridIndex<W: IndexWord = u32>:
    Arithmetic<Number = W> + Comparable + Debug + PartialEq + Send + Sync + 'static
{
    /// The number of its dimensions, as a type.
    type Rank: Axes<Index = Self, Word = W>;
}

/// A [`GridIndex`] while a kernel is built.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an index or extent")]
pub trait BuiltIndex<'b, W: IndexWord = u32>:
    BuiltArithmetic<'b, Number = W> + BuiltComparable<'b> + IrValue<'b>
{
    /// The number of its dimensions, as a type.
    type Rank: Axes<Built<'b> = Self, Word = W>;
}

mod sealed {
    pub trait Sealed {}
    impl<const D: usize> Sealed for super::Dim<D> {}
    impl<const D: usize> Sealed for super::Wide<D> {}
}

macro_rules! words {
    ($($rank:ident $word:ident),+) => {$(
        impl IndexWord for $word {
            #[inline(always)]
            fn truncated(number: u64) -> $word {
                number as $word
            }
            #[inline(always)]
            fn plus(self, other: $word) -> $word {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: $word) -> $word {
                self.wrapping_mul(other)
            }
        }

        impl GridIndex<$word> for $word {
            type Rank = $rank<1>;
        }

        impl<'b> BuiltIndex<'b, $word> for Val<'b, $word> {
            type Rank = $rank<1>;
        }

        impl Axes for $rank<1> {
            const RANK: usize = 1;
            type Narrow = Dim<1>;
            type Wide = Wide<1>;
            type Word = $word;
            type Index = $word;
            type Built<'b> = Val<'b, $word>;

            #[inline(always)]
            fn spread(index: $word, fill: $word) -> [$word; MAX_RANK] {
                [index, fill, fill, fill]
            }
            #[inline(always)]
            fn gather(all: [$word; MAX_RANK]) -> $word {
                all[0]
            }
            fn spread_built<'b: 'b>(index: Val<'b, $word>) -> Vec<Val<'b, $word>> {
                vec![index]
            }
            fn gather_built<'b>(_: &'b Builder, all: &[Val<'b, $word>]) -> Val<'b, $word> {
                all[0]
            }
        }

        several!($rank $word 2 3 4);
    )+};
}

macro_rules! several {
    ($rank:ident $word:ident $($d:literal)+) => {$(
        impl GridIndex<$word> for [$word; $d] {
            type Rank = $rank<$d>;
        }

        impl<'b> BuiltIndex<'b, $word> for Array<'b, $word, $d> {
            type Rank = $rank<$d>;
        }

        impl Axes for $rank<$d> {
            const RANK: usize = $d;
            type Narrow = Dim<$d>;
            type Wide = Wide<$d>;
            type Word = $word;
            type Index = [$word; $d];
            type Built<'b> = Array<'b, $word, $d>;

            #[inline(always)]
            fn spread(index: [$word; $d], fill: $word) -> [$word; MAX_RANK] {
                std::array::from_fn(|d| index.get(d).copied().unwrap_or(fill))
            }
            #[inline(always)]
            fn gather(all: [$word; MAX_RANK]) -> [$word; $d] {
                std::array::from_fn(|d| all[d])
            }
            fn spread_built<'b: 'b>(index: Array<'b, $word, $d>) -> Vec<Val<'b, $word>> {
                (0..$d).map(|d| index.element(d)).collect()
            }
            fn gather_built<'b>(builder: &'b Builder, all: &[Val<'b, $word>]) -> Array<'b, $word, $d> {
                builder.array(std::array::from_fn(|d| all[d]))
            }
        }
    )+};
}
words!(Dim u32, Wide u64);

macro_rules! ranks {
    ($($d:literal)+) => {$(
        impl Rank for Dim<$d> {}
    )+};
}
ranks!(1 2 3 4);

/// An index or extent as text: `7` in one dimension, `[1, 7]` in more.
pub fn format_index<N: std::fmt::Display + std::fmt::Debug>(index: &[N]) -> String {
    match index {
        [one] => one.to_string(),
        more => format!("{more:?}"),
    }
}
