//! Index maps on the host: which indices and elements fall to a thread.

use std::marker::PhantomData;

use wattle_ir::worker::Kind;
use wattle_ir::{Dim, Element, Idx, MAX_RANK, Rank};

use crate::thread::{Thread, delinearize};
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
    begin: u32,
    count: u32,
    step: u32,
}

impl Dimension {
    #[inline(always)]
    fn new(begin: u32, end: u32, step: u32) -> Self {
        let (span, step) = (end.saturating_sub(begin), step.max(1));
        Dimension { begin, count: if step == 1 { span } else { span.div_ceil(step) }, step }
    }
}

macro_rules! index_ranges {
    ($($index:ty: $d:literal)+) => {$(
        impl IndexRange for Range<$index> {
            type Rank = Dim<$d>;
            const D: usize = $d;
            #[inline(always)]
            fn dimensions(self) -> [Dimension; MAX_RANK] {
                let begin = Dim::<$d>::spread(self.begin, 0);
                let end = Dim::<$d>::spread(self.end, 1);
                let step = self.step.map_or([1; MAX_RANK], |step| Dim::<$d>::spread(step, 1));
                std::array::from_fn(|d| Dimension::new(begin[d], end[d], step[d]))
            }
        }
    )+};
}
index_ranges!(u32: 1 [u32; 2]: 2 [u32; 3]: 3 [u32; 4]: 4);

/// One worker's share of `0..count`: `next`, `next + stride`, … below `end`.
#[derive(Clone, Copy, Debug)]
struct Share {
    first: u32,
    end: u32,
    stride: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Contiguous,
    Strided,
}

impl Share {
    /// The share of `worker` among `workers`. In one run, the first `count % workers` have one index more.
    #[inline(always)]
    fn new((worker, workers): (u32, u32), count: u32, layout: Layout) -> Share {
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
    fn is_empty(&self) -> bool {
        self.first >= self.end
    }
}

/// The indices that fall to this thread; an iterator's source.
#[derive(Clone, Copy, Debug)]
pub struct Indices<R> {
    /// Which worker this is, and of how many: per dimension, or the first pair for the row-major numbers.
    workers: [(u32, u32); MAX_RANK],
    linear: bool,
    dimensions: [Dimension; MAX_RANK],
    d: usize,
    layout: Layout,
    rank: PhantomData<R>,
}

impl<R: Rank> Indices<R> {
    /// The share of `thread`, as one of the workers of this kind, of a range.
    #[inline(always)]
    pub(crate) fn new(
        thread: &Thread<'_>,
        launch_rank: usize,
        kind: Kind,
        linear: bool,
        dimensions: [Dimension; MAX_RANK],
        d: usize,
    ) -> Self {
        let grid = thread.grid();
        let workers = match kind {
            Kind::ThreadsInGrid => Some((thread.in_grid(), grid.threads_in_grid())),
            Kind::ThreadsInBlock => Some((thread.in_block(), grid.threads)),
            Kind::BlocksInGrid => Some((thread.block(), grid.blocks)),
            Kind::AllThreads => None,
        };
        let workers = match workers {
            Some((at, extent)) if linear || d == 1 => {
                let number = (0..launch_rank).fold(0, |number, d| number * extent[d] + at[d]);
                [(number, extent[..launch_rank].iter().product()); MAX_RANK]
            }
            Some((at, extent)) => std::array::from_fn(|d| (at[d], extent[d])),
            None => [(0, 1); MAX_RANK],
        };
        // A range of one dimension needs no row-major numbers.
        Indices { workers, linear: linear && d > 1, dimensions, d, layout: Layout::Contiguous, rank: PhantomData }
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

    /// The indices as one run `begin..end`; `None` where they are not one run.
    #[inline(always)]
    pub(crate) fn run(&self) -> Option<(u32, u32)> {
        let dimension = self.dimensions[0];
        if self.d != 1 || self.layout != Layout::Contiguous || dimension.step != 1 {
            return None;
        }
        let share = Share::new(self.workers[0], dimension.count, Layout::Contiguous);
        Some((dimension.begin + share.first, dimension.begin + share.end))
    }
}

/// How the indices of one rank are gone through.
#[doc(hidden)]
pub trait Walk: Rank {
    type Steps: Iterator<Item = [u32; MAX_RANK]>;
    fn steps(map: &Indices<Self>) -> Self::Steps
    where
        Self: Sized;
}

impl Walk for Dim<1> {
    type Steps = Line;
    #[inline(always)]
    fn steps(map: &Indices<Self>) -> Line {
        let Dimension { begin, count, step } = map.dimensions[0];
        Line { share: Share::new(map.workers[0], count, map.layout), begin, step }
    }
}

macro_rules! walk_several {
    ($($d:literal)+) => {$(
        impl Walk for Dim<$d> {
            type Steps = Odometer;
            fn steps(map: &Indices<Self>) -> Odometer {
                Odometer::new(map.workers, map.linear, map.dimensions, $d, map.layout)
            }
        }
    )+};
}
walk_several!(2 3 4);

/// Steps through one dimension.
#[derive(Clone, Debug)]
pub struct Line {
    share: Share,
    begin: u32,
    step: u32,
}

impl Iterator for Line {
    type Item = [u32; MAX_RANK];
    #[inline(always)]
    fn next(&mut self) -> Option<[u32; MAX_RANK]> {
        let Share { first: at, end, stride } = self.share;
        if at >= end {
            return None;
        }
        self.share.first = if end - at > stride { at + stride } else { end };
        Some([self.begin.wrapping_add(at.wrapping_mul(self.step)), 0, 0, 0])
    }
}

/// Steps through several dimensions, the last one fastest.
#[derive(Clone, Debug)]
pub struct Odometer {
    shares: [Share; MAX_RANK],
    at: [u32; MAX_RANK],
    dimensions: [Dimension; MAX_RANK],
    /// Whether the first share is of row-major numbers.
    linear: bool,
    d: usize,
    done: bool,
}

impl Odometer {
    fn new(
        workers: [(u32, u32); MAX_RANK],
        linear: bool,
        dimensions: [Dimension; MAX_RANK],
        d: usize,
        layout: Layout,
    ) -> Self {
        const ONE: Share = Share { first: 0, end: 1, stride: 1 };
        let mut shares = [ONE; MAX_RANK];
        if linear {
            // As all arithmetic of kernels this wraps; a range has fewer than 2^32 indices.
            let total = dimensions[..d].iter().fold(1u32, |total, dimension| total.wrapping_mul(dimension.count));
            shares[0] = Share::new(workers[0], total, layout);
        } else {
            for d in 0..d {
                shares[d] = Share::new(workers[d], dimensions[d].count, layout);
            }
        }
        let done = shares.iter().any(Share::is_empty);
        Odometer { at: shares.map(|share| share.first), shares, dimensions, linear, d, done }
    }
}

impl Iterator for Odometer {
    type Item = [u32; MAX_RANK];
    #[inline]
    fn next(&mut self) -> Option<[u32; MAX_RANK]> {
        if self.done {
            return None;
        }
        let counters = if self.linear {
            let counts = std::array::from_fn(|d| if d < self.d { self.dimensions[d].count } else { 1 });
            delinearize(self.at[0], counts)
        } else {
            self.at
        };
        let index = std::array::from_fn(|d| {
            let dimension = self.dimensions[d];
            dimension.begin.wrapping_add(counters[d].wrapping_mul(dimension.step))
        });
        let mut d = if self.linear { 1 } else { self.d };
        loop {
            if d == 0 {
                self.done = true;
                break;
            }
            d -= 1;
            let share = self.shares[d];
            if share.end - self.at[d] > share.stride {
                self.at[d] += share.stride;
                break;
            }
            self.at[d] = share.first;
        }
        Some(index)
    }
}

impl<R: Walk> IntoIterator for Indices<R> {
    type Item = R::Index;
    type IntoIter = IndicesIter<R>;
    #[inline(always)]
    fn into_iter(self) -> IndicesIter<R> {
        IndicesIter(R::steps(&self))
    }
}

/// The iterator of [`Indices`].
pub struct IndicesIter<R: Walk>(R::Steps);

impl<R: Walk> Iterator for IndicesIter<R> {
    type Item = R::Index;
    #[inline(always)]
    fn next(&mut self) -> Option<R::Index> {
        self.0.next().map(R::gather)
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
    start: *mut T,
    strides: [u32; MAX_RANK],
    view: PhantomData<&'v mut T>,
}

impl<'v, T: Element, const E: usize> Items<'v, T, E>
where
    Dim<E>: Rank,
{
    #[inline(always)]
    pub(crate) fn new(thread: &Thread<'_>, launch_rank: usize, view: &'v mut PerItem<T, E>) -> Self {
        let indices = Indices::whole(thread, launch_rank, view.extents());
        Items { indices, start: view.start(), strides: view.strides(), view: PhantomData }
    }
}

impl<'v, T: Element, const E: usize> Items<'v, T, E>
where
    Dim<E>: Rank,
{
    /// The indices `begin..end` of the elements, which are consecutive.
    #[inline(always)]
    pub(crate) fn run(&self) -> Option<(u32, u32)> {
        self.indices.run()
    }

    /// The elements of [`Items::run`].
    #[inline(always)]
    pub(crate) fn into_slice(self) -> &'v mut [T] {
        let Some((begin, end)) = self.indices.run() else { return &mut [] };
        // SAFETY: the map gives these elements to this thread alone, they are in bounds since the map is of the view's
        // extent, the view is borrowed as long as the slice is, and `self` is given up for it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(begin as usize), (end - begin) as usize) }
    }
}

impl<'v, T: Element, const E: usize> IntoIterator for Items<'v, T, E>
where
    Dim<E>: Walk,
{
    type Item = (Idx<E>, &'v mut T);
    type IntoIter = ItemsIter<'v, T, E>;
    #[inline(always)]
    fn into_iter(self) -> ItemsIter<'v, T, E> {
        ItemsIter { steps: Walk::steps(&self.indices), start: self.start, strides: self.strides, view: PhantomData }
    }
}

/// The iterator of [`Items`].
pub struct ItemsIter<'v, T, const E: usize>
where
    Dim<E>: Walk,
{
    steps: <Dim<E> as Walk>::Steps,
    start: *mut T,
    strides: [u32; MAX_RANK],
    view: PhantomData<&'v mut T>,
}

impl<'v, T: Element, const E: usize> Iterator for ItemsIter<'v, T, E>
where
    Dim<E>: Walk,
{
    type Item = (Idx<E>, &'v mut T);
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.steps.next()?;
        let offset: usize =
            if E == 1 { index[0] as usize } else { (0..E).map(|d| index[d] as usize * self.strides[d] as usize).sum() };
        // SAFETY: the map gives each index once, below the view's extent, and to this thread alone.
        let element = unsafe { &mut *self.start.add(offset) };
        Some((Dim::<E>::gather(index), element))
    }
}
