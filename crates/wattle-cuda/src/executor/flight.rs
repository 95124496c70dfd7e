//! Launches in flight: how they end, and what is done with those that do not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wattle_core::{Error, EventState, Grid, Kernel, interrupt};
use wattle_gpu::{GRACE, Reason, Told, lock, system};
use wattle_ptx::control;

use super::CudaExecutor;
use crate::driver::{Event, Refusal};
use crate::modules::{Built, Code};
use crate::wait::Wait;

/// How often it is looked which launch runs, where something takes long.
const LEAST_LOOK: Duration = Duration::from_millis(1);
const MOST_LOOK: Duration = Duration::from_millis(50);

/// A launch that was submitted, with what it needs while it runs and what tells of it afterwards.
pub(super) struct Launched {
    pub(super) kernel: Arc<dyn Kernel>,
    pub(super) built: Arc<Built>,
    pub(super) code: Arc<Code>,
    pub(super) grid: Grid,
    pub(super) number: u32,
    pub(super) limit: Option<Duration>,
    pub(super) shared_len: u32,
}

/// A point behind launches.
pub(super) struct Mark {
    pub(super) event: Arc<Event>,
    /// How many launches of this queue there were before it, ever.
    pub(super) behind: u64,
    pub(super) what: Marked,
}

/// What a mark is there for.
pub(super) enum Marked {
    /// To tell how far launches are.
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
    /// The launch that was told to end, why, and when.
    told: Option<(u32, Reason, Instant)>,
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
            None => self.stream.is_done()?,
        };
        if done {
            return Ok(Standing::Ended);
        }
        if self.flights.is_empty() {
            // What it waits for may be behind a launch that does not let go of the device.
            return Ok(self.context.usable().map_or_else(Standing::Hung, |()| Standing::Running));
        }
        if let Some((number, reason, since)) = self.watch.told {
            return self.look_after_telling(number, reason, since);
        }
        if interrupt::requested() {
            let number = self.look_which_runs()?.unwrap_or_else(|| self.first_number() - 1);
            return self.tell(number, Reason::Interrupted);
        }
        // Nothing more than asking whether it is done, until it has taken a while: a tenth of the limit, by which a
        // launch may run for longer.
        let since = *self.watch.since.get_or_insert_with(Instant::now);
        let last = self.watch.looked.unwrap_or(since);
        if last.elapsed() < LEAST_LOOK {
            return Ok(Standing::Running);
        }
        let Some(least) = self.flights.iter().filter_map(|flight| flight.limit).min() else {
            return Ok(Standing::Running);
        };
        if last.elapsed() < (least / 10).clamp(LEAST_LOOK, MOST_LOOK) {
            return Ok(Standing::Running);
        }
        let Some(number) = self.look_which_runs()? else {
            // Another queue's launch may not let go of the device, and these would wait for it without a limit.
            return Ok(self.context.usable().map_or_else(Standing::Hung, |()| Standing::Running));
        };
        let since = match self.watch.running {
            Some((running, since)) if running == number => since,
            _ => Instant::now(),
        };
        self.watch.running = Some((number, since));
        let limit = self.flights.iter().find(|flight| flight.number == number).and_then(|flight| flight.limit);
        match limit {
            Some(limit) if since.elapsed() >= limit => self.tell(number, Reason::TimeLimit(limit)),
            _ => Ok(Standing::Running),
        }
    }

    fn first_number(&self) -> u32 {
        self.flights.front().map_or(1, |flight| flight.number)
    }

    /// The launch of those in flight that began last, if one has.
    fn look_which_runs(&mut self) -> Result<Option<u32>, Refusal> {
        self.watch.looked = Some(Instant::now());
        let words = lock(&self.context.helper).read(self.slot.word(control::STARTED), 1)?;
        let started = words.and_then(|words| words.first().copied());
        Ok(started.filter(|started| self.flights.iter().any(|flight| flight.number == *started)))
    }

    /// Tells a launch to end, and those behind it to do nothing.
    fn tell(&mut self, number: u32, reason: Reason) -> Result<Standing, Refusal> {
        let words = [(self.slot.word(control::GATE), number), (self.slot.word(control::STOP), number)];
        // If the device does not come to it, the launch does not end, and that is told.
        lock(&self.context.helper).write(words)?;
        self.watch.told = Some((number, reason, Instant::now()));
        Ok(Standing::Running)
    }

    fn look_after_telling(&mut self, number: u32, reason: Reason, since: Instant) -> Result<Standing, Refusal> {
        if self.watch.looked.is_some_and(|looked| looked.elapsed() < LEAST_LOOK * 10) {
            return Ok(Standing::Running);
        }
        match self.look_which_runs()? {
            // It began before it could see that it was to do nothing.
            Some(other) if other > number => self.tell(other, reason),
            Some(_) if since.elapsed() < self.grace => Ok(Standing::Running),
            Some(_) => Ok(Standing::Hung(reason.error(self.name_of(number), Vec::new()))),
            None => Ok(self.context.usable().map_or_else(Standing::Hung, |()| Standing::Running)),
        }
    }

    /// The name of the kernel that was told to end, or of the first.
    pub(super) fn name_of_told(&self) -> &'static str {
        self.name_of(self.watch.told.map_or(0, |(number, _, _)| number))
    }

    /// The name of the kernel of that launch, or of the first.
    fn name_of(&self, number: u32) -> &'static str {
        let found = self.flights.iter().find(|flight| flight.number == number).or(self.flights.front());
        found.map_or("", |flight| flight.kernel.info().name)
    }

    /// Whether something has gone wrong in what has ended: a launch tells of something, or was told to end.
    pub(super) fn is_failing(&self) -> bool {
        self.slot.is_alarmed() || self.watch.told.is_some()
    }

    /// What went wrong. All that was in flight has ended.
    pub(super) fn failure(&mut self) -> Error {
        let reason = self.watch.told.map(|(number, reason, _)| (number, reason));
        let read = lock(&self.context.helper).read(self.slot.control, control::WORDS);
        let words = match self.context.check("reading what a launch told", read) {
            Ok(Some(words)) => words,
            Ok(None) => return self.untold(reason, "the device does not let it be read"),
            Err(error) => return error,
        };
        let word = |word: u32| words.get(word as usize).copied().unwrap_or(0);
        let number =
            if word(control::CLAIMED) != 0 { word(control::GATE) } else { reason.map_or(0, |(number, _)| number) };
        let found = self.flights.iter().find(|flight| flight.number == number).or(self.flights.front());
        let Some(flight) = found else { return self.untold(reason, "no launch is in flight") };
        let told = Told {
            kernel: &*flight.kernel,
            ir: &flight.built.kernel,
            sites: &flight.code.sites,
            grid: &flight.grid,
            shared_len: flight.shared_len,
        };
        let outcome = told.outcome(word, reason.map(|(_, reason)| reason));
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
