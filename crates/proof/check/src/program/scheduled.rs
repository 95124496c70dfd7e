//! What a scheduler sees of a launch.

use wattle_memory::ThreadId;

/// The threads of a launch, as a scheduler sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The number of blocks.
    pub blocks: usize,
    /// The number of threads per block.
    pub per_block: usize,
    /// Whether all blocks run at once.
    pub together: bool,
    /// The first of its threads, among all.
    pub first: ThreadId,
}

impl Scheduled {
    /// The block of a thread; `None` if it is another launch's.
    pub(crate) fn block_of(&self, thread: ThreadId) -> Option<u64> {
        let within = thread.checked_sub(self.first)? / self.per_block.max(1);
        (within < self.blocks).then_some(within as u64)
    }
}
