//! The shapes in which launches are tried, where they leave them to devices: blocks and threads of launches by frames,
//! and the lanes of a warp.
//!
//! A launch by frames leaves blocks and threads to the device, and must be right for any choice. What devices choose:
//! the host a few blocks per worker, one of them where there is one worker, each of one thread; CUDA and Vulkan at most
//! as many blocks as fill the device a few times, each of as many threads as a frame's extent or as the device and the
//! kernel's registers permit; the simulated device a block for each frame. So there may be fewer blocks than frames and
//! fewer threads than a frame has places; more threads are tried besides, since nothing promises that there are none.

use wattle_core::{LaunchOptions, Shape, ShapeKind};
use wattle_ir::MAX_RANK;
use wattle_ir::builder::IndexLayout;

use wattle_memory::Target as Machine;

use super::variants::DeviceVariant;
use crate::program::LaunchWorld;

/// The blocks, and the threads per block.
pub(super) type Resolved = ([u32; MAX_RANK], [u32; MAX_RANK]);

/// The choices that a device makes for a scenario's launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub frames: Frames,
    /// The lanes of a warp, where the launch does not say it.
    pub warp_size: u32,
    /// The device that kernels are built for.
    pub variant: DeviceVariant,
}

/// The warps whose size launches leave to devices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenWarps {
    /// The most threads of a block of a kernel that uses them; 0 where none does.
    threads: u64,
    /// Whether a kernel may ask how many lanes they have.
    ask_size: bool,
}

impl OpenWarps {
    /// All numbers of lanes differ where the scenario's host part asks its device for them.
    pub const ASKED_BY_THE_HOST: OpenWarps = OpenWarps { threads: u64::MAX, ask_size: true };

    /// The warps of a launch whose blocks have `threads` threads, of a kernel that may ask how many lanes they have.
    pub fn of(threads: u64, ask_size: bool) -> OpenWarps {
        OpenWarps { threads, ask_size }
    }

    /// The warps of two launches.
    pub fn and(self, other: OpenWarps) -> OpenWarps {
        OpenWarps { threads: self.threads.max(other.threads), ask_size: self.ask_size || other.ask_size }
    }

    /// Whether all kernels do the same with either number of lanes: none uses its warp, or each block is one warp of
    /// either size and nobody asks for it.
    pub fn are_alike(self, one: u32, other: u32) -> bool {
        one == other || self.threads == 0 || !self.ask_size && u64::from(one.min(other)) >= self.threads
    }
}

/// A rule by which launches by frames become blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frames {
    /// The maximum number of blocks; there are never more blocks than frames.
    blocks: u32,
    threads: Threads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threads {
    /// As many threads as the frame's extent.
    Extent,
    One,
    /// A thread less than the frame's extent, so that threads do not divide the work evenly.
    Fewer,
    /// A thread more than the frame's extent.
    More,
}

impl Frames {
    /// The rules that are tried: first a block per frame and a thread per place, then one thread per block, then the
    /// other choices of devices.
    pub const CHOICES: [Frames; 8] = [
        Frames { blocks: u32::MAX, threads: Threads::Extent },
        Frames { blocks: u32::MAX, threads: Threads::One },
        Frames { blocks: 1, threads: Threads::One },
        Frames { blocks: 2, threads: Threads::One },
        Frames { blocks: 1, threads: Threads::Extent },
        Frames { blocks: 2, threads: Threads::Extent },
        Frames { blocks: u32::MAX, threads: Threads::Fewer },
        Frames { blocks: u32::MAX, threads: Threads::More },
    ];

    /// Whether devices that deal indices out so choose blocks and threads like this: the host, whose blocks have one
    /// thread, is the only one that gives each worker a run of indices.
    pub fn are_of(self, layout: IndexLayout) -> bool {
        match layout {
            IndexLayout::Strided => true,
            IndexLayout::Contiguous => self.threads == Threads::One,
        }
    }

    /// The blocks and threads per block of a launch, on a target with at most `most_threads` threads per block.
    pub fn resolve(self, shape: &Shape, options: &LaunchOptions, most_threads: u32) -> Resolved {
        if shape.kind == ShapeKind::Threads {
            return (shape.outer, shape.inner);
        }
        let most_threads = most_threads.min(options.get_threads());
        let (mut extent, places) = (shape.inner, shape.inner.iter().product::<u32>());
        let threads = match self.threads {
            Threads::Extent => places,
            Threads::One => 1,
            Threads::Fewer => places.saturating_sub(1),
            Threads::More => {
                if let Some(last) = shape.rank.checked_sub(1).and_then(|last| extent.get_mut(last)) {
                    *last += 1;
                }
                u32::MAX
            }
        };
        // An extent with too many threads is tried with as many as are allowed.
        let extent = if extent.iter().product::<u32>() > most_threads { shape.inner } else { extent };
        let blocks = Shape::at_most(shape.outer, self.blocks.min(options.get_blocks()));
        (blocks, Shape::at_most(extent, threads.min(most_threads)))
    }
}

/// Describes the blocks and threads per block.
pub(super) fn text((blocks, threads): Resolved) -> String {
    let count = |extent: [u32; MAX_RANK], what: &str| {
        let number: u64 = extent.iter().map(|&extent| u64::from(extent)).product();
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    format!("{} × {}", count(blocks, "block"), count(threads, "thread"))
}

/// Whether it matters how many lanes a launch's warps have: to the kernel, or since the threads of different warps may
/// meet at different barriers, as PTX permits.
fn depends_on_warps(launch: &LaunchWorld) -> bool {
    let shape = launch.environment.shape;
    let several = shape.threads_per_block() > shape.warp_size.into();
    let by_barriers =
        matches!(launch.lowering.target(), Machine::Ptx { .. }) && launch.program.has_barriers() && several;
    launch.program.uses_warps() || by_barriers
}

/// Describes the shape of a launch.
pub(super) fn shape_text(launch: &LaunchWorld) -> String {
    let shape = launch.environment.shape;
    let warps = if depends_on_warps(launch) { format!(", warps of {}", shape.warp_size) } else { String::new() };
    if launch.host {
        return "the host's thread".into();
    }
    text((shape.grid_extent, shape.block_extent)) + &warps + &launch.variant
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(outer: [u32; MAX_RANK], inner: [u32; MAX_RANK], rank: usize) -> Shape {
        Shape { kind: ShapeKind::Frames, rank, outer, inner }
    }

    fn all(shape: &Shape, options: &LaunchOptions, most_threads: u32) -> Vec<String> {
        let mut all = Vec::new();
        for choice in Frames::CHOICES {
            let text = text(choice.resolve(shape, options, most_threads));
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    #[test]
    fn what_devices_choose_is_tried() {
        let options = LaunchOptions::new();
        assert_eq!(
            all(&shape([5, 1, 1, 1], [4, 1, 1, 1], 1), &options, 1024),
            [
                "5 blocks × 4 threads",
                "5 blocks × 1 thread",
                "1 block × 1 thread",
                "2 blocks × 1 thread",
                "1 block × 4 threads",
                "2 blocks × 4 threads",
                "5 blocks × 3 threads",
                "5 blocks × 5 threads",
            ]
        );
        let host = ["5 blocks × 1 thread", "1 block × 1 thread", "2 blocks × 1 thread"];
        assert_eq!(all(&shape([5, 1, 1, 1], [4, 1, 1, 1], 1), &options, 1), host);
        // The launch's own limits and the target's are kept.
        let few = options.blocks(1).threads(2);
        assert_eq!(
            all(&shape([5, 1, 1, 1], [4, 1, 1, 1], 1), &few, 1024),
            ["1 block × 2 threads", "1 block × 1 thread"]
        );
        assert_eq!(
            all(&shape([1, 1, 1, 1], [5000, 1, 1, 1], 1), &options, 1024).first().unwrap(),
            "1 block × 1024 threads"
        );
        let plane = shape([2, 3, 1, 1], [2, 2, 1, 1], 2);
        let (blocks, threads) = Frames::CHOICES[7].resolve(&plane, &options, 1024);
        assert_eq!((blocks, threads), ([2, 3, 1, 1], [2, 3, 1, 1]));
    }
}
