//! The runs of a scenario on a device, and what their results amount to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use wattle::{Device, DeviceKind, Error, ErrorClass, ErrorKind, Expectation, Scenario, Summary};

use crate::limits::{Limits, Reached};
use crate::panics;
use crate::shape::AskedShape;

/// The result of a scenario on a device, in one run or more.
pub struct Attempt<'s> {
    /// The scenario that runs.
    pub scenario: &'s Scenario,
    /// The device, by the name that was chosen.
    pub device: Device,
    /// The size of the work.
    pub size: Option<usize>,
    /// How long each run took.
    pub times: Vec<Duration>,
    /// What the scenario did, and all outcomes of all runs.
    pub summary: Summary,
    /// How many of the runs did not hold.
    pub refused: u64,
    /// The first error of any run.
    pub error: Option<FirstError>,
    /// The result of all runs together.
    pub status: Status,
    /// The limit that stopped the attempt before all runs were done.
    pub stopped: Option<Reached>,
}

/// The first error of several runs.
pub struct FirstError {
    /// The error of the run.
    pub error: Error,
    /// The source line that a panic came from, if the error is one.
    pub place: Option<String>,
    /// The number of the run, from 1.
    pub run: u64,
    /// The device, with its seed.
    pub device: String,
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every check of every run held.
    Held,
    /// A run did not hold: a check failed, or the device found something.
    DoesNotHold,
    /// The device cannot do what the scenario needs.
    Unsupported,
    /// The attempt was stopped before a run did not hold.
    Interrupted,
    /// The scenario could not be tried: too little memory, an error of the system, a mistake in the scenario.
    Failed,
}

/// How often a scenario runs, in which size and shape, and within which limits.
pub struct Plan {
    /// The size of the work, or `None` for the scenario's own.
    pub size: Option<usize>,
    /// The number of runs.
    pub repeat: u64,
    /// The most blocks and threads per block.
    pub asked: AskedShape,
    /// The limits that end the attempt early.
    pub limits: Limits,
}

impl Plan {
    /// A single run in the scenario's own size.
    pub fn once(limits: &Limits) -> Plan {
        Plan { size: None, repeat: 1, asked: AskedShape::default(), limits: limits.clone() }
    }
}

impl<'s> Attempt<'s> {
    /// Runs a scenario. `after_run` is called at the end of each run.
    pub fn new(scenario: &'s Scenario, device: &Device, plan: &Plan, mut after_run: impl FnMut()) -> Attempt<'s> {
        let mut attempt = Attempt {
            scenario,
            device: device.clone(),
            size: scenario.size_for(device).map(|own| plan.size.unwrap_or(own)),
            times: Vec::new(),
            summary: Summary::default(),
            refused: 0,
            error: None,
            status: Status::Held,
            stopped: None,
        };
        for run in 1..=plan.repeat {
            attempt.stopped = plan.limits.reached();
            if attempt.stopped.is_some() {
                break;
            }
            let status = attempt.run(run, plan);
            after_run();
            match status {
                Status::Held => {}
                Status::DoesNotHold => attempt.status = status,
                Status::Interrupted => {
                    attempt.stopped = plan.limits.reached().or(Some(Reached::Interrupted));
                    break;
                }
                Status::Unsupported | Status::Failed => {
                    attempt.status = status;
                    break;
                }
            }
        }
        if attempt.stopped.is_some() && attempt.status == Status::Held {
            attempt.status = Status::Interrupted;
        }
        attempt
    }

    /// A device that waits no longer than it must for a scenario that is wrong: on a GPU, a thread that looks again and
    /// again in the wrong way may never see what another one writes.
    fn patient(&self, device: &Device) -> Device {
        if self.scenario.expectation != Expectation::Refuted || !wait_in_vain(device.properties().kind) {
            return device.clone();
        }
        device.launching_with(Arc::new(|request| {
            let limit = request.options.get_time_limit().unwrap_or(IN_VAIN).min(IN_VAIN);
            request.options.time_limit(limit)
        }))
    }

    fn run(&mut self, run: u64, plan: &Plan) -> Status {
        let device = seeded(&self.device, run);
        let device = timed(&self.patient(&plan.asked.on(&device)), &plan.limits);
        let (scenario, size, on) = (*self.scenario, self.size, device.clone());
        let ran = plan.limits.within(move || {
            let start = Instant::now();
            let ended = panics::kept(|| scenario.run(&on, size));
            (ended, start.elapsed())
        });
        let Ok(((result, place), time)) = ran else { return Status::Interrupted };
        let error = match result {
            Ok(summary) => {
                self.times.push(time);
                self.add(summary);
                return Status::Held;
            }
            Err(error) => error,
        };
        let status = match Status::of(&error) {
            // The limit was the command's, not the scenario's.
            _ if matches!(error.kind(), ErrorKind::TimeLimit { .. }) && plan.limits.reached().is_some() => {
                Status::Interrupted
            }
            status => status,
        };
        match status {
            Status::DoesNotHold => {
                self.times.push(time);
                self.refused += 1;
            }
            Status::Interrupted if self.error.is_some() => return status,
            _ => {}
        }
        if self.error.is_none() {
            let place = place.filter(|_| matches!(error.kind(), ErrorKind::Panic { .. }));
            self.error = Some(FirstError { error, place, run, device: device.name().to_owned() });
        }
        status
    }

    fn add(&mut self, summary: Summary) {
        if self.summary.did.is_empty() {
            self.summary.did = summary.did;
        }
        for check in summary.checks {
            if !self.summary.checks.contains(&check) {
                self.summary.checks.push(check);
            }
        }
        for (outcome, times) in summary.outcomes {
            *self.summary.outcomes.entry(outcome).or_default() += times;
        }
    }

    /// Whether this is the expected result of the scenario on such a device. One that is there to be refuted must be
    /// refuted by a device that looks closely, and may be by others; what a device cannot do is not expected of it.
    pub fn as_expected(&self) -> bool {
        match (self.status, self.scenario.expectation) {
            (Status::Unsupported, _) => true,
            (Status::Held, Expectation::Holds) | (Status::DoesNotHold, Expectation::Refuted) => true,
            (Status::Held, Expectation::Refuted) => self.device.properties().kind != DeviceKind::Simulated,
            _ => false,
        }
    }
}

impl Status {
    /// The status of an attempt that ends with this error.
    fn of(error: &Error) -> Status {
        match error.kind().class() {
            ErrorClass::Wrong => Status::DoesNotHold,
            ErrorClass::Refused => Status::Failed,
            ErrorClass::Lacking if is_capability(error) => Status::Unsupported,
            ErrorClass::Lacking => Status::Failed,
            ErrorClass::Interrupted => Status::Interrupted,
        }
    }
}

/// Whether it is the device that cannot do it, and not that this machine has too little left or failed.
fn is_capability(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::QueueStopped { first } => is_capability(first),
        kind => matches!(kind, ErrorKind::Capability { .. } | ErrorKind::Fault(_)),
    }
}

/// How long launches of a scenario that is wrong may take on a GPU.
const IN_VAIN: Duration = Duration::from_secs(2);

/// Whether launches may wait in vain there: the host's caches are coherent, and the simulated device sees that nothing
/// can go on.
fn wait_in_vain(kind: DeviceKind) -> bool {
    matches!(kind, DeviceKind::Gpu | DeviceKind::Software)
}

/// A device whose launches end at the command's deadline.
pub fn timed(device: &Device, limits: &Limits) -> Device {
    if limits.deadline.is_none() {
        return device.clone();
    }
    let limits = limits.clone();
    device.launching_with(Arc::new(move |request| {
        let left = limits.left().unwrap_or(Duration::MAX).max(Duration::from_millis(1));
        let limit = request.options.get_time_limit().map_or(left, |limit| limit.min(left));
        request.options.time_limit(limit)
    }))
}

/// The device for a run: a simulated one shows another interleaving each time.
fn seeded(device: &Device, run: u64) -> Device {
    if run == 1 || device.properties().kind != DeviceKind::Simulated {
        return device.clone();
    }
    let (kind, seed) = device.name().split_once(':').unwrap_or((device.name(), "0"));
    seed.parse()
        .ok()
        .and_then(|seed: u64| Device::select(&format!("{kind}:{}", seed.wrapping_add(run - 1))).ok())
        .unwrap_or_else(|| device.clone())
}

impl FirstError {
    /// The error in full, with the place that a panic came from.
    pub fn text(&self) -> String {
        match &self.place {
            Some(place) => format!("{}\n  at {place}", self.error),
            None => self.error.to_string(),
        }
    }
}
