//! What `--json` writes. Names stay as they are; new ones may come.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use wattle::{Device, DeviceKind, Expectation, Missing, Scenario, Sizes, Work};

use crate::attempt::{Attempt, Status};
use crate::exit::{Exit, Input};

#[derive(Serialize)]
struct Document<'a, B> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'static str>,
    exit_code: u8,
    #[serde(flatten)]
    body: &'a B,
}

/// Writes the one document of a command.
pub fn write(out: &mut dyn Write, command: Option<&'static str>, exit: Exit, body: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document { command, exit_code: exit.code(), body })?;
    writeln!(out)
}

/// A command that could not be answered.
#[derive(Serialize)]
pub struct Refused<'a> {
    pub error: &'a Input,
}

/// The devices there are.
#[derive(Serialize)]
pub struct Devices<'a> {
    pub devices: Vec<DeviceReport<'a>>,
    pub missing: Vec<MissingReport<'a>>,
}

impl<'a> Devices<'a> {
    /// What there is, and what is not.
    pub fn new(devices: &'a [Device], missing: &'a [Missing]) -> Devices<'a> {
        let missing = missing.iter().map(|missing| MissingReport { name: missing.name, reason: &missing.reason });
        Devices { devices: devices.iter().map(DeviceReport::new).collect(), missing: missing.collect() }
    }
}

/// A device.
#[derive(Serialize)]
pub struct DeviceReport<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub kind: &'static str,
    pub workers: u32,
    pub memory_bytes: u64,
    pub warp_width: u32,
    pub max_threads_per_block: u32,
    pub max_shared_bytes: u64,
    pub max_cooperative_blocks: u32,
    pub concurrent_queues: u32,
    pub sync_domains: u32,
    pub scopes: Vec<String>,
}

impl<'a> DeviceReport<'a> {
    fn new(device: &'a Device) -> DeviceReport<'a> {
        let properties = device.properties();
        DeviceReport {
            name: device.name(),
            description: &properties.description,
            kind: match properties.kind {
                DeviceKind::Checker => "checker",
                DeviceKind::Host => "host",
                DeviceKind::Simulated => "simulated",
                DeviceKind::Gpu => "gpu",
                DeviceKind::Software => "software",
            },
            workers: properties.workers,
            memory_bytes: properties.memory,
            warp_width: properties.warp_width,
            max_threads_per_block: properties.max_threads_per_block,
            max_shared_bytes: properties.max_shared_memory,
            max_cooperative_blocks: properties.max_cooperative_blocks,
            concurrent_queues: properties.concurrent_queues,
            sync_domains: properties.sync_domains,
            scopes: properties.scopes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A device that is not there.
#[derive(Serialize)]
pub struct MissingReport<'a> {
    pub name: &'a str,
    pub reason: &'a str,
}

/// A scenario.
#[derive(Serialize)]
pub struct ScenarioReport<'a> {
    pub name: &'a str,
    pub summary: &'a str,
    pub expectation: &'static str,
    pub sizes: Option<SizesReport>,
    pub documentation: &'a str,
}

/// The sizes of its work.
#[derive(Serialize)]
pub struct SizesReport {
    pub full: usize,
    pub small: usize,
    pub proof: usize,
}

impl<'a> ScenarioReport<'a> {
    /// All that is known of it.
    pub fn new(scenario: &'a Scenario) -> ScenarioReport<'a> {
        let sizes = match scenario.work {
            Work::Fixed(_) => None,
            Work::Sized(_, Sizes { full, small, proof }) => Some(SizesReport { full, small, proof }),
        };
        ScenarioReport {
            name: scenario.name,
            summary: scenario.summary,
            expectation: expectation(scenario),
            sizes,
            documentation: scenario.documentation,
        }
    }
}

fn expectation(scenario: &Scenario) -> &'static str {
    match scenario.expectation {
        Expectation::Holds => "holds",
        Expectation::Refuted => "refuted",
    }
}

/// What came of a scenario on a device.
#[derive(Serialize)]
pub struct AttemptReport<'a> {
    pub scenario: &'a str,
    pub device: &'a str,
    pub expectation: &'static str,
    pub status: Status,
    pub as_expected: bool,
    pub interrupted: bool,
    pub size: Option<usize>,
    pub runs: usize,
    pub runs_refused: u64,
    pub seconds: Option<SecondsReport>,
    pub did: &'a str,
    pub checks: &'a [String],
    pub outcomes: &'a BTreeMap<String, u64>,
    pub error: Option<ErrorReport<'a>>,
}

/// How long the runs took.
#[derive(Serialize)]
pub struct SecondsReport {
    pub total: f64,
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

/// The first error there was.
#[derive(Serialize)]
pub struct ErrorReport<'a> {
    pub kind: &'static str,
    pub message: String,
    pub run: u64,
    pub device: &'a str,
}

impl<'a> AttemptReport<'a> {
    /// All that is known of it.
    pub fn new(attempt: &'a Attempt<'_>) -> AttemptReport<'a> {
        AttemptReport {
            scenario: attempt.scenario.name,
            device: attempt.device.name(),
            expectation: expectation(attempt.scenario),
            status: attempt.status,
            as_expected: attempt.as_expected(),
            interrupted: attempt.stopped.is_some(),
            size: attempt.size,
            runs: attempt.times.len(),
            runs_refused: attempt.refused,
            seconds: Spread::of(&attempt.times).map(|spread| SecondsReport {
                total: spread.total.as_secs_f64(),
                min: spread.min.as_secs_f64(),
                median: spread.median.as_secs_f64(),
                max: spread.max.as_secs_f64(),
            }),
            did: &attempt.summary.did,
            checks: &attempt.summary.checks,
            outcomes: &attempt.summary.outcomes,
            error: attempt.error.as_ref().map(|first| ErrorReport {
                kind: first.kind(),
                message: first.text(),
                run: first.run,
                device: &first.device,
            }),
        }
    }
}

/// How durations are spread.
pub struct Spread {
    pub total: Duration,
    pub min: Duration,
    pub median: Duration,
    pub max: Duration,
}

impl Spread {
    /// Of at least one duration.
    pub fn of(times: &[Duration]) -> Option<Spread> {
        let mut sorted = times.to_vec();
        sorted.sort();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Spread { total: sorted.iter().sum(), min, median: sorted[sorted.len() / 2], max })
    }
}
