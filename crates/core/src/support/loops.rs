//! Loops: their steps, and the runs of consecutive indices that one goes through by itself.

use wattle_ir::builder::STEP_OF_ZERO;
use wattle_ir::{Axes, Dim, Int, Scalar};

use crate::elements::Places;
use crate::indices::{Indices, Range};
use crate::items::Items;
use crate::rows::{Row, Rows};
use crate::thread::{STEPS_PER_LOOK, Thread};

/// A step of a range: one number, or one for each dimension.
#[diagnostic::on_unimplemented(
    message = "`step_by` is for ranges of indices, which are `u32`, and not of `{Self}`",
    label = "a range of `{Self}`",
    note = "write `for n in (0..count).step_by(2)` with a count of type `u32`, and `let i = n as {Self};` in the body"
)]
pub trait Step: Copy {
    /// Whether the step is 0 in some dimension.
    fn has_zero(self) -> bool;
}

macro_rules! steps {
    ($($step:ident $word:ident),+) => {$(
        impl $step for $word {
            #[inline(always)]
            fn has_zero(self) -> bool {
                self == 0
            }
        }

        impl<const D: usize> $step for [$word; D] {
            #[inline(always)]
            fn has_zero(self) -> bool {
                self.contains(&0)
            }
        }
    )+};
}
steps!(Step u32, WideStep u64);

/// A step of a range in `#[kernel(wide)]`.
#[diagnostic::on_unimplemented(
    message = "`step_by` is for ranges of indices, which are `u64` in `#[kernel(wide)]`, and not of `{Self}`",
    label = "a range of `{Self}`",
    note = "write `for n in (0..count).step_by(2)` with a count of type `u64`, and `let i = n as {Self};` in the body"
)]
pub trait WideStep: Copy {
    /// Whether the step is 0 in some dimension.
    fn has_zero(self) -> bool;
}

/// `range.step_by(step)`; a step of 0 is a fault, and taken for 1.
#[inline(always)]
#[track_caller]
pub fn step_by<I: Step>(range: Range<I>, step: I, thread: &Thread<'_>) -> Range<I> {
    thread.assert(!step.has_zero(), STEP_OF_ZERO);
    range.step_by(step)
}

/// `begin..end` in pieces of at most [`STEPS_PER_LOOK`].
pub struct Pieces<I> {
    at: I,
    end: I,
}

/// `begin..end`, for a loop that looks at the time limit between pieces.
#[inline(always)]
pub fn pieces<I: Int>(begin: I, end: I) -> Pieces<I> {
    Pieces { at: begin, end }
}

/// The next piece, and how many numbers it has.
#[inline(always)]
pub fn next_piece<I: Int>(pieces: &mut Pieces<I>) -> Option<(std::ops::Range<I>, u32)> {
    let Pieces { at, end } = *pieces;
    if at >= end {
        return None;
    }
    // The distance of two numbers in order is right as an unsigned number of 64 bits, also of signed ones.
    let left = u64::cast_from(end).wrapping_sub(u64::cast_from(at));
    let steps = left.min(STEPS_PER_LOOK as u64) as u32;
    let next = if left <= STEPS_PER_LOOK as u64 { end } else { at.add(I::cast_from(steps)) };
    pieces.at = next;
    Some((at..next, steps))
}

/// What a loop goes through row by row: an index map, or a range.
pub trait InRows {
    /// The number of an index' dimensions, as a type.
    type Rank: Axes;
    /// The elements, where it goes over some.
    type Places: Places;
    /// Iterates over the rows.
    type Rows: Iterator<Item = Row<Self::Rank, Self::Places>>;
    /// The rows of the loop, in order.
    fn rows(self) -> Self::Rows;
}

macro_rules! in_rows {
    ($([$($generics:tt)*] $map:ty, $places:ty;)+) => {$(
        impl<$($generics)* R: Axes> InRows for $map {
            type Rank = R;
            type Places = $places;
            type Rows = Rows<R, $places>;
            #[inline(always)]
            fn rows(self) -> Self::Rows {
                self.rows()
            }
        }
    )+};
}
in_rows! {
    [] Indices<R>, ();
    [P: Places,] Items<P, R>, P;
}

/// The rows of an index map.
#[inline(always)]
pub fn rows<M: InRows>(map: M) -> M::Rows {
    map.rows()
}

/// The range `begin..end` as one row.
#[inline(always)]
pub fn range_rows(begin: u32, end: u32) -> std::option::IntoIter<Row<Dim<1>, ()>> {
    Some(Row::of_range(begin, end)).into_iter()
}
