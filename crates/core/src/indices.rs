//! Index maps on the host: which indices and elements fall to a thread.

use wattle_ir::builder::too_many_indices;
use wattle_ir::worker::Kind;
use wattle_ir::{Axes, Dim, GridIndex, IndexWord, MAX_RANK, Rank, types};

use crate::thread::Thread;

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

macro_rules! stepped {
    ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        $(stepped! { $kind $t })+
    };
    (Bool $word:ident) => {};
    (Float $word:ident) => {};
    ($kind:ident $word:ident) => {
        impl IntoIterator for Range<$word> {
            type Item = $word;
            type IntoIter = std::iter::StepBy<std::ops::Range<$word>>;
            #[inline(always)]
            fn into_iter(self) -> Self::IntoIter {
                (self.begin..self.end).step_by(self.step.map_or(1, |step| step.max(1)) as usize)
            }
        }
    };
}
// `step_by` is for indices alone; of the others the error is that of `step_by`, and none besides.
types!(stepped);

/// The indices of a range in one of its dimensions: `count` numbers from `begin` on, `step` apart.
#[derive(Clone, Copy, Debug)]
pub struct Dimension<W = u32> {
    pub(crate) begin: W,
    pub(crate) count: W,
    pub(crate) step: W,
}

impl<W: IndexWord> Dimension<W> {
    #[inline(always)]
    fn new(begin: W, end: W, step: W) -> Self {
        let (span, step) = (if end > begin { end - begin } else { W::ZERO }, Ord::max(step, W::ONE));
        let count = if step == W::ONE { span } else { span.div_ceil(step).unwrap_or(W::ZERO) };
        Dimension { begin, count, step }
    }
}

/// A range of indices in one or several dimensions, what `acc.indices` shares out.
pub trait IndexRange<W: IndexWord = u32>: Copy {
    /// The number of the range's dimensions, as a type.
    type Rank: Axes<Word = W>;
    #[doc(hidden)]
    fn dimensions(self) -> [Dimension<W>; MAX_RANK];
}

impl<W: IndexWord, I: GridIndex<W>> IndexRange<W> for Range<I> {
    type Rank = I::Rank;
    #[inline(always)]
    fn dimensions(self) -> [Dimension<W>; MAX_RANK] {
        let begin = I::Rank::spread(self.begin, W::ZERO);
        let end = I::Rank::spread(self.end, W::ONE);
        let step = self.step.map_or([W::ONE; MAX_RANK], |step| I::Rank::spread(step, W::ONE));
        std::array::from_fn(|d| Dimension::new(begin[d], end[d], step[d]))
    }
}

/// An extent: all indices below it.
impl<W: IndexWord, I: GridIndex<W>> IndexRange<W> for I {
    type Rank = I::Rank;
    #[inline(always)]
    fn dimensions(self) -> [Dimension<W>; MAX_RANK] {
        I::Rank::spread(self, W::ONE).map(|end| Dimension::new(W::ZERO, end, W::ONE))
    }
}

/// A worker's share of `0..count`: the numbers `first`, `first + stride`, … below `end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share<W = u32> {
    pub(crate) first: W,
    pub(crate) end: W,
    pub(crate) stride: W,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ShareLayout {
    Contiguous,
    Strided,
}

impl<W: IndexWord> Share<W> {
    /// The share of `worker` among `workers`. In one run, the first `count % workers` have one index more.
    #[inline(always)]
    pub(crate) fn new((worker, workers): (W, W), count: W, layout: ShareLayout) -> Share<W> {
        match layout {
            ShareLayout::Contiguous => {
                let (whole, rest) = (count / workers, count % workers);
                let first = worker * whole + Ord::min(worker, rest);
                let more = if worker < rest { W::ONE } else { W::ZERO };
                Share { first, end: first + whole + more, stride: W::ONE }
            }
            ShareLayout::Strided => Share { first: Ord::min(worker, count), end: count, stride: workers },
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.first >= self.end
    }
}

/// The indices that fall to this thread; an iterator's source.
#[derive(Clone, Copy, Debug)]
pub struct Indices<R: Axes> {
    /// The number of this worker and the number of all workers: a pair per dimension, or the first pair alone if
    /// `linear`.
    pub(crate) workers: [(R::Word, R::Word); MAX_RANK],
    pub(crate) linear: bool,
    pub(crate) dimensions: [Dimension<R::Word>; MAX_RANK],
    pub(crate) layout: ShareLayout,
}

impl<R: Axes> Indices<R> {
    /// The share of `thread`, as one of the workers of this kind, of a range. Where its indices are numbered and words
    /// do not number them, there is a fault, and none of them is gone over.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new(
        thread: &Thread<'_>,
        launch_rank: usize,
        kind: Kind,
        linear: bool,
        mut dimensions: [Dimension<R::Word>; MAX_RANK],
    ) -> Self {
        let (shape, d) = (thread.shape(), R::RANK);
        let (zero, one) = (R::Word::truncated(0), R::Word::truncated(1));
        let word = |number: u32| R::Word::truncated(number.into());
        let workers = match kind {
            Kind::ThreadsInGrid => Some((thread.in_grid::<R::Word>(), thread.threads_in_grid::<R::Word>())),
            Kind::ThreadsInBlock => Some((thread.in_block().map(word), shape.block_extent.map(word))),
            Kind::BlocksInGrid => Some((thread.block().map(word), shape.grid_extent.map(word))),
            Kind::AllThreads | Kind::ThreadsInWarp | Kind::WarpsInBlock | Kind::WarpsInGrid => None,
        };
        let linear_worker = || {
            let (number, size) = (thread.number_in_block(), shape.warp_size);
            let (threads, warp) = (thread.launch().threads_in_block(), number >> size.trailing_zeros());
            let warps = threads.div_ceil(size);
            let block = (0..launch_rank).fold(0, |number, d| number * shape.grid_extent[d] + thread.block()[d]);
            match kind {
                Kind::ThreadsInWarp => (word(number & (size - 1)), word((threads - warp * size).min(size))),
                Kind::WarpsInBlock => (word(warp), word(warps)),
                Kind::WarpsInGrid => {
                    (word(block) * word(warps) + word(warp), word(thread.launch().block_count()) * word(warps))
                }
                Kind::ThreadsInGrid | Kind::ThreadsInBlock | Kind::BlocksInGrid | Kind::AllThreads => (zero, one),
            }
        };
        let workers = match workers {
            Some((at, extent)) if linear || d == 1 => {
                let number = (0..launch_rank).fold(zero, |number, d| number * extent[d] + at[d]);
                [(number, extent[..launch_rank].iter().copied().fold(one, |count, extent| count * extent)); MAX_RANK]
            }
            Some((at, extent)) => std::array::from_fn(|d| (at[d], extent[d])),
            None => [linear_worker(); MAX_RANK],
        };
        let is_counted = || {
            let counts = dimensions[..d].iter().map(|dimension| Into::<u64>::into(dimension.count));
            let is_empty = counts.clone().any(|count| count == 0);
            let total = counts.map(u128::from).try_fold(1u128, u128::checked_mul);
            is_empty || total.is_some_and(|total| total <= u128::from(R::Word::truncated(u64::MAX).into()))
        };
        if linear && d > 1 && !is_counted() {
            thread.assert(false, too_many_indices::<R::Word>());
            dimensions = [Dimension::new(zero, zero, one); MAX_RANK];
        }
        // A range of one dimension needs no row-major numbers.
        Indices { workers, linear: linear && d > 1, dimensions, layout: ShareLayout::Contiguous }
    }

    /// The share of `thread` of all elements of a view with this extent.
    #[inline(always)]
    pub(crate) fn whole(thread: &Thread<'_>, launch_rank: usize, extent: [u64; MAX_RANK]) -> Self {
        let (zero, one) = (R::Word::truncated(0), R::Word::truncated(1));
        let dimensions = extent.map(|extent| Dimension::new(zero, R::Word::truncated(extent), one));
        Indices::new(thread, launch_rank, Kind::ThreadsInGrid, launch_rank != R::RANK, dimensions)
    }

    /// Each worker takes every `workers`th index.
    #[inline(always)]
    pub fn strided(self) -> Self {
        Indices { layout: ShareLayout::Strided, ..self }
    }

    /// Each worker takes one run of consecutive indices.
    #[inline(always)]
    pub fn contiguous(self) -> Self {
        Indices { layout: ShareLayout::Contiguous, ..self }
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
