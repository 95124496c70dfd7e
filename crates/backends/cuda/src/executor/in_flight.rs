//! Launches in flight: how they end, and what is done with those that do not.

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

/// How often it is looked which launch runs, where something takes long.
const LEAST_LOOK: Duration = Duration::from_millis(1);
const MOST_LOOK: Duration = Duration::from_millis(50);

/// A launch in flight, with what was built for it and the code that runs.
pub(super) type Launched = wattle_gpu::Launched<(Arc<Built>, Arc<Code>)>;

/// What the stream was given, and has not come to the end of as far as is known.
pub(super) enum InFlight {
    Launch(Launched),
    /// A copy or a fill; it owns the buffers, and has a number if it is a launch of this crate's own.
    Transfer {
        number: Option<u32>,
        _keeps: Transfer,
    },
}

impl InFlight {
    pub(super) fn launch(&self) -> Option<&Launched> {
        if let InFlight::Launch(launched) = self { Some(launched) } else { None }
    }

    /// The number of a launch.
    pub(super) fn number(&self) -> Option<u32> {
        match self {
            InFlight::Launch(launched) => Some(launched.number),
            InFlight::Transfer { number, .. } => *number,
        }
    }
}

/// A point behind launches.
pub(super) struct Mark {
    pub(super) event: Arc<Event>,
    /// How many operations the stream was given before it, ever.
    pub(super) behind: u64,
    pub(super) what: Marked,
}

/// What a mark is there for.
pub(super) enum Marked {
    /// To tell how far the stream is.
    Launches,
    /// Somebody wants to know of the point.
    Record(Arc<EventState>),
    /// The stream waits before it for a point of another queue.
    Wait,
}

/// What is known of the launch that runs, when something takes long.
#[derive(Default)]
pub(super) struct Watch {
    /// Since when somebody has been waiting.
    since: Option<Instant>,
    /// When somebody last looked which launch runs.
    looked: Option<Instant>,
    /// The launch that was seen to run, and since when.
    running: Option<(u32, Instant)>,
    /// The launch that was told to end.
    telling: Option<Telling>,
    /// A launch has failed, and was told to end.
    alarmed: bool,
}

/// A launch that was told to end.
#[derive(Clone, Copy)]
struct Telling {
    number: u32,
    reason: Reason,
    since: Instant,
    /// Whether it surely ran then. Otherwise it may have ended, and what is behind it waits for room on the device.
    surely_ran: bool,
}

/// How it stands with what was submitted first.
pub(super) enum Standing {
    Running,
    /// What is before the first mark has ended, or all if there is none.
    Ended,
    /// It was told to end and does not, or waits for what does not.
    Hung(Error),
    /// The device is lost.
    Lost(Refusal),
}

impl CudaExecutor {
    /// Waits until what was submitted first has ended, or `patience` is over. A launch that is past its limit, or
    /// interrupted, is told to end.
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
            // The threads of a launch that has failed may wait for what will never come.
            self.watch.alarmed = true;
            self.slot.words.stop(self.number);
        }
        if let Some(telling) = self.watch.telling {
            return Ok(self.look_after_telling(telling));
        }
        if interrupt::requested() {
            let number = self.look_which_runs().unwrap_or_else(|| self.first_number());
            return Ok(self.tell(number, Reason::Interrupted, true));
        }
        // Nothing more than asking whether it is done, until it has taken a while: a tenth of the limit, by which a
        // launch may run for longer.
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

    /// It runs, or waits for something that is not known. That may be behind a launch of another queue's that does not
    /// let go of the device, and would be waited for without a limit.
    fn may_run(&self) -> Standing {
        self.context.usable().map_or_else(Standing::Hung, |()| Standing::Running)
    }

    /// Whether it is the end of this very launch that is waited for.
    fn is_next_to_end(&self, number: u32) -> bool {
        let first = self.submitted - self.in_flight.len() as u64;
        let behind = self.marks.front().map_or(self.submitted, |mark| mark.behind);
        let at = self.in_flight.iter().position(|one| one.number() == Some(number));
        at.is_some_and(|at| behind == first + at as u64 + 1)
    }

    /// The launches in flight.
    fn launches(&self) -> impl Iterator<Item = &Launched> {
        self.in_flight.iter().filter_map(InFlight::launch)
    }

    /// The launch of this number, if it is in flight.
    fn launch(&self, number: u32) -> Option<&Launched> {
        self.launches().find(|launched| launched.number == number)
    }

    fn first_number(&self) -> u32 {
        self.launches().next().map_or(0, |launched| launched.number)
    }

    /// The launch of those in flight that began last, if one has.
    fn look_which_runs(&mut self) -> Option<u32> {
        self.watch.looked = Some(Instant::now());
        Some(self.slot.words.started()).filter(|started| self.launch(*started).is_some())
    }

    /// Tells a launch to end. If it surely runs, those behind it are told too: what is behind an error is not to be done.
    /// The first that leaves shuts the gate for those behind it.
    fn tell(&mut self, number: u32, reason: Reason, surely_ran: bool) -> Standing {
        self.slot.words.stop(if surely_ran { self.number } else { number });
        self.watch.telling = Some(Telling { number, reason, since: Instant::now(), surely_ran });
        Standing::Running
    }

    fn look_after_telling(&mut self, telling: Telling) -> Standing {
        if self.watch.looked.is_some_and(|looked| looked.elapsed() < LEAST_LOOK * 10) {
            return Standing::Running;
        }
        let Telling { number, reason, since, surely_ran } = telling;
        match self.look_which_runs() {
            Some(running) if running != number && !surely_ran && !self.watch.alarmed => {
                // It has ended by itself.
                self.watch.telling = None;
                Standing::Running
            }
            Some(_) if since.elapsed() < self.grace => Standing::Running,
            // What is behind it may wait for other queues' launches.
            Some(_) if !surely_ran && self.context.in_flight.load(Ordering::Acquire) > self.in_flight.len() as u64 => {
                self.may_run()
            }
            Some(_) => Standing::Hung(reason.error(self.name_of(number), Vec::new())),
            None => self.may_run(),
        }
    }

    /// The name of the kernel that was told to end, or of the first.
    pub(super) fn name_of_told(&self) -> &'static str {
        self.name_of(self.watch.telling.map_or(0, |telling| telling.number))
    }

    /// The name of the kernel of that launch, or of the first.
    fn name_of(&self, number: u32) -> &'static str {
        self.launch(number).or(self.launches().next()).map_or("", Launched::name)
    }

    /// Whether something has gone wrong in what has ended: a launch tells of something, or was told to end.
    pub(super) fn is_failing(&self) -> bool {
        self.slot.words.is_alarmed() || self.watch.telling.is_some_and(|telling| telling.surely_ran)
    }

    /// What went wrong. All that was in flight has ended.
    pub(super) fn failure(&mut self) -> Error {
        // What the watchdog told may have ended in time, if nobody looked.
        let by_watchdog = self.watched.take_told().filter(|(number, _)| self.launch(*number).is_some());
        let told = self.watch.telling.map(|telling| (telling.number, telling.reason)).or(by_watchdog);
        let read = lock(&self.context.helper).read(self.slot.control, control::WORDS);
        let words = match self.context.check("reading what a launch told", read) {
            Ok(Some(words)) => words,
            Ok(None) => return self.untold(told, "the device does not let it be read"),
            Err(error) => return error,
        };
        let word = |word: u32| words.get(word as usize).copied().unwrap_or(0);
        let (is_fault, left) = (word(control::CLAIMED) != 0, word(control::GATE));
        let (number, reason) = match told {
            Some((number, reason)) if !is_fault => (number, Some(reason)),
            _ => (left, None),
        };
        let Some(launched) = self.launch(number).or(self.launches().next()) else {
            return self.untold(told, "no launch is in flight");
        };
        let (built, code) = &launched.code;
        let outcome = launched.report(&built.kernel, &code.sites);
        // Where the launch that was told ran to its end all the same, the threads of one behind it may have left.
        let outcome = outcome.outcome(|of| if number == left { word(of) } else { 0 }, reason);
        outcome.unwrap_or_else(|| self.untold(None, "it is nothing that a launch tells"))
    }

    #[cold]
    fn untold(&self, reason: Option<(u32, Reason)>, why: &str) -> Error {
        match reason {
            Some((number, reason)) => reason.error(self.name_of(number), Vec::new()),
            None => system(format!("reading what a launch on device `{}` told", self.context.name()), why),
        }
    }
}

/// How long a launch may take to end after it was told to.
pub(super) fn grace() -> Duration {
    // For tests, and for who would rather lose the device than wait.
    let asked = std::env::var("WATTLE_CUDA_GRACE_MS").ok().and_then(|text| text.trim().parse().ok());
    asked.map_or(GRACE, Duration::from_millis)
}
