//! The shape of a launch, and the row-major numbers of indices in it.

use wattle_ir::{IndexWord, MAX_RANK};

/// The shape of a launch once the device has chosen its blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How many dimensions are used; the others have extent 1.
    pub rank: usize,
    /// Blocks in the grid.
    pub blocks: [u32; MAX_RANK],
    /// Threads in a block.
    pub threads: [u32; MAX_RANK],
    /// Frames of the launch.
    pub frames: [u32; MAX_RANK],
    /// The extent of a frame.
    pub frame_extent: [u32; MAX_RANK],
    /// Lanes of a warp, a power of two.
    pub warp_size: u32,
}

impl Grid {
    /// The number of blocks in the grid.
    pub fn block_count(&self) -> u32 {
        self.blocks.iter().product()
    }

    /// Threads in the grid, per dimension.
    #[inline(always)]
    pub fn threads_in_grid<W: IndexWord>(&self) -> [W; MAX_RANK] {
        std::array::from_fn(|d| W::truncated(self.blocks[d].into()) * W::truncated(self.threads[d].into()))
    }

    /// The index of the block with this row-major number.
    pub fn block_index(&self, number: u32) -> [u32; MAX_RANK] {
        delinearize(number, self.blocks)
    }
}

/// The index with row-major number `number` in `extent`.
#[inline]
pub(crate) fn delinearize<W: IndexWord>(number: W, extent: [W; MAX_RANK]) -> [W; MAX_RANK] {
    let mut index = [W::ZERO; MAX_RANK];
    let mut rest = number;
    for d in (1..MAX_RANK).rev() {
        index[d] = rest % extent[d];
        rest = rest / extent[d];
    }
    index[0] = rest;
    index
}

/// The row-major number of an index in `extent`.
pub(super) fn linearize(index: [u32; MAX_RANK], extent: [u32; MAX_RANK]) -> u32 {
    index.into_iter().zip(extent).fold(0, |number, (index, extent)| number * extent + index)
}
