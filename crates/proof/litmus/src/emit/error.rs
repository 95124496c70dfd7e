//! The reasons why launches cannot be written as a litmus file.

use wattle_check::search::Stopped;
use wattle_memory::{NoScope, Target};

use crate::program::Dialect;

/// The reason why launches cannot be written as a litmus file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The launches were lowered for another target.
    #[error("what is lowered for {target} cannot be written in the dialect of {dialect}: check it for that target")]
    Target {
        /// The target that they were lowered for.
        target: Target,
        /// The requested dialect.
        dialect: Dialect,
    },
    /// A launch follows another, without the scenario waiting in between.
    #[error(
        "`{kernel}` begins when a launch before it has ended, and a litmus file's threads all run at once: wait \
         between the launches, and each becomes a file"
    )]
    Sequence {
        /// The launch that follows.
        kernel: String,
    },
    /// The target lacks the scope.
    #[error(transparent)]
    Scope(#[from] NoScope),
    /// A loop continues and never returns to an earlier state.
    #[error("a loop goes on after {0} iterations, each unlike the one before: a litmus file would have no end")]
    Loop(u32),
    /// A thread's code is too long.
    #[error("thread {thread} has more than {most} instructions, at {site}")]
    TooLong {
        /// The number of the thread.
        thread: usize,
        /// The maximum number of instructions.
        most: usize,
        /// The source line.
        site: String,
    },
    /// A value depends on too many combinations of values.
    #[error("at {site} too much depends on what other threads do: {combinations} combinations of values")]
    TooMany {
        /// The source line.
        site: String,
        /// The number of combinations.
        combinations: usize,
    },
    /// An execution's unordered writes leave too many memories.
    #[error(
        "an execution can end in more than {0} ways, since nothing orders its last writes: a condition would be too long"
    )]
    TooManyEnds(usize),
    /// Threads of a warp do something together.
    #[error("at {site} the lanes of a warp do something together, for which litmus files have no instruction")]
    Warp {
        /// The source line.
        site: String,
    },
    /// An atomic operation gives another result on the 64 bits of a litmus file's values.
    #[error("at {site} an atomic `{operation}` of `{ty}` gives another value than litmus files' integers of 64 bits")]
    Arithmetic {
        /// The source line.
        site: String,
        /// The operation.
        operation: String,
        /// The type of the operation.
        ty: String,
    },
    /// The program has a property that the search does not support.
    #[error("accesses of different sizes to one location")]
    MixedSizes,
    /// A limit was reached.
    #[error("{0} before all executions were seen")]
    Stopped(Stopped),
}
