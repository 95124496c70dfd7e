//! What a thread of a kernel can do that it must not.

use thiserror::Error;
use wattle_ir::Site;

/// What a thread of a kernel did that it must not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`, block {block}, thread {thread}: {what}\n  at {site}")]
pub struct Fault {
    /// The name of the kernel.
    pub kernel: String,
    /// The thread's block.
    pub block: String,
    /// The thread in its block.
    pub thread: String,
    /// The source line of the access, division or assertion.
    pub site: Site,
    /// What the thread did.
    pub what: FaultKind,
}

/// What a thread of a kernel did that it must not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An index that is out of bounds. The access was skipped.
    #[error("index {index} of `{view}`, which has extent {extent}; the access was skipped")]
    OutOfBounds {
        /// The view's name.
        view: String,
        /// The index.
        index: String,
        /// The extent.
        extent: String,
    },
    /// An integer was divided by zero. The result was 0.
    #[error("division by zero; the result was 0")]
    DivisionByZero,
    /// An assertion did not hold.
    #[error("assertion failed: {0}")]
    Assertion(String),
    /// More block shared memory than there is.
    #[error("{asked} bytes of block shared memory, of which the device has {available}")]
    SharedMemory {
        /// The number of bytes that the kernel asks for.
        asked: u64,
        /// The number of bytes that the device has for it.
        available: u64,
    },
}
