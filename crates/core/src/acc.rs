//! A thread's place in its launch, its barrier and its fences, on the host.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use wattle_ir::worker::Spans;
use wattle_ir::{AtomicScalar, Dim, Element, Idx, IndexWord, MAX_RANK, Rank, Site};
use wattle_memory::{ForFence, Scope};

use crate::extent::gather;
use crate::fence::host_fence;
use crate::host::ticks;
use crate::indices::{IndexRange, Indices};
use crate::items::{Items, Views};
use crate::this_device::ThisDevice;
use crate::thread::{Thread, Turns};
use crate::view::{Atomic, Shared, Strided};
use crate::warp::Warp;

/// The row-major number of an index.
#[inline(always)]
pub(crate) fn linear<W: IndexWord, const D: usize>(index: [W; MAX_RANK], extent: [W; MAX_RANK]) -> W {
    (0..D).fold(W::ZERO, |number, d| number * extent[d] + index[d])
}

/// A kernel's first parameter: what a thread of a launch with `D` dimensions knows and can do.
///
/// Extents are in blocks, threads, frames; dimension 0 varies slowest. In one dimension an index is a `u32`, in more a
/// `[u32; D]`; in `#[kernel(wide)]` all that is a `u32` here, but for what belongs to warps, is a `u64`, so that there
/// may be 2³² elements and threads or more.
#[doc(alias("size_t", "64-bit indexing"))]
pub struct Acc<'l, const D: usize = 1> {
    thread: &'l Thread<'l>,
    /// What the thread shares its worker by, read once, so that loops with barriers know whether it does.
    turns: Option<NonNull<Turns>>,
    rank: PhantomData<Dim<D>>,
}

impl<'l, const D: usize> Acc<'l, D>
where
    Dim<D>: Rank,
{
    #[inline(always)]
    pub(crate) fn new(thread: &'l Thread<'l>) -> Self {
        Acc { thread, turns: thread.turns(), rank: PhantomData }
    }

    /// The thread, which the kernel macro passes to the functions that it calls.
    #[doc(hidden)]
    #[inline(always)]
    pub fn __thread(&self) -> &'l Thread<'l> {
        self.thread
    }

    /// The thread's index in the grid.
    #[doc(alias("get_global_id", "thread_rank"))]
    #[inline(always)]
    pub fn thread_in_grid(&self) -> Idx<D> {
        gather::<D>(self.thread.in_grid())
    }

    /// The thread's index in its block.
    #[doc(alias = "threadIdx")]
    #[inline(always)]
    pub fn thread_in_block(&self) -> Idx<D> {
        gather::<D>(self.thread.in_block())
    }

    /// The block's index in the grid.
    #[doc(alias = "blockIdx")]
    #[inline(always)]
    pub fn block_in_grid(&self) -> Idx<D> {
        gather::<D>(self.thread.block())
    }

    /// Threads in the grid, per dimension.
    #[inline(always)]
    pub fn threads_in_grid(&self) -> Idx<D> {
        gather::<D>(self.thread.threads_in_grid())
    }

    /// Threads in a block, per dimension.
    #[doc(alias = "blockDim")]
    #[inline(always)]
    pub fn threads_in_block(&self) -> Idx<D> {
        gather::<D>(self.thread.shape().block_extent)
    }

    /// Blocks in the grid, per dimension.
    #[doc(alias = "gridDim")]
    #[inline(always)]
    pub fn blocks_in_grid(&self) -> Idx<D> {
        gather::<D>(self.thread.shape().grid_extent)
    }

    /// Frames of the launch, per dimension; of a `ThreadSpec` its blocks.
    #[inline(always)]
    pub fn frames(&self) -> Idx<D> {
        gather::<D>(self.thread.shape().frame_count)
    }

    /// The extent of a frame; of a `ThreadSpec` its threads per block.
    #[inline(always)]
    pub fn frame_extent(&self) -> Idx<D> {
        gather::<D>(self.thread.shape().frame_extent)
    }

    /// The thread's row-major number in the grid.
    #[inline(always)]
    pub fn linear_thread_in_grid(&self) -> u32 {
        linear::<u32, D>(self.thread.in_grid(), self.thread.threads_in_grid())
    }

    /// The thread's row-major number in its block.
    #[inline(always)]
    pub fn linear_thread_in_block(&self) -> u32 {
        linear::<u32, D>(self.thread.in_block(), self.thread.shape().block_extent)
    }

    /// The block's row-major number in the grid.
    #[inline(always)]
    pub fn linear_block_in_grid(&self) -> u32 {
        linear::<u32, D>(self.thread.block(), self.thread.shape().grid_extent)
    }

    /// How many threads the grid has.
    #[inline(always)]
    pub fn linear_threads_in_grid(&self) -> u32 {
        self.thread.threads_in_grid::<u32>().iter().product()
    }

    /// How many threads a block has.
    #[inline(always)]
    pub fn linear_threads_in_block(&self) -> u32 {
        self.thread.launch().threads_in_block()
    }

    /// How many blocks the grid has.
    #[inline(always)]
    pub fn linear_blocks_in_grid(&self) -> u32 {
        self.thread.launch().block_count()
    }

    /// The block's barrier: waits until all threads of the block are here, and orders block and global memory among
    /// them. Every thread of the block must reach it, or none, in the same iteration of a loop: the host, the simulated
    /// device and the checker report where that is not so, CUDA and Vulkan devices do not notice it.
    #[doc(alias("__syncthreads", "bar.sync", "this_thread_block"))]
    #[inline(always)]
    #[track_caller]
    pub fn sync_block(&self) {
        match self.turns {
            Some(turns) => self.thread.wait_at_barrier(turns),
            // A block of one thread waits for nobody.
            None => compiler_fence(Ordering::SeqCst),
        }
    }

    /// The warp that the thread is in: `let warp = acc.warp();`
    #[doc(alias("tiled_partition", "subgroup"))]
    #[inline(always)]
    pub fn warp(&self) -> Warp<'l> {
        Warp::new(self.thread, self.turns)
    }

    /// The device that the kernel runs on, for code that is another on other devices: `if acc.device().has_f64() { …
    /// }`.
    #[inline(always)]
    pub fn device(&self) -> ThisDevice {
        ThisDevice::new(self.thread.shape().warp_size)
    }

    /// The number of the thread's warp in its block.
    #[inline(always)]
    pub fn warp_in_block(&self) -> u32 {
        self.thread.number_in_block() >> self.thread.shape().warp_size.trailing_zeros()
    }

    /// How many warps a block has; the last one may have fewer threads than the others.
    #[inline(always)]
    pub fn warps_in_block(&self) -> u32 {
        self.thread.launch().threads_in_block().div_ceil(self.thread.shape().warp_size)
    }

    /// The ticks of a clock, which never decrease from one read of a thread to its next: for the time between two
    /// places in a kernel. What a tick is, and which threads have one clock, is the device's
    /// ([`Properties::clock_ticks_per_second`](crate::Properties::clock_ticks_per_second)): on the host nanoseconds,
    /// and one clock; on CUDA the cycles of the thread's multiprocessor (`clock64()`, `%clock64`), whose rate varies;
    /// on Vulkan `VK_KHR_shader_clock`, a device's clock where it has one, else a subgroup's, and a device without
    /// either refuses the kernel; on the simulated device a count that its seed moves.
    ///
    /// It orders nothing: it is no fence, and compilers may move other accesses across it. The checker cannot try every
    /// time: it refuses to answer where a branch, an assertion, an index or another thread depends on the clock.
    #[doc(alias("clock64", "globaltimer"))]
    #[inline]
    pub fn clock(&self) -> u64 {
        ticks()
    }

    /// A fence: orders this thread's accesses before it with those after it, as `order` says, for the threads of
    /// `scope`. It waits for no other thread.
    #[doc(alias("__threadfence", "__threadfence_block", "__threadfence_system", "membar"))]
    #[inline(always)]
    pub fn mem_fence<O: ForFence>(&self, scope: Scope, _: O) {
        host_fence(scope, O::ORDER);
    }

    /// The indices of `range` that fall to this thread as one of `workers`, which is
    /// [`THREADS_IN_GRID`](wattle_ir::worker::THREADS_IN_GRID) or its like. The device maps indices to workers, unless
    /// `.contiguous()` or `.strided()` on the result choose the map. A range has fewer than 2³² indices in all where
    /// workers of another number of dimensions share it; more are a fault, and none is gone over. A `break` ends this
    /// thread's share alone.
    #[doc(alias = "grid-stride loop")]
    #[inline(always)]
    #[track_caller]
    pub fn indices<W, R>(&self, _workers: W, range: R) -> Indices<R::Rank>
    where
        R: IndexRange,
        W: Spans<Dim<D>, R::Rank>,
    {
        Indices::new(self.thread, D, W::KIND, W::LINEAR, range.dimensions())
    }

    /// The elements of a view that belong to this thread, each with its index, `for (i, x) in acc.items(&mut out)`, or
    /// of several views of one extent, `for (i, (x, y)) in acc.items((&mut x, &mut y))`; views of different extents are
    /// refused when the kernel is launched. A `break` ends this thread's share alone.
    #[doc(alias = "grid-stride loop")]
    #[inline(always)]
    pub fn items<V: Views>(&self, views: V) -> Items<V::Places, V::Rank> {
        Items::new(self.thread, D, views)
    }

    #[inline(always)]
    fn shared_view<T: Element>(&self, len: u32, site: Site) -> Strided<T> {
        self.shared_grid([len, 1, 1, 1], site)
    }

    /// An array of these extents, row-major.
    #[inline(always)]
    fn shared_grid<T: Element>(&self, extents: [u32; MAX_RANK], site: Site) -> Strided<T> {
        let extents = extents.map(u64::from);
        let strides = std::array::from_fn(|d| extents[d + 1..].iter().fold(1u64, |sum, &n| sum.saturating_mul(n)));
        let bytes = extents.iter().fold(size_of::<T>() as u64, |sum, &n| sum.saturating_mul(n));
        let (start, extents) = match self.thread.shared_array(bytes, site) {
            Some(start) => (start, extents),
            None => (std::ptr::null_mut(), [0; MAX_RANK]),
        };
        // SAFETY: the array has as many elements as its extents say, initialized and aligned to 64; it is this block's
        // alone until the block has ended, and the block is on one thread of the operating system. An array that is
        // there has less than 2^32 elements, so no stride is saturated.
        unsafe { Strided::new(start.cast(), extents, strides, "shared", self.thread).of_block() }
    }

    /// An array of `N` elements in the block's shared memory, with plain accesses. Its contents are unspecified. At the
    /// top of a kernel only: `let tile = acc.shared::<f32, 64>();`
    #[doc(alias = "__shared__")]
    #[inline(always)]
    #[track_caller]
    pub fn shared<T: Element, const N: usize>(&self) -> Shared<T> {
        Shared(self.shared_view(N as u32, Site::caller()))
    }

    /// An array of two dimensions in the block's shared memory, `N0` rows of `N1` elements, with plain accesses:
    /// `let tile = acc.shared_nd::<f32, 16, 17>();` and `tile[[y, x]]`. Each index is checked against its extent.
    /// Three and four extents are written so too: `acc.shared_nd::<f32, 4, 16, 17>()` and `tile[[z, y, x]]`.
    /// Otherwise it is as [`Acc::shared`].
    #[inline(always)]
    #[track_caller]
    pub fn shared_nd<T: Element, const N0: usize, const N1: usize>(&self) -> Shared<T, 2> {
        Shared(self.shared_grid([N0 as u32, N1 as u32, 1, 1], Site::caller()))
    }

    /// [`Acc::shared_nd`] with three extents, as which a kernel writes it.
    #[inline(always)]
    #[track_caller]
    pub fn shared_3d<T: Element, const N0: usize, const N1: usize, const N2: usize>(&self) -> Shared<T, 3> {
        Shared(self.shared_grid([N0 as u32, N1 as u32, N2 as u32, 1], Site::caller()))
    }

    /// [`Acc::shared_nd`] with four extents, as which a kernel writes it.
    #[inline(always)]
    #[track_caller]
    pub fn shared_4d<T: Element, const N0: usize, const N1: usize, const N2: usize, const N3: usize>(
        &self,
    ) -> Shared<T, 4> {
        Shared(self.shared_grid([N0 as u32, N1 as u32, N2 as u32, N3 as u32], Site::caller()))
    }

    /// An array of `N` atomics in the block's shared memory; otherwise it is as [`Acc::shared`].
    #[inline(always)]
    #[track_caller]
    pub fn shared_atomic<T: AtomicScalar, const N: usize>(&self) -> Atomic<T> {
        Atomic(self.shared_view(N as u32, Site::caller()))
    }

    /// The block's shared array of the length that [`LaunchOptions::shared_len`](crate::LaunchOptions::shared_len)
    /// gives; see [`Acc::shared`].
    #[doc(alias = "extern __shared__")]
    #[inline(always)]
    #[track_caller]
    pub fn shared_at_launch<T: Element>(&self) -> Shared<T> {
        Shared(self.shared_view(self.thread.shared_elements(), Site::caller()))
    }

    /// The block's shared array of atomics of the length that
    /// [`LaunchOptions::shared_len`](crate::LaunchOptions::shared_len) gives; see [`Acc::shared_atomic`].
    #[inline(always)]
    #[track_caller]
    pub fn shared_atomic_at_launch<T: AtomicScalar>(&self) -> Atomic<T> {
        Atomic(self.shared_view(self.thread.shared_elements(), Site::caller()))
    }
}
