//! The words through which the launches of a queue report errors and are asked to stop. All have 32 bits.
//!
//! Errors are reported in the queue's control block, in device memory, which all its launches share. The host clears it
//! when the queue is made, and sets [`GATE`] to [`OPEN`] then; a launch that succeeds needs nothing of the host. Only
//! when a launch has reported something does the host read the block, and reset it once all launches have ended.
//!
//! The words that pass between the host and running launches are in host memory ([`host`]), which needs no call of the
//! driver: while the driver loads a module it may hold its locks until all launches have ended, so that a launch which
//! waits for one that is being loaded could never be stopped by a copy (CUDA C++ Programming Guide, "Lazy Loading",
//! says that loading may synchronize the context).
//!
//! A read of host memory crosses the bus, and reads of one word there wait for each other: on an H100 they took 0.9 µs
//! each, whatever multiprocessors they came from, so that a product of matrices in which each of 32,768 warps read it
//! once took 37 ms instead of 6. So the device has a copy of the word, [`STOP`], and one thread at a time brings it up
//! to date, when [`LOOK_AFTER`] has passed since the last one did ([`LOOKED`]).

pub use wattle_ir::control::*;

/// The queue's gate: [`OPEN`], or the number of the launch that failed or whose threads have left because it was
/// stopped. Only launches set it, so that a launch finds it as those before left it.
pub const GATE: u32 = SHARED_WORDS;
/// The time of the last look at [`host::STOP`], in nanoseconds modulo 2³² (`%globaltimer_lo`).
pub const LOOKED: u32 = GATE + 1;
/// The number of words of a control block.
pub const WORDS: u32 = LOOKED + 1;

/// The time between two looks at [`host::STOP`], in nanoseconds.
pub const LOOK_AFTER: u32 = 100_000;

/// The queue's words in host memory that the device reaches. All are zero in the beginning.
pub mod host {
    /// 1 once a thread has written a report to the control block. The host reads it while launches run, to end them,
    /// and when they have ended.
    pub const ALARM: u32 = 0;
    /// The greatest number of a launch that must end. A thread of it, or of a launch before it, that is in a loop
    /// without a bound leaves; at every 256th back edge it reads [`STOP`](super::STOP), the device's copy of this word.
    pub const STOP: u32 = 1;
    /// The number of the launch that began last. A launch that finds the gate shut does not begin.
    pub const STARTED: u32 = 2;
    /// The number of these words.
    pub const WORDS: u32 = 3;
}
