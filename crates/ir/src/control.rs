//! The control block: where a launch reports what went wrong, and the host asks it to stop. It is 32-bit words, of
//! which those here are the same for all targets; generators have further ones of their own behind them.

use crate::message::MOST_ARGUMENTS;
use crate::{Kernel, MAX_RANK, Stmt};

/// Not zero if threads in loops without a bound are to end. The host sets it while the launch runs. Where launches
/// share a control block, the generator says what it holds: PTX's is the device's copy of a launch's number.
pub const STOP: u32 = 0;
/// 1 once a thread has reported a fault: the first one claims the words that follow.
pub const CLAIMED: u32 = 1;
/// The fault, as a position in the module's sites.
pub const SITE: u32 = 2;
/// The number of the faulting thread's block.
pub const BLOCK: u32 = 3;
/// The number of the faulting thread in its block.
pub const THREAD: u32 = 4;
/// The index that was out of bounds, dimension 0 first, of several lanes that of the last one; or the words of the
/// values in an assertion's message ([`crate::message::Words`]). [`INDEX_WORDS`] words.
pub const INDEX: u32 = 5;
/// The most words of [`INDEX`].
pub const INDEX_WORDS: u32 = 2 * MOST_ARGUMENTS as u32;
/// The word that counts the blocks whose threads were ended because the launch was stopped.
pub const STOPPED: u32 = INDEX + INDEX_WORDS;
/// Two words for each of the first [`MAX_STOPPED`] stopped blocks: the block's number and the position in the module's
/// sites of the loop that it was in.
pub const STOPPED_AT: u32 = STOPPED + 1;
/// The most stopped blocks that are reported.
pub const MAX_STOPPED: u32 = (REPORTED - STOPPED_AT) / 2;
/// The first word of the reported loops: a bit for each block, by its number modulo [`BLOCK_BITS`], that is set once
/// one of the block's threads has reported its loop.
pub const REPORTED: u32 = 192;
/// The number of bits of [`REPORTED`]; a power of two.
pub const BLOCK_BITS: u32 = 32 * (SHARED_WORDS - REPORTED);
/// The number of words that are the same for all targets.
pub const SHARED_WORDS: u32 = 256;

/// What a queue's gate holds while no launch has failed.
///
/// The gate is a word of the queue's. The first fault of a launch, or its first thread that is stopped, sets it to the
/// launch's number on its queue, which is from 1 to less than this, and grows while anything is in flight. A launch
/// with a greater number than the gate's does nothing, so that launches which were enqueued before the host knew of the
/// fault are discarded. Within a launch it changes nothing: all threads of a block take the same way to its barriers.
pub const OPEN: u32 = u32::MAX;

/// How many words of [`INDEX`] the faults of a legal kernel have at the most, and at least those of an index.
pub fn index_words(kernel: &Kernel) -> usize {
    let mut words = MAX_RANK;
    kernel.walk(&mut |stmt| {
        if let Stmt::Fault { index, .. } = stmt {
            words = words.max(index.len());
        }
    });
    words
}

const _: () = assert!(STOPPED_AT + 2 * MAX_STOPPED <= REPORTED && BLOCK_BITS.is_power_of_two());
