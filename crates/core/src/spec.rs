//! The shapes of launches.

use std::time::Duration;

use wattle_ir::message::MOST_ARGUMENTS;
use wattle_ir::printing::{HEADER, RECORD};
use wattle_ir::warp::MAX_LANES;
use wattle_ir::{LaunchShape, MAX_RANK};

use crate::domain::{SyncDomain, SyncDomainMap};
use crate::error::{Error, Result};
use crate::extent::{self, ToExtent};
use crate::properties::Properties;

/// Logical work: `frames` frames of `frame_extent` each; fewer than 2³² frames, of fewer than 2³² elements. The device
/// chooses blocks and threads, and a kernel that is launched so must be right for any choice: it shares its work out
/// with `acc.indices` and `acc.items`. Without a frame there is nothing to do, and the launch does nothing.
///
/// The simulated device takes a frame for a block and its extent for threads; the host runs a few blocks per worker,
/// each of one thread, which is its fastest choice.
#[doc(alias = "dim3")]
#[derive(Clone, Copy, Debug)]
pub struct FrameSpec<const D: usize> {
    frames: [usize; D],
    frame_extent: [usize; D],
}

impl<const D: usize> FrameSpec<D> {
    /// `frames` frames of `frame_extent` each. Extents are checked when it is launched.
    pub fn new(frames: impl ToExtent<D>, frame_extent: impl ToExtent<D>) -> Self {
        FrameSpec { frames: frames.raw(), frame_extent: frame_extent.raw() }
    }

    /// The frames of `frame_extent` that cover `extent`, as few as there can be.
    pub fn cover(extent: impl ToExtent<D>, frame_extent: impl ToExtent<D>) -> Self {
        let (extent, frame_extent) = (extent.raw(), frame_extent.raw());
        let frames = std::array::from_fn(|d| extent[d].div_ceil(frame_extent[d].max(1)));
        FrameSpec { frames, frame_extent }
    }
}

/// Exactly `blocks` blocks of `threads` threads each; with no block the launch does nothing. A device that cannot keep
/// this says so in an error.
///
/// On the host the threads of a block take turns on one worker. A turn ends at a barrier and, every fourth time, on the
/// back edge of a loop that may be a wait; then each other thread that can run has one, in the order of their numbers.
/// So a thread may wait for any other of its block, and for blocks before its own. Where no thread of a kernel can wait
/// for another, each runs to its end before the next one starts, which costs no more than a loop over them.
#[doc(alias("dim3", "<<<>>>"))]
#[derive(Clone, Copy, Debug)]
pub struct ThreadSpec<const D: usize> {
    blocks: [usize; D],
    threads: [usize; D],
}

impl<const D: usize> ThreadSpec<D> {
    /// `blocks` blocks of `threads` threads each. Extents are checked when it is launched.
    pub fn new(blocks: impl ToExtent<D>, threads: impl ToExtent<D>) -> Self {
        ThreadSpec { blocks: blocks.raw(), threads: threads.raw() }
    }
}

/// A shape that a kernel of rank `D` can be launched with.
#[diagnostic::on_unimplemented(
    message = "a launch has a shape, which `{Self}` is not",
    label = "not a shape of a launch",
    note = "`queue.launch(FrameSpec::cover(n, 64), kernel(&x, &y))` goes over `n` elements in frames of 64, and the device chooses \
            blocks and threads; `ThreadSpec::new(blocks, threads)` says them; options come first, \
            `queue.launch_with(options, spec, kernel(&x, &y))`"
)]
pub trait Spec<const D: usize>: Copy + sealed::Sealed {
    #[doc(hidden)]
    fn shape(self) -> Result<Shape>;
}

mod sealed {
    pub trait Sealed {}
    impl<const D: usize> Sealed for super::FrameSpec<D> {}
    impl<const D: usize> Sealed for super::ThreadSpec<D> {}
}

impl<const D: usize> Spec<D> for FrameSpec<D> {
    fn shape(self) -> Result<Shape> {
        let (outer, inner) = counts((self.frames, "frames"), (self.frame_extent, "a frame extent"))?;
        Ok(Shape { kind: ShapeKind::Frames, rank: D, outer, inner })
    }
}

impl<const D: usize> Spec<D> for ThreadSpec<D> {
    fn shape(self) -> Result<Shape> {
        let (outer, inner) = counts((self.blocks, "blocks"), (self.threads, "threads"))?;
        Ok(Shape { kind: ShapeKind::Threads, rank: D, outer, inner })
    }
}

/// The number of frames or blocks, and the extent of each. Where there is none, its extent may be zero as well:
/// `cover(n, n.min(64))` of nothing.
fn counts<const D: usize>(
    (outer, of_outer): ([usize; D], &'static str),
    (inner, of_inner): ([usize; D], &'static str),
) -> Result<([u32; MAX_RANK], [u32; MAX_RANK])> {
    let inner = if outer.contains(&0) { inner.map(|extent| extent.max(1)) } else { inner };
    Ok((extent::check_count(outer, of_outer)?, extent::check_share(inner, of_inner)?))
}

/// A checked shape, of any rank: what devices are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The spec that the shape was made of.
    pub kind: ShapeKind,
    /// How many dimensions are used; the others have extent 1.
    pub rank: usize,
    /// The number of frames, or of blocks, per dimension.
    pub outer: [u32; MAX_RANK],
    /// The extent of a frame, or threads per block, per dimension.
    pub inner: [u32; MAX_RANK],
}

impl Shape {
    /// Whether there are 2³² threads or more, or elements of frames.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        let all = self.outer.iter().chain(&self.inner);
        all.fold(1, |count: u64, &extent| count.saturating_mul(extent.into())) > u64::from(u32::MAX)
    }

    /// Whether there is no thread: such a launch does nothing.
    pub fn is_empty(&self) -> bool {
        self.outer.contains(&0)
    }

    /// The blocks of a launch of this shape: those that it names, or a block for each frame, at most `most` and as many
    /// as the options allow.
    #[inline]
    pub fn blocks(&self, options: &LaunchOptions, most: u32) -> [u32; MAX_RANK] {
        match self.kind {
            ShapeKind::Threads => self.outer,
            ShapeKind::Frames => Shape::at_most(self.outer, most.min(options.blocks)),
        }
    }

    /// The threads per block of a launch of this shape: those that it names, or one for each place in a frame, at most
    /// `most` and as many as the options allow.
    #[inline]
    pub fn threads(&self, options: &LaunchOptions, most: u32) -> [u32; MAX_RANK] {
        match self.kind {
            ShapeKind::Threads => self.inner,
            ShapeKind::Frames => Shape::at_most(self.inner, most.min(options.threads)),
        }
    }

    /// The launch of this shape with the blocks, the threads per block and the lanes of a warp that were chosen.
    #[inline]
    pub fn launched(&self, grid_extent: [u32; MAX_RANK], block_extent: [u32; MAX_RANK], warp_size: u32) -> LaunchShape {
        LaunchShape { block_extent, grid_extent, frame_count: self.outer, frame_extent: self.inner, warp_size }
    }

    /// A part of `extent` with at least 1 element and at most `most`, as large as the slowest dimensions, filled first,
    /// allow.
    pub fn at_most(extent: [u32; MAX_RANK], most: u32) -> [u32; MAX_RANK] {
        let mut left = most;
        extent.map(|extent| {
            let part = extent.min(left).max(1);
            left /= part;
            part
        })
    }
}

/// The kind of spec that a shape was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// A [`FrameSpec`]: the device chooses blocks and threads.
    Frames,
    /// A [`ThreadSpec`]: these blocks and threads.
    Threads,
}

/// What a launch asks for beyond its shape. What `option` sets, `get_option` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchOptions {
    pub(crate) cooperative: bool,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) shared_len: u32,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) domain: Option<SyncDomain>,
    pub(crate) domain_map: Option<SyncDomainMap>,
    pub(crate) warp_size: Option<u32>,
    pub(crate) print_words: u32,
    pub(crate) long: bool,
}

/// How long a launch may wait when nothing else was said.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// The least words of a log: a header and the longest record.
const LEAST_WORDS: u32 = HEADER + RECORD + 2 * MOST_ARGUMENTS as u32;

/// How many 32-bit words the log of a launch has when nothing else was said: 1 MiB, as CUDA's.
const DEFAULT_PRINT_WORDS: u32 = 1 << 18;

impl Default for LaunchOptions {
    fn default() -> Self {
        LaunchOptions {
            cooperative: false,
            time_limit: Some(DEFAULT_TIME_LIMIT),
            shared_len: 0,
            blocks: u32::MAX,
            threads: u32::MAX,
            domain: None,
            domain_map: None,
            warp_size: None,
            print_words: DEFAULT_PRINT_WORDS,
            long: false,
        }
    }
}

impl LaunchOptions {
    /// The defaults: not cooperative, a time limit of 60 s, no shared memory sized at launch.
    pub fn new() -> Self {
        Self::default()
    }

    /// All blocks at once, so that they may wait for each other in any direction. The host grants it up to its workers,
    /// then by more threads of the operating system: 1024 blocks, and 16,384 threads of blocks that have several.
    #[doc(alias("cudaLaunchCooperativeKernel", "grid.sync", "this_grid"))]
    pub fn cooperative(self) -> Self {
        LaunchOptions { cooperative: true, ..self }
    }

    /// How long the launch may take. Loops look at the clock now and then, on the host all of them, on GPUs those
    /// without a bound, and so does the code that starts the blocks; a launch that is past its limit there ends in an
    /// error that names each block's last line.
    pub fn time_limit(self, limit: Duration) -> Self {
        LaunchOptions { time_limit: Some(limit), ..self }
    }

    /// The launch has no time limit.
    pub fn no_time_limit(self) -> Self {
        LaunchOptions { time_limit: None, ..self }
    }

    /// The length, in elements, of the kernel's shared array that is sized at launch: at least 1, or the launch of such
    /// a kernel is refused.
    #[doc(alias = "extern __shared__")]
    pub fn shared_len(self, elements: u32) -> Self {
        LaunchOptions { shared_len: elements, ..self }
    }

    /// The most blocks, at least 1, of a launch that leaves the choice to the device: with a [`FrameSpec`].
    pub fn blocks(self, most: u32) -> Self {
        LaunchOptions { blocks: most.max(1), ..self }
    }

    /// The most threads per block, at least 1, of a launch that leaves the choice to the device: with a
    /// [`FrameSpec`].
    #[doc(alias("__launch_bounds__", "maxntid"))]
    pub fn threads(self, most: u32) -> Self {
        LaunchOptions { threads: most.max(1), ..self }
    }

    /// The memory synchronization domain that the launch is in. Fences and atomics of device scope wait for the writes
    /// of their own domain alone, which is what it is for; between two domains **only system scope orders**. Two
    /// launches in different domains that use a buffer at the same time, with atomics or fences narrower than that, are
    /// refused when the second is enqueued, on every device. Without it the launch is in the domain of its queue
    /// ([`Queue::with_sync_domain`](crate::Queue::with_sync_domain)). Devices with one domain take the option, and it
    /// has no effect there (CUDA C++ Programming Guide, "Memory Synchronization Domains").
    pub fn sync_domain(self, domain: SyncDomain) -> Self {
        LaunchOptions { domain: Some(domain), ..self }
    }

    /// Sets the device's domains that the domain names stand for; without it the launch has its queue's map
    /// ([`Queue::with_sync_domain_map`](crate::Queue::with_sync_domain_map)), else 0 and 1.
    pub fn sync_domain_map(self, map: SyncDomainMap) -> Self {
        LaunchOptions { domain_map: Some(map), ..self }
    }

    /// How many lanes the launch's warps must have: a power of two up to 128. Without it they have as many as the
    /// device says ([`Properties::warp_width`](crate::Properties::warp_width)). The host, the simulated device and the
    /// checker have warps of any such size, CUDA devices of 32 lanes, Vulkan devices of those sizes that they offer; a
    /// device without such warps says so in an error.
    pub fn warp_size(self, lanes: u32) -> Self {
        LaunchOptions { warp_size: Some(lanes), ..self }
    }

    /// What [`LaunchOptions::warp_size`] set.
    pub fn get_warp_size(&self) -> Option<u32> {
        self.warp_size
    }

    /// The lanes of the launch's warps on a device that `has` warps of some numbers of lanes.
    ///
    /// # Errors
    /// The device has no such warps.
    pub fn lanes(&self, properties: &Properties, has: impl Fn(u32) -> bool) -> Result<u32> {
        let Some(lanes) = self.warp_size else { return Ok(properties.warp_width) };
        if lanes.is_power_of_two() && lanes <= MAX_LANES && has(lanes) {
            return Ok(lanes);
        }
        let what = format!("run warps of {lanes} lanes: its own have {}", properties.warp_width);
        let instead = "ask for a power of two up to 128 that the device has, or for none, and use `warp.size()`";
        Err(Error::capability(&properties.name, what, instead))
    }

    /// How many bytes the log has into which the launch's threads print, 1 MiB without this; at least 192, and at the
    /// most 4 GiB. A line takes 12 bytes, and 4 or 8 for each of its values; lines beyond the end are counted, and lost
    /// ([`Printed::lost`](crate::Printed)). CUDA calls it `cudaLimitPrintfFifoSize`.
    pub fn print_buffer(self, bytes: usize) -> Self {
        let words = u32::try_from(bytes / 4).unwrap_or(u32::MAX).clamp(LEAST_WORDS, 1 << 30);
        LaunchOptions { print_words: words, ..self }
    }

    /// The launch is one of `#[kernel(wide)]`, and is treated as if a view had 2³² elements or more: it runs the code
    /// with indices of 64 bits also where those of 32 would do, to test it or to measure what it costs.
    pub fn long_indices(self) -> Self {
        LaunchOptions { long: true, ..self }
    }

    /// Whether [`LaunchOptions::long_indices`] was called.
    pub fn has_long_indices(&self) -> bool {
        self.long
    }

    /// What [`LaunchOptions::print_buffer`] set, in bytes.
    pub fn get_print_buffer(&self) -> usize {
        self.print_words as usize * 4
    }

    /// What [`LaunchOptions::sync_domain`] set.
    pub fn get_sync_domain(&self) -> SyncDomain {
        self.domain.unwrap_or_default()
    }

    /// What [`LaunchOptions::sync_domain_map`] set.
    pub fn get_sync_domain_map(&self) -> SyncDomainMap {
        self.domain_map.unwrap_or_default()
    }

    /// What [`LaunchOptions::blocks`] set: the most blocks of a launch by frames.
    pub fn get_blocks(&self) -> u32 {
        self.blocks
    }

    /// What [`LaunchOptions::threads`] set: the most threads per block of a launch by frames.
    pub fn get_threads(&self) -> u32 {
        self.threads
    }

    /// Whether [`LaunchOptions::cooperative`] was called.
    pub fn is_cooperative(&self) -> bool {
        self.cooperative
    }

    /// What [`LaunchOptions::time_limit`] set, if there is a limit.
    pub fn get_time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// What [`LaunchOptions::shared_len`] set, in elements; 0 where it was not called.
    pub fn get_shared_len(&self) -> u32 {
        self.shared_len
    }
}
