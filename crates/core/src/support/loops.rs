//! Loops: their steps, and the runs of consecutive indices that one goes through by itself.

use wattle_ir::builder::STEP_OF_ZERO;
use wattle_ir::{Dim, Element, Idx, Int, Rank, Scalar};

use crate::indices::{Indices, Items, Range};
use crate::thread::Thread;
use crate::together::{ItemsTogether, Places, Views};
use crate::view::Read;

/// A step of a range: one number, or one for each dimension.
pub trait Step: Copy {
    /// Whether the step is 0 in some dimension.
    fn has_zero(self) -> bool;
}

impl Step for u32 {
    #[inline(always)]
    fn has_zero(self) -> bool {
        self == 0
    }
}

impl<const D: usize> Step for [u32; D] {
    #[inline(always)]
    fn has_zero(self) -> bool {
        self.contains(&0)
    }
}

/// `range.step_by(step)`; a step of 0 is a fault, and taken for 1.
#[inline(always)]
#[track_caller]
pub fn step_by<I: Step>(range: Range<I>, step: I, thread: &Thread<'_>) -> Range<I> {
    thread.assert(!step.has_zero(), STEP_OF_ZERO);
    range.step_by(step)
}

/// How many iterations of loops that wait for no other thread pass between two looks at the time limit: enough that the
/// inner ones, which have no check in them, stay as fast as if there were none.
pub const STEPS_PER_LOOK: u32 = 1 << 16;

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

/// The end of the piece that begins at `first`, of `count` numbers in all.
#[inline(always)]
pub fn piece_end(first: usize, count: usize) -> usize {
    if count - first <= STEPS_PER_LOOK as usize { count } else { first + STEPS_PER_LOOK as usize }
}

/// What gives out consecutive indices: a map whose run a loop goes through by itself.
pub trait Run {
    /// The type of an index.
    type Index;
    /// The indices as one run `begin..end`; `None` where they are not one run.
    fn bounds(&self) -> Option<(u32, u32)>;
    /// Makes indices of numbers.
    fn indexer(&self) -> fn(u32) -> Self::Index;
}

impl Run for Indices<Dim<1>> {
    type Index = u32;
    #[inline(always)]
    fn bounds(&self) -> Option<(u32, u32)> {
        self.run()
    }
    #[inline(always)]
    fn indexer(&self) -> fn(u32) -> u32 {
        |number| number
    }
}

macro_rules! items {
    ($([$($generics:tt)+] $map:ty;)+) => {$(
        impl<$($generics)+, const E: usize> Run for $map
        where
            Dim<E>: Rank,
        {
            type Index = Idx<E>;
            #[inline(always)]
            fn bounds(&self) -> Option<(u32, u32)> {
                self.run()
            }
            #[inline(always)]
            fn indexer(&self) -> fn(u32) -> Idx<E> {
                |number| Dim::<E>::gather([number, 0, 0, 0])
            }
        }
    )+};
}
items! {
    [T: Element] Items<'_, T, E>;
    [V: Views<E>] ItemsTogether<V, E>;
}

/// The indices of a map as one run `begin..end`; `None` where they are not one run.
#[inline(always)]
pub fn bounds<M: Run>(map: &M) -> Option<(u32, u32)> {
    map.bounds()
}

/// The function that makes a map's indices of numbers.
#[inline(always)]
pub fn indexer<M: Run>(map: &M) -> fn(u32) -> M::Index {
    map.indexer()
}

/// The elements of a map that is one run.
#[inline(always)]
pub fn elements<'v, T: Element, const E: usize>(map: Items<'v, T, E>) -> &'v mut [T]
where
    Dim<E>: Rank,
{
    map.into_slice()
}

/// The elements of a map of several views that is one run.
#[inline(always)]
pub fn elements_together<V: Views<E>, const E: usize>(map: ItemsTogether<V, E>) -> <V::Places as Places>::Slices
where
    Dim<E>: Rank,
{
    map.into_slices()
}

/// The elements `begin..end` of a view as a slice, or `None` where they are not all in bounds: what a loop over
/// consecutive indices checks once.
#[inline(always)]
pub fn window<T: Element>(view: &Read<T>, (begin, end): (u32, u32)) -> Option<&[T]> {
    view.window(begin, end)
}
