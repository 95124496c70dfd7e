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
    /// The lanes of the warp.
    ThreadsInWarp,
    /// The warps of the block.
    WarpsInBlock,
    /// The warps of the grid.
    WarpsInGrid,
}

/// A kind of worker in a launch of rank `Launch` can share a range of rank `Range`: the linear ones any, the others
/// one of the launch's own rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot share a range of {Range} in a launch of {Launch}",
    note = "a range of another rank than the launch's is for the linear workers: `LINEAR_THREADS_IN_GRID` and its like"
)]
pub trait Spans<Launch, Range>: Copy {
    /// The kind of workers that share the range.
    const KIND: Kind;
    /// Whether the workers share it by row-major number, and not per dimension.
    const LINEAR: bool;
}

/// The rank of a range that per-dimension workers share is the launch's.
#[diagnostic::on_unimplemented(
    message = "the range has the rank `{Range}`, and the kernel's `Acc` the rank `{Self}`",
    note = "write a range with as many dimensions, `[0, 0]..[height, width]`, or number the threads row by row: \
            `LINEAR_THREADS_IN_GRID`, which shares ranges of any rank"
)]
pub trait SameRank<Range> {}
impl<const D: usize> SameRank<Dim<D>> for Dim<D> {}

// With one implementation alone for each launch, rustc would take the range's rank to be the launch's, and complain
// about that. No range has the rank 0.
macro_rules! no_range {
    ($($d:literal)+) => {$(
        #[diagnostic::do_not_recommend]
        impl SameRank<Dim<0>> for Dim<$d> {}
    )+};
}
no_range!(1 2 3 4);

macro_rules! workers {
    ($($(#[$meta:meta])* $name:ident $constant:ident $kind:ident $linear:literal $(where $bound:ident)?;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        $(#[$meta])*
        pub const $constant: $name = $name;

        impl<const D: usize, const E: usize> Spans<Dim<D>, Dim<E>> for $name
        where
            $(Dim<D>: $bound<Dim<E>>,)?
        {
            const KIND: Kind = Kind::$kind;
            const LINEAR: bool = $linear;
        }
    )+};
}

workers! {
    /// All threads of the grid, per dimension.
    ThreadsInGrid THREADS_IN_GRID ThreadsInGrid false where SameRank;
    /// The threads of the block, per dimension.
    ThreadsInBlock THREADS_IN_BLOCK ThreadsInBlock false where SameRank;
    /// The blocks of the grid, per dimension.
    BlocksInGrid BLOCKS_IN_GRID BlocksInGrid false where SameRank;
    /// All threads of the grid, by their row-major number.
    LinearThreadsInGrid LINEAR_THREADS_IN_GRID ThreadsInGrid true;
    /// The threads of the block, by their row-major number.
    LinearThreadsInBlock LINEAR_THREADS_IN_BLOCK ThreadsInBlock true;
    /// The blocks of the grid, by their row-major number.
    LinearBlocksInGrid LINEAR_BLOCKS_IN_GRID BlocksInGrid true;
    /// Every thread is given every index.
    AllThreads ALL_THREADS AllThreads true;
    /// The lanes of the warp, those that have a thread.
    ThreadsInWarp THREADS_IN_WARP ThreadsInWarp true;
    /// The warps of the block: all lanes of a warp are given the same indices.
    WarpsInBlock WARPS_IN_BLOCK WarpsInBlock true;
    /// The warps of the grid: all lanes of a warp are given the same indices.
    WarpsInGrid WARPS_IN_GRID WarpsInGrid true;
}
