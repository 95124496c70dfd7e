//! The words through which the launches of a queue tell what went wrong, and are told to stop. All have 32 bits.
//!
//! What went wrong is in the queue's control block, in memory of the device, which all its launches share. The host
//! clears it when the queue is made, and sets [`GATE`] to [`OPEN`] then; a launch that goes well needs nothing of the
//! host. Only when a launch has told something does the host read it, and make it as it was, once all has ended.
//!
//! What the host says or hears while launches run is in memory of its own ([`host`]), which needs no call of the
//! driver: while the driver loads a module it may hold its locks until all launches have ended, so that a launch which
//! waits for one that is being loaded could never be told to stop by a copy (CUDA C++ Programming Guide, "Lazy Loading",
//! says that loading may synchronize the context). The word [`STOP`] of the control block is not used.

pub use wattle_ir::control::*;

/// The queue's gate: [`OPEN`], or the number of the launch that failed, or that threads have left because they were told
/// to. Launches alone set it, so that a launch finds it as those before left it.
pub const GATE: u32 = SHARED_WORDS;
/// The words of a control block.
pub const WORDS: u32 = GATE + 1;

/// The queue's words in memory of the host's that the device reaches. All are zero in the beginning.
pub mod host {
    /// 1 once a thread has told something in the control block. The host looks at it when launches have ended.
    pub const ALARM: u32 = 0;
    /// The greatest number of a launch that shall end. A thread of it, or of a launch before it, that is in a loop without
    /// a bound leaves; it looks at every 256th back edge.
    pub const STOP: u32 = 1;
    /// The number of the launch that began last. A launch that a shut gate lets nothing do does not begin.
    pub const STARTED: u32 = 2;
    /// How many words there are.
    pub const WORDS: u32 = 3;
}
