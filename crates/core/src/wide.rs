//! What the host's functions of `#[kernel(wide)]` call where indices are `u64`: the kernel macro names these instead of
//! those of the same names.

use std::iter;

use wattle_ir::builder::LaneCount;
use wattle_ir::worker::Spans;
use wattle_ir::{Axes, Dim, Element, MAX_RANK, Number, Rank, Wide};

use crate::acc::{Acc, linear};
pub use crate::atomic::WideAtomic as Atomic;
use crate::indices::{IndexRange, Indices, Range};
use crate::items::{Items, Views};
use crate::rows::{MOST_IN_ROW, Row};
use crate::support::{self as narrow, How, Rows, WideStep};
use crate::thread::Thread;

/// The axes of `D` dimensions with indices of `u64`.
type In<const D: usize> = <Dim<D> as Axes>::Wide;
type Index<const D: usize> = <In<D> as Axes>::Index;

fn long(numbers: [u32; MAX_RANK]) -> [u64; MAX_RANK] {
    numbers.map(u64::from)
}

/// What of [`Acc`] depends on the type of indices.
pub struct AccPlaces<const D: usize = 1>;

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident: $thread:ident => $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(acc: &Acc<'_, D>) -> Index<D> {
            let $thread = acc.__thread();
            In::<D>::gather($value)
        }
    )+};
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident: $thread:ident => $value:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(acc: &Acc<'_, D>) -> u64 {
            let $thread = acc.__thread();
            $value
        }
    )+};
}

impl<const D: usize> AccPlaces<D>
where
    Dim<D>: Rank,
{
    places! {
        /// The thread's index in the grid.
        thread_in_grid: thread => thread.in_grid();
        /// The thread's index in its block.
        thread_in_block: thread => long(thread.in_block());
        /// The block's index in the grid.
        block_in_grid: thread => long(thread.block());
        /// Threads in the grid, per dimension.
        threads_in_grid: thread => thread.threads_in_grid();
        /// Threads in a block, per dimension.
        threads_in_block: thread => long(thread.shape().block_extent);
        /// Blocks in the grid, per dimension.
        blocks_in_grid: thread => long(thread.shape().grid_extent);
        /// Frames of the launch, per dimension.
        frames: thread => long(thread.shape().frame_count);
        /// The extent of a frame.
        frame_extent: thread => long(thread.shape().frame_extent);
    }

    counts! {
        /// The thread's row-major number in the grid.
        linear_thread_in_grid: thread => linear::<u64, D>(thread.in_grid(), thread.threads_in_grid());
        /// The thread's row-major number in its block.
        linear_thread_in_block: thread => linear::<u64, D>(long(thread.in_block()), long(thread.shape().block_extent));
        /// The block's row-major number in the grid.
        linear_block_in_grid: thread => linear::<u64, D>(long(thread.block()), long(thread.shape().grid_extent));
        /// How many threads the grid has.
        linear_threads_in_grid: thread => thread.threads_in_grid::<u64>().iter().product();
        /// How many threads a block has.
        linear_threads_in_block: thread => thread.launch().threads_in_block().into();
        /// How many blocks the grid has.
        linear_blocks_in_grid: thread => thread.launch().block_count().into();
    }

    /// The number of the thread's warp in its block.
    #[inline(always)]
    pub fn warp_in_block(acc: &Acc<'_, D>) -> u64 {
        acc.warp_in_block().into()
    }

    /// How many warps a block has.
    #[inline(always)]
    pub fn warps_in_block(acc: &Acc<'_, D>) -> u64 {
        acc.warps_in_block().into()
    }

    /// The indices of `range` that fall to this thread as one of `workers`.
    #[inline(always)]
    #[track_caller]
    pub fn indices<W, R>(acc: &Acc<'_, D>, _workers: W, range: R) -> Indices<R::Rank>
    where
        R: IndexRange<u64>,
        W: Spans<Dim<D>, <R::Rank as Axes>::Narrow>,
    {
        Indices::new(acc.__thread(), D, W::KIND, W::LINEAR, range.dimensions())
    }

    /// The elements of one or several views that belong to this thread, each with its index.
    #[inline(always)]
    pub fn items<V: Views>(acc: &Acc<'_, D>, views: V) -> Items<V::Places, <V::Rank as Axes>::Wide> {
        Items::new(acc.__thread(), D, views)
    }
}

/// What of a `Shared` view depends on the type of indices.
pub struct Shared;

impl Shared {
    /// Writes `values` to the elements from `index` on.
    #[inline(always)]
    #[track_caller]
    pub fn store_lanes<T: Number, const N: usize>(view: &crate::view::Shared<T, 1>, index: u64, values: [T; N]) {
        view.store_lanes_at(index, values);
    }
}

/// The functions of [`support`](crate::support) in which indices are `u64`.
pub mod support {
    use super::*;

    pub use crate::support::places::wide::{axis, delinearize, linearize, with_axis};

    /// What has elements in a kernel: views and arrays.
    pub trait Extents {
        /// A `u64`, or an array of them in several dimensions.
        type Extent;
        /// The extent, in elements.
        fn extent(&self) -> Self::Extent;
        /// The number of elements.
        fn count(&self) -> u64;
    }

    /// What a kernel reads by index: `Read`, `Shared` and arrays.
    pub trait Get: narrow::Get {
        /// `u64`, or an array of them in several dimensions.
        type WideIndex;
        /// `self[index]`; 0 and a fault where that is out of bounds.
        #[track_caller]
        fn get_wide(&self, index: Self::WideIndex, thread: &Thread<'_>) -> Self::Value;
    }

    /// What a kernel writes by index: a `Shared` view, and an array that is `mut`.
    pub trait Set: narrow::Set {
        /// `u64`, or an array of them in several dimensions.
        type WideIndex;
        /// `self[index] = value`; a fault and nothing written where that is out of bounds.
        #[track_caller]
        fn set_wide(self, index: Self::WideIndex, value: Self::Value, thread: &Thread<'_>);
    }

    /// A view whose elements are read in their places.
    pub trait InPlace: narrow::InPlace + Get {
        /// The element at `index`; none and a fault where that is out of bounds.
        #[track_caller]
        fn element_wide(&self, index: Self::WideIndex) -> narrow::Spot<Self::Element, Self::How>;
    }

    /// Views of which several consecutive elements are read at once.
    pub trait Lanes<const N: usize>: narrow::Lanes<N> {
        /// The `N` elements from `index` on; zeros and a fault where they are not all in bounds.
        #[track_caller]
        fn lanes_wide(&self, index: u64) -> Self::Lanes;
    }

    macro_rules! extents {
        ($($view:ident)+) => {$(
            impl<T: Element, const D: usize> Extents for crate::view::$view<T, D>
            where
                Dim<D>: Rank,
            {
                type Extent = Index<D>;
                #[inline(always)]
                fn extent(&self) -> Index<D> {
                    self.0.extent_in::<In<D>>()
                }
                #[inline(always)]
                fn count(&self) -> u64 {
                    self.0.count_in::<In<D>>()
                }
            }
        )+};
    }
    extents!(Read PerItem Shared Atomic);

    macro_rules! elements {
        ($($view:ident)+) => {$(
            impl<T: Element, const D: usize> Get for crate::view::$view<T, D>
            where
                Dim<D>: Rank,
            {
                type WideIndex = Index<D>;
                #[inline(always)]
                fn get_wide(&self, index: Index<D>, _: &Thread<'_>) -> T {
                    narrow::read(self.element_wide(index))
                }
            }

            impl<T: Element, const D: usize> InPlace for crate::view::$view<T, D>
            where
                Dim<D>: Rank,
            {
                #[inline(always)]
                fn element_wide(&self, index: Index<D>) -> narrow::Spot<T, Self::How> {
                    narrow::Spot::new(self.0.at::<In<D>>(index), self.0.is_of_block())
                }
            }

            impl<T: Number, const N: usize> Lanes<N> for crate::view::$view<T, 1> {
                #[inline(always)]
                fn lanes_wide(&self, index: u64) -> [T; N] {
                    self.lanes_at(index)
                }
            }
        )+};
    }
    elements!(Read Shared);

    impl<T: Element, const D: usize> Set for &crate::view::Shared<T, D>
    where
        Dim<D>: Rank,
    {
        type WideIndex = Index<D>;
        #[inline(always)]
        fn set_wide(self, index: Index<D>, value: T, _: &Thread<'_>) {
            narrow::assign(self.element_wide(index), value);
        }
    }

    impl<T: Element, const D: usize> Set for &mut crate::view::Shared<T, D>
    where
        Dim<D>: Rank,
    {
        type WideIndex = Index<D>;
        #[inline(always)]
        fn set_wide(self, index: Index<D>, value: T, thread: &Thread<'_>) {
            (&*self).set_wide(index, value, thread);
        }
    }

    /// A number of an index into an array of the thread's own, which is shorter: any beyond 32 bits is the greatest of
    /// those.
    #[inline(always)]
    fn word(index: u64) -> u32 {
        index.min(u32::MAX.into()) as u32
    }

    impl<P: Element, const N: usize> Extents for [P; N] {
        type Extent = u64;
        #[inline(always)]
        fn extent(&self) -> u64 {
            N as u64
        }
        #[inline(always)]
        fn count(&self) -> u64 {
            N as u64
        }
    }

    impl<P: Element, const N: usize> Get for [P; N] {
        type WideIndex = u64;
        #[inline(always)]
        fn get_wide(&self, index: u64, thread: &Thread<'_>) -> P {
            narrow::get(self, word(index), thread)
        }
    }

    impl<P: Element, H: How, const N: usize> Get for narrow::Spot<[P; N], H> {
        type WideIndex = u64;
        #[inline(always)]
        fn get_wide(&self, index: u64, thread: &Thread<'_>) -> P {
            narrow::get(self, word(index), thread)
        }
    }

    impl<P: Element, const N: usize> Set for &mut [P; N] {
        type WideIndex = u64;
        #[inline(always)]
        fn set_wide(self, index: u64, value: P, thread: &Thread<'_>) {
            narrow::set(self, word(index), value, thread);
        }
    }

    impl<R: Set> Set for Option<R> {
        type WideIndex = R::WideIndex;
        #[inline(always)]
        fn set_wide(self, index: R::WideIndex, value: R::Value, thread: &Thread<'_>) {
            if let Some(row) = self {
                row.set_wide(index, value, thread);
            }
        }
    }

    impl<T: Element, const LAST: bool> Get for narrow::Line<'_, T, narrow::Relaxed, LAST> {
        type WideIndex = usize;
        #[inline(always)]
        fn get_wide(&self, number: usize, thread: &Thread<'_>) -> T {
            narrow::get(self, number, thread)
        }
    }

    impl<T: Element, const LAST: bool> Set for &narrow::Line<'_, T, narrow::Relaxed, LAST> {
        type WideIndex = usize;
        #[inline(always)]
        fn set_wide(self, number: usize, value: T, thread: &Thread<'_>) {
            narrow::set(self, number, value, thread);
        }
    }

    /// The extent of a view.
    #[inline(always)]
    pub fn extent<V: Extents>(view: &V) -> V::Extent {
        view.extent()
    }

    /// The number of elements.
    #[inline(always)]
    pub fn len<V: Extents>(view: &V) -> u64 {
        view.count()
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty<V: Extents>(view: &V) -> bool {
        view.count() == 0
    }

    /// Reads `of[index]`.
    #[inline(always)]
    #[track_caller]
    pub fn get<V: Get>(of: &V, index: V::WideIndex, thread: &Thread<'_>) -> V::Value {
        of.get_wide(index, thread)
    }

    /// Writes `to[index] = value`.
    #[inline(always)]
    #[track_caller]
    pub fn set<V: Set>(to: V, index: V::WideIndex, value: V::Value, thread: &Thread<'_>) {
        to.set_wide(index, value, thread);
    }

    /// The element of a view at `index`, in its place.
    #[inline(always)]
    #[track_caller]
    pub fn element<V: InPlace>(of: &V, index: V::WideIndex, _: &Thread<'_>) -> narrow::Spot<V::Element, V::How> {
        of.element_wide(index)
    }

    /// The row `of[index]`, to be written to.
    #[inline(always)]
    #[track_caller]
    pub fn row<R: Rows>(of: R, index: u64, thread: &Thread<'_>) -> Option<R::Row> {
        narrow::row(of, word(index), thread)
    }

    /// What of an element in its place depends on the type of indices.
    pub struct Spot;

    impl Spot {
        /// The element of the array at `index`; none and a fault where that is out of bounds.
        #[inline(always)]
        #[track_caller]
        pub fn part<P: Element, H: How, const N: usize>(
            of: narrow::Spot<[P; N], H>,
            index: u64,
            thread: &Thread<'_>,
        ) -> narrow::Spot<P, H> {
            of.part(word(index), thread)
        }
    }

    /// The `N` elements of a view from `index` on.
    #[inline(always)]
    #[track_caller]
    pub fn lanes<const N: usize, V: Lanes<N, Lanes = A>, A>(of: &V, index: u64, _: LaneCount<N>) -> A {
        of.lanes_wide(index)
    }

    /// `range.step_by(step)`; a step of 0 is a fault, and taken for 1.
    #[inline(always)]
    #[track_caller]
    pub fn step_by<I: WideStep>(range: Range<I>, step: I, thread: &Thread<'_>) -> Range<I> {
        thread.assert(!step.has_zero(), wattle_ir::builder::STEP_OF_ZERO);
        range.step_by(step)
    }

    /// The range `begin..end` as rows of at most 2³¹ numbers.
    #[inline(always)]
    pub fn range_rows(begin: u64, end: u64) -> impl Iterator<Item = Row<Wide<1>, ()>> {
        let next = move |row: &u64| (end - row > MOST_IN_ROW).then(|| row + MOST_IN_ROW);
        iter::successors(Some(begin).filter(|begin| *begin < end), next)
            .map(move |begin| Row::of_wide_range(begin, end))
    }
}
