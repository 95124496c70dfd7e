//! The workers that share a range of indices: the first argument of `acc.indices`.

use crate::Dim;

/// The kinds of workers, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All threads of the grid.
    ThreadsInGrid,
    /// The threads of the block.
    ThreadsInBlock,
    /// The blocks of the grid.
    BlocksInGrid,
    /// Every thread is given everything.
    AllThreads,
}

/// A kind of worker in a launch of rank `Launch` can share a range of rank `Range`: the linear ones any, the others
/// one of the launch's own rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot share a range of {Range} in a launch of {Launch}",
    note = "a range of another rank than the launch's is for the linear workers: `LINEAR_THREADS_IN_GRID` and its like"
)]
pub trait Spans<Launch, Range>: Copy {
    /// Which workers share the range.
    const KIND: Kind;
    /// Whether they share it by row-major number, and not per dimension.
    const LINEAR: bool;
}

macro_rules! workers {
    ($($(#[$meta:meta])* $name:ident $constant:ident $kind:ident $linear:literal <$launch:ident $range:ident $($d:ident)*>)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        $(#[$meta])*
        pub const $constant: $name = $name;

        impl<$(const $d: usize),*> Spans<Dim<$launch>, Dim<$range>> for $name {
            const KIND: Kind = Kind::$kind;
            const LINEAR: bool = $linear;
        }
    )+};
}

workers! {
    /// All threads of the grid, per dimension.
    ThreadsInGrid THREADS_IN_GRID ThreadsInGrid false <D D D>
    /// The threads of the block, per dimension.
    ThreadsInBlock THREADS_IN_BLOCK ThreadsInBlock false <D D D>
    /// The blocks of the grid, per dimension.
    BlocksInGrid BLOCKS_IN_GRID BlocksInGrid false <D D D>
    /// All threads of the grid, by their row-major number.
    LinearThreadsInGrid LINEAR_THREADS_IN_GRID ThreadsInGrid true <D E D E>
    /// The threads of the block, by their row-major number.
    LinearThreadsInBlock LINEAR_THREADS_IN_BLOCK ThreadsInBlock true <D E D E>
    /// The blocks of the grid, by their row-major number.
    LinearBlocksInGrid LINEAR_BLOCKS_IN_GRID BlocksInGrid true <D E D E>
    /// Every thread is given every index.
    AllThreads ALL_THREADS AllThreads true <D E D E>
}
