//! The control block of a queue: where its launches tell what went wrong, and are told to stop. In 32-bit words.
//!
//! It is in memory of the device, and all launches of a queue share it. The host clears it when the queue is made and
//! after a launch that reported something, and sets [`GATE`] to [`OPEN`] then; a launch that goes well needs nothing of
//! the host. To end launch `n` the host writes `n` to [`GATE`], so that those behind it do nothing, and then to
//! [`STOP`], by copies while it runs.

pub use wattle_codegen::control::*;

/// The queue's gate: [`OPEN`], or the number of the launch that failed or was told to end.
pub const GATE: u32 = SHARED_WORDS;
/// The number of the launch that began last. Launches that a shut gate lets nothing do are no beginning.
pub const STARTED: u32 = GATE + 1;
/// The words of a control block.
pub const WORDS: u32 = STARTED + 1;
