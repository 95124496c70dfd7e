//! Barriers that not all threads of a block pass, and operations that not all lanes of a warp reach, in the words of
//! every device that finds them.

use std::fmt;

use wattle_ir::Site;

/// Threads that can never go on from where they wait for each other: barriers of a block, or operations of a warp. `A`
/// names a thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Divergence<A> {
    /// A thread waits at a barrier, and another one of its block has ended.
    Missed {
        /// The thread that waits.
        waiting: A,
        /// The barrier.
        barrier: Site,
        /// The thread that has ended.
        ended: A,
        /// The last line of the ended thread, where the device knows it.
        last: Option<Site>,
        /// Whether the thread waits at an operation of the warp, and not at the block's barrier.
        in_warp: bool,
    },
    /// All threads of a block wait, not all at the same barrier.
    Mismatch {
        /// A thread that waits at a barrier.
        first: A,
        /// The source line of the barrier at which the first thread waits.
        first_site: Site,
        /// A thread that waits at another barrier.
        second: A,
        /// The source line of the barrier at which the second thread waits.
        second_site: Site,
        /// Whether both wait at one statement, in different iterations of a loop around it.
        one_statement: bool,
        /// Whether both are lanes of a warp, one of which waits at an operation of the warp.
        in_warp: bool,
    },
}

impl<A: fmt::Display> fmt::Display for Divergence<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_warp = match self {
            Divergence::Missed { waiting, barrier, ended, last, in_warp } => {
                let at = if *in_warp { "warp operation" } else { "barrier" };
                write!(f, "{waiting} waits at the {at} at {barrier}, which {ended} never reaches: it ended")?;
                if let Some(last) = last {
                    write!(f, ", and {last} was its last line")?;
                }
                in_warp
            }
            Divergence::Mismatch { first, first_site, second, second_site, one_statement, in_warp } => {
                let of = if *in_warp { "lanes of a warp wait at different places" } else { BARRIERS };
                let how = match (one_statement, first_site == second_site) {
                    (true, _) => " in another iteration of a loop around it",
                    (false, true) => " by another call of the function around it",
                    (false, false) => "",
                };
                write!(f, "the {of}: {first} at {first_site}, {second} at {second_site}{how}")?;
                in_warp
            }
        };
        f.write_str(match in_warp {
            true => "; all lanes of a warp must come to the same operations of the warp",
            false => "; every thread of a block must pass the same barriers",
        })
    }
}

const BARRIERS: &str = "threads of a block wait at different barriers";
