//! The limits that end a command early: its time, its memory, Ctrl-C.
//!
//! Work is asked to end: searches look at a flag, launches have a time limit and look at Ctrl-C. What does not heed
//! that in time (the host's part of a scenario, a driver's compiler) is left to itself: it has a thread of its own, the
//! command reports what it has, and the end of the process ends the rest.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use wattle::checker::Checker;
use wattle::interrupt;
use wattle_check::search::resident_bytes;

use crate::exit::Input;

/// The time limit for advice.
pub const ADVICE: Duration = Duration::from_secs(10);

/// Whether some work did not end when it was asked to, and goes on.
static LEFT_BEHIND: AtomicBool = AtomicBool::new(false);

/// How often limits are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long work may take to end with what it has found, once it has been asked to.
const GRACE: Duration = Duration::from_millis(300);
/// The main thread's usual stack, for work that would run there.
const STACK: usize = 8 << 20;

/// The options of all commands that may take long.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct LimitArgs {
    /// Stop after this many seconds and print what was found
    #[arg(long, value_name = "SECONDS", value_parser = crate::values::seconds, allow_negative_numbers = true)]
    pub time: Option<Duration>,
    /// Stops when the process uses this much memory, with what was found: 512M, 1G
    #[arg(long, value_name = "BYTES", value_parser = crate::values::bytes)]
    pub memory: Option<u64>,
}

/// Whether a command has left work to itself, which did not end when it was asked to.
pub fn work_was_left_behind() -> bool {
    LEFT_BEHIND.load(Ordering::Relaxed)
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    Interrupted,
    Time,
    Memory,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reached::Interrupted => "it was interrupted",
            Reached::Time => "the time limit was reached",
            Reached::Memory => "the memory limit was reached",
        })
    }
}

impl From<Reached> for Input {
    fn from(reached: Reached) -> Input {
        let kind = match reached {
            Reached::Interrupted => "interrupted",
            Reached::Time => "time_limit",
            Reached::Memory => "memory_limit",
        };
        Input::new(kind, format!("{reached} before there was an answer"))
    }
}

/// The limits of a command that runs.
#[derive(Clone)]
pub struct Limits {
    /// The most memory of the process, in bytes.
    pub memory: Option<u64>,
    /// The time at which the command must end.
    pub deadline: Option<Instant>,
    /// The flag that asks searches to end.
    pub cancelled: Arc<AtomicBool>,
    /// The limit that was reached first, kept since memory may be free again later.
    first: Arc<OnceLock<Reached>>,
}

impl Limits {
    /// The limits of a command whose time counts from now.
    pub fn new(args: LimitArgs) -> Limits {
        let deadline = args.time.and_then(|time| Instant::now().checked_add(time));
        Limits { memory: args.memory, deadline, cancelled: Arc::default(), first: Arc::default() }
    }

    /// The limit that has been reached, if one has.
    pub fn reached(&self) -> Option<Reached> {
        if self.first.get().is_none()
            && let Some(reached) = self.look()
        {
            let _ = self.first.set(reached);
        }
        self.first.get().copied()
    }

    fn look(&self) -> Option<Reached> {
        if interrupt::requested() {
            return Some(Reached::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(Reached::Time);
        }
        let used = || resident_bytes().unwrap_or(0);
        self.memory.filter(|&most| used() > most).map(|_| Reached::Memory)
    }

    /// Converts the limits for a search, which heeds Ctrl-C itself.
    pub fn of_search(&self) -> wattle_check::search::Limits {
        wattle_check::search::Limits {
            deadline: self.deadline,
            memory: self.memory,
            heeds_interrupt: true,
            cancelled: Some(self.cancelled.clone()),
        }
    }

    /// The time that is left, if there is a limit.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Runs `work` within the limits.
    ///
    /// # Errors
    /// A limit was reached, and the work did not end when it was asked to.
    pub fn within<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> Result<R, Reached> {
        self.watched(work, &mut || {})
    }

    /// Does the work as [`Limits::within`] does, and calls `look` at intervals meanwhile and once at the end.
    pub fn watched<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
        look: &mut dyn FnMut(),
    ) -> Result<R, Reached> {
        let (done, result) = channel();
        let worker = thread::Builder::new().name("work".into()).stack_size(STACK).spawn(move || {
            // The receiver is gone where the work has been left to itself.
            let _ = done.send(work());
        });
        let mut asked: Option<(Reached, Instant)> = None;
        loop {
            let ended = match &worker {
                Ok(_) => result.recv_timeout(LOOK),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            };
            look();
            match (ended, asked) {
                (Ok(result), _) => return Ok(result),
                (Err(RecvTimeoutError::Disconnected), _) => match worker.map(thread::JoinHandle::join) {
                    Ok(Err(panic)) => resume_unwind(panic),
                    _ => return Err(Reached::Memory),
                },
                (Err(RecvTimeoutError::Timeout), Some((reached, since))) if since.elapsed() >= GRACE => {
                    LEFT_BEHIND.store(true, Ordering::Relaxed);
                    return Err(reached);
                }
                (Err(RecvTimeoutError::Timeout), None) => {
                    asked = self.reached().map(|reached| (reached, Instant::now()));
                    if asked.is_some() {
                        self.cancelled.store(true, Ordering::Relaxed);
                    }
                }
                (Err(RecvTimeoutError::Timeout), Some(_)) => {}
            }
        }
    }
}

/// A checker that ends at the command's limits.
pub fn limited(checker: &Checker, limits: &Limits) -> Checker {
    let mut checker = checker.clone().cancelled_by(limits.cancelled.clone());
    if let Some(left) = limits.left() {
        checker = checker.time(left);
    }
    if let Some(bytes) = limits.memory {
        checker = checker.memory(bytes);
    }
    checker
}
