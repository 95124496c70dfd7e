//! The thread's place in the launch, its barrier and its fences, while a kernel is built.

use std::marker::PhantomData;

use wattle_memory::{ForFence, Scope};

use super::dimension::below;
use super::items::{Items, Views};
use super::iterate::{IndexRange, Indices, Worker};
use super::{Atomic, Builder, Shared, ThisDevice, Val, Warp};
use crate::worker::{Kind, Spans};
use crate::{ArrayExtents, AtomicScalar, Axes, Builtin, Dim, Element, Expr, IndexWord, Rank, SharedLen, Site, Stmt};

/// What a kernel's first parameter stands for.
pub struct Acc<'b, const D: usize = 1> {
    builder: &'b Builder,
}

impl<const D: usize> Clone for Acc<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<const D: usize> Copy for Acc<'_, D> {}

/// The extents of an array; one that 32 bits do not hold is refused with their product.
fn grid(extents: &[usize]) -> SharedLen {
    let extents: Vec<_> = extents.iter().map(|&extent| u32::try_from(extent).unwrap_or(u32::MAX)).collect();
    SharedLen::Grid(ArrayExtents::new(&extents))
}

type Place<'b, const D: usize> = <Dim<D> as Axes>::Built<'b>;

impl<'b, const D: usize> Acc<'b, D>
where
    Dim<D>: Rank,
{
    /// The surface of the kernel that `builder` builds.
    pub fn new(builder: &'b Builder) -> Self {
        Acc { builder }
    }

    pub(super) fn builder(&self) -> &'b Builder {
        self.builder
    }

    pub(super) fn numbers<W: IndexWord>(&self) -> Numbers<'b, W> {
        Numbers { builder: self.builder, rank: D, word: PhantomData }
    }

    fn place(&self, builtin: Builtin) -> Place<'b, D> {
        Dim::<D>::gather_built(self.builder, &self.numbers().builtin(builtin))
    }

    /// The thread's index in the grid.
    #[track_caller]
    pub fn thread_in_grid(&self) -> Place<'b, D> {
        Dim::<D>::gather_built(self.builder, &self.numbers().thread_places())
    }
    /// The thread's index in its block.
    pub fn thread_in_block(&self) -> Place<'b, D> {
        self.place(Builtin::ThreadInBlock)
    }
    /// The block's index in the grid.
    pub fn block_in_grid(&self) -> Place<'b, D> {
        self.place(Builtin::BlockInGrid)
    }
    /// Threads in the grid.
    #[track_caller]
    pub fn threads_in_grid(&self) -> Place<'b, D> {
        Dim::<D>::gather_built(self.builder, &self.numbers().thread_counts())
    }
    /// Threads in a block.
    pub fn threads_in_block(&self) -> Place<'b, D> {
        self.place(Builtin::BlockExtent)
    }
    /// Blocks in the grid.
    pub fn blocks_in_grid(&self) -> Place<'b, D> {
        self.place(Builtin::GridExtent)
    }
    /// Frames of the launch.
    pub fn frames(&self) -> Place<'b, D> {
        self.place(Builtin::FrameCount)
    }
    /// The extent of a frame.
    pub fn frame_extent(&self) -> Place<'b, D> {
        self.place(Builtin::FrameExtent)
    }
    /// The thread's row-major number in the grid.
    #[track_caller]
    pub fn linear_thread_in_grid(&self) -> Val<'b, u32> {
        self.numbers().linear_thread_in_grid()
    }
    /// The thread's row-major number in its block.
    pub fn linear_thread_in_block(&self) -> Val<'b, u32> {
        self.numbers().linear_thread_in_block()
    }
    /// The block's row-major number in the grid.
    pub fn linear_block_in_grid(&self) -> Val<'b, u32> {
        self.numbers().linear_block_in_grid()
    }
    /// How many threads the grid has.
    #[track_caller]
    pub fn linear_threads_in_grid(&self) -> Val<'b, u32> {
        self.numbers().linear_threads_in_grid()
    }
    /// How many threads a block has.
    pub fn linear_threads_in_block(&self) -> Val<'b, u32> {
        self.numbers().linear_threads_in_block()
    }
    /// How many blocks the grid has.
    pub fn linear_blocks_in_grid(&self) -> Val<'b, u32> {
        self.numbers().linear_blocks_in_grid()
    }

    /// Builds the block's barrier.
    #[track_caller]
    pub fn sync_block(&self) {
        self.builder.push(Stmt::Barrier { site: Site::caller() });
    }

    /// The warp that the thread is in.
    pub fn warp(&self) -> Warp<'b> {
        Warp::new(self.builder, self.linear_threads_in_block())
    }

    /// The device that the kernel runs on.
    pub fn device(&self) -> ThisDevice<'b> {
        ThisDevice::new(self.builder)
    }

    /// The number of the warp in its block.
    pub fn warp_in_block(&self) -> Val<'b, u32> {
        self.numbers().warp_in_block()
    }

    /// How many warps a block has.
    pub fn warps_in_block(&self) -> Val<'b, u32> {
        self.numbers().warps_in_block()
    }

    /// Builds a read of the clock.
    #[track_caller]
    pub fn clock(&self) -> Val<'b, u64> {
        let dst = self.builder.temporary::<u64>();
        self.builder.push(Stmt::Clock { dst, site: Site::caller() });
        self.builder.read_slot(dst)
    }

    /// Builds a fence of this scope and order.
    #[track_caller]
    pub fn mem_fence<O: ForFence>(&self, scope: Scope, _: O) {
        self.builder.fence(scope, O::ORDER);
    }

    #[track_caller]
    fn declare<T: Element>(&self, len: SharedLen, atomic: bool) -> crate::Place {
        self.builder.declare_shared(T::LAYOUT, len, atomic, Site::caller())
    }

    /// An array in the block's shared memory.
    #[track_caller]
    pub fn shared<T: Element, const N: usize>(&self) -> Shared<'b, T> {
        Shared::<T, 1>::new(self.builder, self.declare::<T>(SharedLen::Static(N as u32), false))
    }
    /// An array of two dimensions in the block's shared memory.
    #[track_caller]
    pub fn shared_nd<T: Element, const N0: usize, const N1: usize>(&self) -> Shared<'b, T, 2> {
        Shared::<T, 2>::new(self.builder, self.declare::<T>(grid(&[N0, N1]), false))
    }
    /// An array of three dimensions in the block's shared memory.
    #[track_caller]
    pub fn shared_3d<T: Element, const N0: usize, const N1: usize, const N2: usize>(&self) -> Shared<'b, T, 3> {
        Shared::<T, 3>::new(self.builder, self.declare::<T>(grid(&[N0, N1, N2]), false))
    }
    /// An array of four dimensions in the block's shared memory.
    #[track_caller]
    pub fn shared_4d<T: Element, const N0: usize, const N1: usize, const N2: usize, const N3: usize>(
        &self,
    ) -> Shared<'b, T, 4> {
        Shared::<T, 4>::new(self.builder, self.declare::<T>(grid(&[N0, N1, N2, N3]), false))
    }
    /// An array of atomics in the block's shared memory.
    #[track_caller]
    pub fn shared_atomic<T: AtomicScalar, const N: usize>(&self) -> Atomic<'b, T> {
        Atomic::<T, 1>::new(self.builder, self.declare::<T>(SharedLen::Static(N as u32), true))
    }
    /// An array in the block's shared memory, whose length the launch gives.
    #[track_caller]
    pub fn shared_at_launch<T: Element>(&self) -> Shared<'b, T> {
        Shared::<T, 1>::new(self.builder, self.declare::<T>(SharedLen::AtLaunch, false))
    }
    /// An array of atomics in the block's shared memory, whose length the launch gives.
    #[track_caller]
    pub fn shared_atomic_at_launch<T: AtomicScalar>(&self) -> Atomic<'b, T> {
        Atomic::<T, 1>::new(self.builder, self.declare::<T>(SharedLen::AtLaunch, true))
    }

    /// The indices of `range` that fall to this thread as one of `workers`.
    #[track_caller]
    pub fn indices<W, R>(&self, _: W, range: R) -> Indices<'b, R::Rank>
    where
        R: IndexRange<'b>,
        W: Spans<Dim<D>, R::Rank>,
    {
        Indices::new(self.numbers().workers(W::KIND, W::LINEAR), range.dimensions(self.builder))
    }

    /// The elements of a view that belong to this thread, or of several views of one extent.
    #[track_caller]
    pub fn items<V: Views<'b>>(&self, views: V) -> Items<'b, V, V::Rank> {
        Items::new(self.whole(D != <V::Rank as Axes>::RANK, views.extent::<V::Rank>()), &views)
    }

    /// The indices of a view with this extent that fall to this thread.
    fn whole<R: Rank>(&self, linear: bool, extent: R::Built<'b>) -> Indices<'b, R> {
        let dimensions = below::<R>(self.builder, extent);
        Indices::new(self.numbers().workers(Kind::ThreadsInGrid, linear), dimensions)
    }
}

/// The numbers of a thread's place, and of the launch's shape, of one width.
pub(super) struct Numbers<'b, W> {
    builder: &'b Builder,
    rank: usize,
    word: PhantomData<W>,
}

impl<'b, W: IndexWord> Numbers<'b, W> {
    pub(super) fn builtin(&self, builtin: Builtin) -> Vec<Val<'b, W>> {
        (0..self.rank).map(|d| self.builder.val::<u32>(Expr::Builtin(builtin, d as u8)).cast()).collect()
    }

    fn zip(&self, x: Builtin, y: Builtin, f: impl Fn(Val<'b, W>, Val<'b, W>) -> Val<'b, W>) -> Vec<Val<'b, W>> {
        self.builtin(x).into_iter().zip(self.builtin(y)).map(|(x, y)| f(x, y)).collect()
    }

    /// Threads in the grid, per dimension.
    #[track_caller]
    pub(super) fn thread_counts(&self) -> Vec<Val<'b, W>> {
        self.builder.counts_threads::<W>();
        self.zip(Builtin::GridExtent, Builtin::BlockExtent, |x, y| self.builder.mul(x, y))
    }

    /// The thread's index in the grid.
    #[track_caller]
    pub(super) fn thread_places(&self) -> Vec<Val<'b, W>> {
        self.builder.counts_threads::<W>();
        let starts = self.zip(Builtin::BlockInGrid, Builtin::BlockExtent, |x, y| self.builder.mul(x, y));
        starts.into_iter().zip(self.builtin(Builtin::ThreadInBlock)).map(|(x, y)| self.builder.add(x, y)).collect()
    }

    /// The row-major number of `place` in `extent`.
    fn linear(&self, place: Vec<Val<'b, W>>, extent: Vec<Val<'b, W>>) -> Val<'b, W> {
        let mut pairs = place.into_iter().zip(extent);
        let first = pairs.next().map_or_else(|| self.builder.lit(W::ZERO), |(place, _)| place);
        pairs.fold(first, |linear, (place, extent)| {
            let start = self.builder.mul(linear, extent);
            self.builder.add(start, place)
        })
    }

    fn product(&self, extent: Vec<Val<'b, W>>) -> Val<'b, W> {
        extent.into_iter().reduce(|x, y| self.builder.mul(x, y)).unwrap_or_else(|| self.builder.lit(W::ONE))
    }

    #[track_caller]
    pub(super) fn linear_thread_in_grid(&self) -> Val<'b, W> {
        self.linear(self.thread_places(), self.thread_counts())
    }
    pub(super) fn linear_thread_in_block(&self) -> Val<'b, W> {
        self.linear(self.builtin(Builtin::ThreadInBlock), self.builtin(Builtin::BlockExtent))
    }
    pub(super) fn linear_block_in_grid(&self) -> Val<'b, W> {
        self.linear(self.builtin(Builtin::BlockInGrid), self.builtin(Builtin::GridExtent))
    }
    #[track_caller]
    pub(super) fn linear_threads_in_grid(&self) -> Val<'b, W> {
        self.product(self.thread_counts())
    }
    pub(super) fn linear_threads_in_block(&self) -> Val<'b, W> {
        self.product(self.builtin(Builtin::BlockExtent))
    }
    pub(super) fn linear_blocks_in_grid(&self) -> Val<'b, W> {
        self.product(self.builtin(Builtin::GridExtent))
    }

    pub(super) fn warp_in_block(&self) -> Val<'b, W> {
        self.builder.val::<u32>(Expr::Builtin(Builtin::WarpInBlock, 0)).cast()
    }

    pub(super) fn warps_in_block(&self) -> Val<'b, W> {
        let words = Numbers::<u32> { builder: self.builder, rank: self.rank, word: PhantomData };
        let (builder, size) = (self.builder, words.warp().size());
        let less = builder.sub(size, builder.lit(1));
        builder.shr(builder.add(words.linear_threads_in_block(), less), size.trailing_zeros()).cast()
    }

    fn warp(&self) -> Warp<'b> {
        let words = Numbers::<u32> { builder: self.builder, rank: self.rank, word: PhantomData };
        Warp::new(self.builder, words.linear_threads_in_block())
    }

    /// How many workers of this kind there are, and which one this is: per dimension, or linear.
    #[track_caller]
    pub(super) fn workers(&self, kind: Kind, linear: bool) -> Vec<Worker<'b, W>> {
        let zip = |place: Vec<_>, count: Vec<_>| place.into_iter().zip(count).collect();
        let one = || (self.builder.lit(W::ZERO), self.builder.lit(W::ONE));
        if linear {
            return vec![match kind {
                Kind::ThreadsInGrid => (self.linear_thread_in_grid(), self.linear_threads_in_grid()),
                Kind::ThreadsInBlock => (self.linear_thread_in_block(), self.linear_threads_in_block()),
                Kind::BlocksInGrid => (self.linear_block_in_grid(), self.linear_blocks_in_grid()),
                Kind::AllThreads => one(),
                Kind::ThreadsInWarp => (self.warp().lane().cast(), self.warp().lane_count().cast()),
                Kind::WarpsInBlock => (self.warp_in_block(), self.warps_in_block()),
                Kind::WarpsInGrid => {
                    self.builder.counts_threads::<W>();
                    let (builder, warps) = (self.builder, self.warps_in_block());
                    let before = builder.mul(self.linear_block_in_grid(), warps);
                    (builder.add(before, self.warp_in_block()), builder.mul(self.linear_blocks_in_grid(), warps))
                }
            }];
        }
        match kind {
            Kind::ThreadsInGrid => zip(self.thread_places(), self.thread_counts()),
            Kind::ThreadsInBlock => zip(self.builtin(Builtin::ThreadInBlock), self.builtin(Builtin::BlockExtent)),
            Kind::BlocksInGrid => zip(self.builtin(Builtin::BlockInGrid), self.builtin(Builtin::GridExtent)),
            // These are linear.
            Kind::AllThreads | Kind::ThreadsInWarp | Kind::WarpsInBlock | Kind::WarpsInGrid => {
                vec![one(); self.rank]
            }
        }
    }
}
