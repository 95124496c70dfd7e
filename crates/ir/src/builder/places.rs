//! Indices in several dimensions while a kernel is built: their row-major numbers and their parts.

use super::{Builder, Val};
use crate::{Axes, BuiltIndex, IndexWord};

/// The message of the fault for an axis that an index does not have.
pub const NO_AXIS: &str = "an index has no such axis; axis 0 is the first";

/// The functions of indices of one type of numbers.
macro_rules! functions {
    ($word:ident) => {
        /// The row-major number of an index in `extent`.
        pub fn linearize<'b, I: BuiltIndex<'b, $word>>(builder: &'b Builder, index: I, extent: I) -> Val<'b, $word> {
            any_linearize(builder, index, extent)
        }

        /// The index with a row-major number in `extent`.
        #[track_caller]
        pub fn delinearize<'b, I: BuiltIndex<'b, $word>>(builder: &'b Builder, number: Val<'b, $word>, extent: I) -> I {
            any_delinearize(builder, number, extent)
        }

        /// The part of an index along an axis.
        #[track_caller]
        pub fn axis<'b, I: BuiltIndex<'b, $word>>(
            builder: &'b Builder,
            index: I,
            axis: Val<'b, u32>,
        ) -> Val<'b, $word> {
            any_axis(builder, index, axis)
        }

        /// The index with another part along an axis.
        #[track_caller]
        pub fn with_axis<'b, I: BuiltIndex<'b, $word>>(
            builder: &'b Builder,
            index: I,
            axis: Val<'b, u32>,
            part: Val<'b, $word>,
        ) -> I {
            any_with_axis(builder, index, axis, part)
        }
    };
}
functions!(u32);

/// The functions of places for `#[kernel(wide)]`, whose indices are `u64`.
pub(super) mod wide {
    use super::*;

    functions!(u64);
}

fn any_linearize<'b, W: IndexWord, I: BuiltIndex<'b, W>>(builder: &'b Builder, index: I, extent: I) -> Val<'b, W> {
    let mut pairs = I::Rank::spread_built(index).into_iter().zip(I::Rank::spread_built(extent));
    let first = pairs.next().map_or_else(|| builder.lit(W::ZERO), |(index, _)| index);
    pairs.fold(first, |number, (index, extent)| builder.add(builder.mul(number, extent), index))
}

#[track_caller]
fn any_delinearize<'b, W: IndexWord, I: BuiltIndex<'b, W>>(builder: &'b Builder, number: Val<'b, W>, extent: I) -> I {
    let extent = I::Rank::spread_built(extent);
    let mut rest = number;
    let mut index: Vec<_> = Vec::with_capacity(extent.len());
    for &extent in extent[1..].iter().rev() {
        rest = builder.hold(rest, None);
        index.push(builder.rem(rest, extent));
        rest = builder.div(rest, extent);
    }
    index.push(rest);
    index.reverse();
    I::Rank::gather_built(builder, &index)
}

#[track_caller]
fn any_axis<'b, W: IndexWord, I: BuiltIndex<'b, W>>(builder: &'b Builder, index: I, axis: Val<'b, u32>) -> Val<'b, W> {
    let axis = checked(builder, axis, I::Rank::RANK);
    let parts = I::Rank::spread_built(index).into_iter().enumerate();
    parts.fold(builder.lit(W::ZERO), |found, (d, part)| {
        Val::select(builder.eq(axis, builder.lit(d as u32)), part, found)
    })
}

#[track_caller]
fn any_with_axis<'b, W: IndexWord, I: BuiltIndex<'b, W>>(
    builder: &'b Builder,
    index: I,
    axis: Val<'b, u32>,
    part: Val<'b, W>,
) -> I {
    let axis = checked(builder, axis, I::Rank::RANK);
    let parts = I::Rank::spread_built(index).into_iter().enumerate();
    let parts = parts.map(|(d, old)| Val::select(builder.eq(axis, builder.lit(d as u32)), part, old));
    I::Rank::gather_built(builder, &parts.collect::<Vec<_>>())
}

#[track_caller]
fn checked<'b>(builder: &'b Builder, axis: Val<'b, u32>, rank: usize) -> Val<'b, u32> {
    if builder.constant(axis.id).is_none_or(|constant| constant.raw >= rank as u64) {
        builder.assert(builder.lt(axis, builder.lit(rank as u32)), NO_AXIS.into(), &[]);
    }
    axis
}
