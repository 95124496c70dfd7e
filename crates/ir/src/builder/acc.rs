//! The thread's place in the launch, its barrier and its fences, while a kernel is built.

use wattle_memory::{ForFence, Scope};

use super::iterate::{Dimension, IndexRange, Indices, Items};
use super::together::{ItemsTogether, Views};
use super::{Atomic, Builder, Extents, PerItem, Shared, ThisDevice, Val, Warp};
use crate::worker::{Kind, Spans};
use crate::{ArrayExtents, AtomicScalar, Builtin, Dim, Element, Expr, Rank, SharedLen, Site, Stmt};

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

type Place<'b, const D: usize> = <Dim<D> as Rank>::Built<'b>;

impl<'b, const D: usize> Acc<'b, D>
where
    Dim<D>: Rank,
{
    /// The surface of the kernel that `builder` builds.
    pub fn new(builder: &'b Builder) -> Self {
        Acc { builder }
    }

    fn builtin(&self, builtin: Builtin) -> Vec<Val<'b, u32>> {
        (0..D).map(|d| self.builder.val(Expr::Builtin(builtin, d as u8))).collect()
    }

    fn place(&self, builtin: Builtin) -> Place<'b, D> {
        Dim::<D>::gather_built(self.builder, &self.builtin(builtin))
    }

    fn zip(&self, x: Builtin, y: Builtin, f: impl Fn(Val<'b, u32>, Val<'b, u32>) -> Val<'b, u32>) -> Vec<Val<'b, u32>> {
        self.builtin(x).into_iter().zip(self.builtin(y)).map(|(x, y)| f(x, y)).collect()
    }

    fn thread_counts(&self) -> Vec<Val<'b, u32>> {
        self.zip(Builtin::GridExtent, Builtin::BlockExtent, |x, y| self.builder.mul(x, y))
    }

    fn thread_places(&self) -> Vec<Val<'b, u32>> {
        let starts = self.zip(Builtin::BlockInGrid, Builtin::BlockExtent, |x, y| self.builder.mul(x, y));
        starts.into_iter().zip(self.builtin(Builtin::ThreadInBlock)).map(|(x, y)| self.builder.add(x, y)).collect()
    }

    /// The row-major number of `place` in `extent`.
    fn linear(&self, place: Vec<Val<'b, u32>>, extent: Vec<Val<'b, u32>>) -> Val<'b, u32> {
        let mut pairs = place.into_iter().zip(extent);
        let first = pairs.next().map_or_else(|| self.builder.lit(0), |(place, _)| place);
        pairs.fold(first, |linear, (place, extent)| {
            let start = self.builder.mul(linear, extent);
            self.builder.add(start, place)
        })
    }

    fn product(&self, extent: Vec<Val<'b, u32>>) -> Val<'b, u32> {
        extent.into_iter().reduce(|x, y| self.builder.mul(x, y)).unwrap_or_else(|| self.builder.lit(1))
    }

    /// The thread's index in the grid.
    pub fn thread_in_grid(&self) -> Place<'b, D> {
        Dim::<D>::gather_built(self.builder, &self.thread_places())
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
    pub fn threads_in_grid(&self) -> Place<'b, D> {
        Dim::<D>::gather_built(self.builder, &self.thread_counts())
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
    pub fn linear_thread_in_grid(&self) -> Val<'b, u32> {
        self.linear(self.thread_places(), self.thread_counts())
    }
    /// The thread's row-major number in its block.
    pub fn linear_thread_in_block(&self) -> Val<'b, u32> {
        self.linear(self.builtin(Builtin::ThreadInBlock), self.builtin(Builtin::BlockExtent))
    }
    /// The block's row-major number in the grid.
    pub fn linear_block_in_grid(&self) -> Val<'b, u32> {
        self.linear(self.builtin(Builtin::BlockInGrid), self.builtin(Builtin::GridExtent))
    }
    /// How many threads the grid has.
    pub fn linear_threads_in_grid(&self) -> Val<'b, u32> {
        self.product(self.thread_counts())
    }
    /// How many threads a block has.
    pub fn linear_threads_in_block(&self) -> Val<'b, u32> {
        self.product(self.builtin(Builtin::BlockExtent))
    }
    /// How many blocks the grid has.
    pub fn linear_blocks_in_grid(&self) -> Val<'b, u32> {
        self.product(self.builtin(Builtin::GridExtent))
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
        self.builder.val(Expr::Builtin(Builtin::WarpInBlock, 0))
    }

    /// How many warps a block has.
    pub fn warps_in_block(&self) -> Val<'b, u32> {
        let (builder, size) = (self.builder, self.warp().size());
        let less = builder.sub(size, builder.lit(1));
        builder.shr(builder.add(self.linear_threads_in_block(), less), size.trailing_zeros())
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
        let site = Site::caller();
        let all = T::LAYOUT.numbers().iter().map(|leaf| self.builder.declare_shared(leaf.ty, len, atomic, site));
        // An element has a number.
        all.reduce(|first, _| first).unwrap_or(crate::Place::Shared(crate::SharedId(0)))
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

    /// How many workers of this kind there are, and which one this is: per dimension, or linear.
    fn workers(&self, kind: Kind, linear: bool) -> Vec<(Val<'b, u32>, Val<'b, u32>)> {
        let zip = |place: Vec<_>, count: Vec<_>| place.into_iter().zip(count).collect();
        if linear {
            return vec![match kind {
                Kind::ThreadsInGrid => (self.linear_thread_in_grid(), self.linear_threads_in_grid()),
                Kind::ThreadsInBlock => (self.linear_thread_in_block(), self.linear_threads_in_block()),
                Kind::BlocksInGrid => (self.linear_block_in_grid(), self.linear_blocks_in_grid()),
                Kind::AllThreads => (self.builder.lit(0), self.builder.lit(1)),
                Kind::ThreadsInWarp => (self.warp().lane(), self.warp().lane_count()),
                Kind::WarpsInBlock => (self.warp_in_block(), self.warps_in_block()),
                Kind::WarpsInGrid => {
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
                vec![(self.builder.lit(0), self.builder.lit(1)); D]
            }
        }
    }

    /// The indices of `range` that fall to this thread as one of `workers`.
    #[track_caller]
    pub fn indices<W, R>(&self, _: W, range: R) -> Indices<'b, R::Rank>
    where
        R: IndexRange<'b>,
        W: Spans<Dim<D>, R::Rank>,
    {
        Indices::new(self.workers(W::KIND, W::LINEAR), range.dimensions(self.builder))
    }

    /// The elements of `view` that belong to this thread.
    pub fn items<T: Element, const E: usize>(&self, view: &mut PerItem<'b, T, E>) -> Items<'b, T, E>
    where
        Dim<E>: Rank,
    {
        Items::new(self.whole::<E>(Extents::extent(view)), view.place)
    }

    /// The elements of several views of one extent that belong to this thread.
    pub fn items_together<V: Views<'b, E>, const E: usize>(&self, views: V) -> ItemsTogether<'b, V, E>
    where
        Dim<E>: Rank,
    {
        ItemsTogether::new(self.whole::<E>(views.extent()), &views)
    }

    /// The indices of a view with this extent that fall to this thread.
    fn whole<const E: usize>(&self, extent: Place<'b, E>) -> Indices<'b, Dim<E>>
    where
        Dim<E>: Rank,
    {
        let (zero, one) = (self.builder.lit(0), self.builder.lit(1));
        let whole = |end| Dimension { begin: zero, end, step: one };
        let dimensions = Dim::<E>::spread_built(extent).into_iter().map(whole).collect();
        Indices::new(self.workers(Kind::ThreadsInGrid, D != E), dimensions)
    }
}
