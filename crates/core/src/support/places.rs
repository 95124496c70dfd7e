//! Indices in several dimensions: their row-major numbers and their parts.

use wattle_ir::builder::NO_AXIS;
use wattle_ir::{GridIndex, Rank};

use super::numbers::{div, rem};
use crate::thread::Thread;

/// The row-major number of an index in `extent`.
#[inline(always)]
pub fn linearize<I: GridIndex>(index: I, extent: I, _: &Thread<'_>) -> u32 {
    let (index, extent) = (I::Rank::spread(index, 0), I::Rank::spread(extent, 1));
    (0..I::Rank::RANK).fold(0, |number, d| number.wrapping_mul(extent[d]).wrapping_add(index[d]))
}

/// The index with a row-major number in `extent`; a fault where that is zero in some dimension but the first.
#[inline(always)]
#[track_caller]
pub fn delinearize<I: GridIndex>(number: u32, extent: I, thread: &Thread<'_>) -> I {
    let extent = I::Rank::spread(extent, 1);
    let mut index = [0; wattle_ir::MAX_RANK];
    let mut rest = number;
    for d in (1..I::Rank::RANK).rev() {
        index[d] = rem(rest, extent[d], thread);
        rest = div(rest, extent[d], thread);
    }
    index[0] = rest;
    I::Rank::gather(index)
}

/// The part of an index along an axis; 0 and a fault for an axis that it does not have.
#[inline(always)]
#[track_caller]
pub fn axis<I: GridIndex>(index: I, axis: u32, thread: &Thread<'_>) -> u32 {
    let has = (axis as usize) < I::Rank::RANK;
    thread.assert(has, NO_AXIS);
    if has { I::Rank::spread(index, 0)[axis as usize] } else { 0 }
}

/// The index with another part along an axis; the same and a fault for an axis that it does not have.
#[inline(always)]
#[track_caller]
pub fn with_axis<I: GridIndex>(index: I, axis: u32, part: u32, thread: &Thread<'_>) -> I {
    let has = (axis as usize) < I::Rank::RANK;
    thread.assert(has, NO_AXIS);
    let mut all = I::Rank::spread(index, 0);
    if has {
        all[axis as usize] = part;
    }
    I::Rank::gather(all)
}
