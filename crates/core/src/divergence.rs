//! Barriers that not all threads of a block pass, in the words of every device that finds them.

use std::fmt;

use wattle_ir::Site;

/// Threads of a block that can never go on from the barriers at which they wait. `A` names a thread.
#[derive(Clone, Debug)]
pub enum Divergence<A> {
    /// A thread waits at a barrier, and another one of its block has ended.
    Missed {
        /// The thread that waits.
        waiting: A,
        /// The barrier.
        barrier: Site,
        /// The thread that has ended.
        ended: A,
        /// Its last line, where the device knows it.
        last: Option<Site>,
    },
    /// All threads of a block wait, not all at the same barrier.
    Mismatch {
        /// A thread.
        first: A,
        /// Its barrier.
        first_site: Site,
        /// A thread that waits at another barrier.
        second: A,
        /// Its barrier.
        second_site: Site,
        /// Whether they wait at one statement, in different iterations of a loop around it.
        one_statement: bool,
    },
}

impl<A: fmt::Display> fmt::Display for Divergence<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Divergence::Missed { waiting, barrier, ended, last } => {
                write!(f, "{waiting} waits at the barrier at {barrier}, which {ended} never reaches: it ended")?;
                if let Some(last) = last {
                    write!(f, ", and {last} was its last line")?;
                }
            }
            Divergence::Mismatch { first, first_site, second, second_site, one_statement } => write!(
                f,
                "the threads of a block wait at different barriers: {first} at {first_site}, {second} at {second_site}{}",
                match (one_statement, first_site == second_site) {
                    (true, _) => " in another iteration of a loop around it",
                    (false, true) => " by another call of the function around it",
                    (false, false) => "",
                }
            )?,
        }
        f.write_str("; every thread of a block must pass the same barriers")
    }
}
