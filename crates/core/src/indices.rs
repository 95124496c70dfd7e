//! Index maps on the host: which indices and elements fall to a thread.

use std::marker::PhantomData;

use wattle_ir::builder::TOO_MANY_INDICES;
use wattle_ir::worker::Kind;
use wattle_ir::{Dim, Element, GridIndex, MAX_RANK, Rank};

use crate::rows::Rows;
use crate::thread::Thread;
use crate::together::Elements;
use crate::view::PerItem;

/// `begin..end` in a kernel, of numbers or of indices in several dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Range<I> {
    begin: I,
    end: I,
    step: Option<I>,
}

/// What the kernel macro writes for `begin..end` where a method follows or an argument is meant.
#[doc(hidden)]
#[inline(always)]
pub fn range<I>(begin: I, end: I) -> Range<I> {
    Range { begin, end, step: None }
}

impl<I> Range<I> {
    /// Every `step`th index, from the first.
    #[inline(always)]
    pub(crate) fn step_by(self, step: I) -> Range<I> {
        Range { step: Some(step), ..self }
    }
}

impl<I> Range<I>
where
    std::ops::Range<I>: DoubleEndedIterator,
{
    /// The indices from the last to the first.
    #[inline(always)]
    pub fn rev(self) -> std::iter::Rev<std::ops::Range<I>> {
        (self.begin..self.end).rev()
    }
}

impl IntoIterator for Range<u32> {
    type Item = u32;
    type IntoIter = std::iter::StepBy<std::ops::Range<u32>>;
    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        (self.begin..self.end).step_by(self.step.map_or(1, |step| step.max(1)) as usize)
    }
}

/// A range of indices in one or several dimensions, what `acc.indices` shares out.
pub trait IndexRange: Copy {
    /// The number of the range's dimensions, as a type.
    type Rank: Rank;
    #[doc(hidden)]
    fn dimensions(self) -> [Dimension; MAX_RANK];
    #[doc(hidden)]
    const D: usize;
}

/// One dimension of a range.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    pub(crate) begin: u32,
    pub(crate) count: u32,
    pub(crate) step: u32,
}

impl Dimension {
    #[inline(always)]
    fn new(begin: u32, end: u32, step: u32) -> Self {
        let (span, step) = (end.saturating_sub(begin), step.max(1));
        Dimension { begin, count: if step == 1 { span } else { span.div_ceil(step) }, step }
    }
}

impl<I: GridIndex> IndexRange for Range<I> {
    type Rank = I::Rank;
    const D: usize = I::Rank::RANK;
    #[inline(always)]
    fn dimensions(self) -> [Dimension; MAX_RANK] {
        let begin = I::Rank::spread(self.begin, 0);
        let end = I::Rank::spread(self.end, 1);
        let step = self.step.map_or([1; MAX_RANK], |step| I::Rank::spread(step, 1));
        std::array::from_fn(|d| Dimension::new(begin[d], end[d], step[d]))
    }
}

/// An extent: all indices below it.
impl<I: GridIndex> IndexRange for I {
    type Rank = I::Rank;
    const D: usize = I::Rank::RANK;
    #[inline(always)]
    fn dimensions(self) -> [Dimension; MAX_RANK] {
        I::Rank::spread(self, 1).map(|end| Dimension::new(0, end, 1))
    }
}

/// One worker's share of `0..count`: `next`, `next + stride`, … below `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) stride: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Layout {
    Contiguous,
    Strided,
}

impl Share {
    /// The share of `worker` among `workers`. In one run, the first `count % workers` have one index more.
    #[inline(always)]
    pub(crate) fn new((worker, workers): (u32, u32), count: u32, layout: Layout) -> Share {
        match layout {
            Layout::Contiguous => {
                let (whole, rest) = (count / workers, count % workers);
                let first = worker * whole + worker.min(rest);
                Share { first, end: first + whole + (worker < rest) as u32, stride: 1 }
            }
            Layout::Strided => Share { first: worker.min(count), end: count, stride: workers },
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.first >= self.end
    }
}

/// The indices that fall to this thread; an iterator's source.
#[derive(Clone, Copy, Debug)]
pub struct Indices<R> {
    /// Which worker this is, and of how many: per dimension, or the first pair for the row-major numbers.
    pub(crate) workers: [(u32, u32); MAX_RANK],
    pub(crate) linear: bool,
    pub(crate) dimensions: [Dimension; MAX_RANK],
    pub(crate) layout: Layout,
    rank: PhantomData<R>,
}

impl<R: Rank> Indices<R> {
    /// The share of `thread`, as one of the workers of this kind, of a range. Where its indices are numbered and are 2³² or
    /// more there is a fault, and none of them is gone over.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new(
        thread: &Thread<'_>,
        launch_rank: usize,
        kind: Kind,
        linear: bool,
        mut dimensions: [Dimension; MAX_RANK],
        d: usize,
    ) -> Self {
        let grid = thread.grid();
        let workers = match kind {
            Kind::ThreadsInGrid => Some((thread.in_grid(), grid.threads_in_grid())),
            Kind::ThreadsInBlock => Some((thread.in_block(), grid.threads)),
            Kind::BlocksInGrid => Some((thread.block(), grid.blocks)),
            Kind::AllThreads | Kind::ThreadsInWarp | Kind::WarpsInBlock | Kind::WarpsInGrid => None,
        };
        let linear_worker = || {
            let (number, size) = (thread.number_in_block(), grid.warp_size);
            let (threads, warp) = (thread.launch().threads_in_block(), number >> size.trailing_zeros());
            let warps = threads.div_ceil(size);
            let block = (0..launch_rank).fold(0, |number, d| number * grid.blocks[d] + thread.block()[d]);
            match kind {
                Kind::ThreadsInWarp => (number & (size - 1), (threads - warp * size).min(size)),
                Kind::WarpsInBlock => (warp, warps),
                Kind::WarpsInGrid => (block * warps + warp, grid.block_count() * warps),
                Kind::ThreadsInGrid | Kind::ThreadsInBlock | Kind::BlocksInGrid | Kind::AllThreads => (0, 1),
            }
        };
        let workers = match workers {
            Some((at, extent)) if linear || d == 1 => {
                let number = (0..launch_rank).fold(0, |number, d| number * extent[d] + at[d]);
                [(number, extent[..launch_rank].iter().product()); MAX_RANK]
            }
            Some((at, extent)) => std::array::from_fn(|d| (at[d], extent[d])),
            None => [linear_worker(); MAX_RANK],
        };
        let total = || dimensions[..d].iter().fold(1u128, |total, dimension| total * u128::from(dimension.count));
        if linear && d > 1 && total() > u128::from(u32::MAX) {
            thread.assert(false, TOO_MANY_INDICES);
            dimensions = [Dimension::new(0, 0, 1); MAX_RANK];
        }
        // A range of one dimension needs no row-major numbers.
        Indices { workers, linear: linear && d > 1, dimensions, layout: Layout::Contiguous, rank: PhantomData }
    }

    /// The share of `thread` of all elements of a view with this extent.
    #[inline(always)]
    pub(crate) fn whole(thread: &Thread<'_>, launch_rank: usize, extent: [u32; MAX_RANK]) -> Self {
        let dimensions = std::array::from_fn(|d| Dimension::new(0, extent[d], 1));
        Indices::new(thread, launch_rank, Kind::ThreadsInGrid, launch_rank != R::RANK, dimensions, R::RANK)
    }

    /// Each worker takes every `workers`th index.
    #[inline(always)]
    pub fn strided(self) -> Self {
        Indices { layout: Layout::Strided, ..self }
    }

    /// Each worker takes one run of consecutive indices.
    #[inline(always)]
    pub fn contiguous(self) -> Self {
        Indices { layout: Layout::Contiguous, ..self }
    }
}

/// The numbers of dimensions that there are index maps of.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "launches and views have 1 to 4 dimensions, not as many as `{Self}` says")]
pub trait Walk: Rank {}
impl Walk for Dim<1> {}
impl Walk for Dim<2> {}
impl Walk for Dim<3> {}
impl Walk for Dim<4> {}

impl<R: Rank> Indices<R> {
    /// The rows of the map.
    #[inline(always)]
    pub(crate) fn rows(self) -> Rows<R, ()> {
        // SAFETY: there are no elements.
        unsafe { Rows::new(self, ()) }
    }
}

/// The elements of a [`PerItem`] view that belong to this thread; an iterator's source.
///
/// Their map is fixed for a launch: it depends on the view's extent and the thread's place alone, and gives each
/// element to one thread.
pub struct Items<'v, T, const E: usize>
where
    Dim<E>: Rank,
{
    indices: Indices<Dim<E>>,
    elements: Elements<'v, T>,
}

impl<'v, T: Element, const E: usize> Items<'v, T, E>
where
    Dim<E>: Rank,
{
    #[inline(always)]
    pub(crate) fn new(thread: &Thread<'_>, launch_rank: usize, view: &'v mut PerItem<T, E>) -> Self {
        let indices = Indices::whole(thread, launch_rank, view.extents());
        Items { indices, elements: Elements::of(view) }
    }

    /// The rows of the elements.
    #[inline(always)]
    pub(crate) fn rows(self) -> Rows<Dim<E>, Elements<'v, T>> {
        // SAFETY: the map is of the view's extent, and gives each element to one thread; the view is borrowed as long as
        // the elements are, and `self` is given up for them.
        unsafe { Rows::new(self.indices, self.elements) }
    }
}
