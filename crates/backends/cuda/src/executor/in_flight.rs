//! Launches in flight: how their end is seen, and what happens to those that do not end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wattle_core::{Error, EventState, Transfer, interrupt, lock, system};
use wattle_gpu::{GRACE, Reason};
use wattle_ptx::control;

use super::CudaExecutor;
use crate::driver::{Event, Refusal};
use crate::exit;
use crate::modules::{Built, Code};
use crate::wait::Wait;

/// The shortest and the longest time between two looks at which launch is running, when an operation takes long.
const LEAST_LOOK: Duration = Duration::from_millis(1);
const MOST_LOOK: Duration = Duration::from_millis(50);

/// A launch in flight, with the built kernel and the code that runs.
pub(super) type Launched = wattle_gpu::Launched<(Arc<Built>, Arc<Code>)>;

/// An operation that was submitted to the stream, and has not ended as far as the host has seen.
pub(super) enum InFlight {
    Launch(Launched),
    /// A copy or a fill, which owns its buffers; it has a number if it is a launch of a built-in kernel.
    Transfer {
        number: Option<u32>,
        _keeps: Transfer,
    },
}

impl InFlight {
    pub(super) fn launch(&self) -> Option<&Launched> {
        if let InFlight::Launch(launched) = self { Some(launched) } else { None }
    }

    /// The launch number; `None` for a copy or a fill that is not a launch.
    pub(super) fn number(&self) -> Option<u32> {
        match self {
            InFlight::Launch(launched) => Some(launched.number),
            InFlight::Transfer { number, .. } => *number,
        }
    }
}

/// An event that was recorded in the stream, and what it is for.
pub(super) struct Mark {
    pub(super) event: Arc<Event>,
    /// How many operations had been submitted to the stream before the event, since the queue was made.
    pub(super) behind: u64,
    pub(super) what: Marked,
}

/// What a mark was recorded for.
pub(super) enum Marked {
    /// The event shows how far the stream has come.
    Launches,
    /// The event was recorded for a user of the queue.
    Record(Arc<EventState>),
    /// The stream waits for another queue's event before this one.
    Wait,
}

/// What is known of the running launch, when an operation takes long.
#[derive(Default)]
pub(super) struct Watch {
    /// When the wait for the current operation began.
    since: Option<Instant>,
    /// When the host last looked which launch is running.
    looked: Option<Instant>,
    /// The number of the launch that was seen running, and since when it was.
    running: Option<(u32, Instant)>,
    /// The launch that was requested to end.
    request: Option<StopRequest>,
    /// A launch has failed, and the launches in flight were requested to end.
    alarmed: bool,
}

/// A launch that was requested to end, and why.
#[derive(Clone, Copy)]
struct StopRequest {
    number: u32,
    reason: Reason,
    since: Instant,
    /// Whether it surely ran then. Otherwise it may have ended, while those behind it wait for room on the device.
    surely_ran: bool,
}

/// The state of the operations that were submitted first.
pub(super) enum Standing {
    Running,
    /// The operations before the first mark have ended, or all if there is no mark.
    Ended,
    /// A launch was requested to end and does not, or waits for one that does not.
    Hung(Error),
    /// The device is lost.
    Lost(Refusal),
}

impl CudaExecutor {
    /// Waits until the operations submitted first have ended, or `patience` has passed. A launch that is past its
    /// limit, or interrupted, is requested to end.
    pub(super) fn watch(&mut self, patience: Duration) -> Standing {
        let mut wait = Wait::begin();
        loop {
            self.watched.looks();
            exit::look(&self.watched.inside);
            match self.look() {
                Ok(Standing::Running) if wait.elapsed() >= patience => return Standing::Running,
                Ok(Standing::Running) => wait.pause(LEAST_LOOK.min(patience)),
                Ok(standing) => return standing,
                Err(refusal) => return Standing::Lost(refusal),
            }
        }
    }

    fn look(&mut self) -> Result<Standing, Refusal> {
        let done = match self.marks.front() {
            Some(mark) => mark.event.is_done()?,
            None => self.slot.stream.is_done()?,
        };
        if done {
            return Ok(Standing::Ended);
        }
        if self.launches().next().is_none() {
            return Ok(self.may_run());
        }
        if self.slot.words.is_alarmed() && !self.watch.alarmed {
            // The other threads of a failed launch may wait for a value that is never stored.
            self.watch.alarmed = true;
            self.slot.words.stop(self.number);
        }
        if let Some(request) = self.watch.request {
            return Ok(self.look_after_request(request));
        }
        if interrupt::requested() {
            let number = self.look_which_runs().unwrap_or_else(|| self.first_number());
            return Ok(self.tell(number, Reason::Interrupted, true));
        }
        // Until some time has passed, nothing more than asking the driver whether it is done: a tenth of the limit, by
        // which a launch may run for longer.
        let since = *self.watch.since.get_or_insert_with(Instant::now);
        let last = self.watch.looked.unwrap_or(since);
        if last.elapsed() < LEAST_LOOK {
            return Ok(Standing::Running);
        }
        let least = self.launches().filter_map(|launched| launched.limit).min().unwrap_or(Duration::MAX);
        if last.elapsed() < (least / 10).clamp(LEAST_LOOK, MOST_LOOK) {
            return Ok(Standing::Running);
        }
        let Some(number) = self.look_which_runs() else { return Ok(self.may_run()) };
        let since = match self.watch.running {
            Some((running, since)) if running == number => since,
            _ => Instant::now(),
        };
        self.watch.running = Some((number, since));
        let limit = self.launch(number).and_then(|launched| launched.limit);
        match limit {
            Some(limit) if since.elapsed() >= limit => {
                Ok(self.tell(number, Reason::TimeLimit(limit), self.is_next_to_end(number)))
            }
            Some(_) => Ok(Standing::Running),
            None => Ok(self.may_run()),
        }
    }

    /// Running, or hung if the device is unusable: the operation may wait for another queue's launch that does not end,
    /// and would otherwise be waited for without a limit.
    fn may_run(&self) -> Standing {
        self.context.usable().map_or_else(Standing::Hung, |()| Standing::Running)
    }

    /// Whether the point that is waited for is the end of exactly this launch.
    fn is_next_to_end(&self, number: u32) -> bool {
        let first = self.submitted - self.in_flight.len() as u64;
        let behind = self.marks.front().map_or(self.submitted, |mark| mark.behind);
        let at = self.in_flight.iter().position(|one| one.number() == Some(number));
        at.is_some_and(|at| behind == first + at as u64 + 1)
    }

    /// The launches among the operations in flight, in the order of submission.
    fn launches(&self) -> impl Iterator<Item = &Launched> {
        self.in_flight.iter().filter_map(InFlight::launch)
    }

    /// The launch with this number; `None` if it is not in flight.
    fn launch(&self, number: u32) -> Option<&Launched> {
        self.launches().find(|launched| launched.number == number)
    }

    fn first_number(&self) -> u32 {
        self.launches().next().map_or(0, |launched| launched.number)
    }

    /// The number of the launch that began last; `None` if it is not in flight.
    fn look_which_runs(&mut self) -> Option<u32> {
        self.watch.looked = Some(Instant::now());
        Some(self.slot.words.started()).filter(|started| self.launch(*started).is_some())
    }

    /// Requests a launch to end. If it is surely running, those behind it are requested to end too, since operations
    /// queued after a failed launch are discarded. The first launch that leaves shuts the gate for those behind it.
    fn tell(&mut self, number: u32, reason: Reason, surely_ran: bool) -> Standing {
        self.slot.words.stop(if surely_ran { self.number } else { number });
        self.watch.request = Some(StopRequest { number, reason, since: Instant::now(), surely_ran });
        Standing::Running
    }

    fn look_after_request(&mut self, request: StopRequest) -> Standing {
        if self.watch.looked.is_some_and(|looked| looked.elapsed() < LEAST_LOOK * 10) {
            return Standing::Running;
        }
        let StopRequest { number, reason, since, surely_ran } = request;
        match self.look_which_runs() {
            Some(running) if running != number && !surely_ran && !self.watch.alarmed => {
                // The launch has ended by itself.
                self.watch.request = None;
                Standing::Running
            }
            Some(_) if since.elapsed() < self.grace => Standing::Running,
            // The launches behind it may wait for other queues' launches.
            Some(_) if !surely_ran && self.context.in_flight.load(Ordering::Acquire) > self.in_flight.len() as u64 => {
                self.may_run()
            }
            Some(_) => Standing::Hung(reason.error(self.name_of(number), Vec::new())),
            None => self.may_run(),
        }
    }

    /// The name of the kernel that was requested to end, or else of the first launch's kernel.
    pub(super) fn name_of_stopped(&self) -> &'static str {
        self.name_of(self.watch.request.map_or(0, |request| request.number))
    }

    /// The name of this launch's kernel, or of the first launch's kernel if this one is not in flight.
    fn name_of(&self, number: u32) -> &'static str {
        self.launch(number).or(self.launches().next()).map_or("", Launched::name)
    }

    /// Whether one of the operations that have ended has failed: a launch reports something, or was requested to end.
    pub(super) fn is_failing(&self) -> bool {
        self.slot.words.is_alarmed() || self.watch.request.is_some_and(|request| request.surely_ran)
    }

    /// The error of the operations in flight, all of which have ended.
    pub(super) fn failure(&mut self) -> Error {
        // A launch that the watchdog requested to end may have ended in time, before this thread looked.
        let by_watchdog = self.watched.take_request().filter(|(number, _)| self.launch(*number).is_some());
        let requested = self.watch.request.map(|request| (request.number, request.reason)).or(by_watchdog);
        let read = lock(&self.context.helper).read(self.slot.control, control::WORDS);
        let words = match self.context.check("reading what a launch reported", read) {
            Ok(Some(words)) => words,
            Ok(None) => return self.unreported(requested, "the device does not let it be read"),
            Err(error) => return error,
        };
        let word = |word: u32| words.get(word as usize).copied().unwrap_or(0);
        let (is_fault, left) = (word(control::CLAIMED) != 0, word(control::GATE));
        let (number, reason) = match requested {
            Some((number, reason)) if !is_fault => (number, Some(reason)),
            _ => (left, None),
        };
        let Some(launched) = self.launch(number).or(self.launches().next()) else {
            return self.unreported(requested, "no launch is in flight");
        };
        let (built, code) = &launched.code;
        let outcome = launched.report(&built.kernel, &code.sites);
        // If the launch that was requested to end has run to its end, the threads of one behind it may have left.
        let outcome = outcome.outcome(|of| if number == left { word(of) } else { 0 }, reason);
        outcome.unwrap_or_else(|| self.unreported(None, "it is nothing that a launch reports"))
    }

    #[cold]
    fn unreported(&self, reason: Option<(u32, Reason)>, why: &str) -> Error {
        match reason {
            Some((number, reason)) => reason.error(self.name_of(number), Vec::new()),
            None => system(format!("reading what a launch on device `{}` reported", self.context.name()), why),
        }
    }
}

/// How long a launch may take to end after the request to end.
pub(super) fn grace() -> Duration {
    // Set by tests, and by users who would rather lose the device than wait.
    let asked = std::env::var("WATTLE_CUDA_GRACE_MS").ok().and_then(|text| text.trim().parse().ok());
    asked.map_or(GRACE, Duration::from_millis)
}
