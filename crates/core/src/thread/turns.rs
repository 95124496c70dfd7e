//! How threads of a block that share a worker take turns on it.

use corosensei::Yielder;

/// What a thread waits for when it lets the others of its block run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The other threads of its block, at a barrier.
    Barrier,
    /// The other lanes of its warp, at an operation of the warp.
    Warp,
    /// The thread's own next turn.
    Turn,
    /// The launch has been stopped: the thread waits for nothing, and must not run again.
    Stopped,
}

/// What a fiber has to let others run.
pub(crate) type Turns = Yielder<(), Wait>;
