//! Mistakes from the wild, rebuilt from their public descriptions: the broken form is refuted, the mended one holds.
//!
//! One module per mistake; its page names where it was described. The single-pass sum of CUDA's samples, which has no fence on
//! the side that reads, is with its right form: [`last_block_sum`](crate::last_block_sum).

pub mod block_reduce_twice;
pub mod scan_storage;
pub mod stealing_deque;
pub mod textbook_lock;
