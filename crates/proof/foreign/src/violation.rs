//! What is wrong with an execution, in the words of the module's source.

use std::fmt;

use wattle_memory::{Clause, Model, ThreadId};

use crate::reason::Reason;
use crate::world::World;

/// What is wrong with an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Two conflicting accesses, not both strong and in each other's scope, that nothing orders.
    Race {
        /// The place of both.
        place: String,
        /// The accesses.
        accesses: [Step; 2],
        /// The sizes of the accesses, where they differ.
        sizes: Option<Box<Sizes>>,
        /// Why what passes from one thread to the other orders nothing, if something does.
        reason: Option<Box<Reason>>,
    },
    /// A read by `ld.global.nc`, whose memory must be read-only while the kernel runs, and a write of the same launch
    /// to that place, ordered or not.
    ReadOnly {
        /// The place of both.
        place: String,
        /// The read and the write.
        accesses: [Step; 2],
    },
    /// An access to the target of an asynchronous copy before the copy was waited for.
    Copying {
        /// The place of both.
        place: String,
        /// The access, and the copy's own.
        accesses: [Step; 2],
    },
    /// An assertion about the memory at the end.
    Assertion {
        /// The text of the assertion.
        text: String,
        /// The values that it looks at.
        values: String,
    },
    /// A fault of a thread.
    Fault {
        /// What happened.
        what: String,
        /// The place in the source.
        at: String,
        /// The thread.
        thread: ThreadId,
    },
    /// A read of memory that nobody has written.
    Unwritten {
        /// The place that was read.
        place: String,
        /// The read.
        read: Step,
        /// The instruction to which the value matters, of the thread or of a lane that took it; `None` where reading it
        /// is an error by itself.
        used: Option<Box<Step>>,
        /// A write of another thread that does not come before the read, or the copy that is read.
        written: Option<Box<Step>>,
        /// Whether a copy has taken the value there, along with what somebody has written.
        is_copy: bool,
    },
    /// A value that matters, an address, a condition or one that is given to other threads, and that comes from a
    /// register or a byte of local memory that the thread has not written.
    Unassigned {
        /// The register or the byte.
        place: String,
        /// The instruction to which the value matters.
        read: Step,
    },
    /// Threads that wait for ever.
    Stuck(Vec<StuckThread>),
}

/// What is wrong with a protocol that counts on a value and its flag to come as one vector.
const VECTORS: Clause = Clause {
    document: "PTX ISA 8.5,",
    section: "8.2.4 \"Vector Data-types\"",
    quote: "Memory operations with a vector data type are modelled as a set of equivalent memory operations with a scalar \
            data type, executed in an unspecified order on the elements in the vector.",
};

impl Violation {
    /// The name of the violation's kind, in a few words.
    pub fn kind(&self) -> &'static str {
        match self {
            Violation::Race { .. } => "data race",
            Violation::ReadOnly { .. } => "write to read-only memory",
            Violation::Copying { .. } => "access during a copy",
            Violation::Assertion { .. } => "assertion",
            Violation::Fault { .. } => "fault",
            Violation::Unwritten { .. } => "unwritten memory",
            Violation::Unassigned { .. } => "unwritten value",
            Violation::Stuck(_) => "can be stuck for ever",
        }
    }

    /// What is wrong, in one sentence.
    pub fn sentence(&self, world: &World) -> String {
        match self {
            Violation::Race { place, accesses: [first, second], sizes, reason } => {
                let sizes = sizes.as_ref().map_or_else(String::new, |sizes| format!("; {sizes}"));
                let why = reason.as_ref().map_or_else(String::new, |reason| format!("; {}", reason.sentence));
                format!(
                    "data race on {place}: nothing orders {} at {} and {} at {}{sizes}{why}",
                    world.thread_name(first.thread),
                    first.at,
                    world.thread_name(second.thread),
                    second.at
                )
            }
            Violation::ReadOnly { place, accesses: [read, write] } => format!(
                "{place} is read by {} at {} with `ld.global.nc`, for which it has to be read-only while the kernel runs, and {} \
                 writes it at {}",
                world.thread_name(read.thread),
                read.at,
                world.thread_name(write.thread),
                write.at
            ),
            Violation::Copying { place, accesses: [access, copy] } => format!(
                "{place} is accessed by {} at {} between the beginning of an asynchronous copy and the wait that completes the copy ({} at {})",
                world.thread_name(access.thread),
                access.at,
                world.thread_name(copy.thread),
                copy.at
            ),
            Violation::Assertion { text, values } => format!("`{text}` does not hold: {values}"),
            Violation::Fault { what, at, thread } => format!("{what}, by {} at {at}", world.thread_name(*thread)),
            Violation::Unwritten { place, read, used, written, is_copy } => {
                let used = used.as_ref().map_or_else(String::new, |used| format!("; the value is used at {}", used.at));
                let nobody = || "and nobody has written it".to_owned();
                let why = written.as_ref().map_or_else(nobody, |write| {
                    let thread = world.thread_name(write.thread);
                    if *is_copy {
                        return format!("where {thread} has copied at {} what nobody has written", write.at);
                    }
                    format!("where it has not been written yet: {thread} writes it at {}, and nothing orders that before the read", write.at)
                });
                format!("{place} is read by {} at {}, {why}{used}", world.thread_name(read.thread), read.at)
            }
            Violation::Unassigned { place, read } => {
                format!(
                    "what {place} holds is used by {} at {}, and comes from what nobody has written",
                    world.thread_name(read.thread),
                    read.at
                )
            }
            Violation::Stuck(threads) => {
                alike(threads).iter().map(|alike| stuck_words(world, alike)).collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// The places in the source where it shows: of a race both accesses, of an assertion about the end none.
    pub fn places(&self) -> Vec<&str> {
        match self {
            Violation::Race { accesses, .. }
            | Violation::ReadOnly { accesses, .. }
            | Violation::Copying { accesses, .. } => accesses.iter().map(|access| access.at.as_str()).collect(),
            Violation::Assertion { .. } => Vec::new(),
            Violation::Fault { at, .. } => vec![at],
            Violation::Unwritten { read, used, written, .. } => {
                let others = [used, written].into_iter().filter_map(Option::as_deref);
                std::iter::once(read).chain(others).map(|step| step.at.as_str()).collect()
            }
            Violation::Unassigned { read, .. } => vec![&read.at],
            Violation::Stuck(threads) => threads.iter().map(|stuck| stuck.at.as_str()).collect(),
        }
    }

    /// The clauses of the model's specification that say so of an execution with these steps.
    pub fn clauses(&self, model: Model, steps: &[Step]) -> Vec<Clause> {
        match self {
            Violation::Race { reason, .. } => {
                let term = reason.as_ref().and_then(|reason| model.definition(reason.term?));
                term.into_iter().chain(model.race_clause()).collect()
            }
            Violation::Stuck(..) | Violation::Assertion { .. } if steps.iter().any(Step::is_strong_vector) => {
                vec![VECTORS]
            }
            Violation::Fault { .. }
            | Violation::Unwritten { .. }
            | Violation::Unassigned { .. }
            | Violation::ReadOnly { .. }
            | Violation::Copying { .. }
            | Violation::Stuck(..)
            | Violation::Assertion { .. } => Vec::new(),
        }
    }
}

/// The sizes of two accesses, which share bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The size of each in bytes.
    pub each: [u64; 2],
    /// The name of the place at which the larger one begins.
    pub from: String,
    /// The offset of that place in its memory, in bytes.
    pub begin: u64,
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sizes { each: [first, second], from, begin } = self;
        let wide = first.max(second);
        let [one, other, all] =
            [first, second, wide].map(|count| if *count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") });
        let end = begin + wide - 1;
        write!(
            f,
            "they are of different sizes, the first of {one} and the second of {other}, among the {all} from {from} (bytes {begin} to \
             {end} of its memory)"
        )
    }
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckThread {
    /// The thread that waits.
    pub thread: ThreadId,
    /// Whether the thread waits at a barrier; else it goes round in a loop.
    pub at_barrier: bool,
    /// Whether what it waits at is an operation that lanes of its warp do together.
    pub in_warp: bool,
    /// The place in the source at which it waits.
    pub at: String,
    /// The thread of its block that has gone past the barrier at which it waits, to its end.
    pub passed_by: Option<ThreadId>,
}

/// What threads do that wait for ever at one place, in words.
fn stuck_words(world: &World, alike: &[&StuckThread]) -> String {
    let stuck = alike[0];
    let (name, waits, goes) = match alike.len() - 1 {
        0 => (world.thread_name(stuck.thread), "waits", "goes"),
        1 => (format!("{} and another one", world.thread_name(stuck.thread)), "wait", "go"),
        more => (format!("{} and {more} others", world.thread_name(stuck.thread)), "wait", "go"),
    };
    if let Some(other) = stuck.passed_by {
        return format!(
            "{name} {waits} at the barrier at {}, and {} has gone past it to its end: all threads of the block come \
             to a __syncthreads() or none (CUDA C++ Programming Guide, \"Synchronization Functions\"; PTX ISA \
             9.7.13.1 of those of a warp)",
            stuck.at,
            world.thread_name(other)
        );
    }
    match stuck.at_barrier {
        true if stuck.in_warp => {
            let warp = world.warp_word(stuck.thread);
            format!(
                "{name} {waits} for ever for others of the {warp}, which do not come to the same operation, at {}",
                stuck.at
            )
        }
        true => format!("{name} {waits} at a barrier for ever at {}", stuck.at),
        false => format!("{name} {goes} round for ever at {}", stuck.at),
    }
}

/// Threads that would wait for ever, if barriers of a block waited for threads that have ended, and the story.
pub(crate) type HeldUp = (Vec<StuckThread>, Vec<Step>);

/// The threads of each place at which some wait in one way.
pub(crate) fn alike(threads: &[StuckThread]) -> Vec<Vec<&StuckThread>> {
    let mut all: Vec<Vec<&StuckThread>> = Vec::new();
    for stuck in threads {
        let is_like = |other: &StuckThread| StuckThread { thread: stuck.thread, ..other.clone() } == *stuck;
        match all.iter_mut().find(|alike| is_like(alike[0])) {
            Some(alike) => alike.push(stuck),
            None => all.push(vec![stuck]),
        }
    }
    all
}

/// One event of an execution, as a report shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread that did it.
    pub thread: ThreadId,
    /// The instruction in the words of the module.
    pub instruction: String,
    /// The place in the source.
    pub at: String,
    /// The value that the event read or wrote: `lock: 0`.
    pub value: Option<String>,
}

impl Step {
    /// Whether the event is an access of PTX to a vector that takes part in communication.
    fn is_strong_vector(&self) -> bool {
        let mut words = self.instruction.split_whitespace();
        let Some(access) = words.find(|word| word.starts_with("ld.") || word.starts_with("st.")) else { return false };
        let has = |all: &[&str]| access.split('.').any(|part| all.contains(&part));
        has(&["v2", "v4", "v8"]) && has(&["volatile", "relaxed", "acquire", "release", "mmio"])
    }
}
