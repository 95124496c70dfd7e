//! The findings of a run, in words that say what happened, where, and how to fix it.

use std::fmt;

use thiserror::Error;
use wattle_core::Divergence;
use wattle_ir::Site;
use wattle_machine::{Fault, Position};
use wattle_memory::Scope;

/// A thread, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The kernel's name.
    pub kernel: String,
    /// The launch's label.
    pub launch: String,
    /// The number of dimensions of the launch.
    pub rank: usize,
    /// The block of the thread in its launch, and its index in the block.
    pub position: Position,
    /// Whether the thread runs on the device, not on the host.
    pub on_device: bool,
}

/// An access, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// The thread.
    pub actor: Actor,
    /// Whether the access wrote.
    pub write: bool,
    /// The scope of an atomic access; `None` for a plain one.
    pub scope: Option<Scope>,
    /// The source line.
    pub site: Site,
    /// The size in bytes, of accesses whose sizes or places differ.
    pub bytes: Option<u8>,
}

/// Two conflicting accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The element, as the later access names it.
    pub element: ElementName,
    /// The access that came first in this run.
    pub first: AccessSite,
    /// The access that came second.
    pub second: AccessSite,
}

/// A thread's position in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thread.
    pub actor: Actor,
    /// The last source line that it passed.
    pub site: Site,
    /// What the thread does at that line.
    pub why: Why,
}

/// What a thread does at its last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The thread waits at a barrier.
    Barrier,
    /// The thread waits at an operation of its warp.
    Warp,
    /// The thread repeats a loop in which nothing can change any more.
    Spinning,
    /// The thread could continue.
    Running,
}

/// The reason why a launch was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The threads of the launch together reached this limit on their statements.
    StepLimit(u64),
    /// The time limit of the launch was reached.
    Deadline,
    /// The stop flag was set.
    Interrupted,
}

/// An error of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// An index out of bounds, a division by zero, or a failed assertion. The first of the launch.
    Fault {
        /// The thread.
        actor: Actor,
        /// The fault.
        fault: Fault,
        /// The name of the view or array, where the fault is an index.
        place: &'static str,
        /// The fault in words, with the names of the kernel.
        what: String,
    },
    /// What a thread of a module's kernel did wrong, besides what the other findings say: an access outside of its
    /// buffer, a trap, an access during an asynchronous copy. The first of the launch.
    Wrong {
        /// The thread.
        actor: Actor,
        /// What the thread did, in words.
        what: String,
        /// The source line.
        site: Site,
    },
    /// What a thread of a module's kernel does cannot be judged, so that the launch was ended.
    Unjudged {
        /// The thread.
        actor: Actor,
        /// What the thread did, and why that cannot be judged.
        what: String,
        /// The source line.
        site: Site,
    },
    /// The first read of an unwritten element in the launch.
    Unwritten {
        /// The thread.
        actor: Actor,
        /// The element.
        element: ElementName,
        /// Whether the element is in the block's shared memory.
        shared: bool,
        /// The source line.
        site: Site,
    },
    /// Threads of a block wait at a barrier, and other threads of the block have ended without reaching it; or so do
    /// the lanes of a warp at an operation of it.
    BarrierMissed {
        /// A thread that waits.
        waiting: Actor,
        /// The barrier.
        barrier: Site,
        /// A thread that has ended.
        ended: Actor,
        /// The last line of the ended thread.
        last: Site,
        /// Whether the threads meet at an operation of the warp.
        in_warp: bool,
    },
    /// The threads of a block wait at different barriers, or the lanes of a warp at different operations.
    BarrierMismatch {
        /// A thread that waits.
        first: Actor,
        /// The barrier of the first thread.
        first_site: Site,
        /// A thread that waits elsewhere.
        second: Actor,
        /// The barrier of the second thread.
        second_site: Site,
        /// Whether both are one statement, in different iterations of the loops around it. If not and the lines are
        /// equal, the statement was reached through different calls of its function.
        one_statement: bool,
        /// Whether the threads are lanes of a warp, one of which waits at an operation of it.
        in_warp: bool,
    },
    /// The first data race of the launch.
    Race(Box<Race>),
    /// No thread can ever go on.
    Stuck {
        /// The launch's label.
        launch: String,
        /// The positions of its first threads.
        threads: Vec<Waiting>,
        /// The number of further threads.
        more: u64,
        /// The number of its blocks that had not started.
        not_started: u64,
    },
    /// The launch was ended.
    Stopped {
        /// The launch's label.
        launch: String,
        /// The reason.
        reason: StopReason,
        /// The positions of its first threads.
        threads: Vec<Waiting>,
        /// The number of further threads.
        more: u64,
        /// The number of its blocks that had not started.
        not_started: u64,
    },
}

/// The errors of a launch, in the order in which they happened; the first of each kind.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", List(.0))]
pub struct Findings(pub Vec<Finding>);

struct List<'a>(&'a [Finding]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, finding) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            finding.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.on_device {
            let (block, thread) = (self.position.block, self.position.thread);
            let rank = self.rank.min(block.len());
            write!(f, "thread {} of block {}", Index(&thread[..rank]), Index(&block[..rank]))?;
        } else {
            f.write_str("the host thread")?;
        }
        write!(f, " of kernel `{}`", self.kernel)?;
        if self.launch != self.kernel { write!(f, " (launch `{}`)", self.launch) } else { Ok(()) }
    }
}

/// An element of memory, or a number of one that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementName {
    /// The view or shared array; of a module's access with the index there.
    pub place: String,
    /// The index there; empty where the place has it.
    pub index: Vec<u64>,
    /// The way from the element to the number, `.position[2]`; empty where the element is the number.
    pub path: &'static str,
}

impl fmt::Display for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ElementName { place, index, path } = self;
        match &index[..] {
            [] => f.write_str(place),
            index if path.is_empty() => write!(f, "`{place}` at index {}", Index(index)),
            [index] => write!(f, "`{place}[{index}]{path}`"),
            index => write!(f, "`{place}[{index:?}]{path}`"),
        }
    }
}

/// An index: one number, or a tuple of several.
struct Index<'a, N>(&'a [N]);

impl<N: fmt::Display> fmt::Display for Index<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0 {
            return write!(f, "{one}");
        }
        let numbers: Vec<String> = self.0.iter().map(N::to_string).collect();
        write!(f, "({})", numbers.join(", "))
    }
}

impl fmt::Display for AccessSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.write { "write" } else { "read" };
        match self.scope {
            None => write!(f, "plain {access}")?,
            Some(scope) => write!(f, "atomic {access} ({scope} scope)")?,
        }
        match self.bytes {
            None => {}
            Some(1) => f.write_str(" of 1 byte")?,
            Some(bytes) => write!(f, " of {bytes} bytes")?,
        }
        write!(f, " by {} at {}", self.actor, self.site)
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            Why::Barrier => "waits at the barrier at",
            Why::Warp => "waits at the operation of its warp at",
            Why::Spinning => "repeats a loop in which nothing changes, at",
            Why::Running => "was at",
        };
        write!(f, "{} {why} {}", self.actor, self.site)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::StepLimit(limit) => write!(f, "its threads did {limit} statements, which was its limit"),
            StopReason::Deadline => f.write_str("its time was up"),
            StopReason::Interrupted => f.write_str("it was interrupted"),
        }
    }
}

fn threads(f: &mut fmt::Formatter<'_>, threads: &[Waiting], more: u64, not_started: u64) -> fmt::Result {
    threads.iter().try_for_each(|waiting| write!(f, "\n  {waiting}"))?;
    if more > 0 {
        write!(f, "\n  and {more} more threads")?;
    }
    if not_started > 0 {
        write!(
            f,
            "\n  {not_started} of its blocks had not started: blocks start in index order as others end\n  help: for \
             blocks that wait for each other, launch it with `LaunchOptions::new().cooperative()`: then all run at once"
        )?;
    }
    Ok(())
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Fault { actor, fault, what, .. } => write!(f, "{what}: {actor} at {}", fault.site()),
            Finding::Wrong { actor, what, site } => write!(f, "{what}: {actor} at {site}"),
            Finding::Unjudged { actor, what, site } => {
                write!(f, "what {actor} does at {site} cannot be judged, so that the launch was ended: {what}")
            }
            Finding::Unwritten { actor, element, shared, site } => {
                let advice = if *shared {
                    "shared memory holds nothing when a block starts: write it first, then pass a barrier"
                } else {
                    "initialise the buffer, or let the kernel write it first"
                };
                write!(f, "{element} was read, and nobody wrote it: {actor} at {site}; {advice}")
            }
            Finding::BarrierMissed { waiting, barrier, ended, last, in_warp } => {
                Divergence::Missed { waiting, barrier: *barrier, ended, last: Some(*last), in_warp: *in_warp }.fmt(f)
            }
            Finding::BarrierMismatch { first, first_site, second, second_site, one_statement, in_warp } => {
                let (first_site, second_site) = (*first_site, *second_site);
                let (one_statement, in_warp) = (*one_statement, *in_warp);
                Divergence::Mismatch { first, first_site, second, second_site, one_statement, in_warp }.fmt(f)
            }
            Finding::Race(race) => write!(
                f,
                "data race on {}:\n  {}\n  {}\nnothing orders them: let one thread release (a release fence \
                 or store) and the other acquire what it wrote, at scopes that include both, or put a barrier between \
                 them, or {}",
                race.element,
                race.first,
                race.second,
                // Atomics race where one's scope does not include the other's thread, or their sizes differ.
                match (race.first.scope, race.second.scope) {
                    (Some(_), Some(_)) if race.first.bytes.is_some() => {
                        "let both atomics access the same bytes, at scopes that include both threads"
                    }
                    (Some(_), Some(_)) => "give both atomics a scope that includes both threads",
                    (None, _) | (_, None) => "make both atomic",
                }
            ),
            Finding::Stuck { launch, threads: list, more, not_started } => {
                write!(
                    f,
                    "launch `{launch}` can never end with what is enqueued: each of its threads waits for what none of it does"
                )?;
                threads(f, list, *more, *not_started)
            }
            Finding::Stopped { launch, reason, threads: list, more, not_started } => {
                write!(f, "launch `{launch}` was ended: {reason}")?;
                threads(f, list, *more, *not_started)
            }
        }
    }
}
