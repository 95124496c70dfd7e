//! Blocks and threads for a launch by frames.

use wattle_core::{LaunchOptions, Shape};
use wattle_ir::MAX_RANK;

use super::MAX_COOPERATIVE_BLOCKS;
use crate::simulate::{MAX_BLOCK, MAX_RESIDENT, MAX_WORDS};

/// Blocks and threads per block for a launch by frames: a block for each frame and a thread for each place in one,
/// unless the launch asked for fewer or the simulated device has fewer. `words` is the number of words of a thread's
/// variables.
pub(super) fn split(shape: &Shape, options: &LaunchOptions, words: usize) -> ([u32; MAX_RANK], [u32; MAX_RANK]) {
    let by_words = MAX_WORDS / (words as u64).max(1);
    let threads = shape.threads(options, count(MAX_BLOCK.min(by_words)));
    let per_block: u64 = threads.iter().map(|&extent| u64::from(extent)).product();
    // More threads than can be resident at once would only take longer.
    let most_at_once = if options.is_cooperative() { MAX_COOPERATIVE_BLOCKS.into() } else { u64::MAX };
    let most_blocks = (MAX_RESIDENT.min(by_words) / per_block).min(most_at_once);
    (shape.blocks(options, count(most_blocks)), threads)
}

fn count(most: u64) -> u32 {
    most.try_into().unwrap_or(u32::MAX)
}
