//! The shape of a launch, and the numbers that a kernel's code takes from it.
//!
//! Every device runs a launch of one [`LaunchShape`], and the code that a generator emits takes the numbers it needs of
//! it as [`LaunchValue`]s: the generators list them, and the drivers and the reader of emitted code evaluate them here.

use std::ops::Range;

use crate::{Builtin, MAX_RANK, ParamId};

/// The shape of a launch once its blocks and threads are chosen, in up to four dimensions; those beyond the kernel's
/// rank are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchShape {
    /// The threads per block in each dimension.
    pub block_extent: [u32; MAX_RANK],
    /// The number of blocks in each dimension.
    pub grid_extent: [u32; MAX_RANK],
    /// The number of frames in each dimension; equal to `grid_extent` if there are none.
    pub frame_count: [u32; MAX_RANK],
    /// The extent of a frame; equal to `block_extent` if there are none.
    pub frame_extent: [u32; MAX_RANK],
    /// The lanes of a warp, a power of two.
    pub warp_size: u32,
}

impl LaunchShape {
    /// A launch of exactly these blocks and threads, without frames of its own.
    pub fn threads(grid_extent: [u32; MAX_RANK], block_extent: [u32; MAX_RANK]) -> LaunchShape {
        LaunchShape { block_extent, grid_extent, frame_count: grid_extent, frame_extent: block_extent, warp_size: 1 }
    }

    /// A one-dimensional launch of exactly `blocks` blocks with `threads` threads per block.
    pub fn linear(blocks: u32, threads: u32) -> LaunchShape {
        LaunchShape::threads([blocks, 1, 1, 1], [threads, 1, 1, 1])
    }

    /// The same launch with warps of this number of lanes.
    pub fn with_warps(self, warp_size: u32) -> LaunchShape {
        LaunchShape { warp_size, ..self }
    }

    /// The number of blocks; saturates.
    pub fn blocks(&self) -> u64 {
        volume(self.grid_extent)
    }

    /// The number of threads in a block; saturates.
    pub fn threads_per_block(&self) -> u64 {
        volume(self.block_extent)
    }

    /// The position of a thread from the row-major numbers of its block and of itself in the block.
    pub fn position(&self, block: u64, thread: u64) -> Position {
        Position { block: unravel(block, self.grid_extent), thread: unravel(thread, self.block_extent) }
    }

    /// The row-major number of a thread in its block.
    pub fn number_in_block(&self, position: &Position) -> u32 {
        position.thread.iter().zip(self.block_extent).fold(0, |number, (&at, extent)| number * extent + at)
    }

    /// The numbers in the block of the threads that are in one warp with that thread of a block.
    pub fn lanes(&self, thread: u64) -> Range<u64> {
        let first = thread - thread % u64::from(self.warp_size);
        first..(first + u64::from(self.warp_size)).min(self.threads_per_block())
    }
}

/// The position of a thread in its launch; 0 beyond the kernel's rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The block's index in the grid.
    pub block: [u32; MAX_RANK],
    /// The thread's index in its block.
    pub thread: [u32; MAX_RANK],
}

fn volume(extent: [u32; MAX_RANK]) -> u64 {
    extent.iter().fold(1, |volume: u64, &extent| volume.saturating_mul(extent.into()))
}

/// The index of the element number `linear` in row-major order; 0 along empty dimensions.
fn unravel(mut linear: u64, extent: [u32; MAX_RANK]) -> [u32; MAX_RANK] {
    let mut index = [0; MAX_RANK];
    for (index, extent) in index.iter_mut().zip(extent).rev() {
        let extent = u64::from(extent).max(1);
        *index = (linear % extent) as u32;
        linear /= extent;
    }
    index
}

/// A number that a kernel's code takes from its launch, besides its scalars. Dimensions count from 0, which varies
/// slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchValue {
    /// A view's extent in one dimension, in elements.
    ViewExtent(ParamId, u8),
    /// The distance between neighbours in one dimension of a view, in elements.
    ViewStride(ParamId, u8),
    /// The length of the shared array that is sized at launch, in elements.
    SharedLen,
    /// Threads per block in one dimension.
    BlockExtent(u8),
    /// Blocks of the grid in one dimension.
    GridExtent(u8),
    /// Frames of the launch in one dimension.
    FrameCount(u8),
    /// The extent of a frame in one dimension.
    FrameExtent(u8),
}

impl LaunchValue {
    /// The numbers that locate the elements of a view of this rank: its extents, and all strides but the last, which
    /// is 1.
    pub fn of_view(view: ParamId, rank: usize) -> impl Iterator<Item = LaunchValue> {
        let extents = (0..rank as u8).map(move |dimension| LaunchValue::ViewExtent(view, dimension));
        extents.chain((0..rank.saturating_sub(1) as u8).map(move |dimension| LaunchValue::ViewStride(view, dimension)))
    }

    /// The numbers from which code computes a builtin in one dimension, in a kernel of this rank, where blocks and
    /// threads are numbered row-major: an index in dimension 0 needs no extent of that dimension.
    pub fn of_builtin(builtin: Builtin, dimension: u8, rank: usize) -> Vec<LaunchValue> {
        let behind = |of: fn(u8) -> LaunchValue| (dimension.max(1)..rank as u8).map(of).collect();
        match builtin {
            Builtin::BlockInGrid => behind(LaunchValue::GridExtent),
            Builtin::ThreadInBlock => behind(LaunchValue::BlockExtent),
            Builtin::BlockExtent => vec![LaunchValue::BlockExtent(dimension)],
            Builtin::GridExtent => vec![LaunchValue::GridExtent(dimension)],
            Builtin::FrameCount => vec![LaunchValue::FrameCount(dimension)],
            Builtin::FrameExtent => vec![LaunchValue::FrameExtent(dimension)],
            Builtin::Device(_) | Builtin::WarpSize | Builtin::Lane | Builtin::WarpInBlock => Vec::new(),
        }
    }

    /// The value in a launch of this shape; `view` gives the extents and the strides of a view.
    ///
    /// # Errors
    /// Those of `view`.
    pub fn get<E>(
        self,
        shape: &LaunchShape,
        shared_len: u32,
        view: impl FnOnce(ParamId) -> Result<[[u64; MAX_RANK]; 2], E>,
    ) -> Result<u64, E> {
        let (extent, dimension) = match self {
            LaunchValue::ViewExtent(param, dimension) => return Ok(view(param)?[0][usize::from(dimension)]),
            LaunchValue::ViewStride(param, dimension) => return Ok(view(param)?[1][usize::from(dimension)]),
            LaunchValue::SharedLen => return Ok(shared_len.into()),
            LaunchValue::BlockExtent(dimension) => (&shape.block_extent, dimension),
            LaunchValue::GridExtent(dimension) => (&shape.grid_extent, dimension),
            LaunchValue::FrameCount(dimension) => (&shape.frame_count, dimension),
            LaunchValue::FrameExtent(dimension) => (&shape.frame_extent, dimension),
        };
        Ok(extent[usize::from(dimension)].into())
    }

    /// The value's name in emitted code; `view` gives that of a view.
    pub fn name(self, view: impl FnOnce(ParamId) -> String) -> String {
        match self {
            LaunchValue::ViewExtent(param, dimension) => format!("{}_extent_{dimension}", view(param)),
            LaunchValue::ViewStride(param, dimension) => format!("{}_stride_{dimension}", view(param)),
            LaunchValue::SharedLen => "shared_len".into(),
            LaunchValue::BlockExtent(dimension) => format!("block_extent_{dimension}"),
            LaunchValue::GridExtent(dimension) => format!("grid_extent_{dimension}"),
            LaunchValue::FrameCount(dimension) => format!("frame_count_{dimension}"),
            LaunchValue::FrameExtent(dimension) => format!("frame_extent_{dimension}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_row_major() {
        let shape = LaunchShape::threads([2, 3, 1, 1], [4, 5, 1, 1]);
        assert_eq!((shape.blocks(), shape.threads_per_block()), (6, 20));
        assert_eq!(shape.position(4, 7), Position { block: [1, 1, 0, 0], thread: [1, 2, 0, 0] });
    }

    #[test]
    fn each_value_is_of_its_dimension() {
        let shape = LaunchShape {
            block_extent: [1, 2, 3, 4],
            grid_extent: [5, 6, 7, 8],
            frame_count: [9, 10, 11, 12],
            frame_extent: [13, 14, 15, 16],
            warp_size: 1,
        };
        let of = |value: LaunchValue| {
            value.get(&shape, 17, |view| {
                Ok::<_, ()>([[20, 21, 22, 23], [30, 31, 32, 33]].map(|own| own.map(|n| n + u64::from(view.0))))
            })
        };
        let values = [
            (LaunchValue::BlockExtent(1), 2),
            (LaunchValue::GridExtent(2), 7),
            (LaunchValue::FrameCount(3), 12),
            (LaunchValue::FrameExtent(0), 13),
            (LaunchValue::SharedLen, 17),
            (LaunchValue::ViewExtent(ParamId(100), 1), 121),
            (LaunchValue::ViewStride(ParamId(100), 2), 132),
        ];
        for (value, expected) in values {
            assert_eq!(of(value), Ok(expected), "{value:?}");
        }
        assert_eq!((shape.threads_per_block(), shape.blocks()), (24, 1680));
    }

    #[test]
    fn an_index_needs_the_extents_behind_its_dimension() {
        let of = LaunchValue::of_builtin;
        let grid = |dimensions: &[u8]| dimensions.iter().map(|&d| LaunchValue::GridExtent(d)).collect::<Vec<_>>();
        assert_eq!(of(Builtin::BlockInGrid, 0, 3), grid(&[1, 2]));
        assert_eq!(of(Builtin::BlockInGrid, 2, 3), grid(&[2]));
        assert_eq!(of(Builtin::BlockInGrid, 0, 1), grid(&[]));
        assert_eq!(of(Builtin::GridExtent, 0, 1), grid(&[0]));
    }
}
