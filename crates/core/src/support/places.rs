//! Indices in several dimensions: their row-major numbers and their parts.

use wattle_ir::builder::NO_AXIS;
use wattle_ir::{Axes, GridIndex, IndexWord};

use super::numbers::{add, div, mul, rem};
use crate::thread::Thread;

/// The functions of indices of one type of numbers.
macro_rules! functions {
    ($word:ident) => {
        /// The row-major number of an index in `extent`.
        #[inline(always)]
        pub fn linearize<I: GridIndex<$word>>(index: I, extent: I, _: &Thread<'_>) -> $word {
            any_linearize(index, extent)
        }

        /// The index with a row-major number in `extent`; a fault where that is zero in some dimension but the first.
        #[inline(always)]
        #[track_caller]
        pub fn delinearize<I: GridIndex<$word>>(number: $word, extent: I, thread: &Thread<'_>) -> I {
            any_delinearize(number, extent, thread)
        }

        /// The part of an index along an axis; 0 and a fault for an axis that it does not have.
        #[inline(always)]
        #[track_caller]
        pub fn axis<I: GridIndex<$word>>(index: I, axis: u32, thread: &Thread<'_>) -> $word {
            any_axis(index, axis, thread)
        }

        /// The index with another part along an axis; the same and a fault for an axis that it does not have.
        #[inline(always)]
        #[track_caller]
        pub fn with_axis<I: GridIndex<$word>>(index: I, axis: u32, part: $word, thread: &Thread<'_>) -> I {
            any_with_axis(index, axis, part, thread)
        }
    };
}
functions!(u32);

/// The functions of places for `#[kernel(wide)]`, whose indices are `u64`.
pub mod wide {
    use super::*;

    functions!(u64);
}

#[inline(always)]
fn any_linearize<W: IndexWord, I: GridIndex<W>>(index: I, extent: I) -> W {
    let (index, extent) = (I::Rank::spread(index, W::ZERO), I::Rank::spread(extent, W::ONE));
    (0..I::Rank::RANK).fold(W::ZERO, |number, d| add(mul(number, extent[d]), index[d]))
}

#[inline(always)]
#[track_caller]
fn any_delinearize<W: IndexWord, I: GridIndex<W>>(number: W, extent: I, thread: &Thread<'_>) -> I {
    let extent = I::Rank::spread(extent, W::ONE);
    let mut index = [W::ZERO; wattle_ir::MAX_RANK];
    let mut rest = number;
    for d in (1..I::Rank::RANK).rev() {
        index[d] = rem(rest, extent[d], thread);
        rest = div(rest, extent[d], thread);
    }
    index[0] = rest;
    I::Rank::gather(index)
}

#[inline(always)]
#[track_caller]
fn any_axis<W: IndexWord, I: GridIndex<W>>(index: I, axis: u32, thread: &Thread<'_>) -> W {
    let has = (axis as usize) < I::Rank::RANK;
    thread.assert(has, NO_AXIS);
    if has { I::Rank::spread(index, W::ZERO)[axis as usize] } else { W::ZERO }
}

#[inline(always)]
#[track_caller]
fn any_with_axis<W: IndexWord, I: GridIndex<W>>(index: I, axis: u32, part: W, thread: &Thread<'_>) -> I {
    let has = (axis as usize) < I::Rank::RANK;
    thread.assert(has, NO_AXIS);
    let mut all = I::Rank::spread(index, W::ZERO);
    if has {
        all[axis as usize] = part;
    }
    I::Rank::gather(all)
}
