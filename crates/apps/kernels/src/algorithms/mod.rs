//! Known algorithms of shared memory, each in its right form and with the mistakes that were published of it.
//!
//! One module per algorithm; its page names the source. All of them communicate between blocks of one thread, at device
//! scope, and none waits for a block that need not have started.

use wattle::prelude::*;

use crate::data::word;

pub mod chase_lev;
pub mod clh;
pub mod dekker;
pub mod double_checked;
pub mod hazard_pointer;
pub mod mcs;
pub mod michael_scott;
pub mod mpmc_ring;
pub mod peterson;
pub mod rcu;
pub mod reader_writer;
pub mod sense_barrier;
pub mod seqlock;
pub mod spsc_ring;
pub mod treiber;

/// Runs a lock: each block counts a plain counter up once a round, under the lock. `launch` gets the shape, the rounds and
/// the counter.
fn counted(
    device: &Device,
    blocks: usize,
    rounds: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, u32, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    let all = blocks.saturating_mul(rounds);
    word(device, "counts", all)?;
    launch(&queue, ThreadSpec::new(blocks, 1), word(device, "rounds", rounds)?, &counter)?;
    let counted = counter.read(&queue)?[0] as usize;
    let mut summary = Summary::new(format!("{blocks} blocks count to {all}"));
    summary.check(counted == all, "no count is lost", || format!("counted {counted} of {all}"))?;
    Ok(summary)
}
