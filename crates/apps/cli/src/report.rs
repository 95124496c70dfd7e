//! The JSON of a command's own report; devices, scenarios and checks write themselves (the library's feature `serde`).
//! Names stay as they are; new ones may come.

use std::io::{self, Write};
use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use wattle::{Device, Missing, Properties};

use crate::attempt::{Attempt, FirstError};
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

/// The devices there are, and those that are not.
#[derive(Serialize)]
pub struct Devices<'a> {
    pub devices: Vec<&'a Properties>,
    pub missing: &'a [Missing],
}

impl<'a> Devices<'a> {
    pub fn new(devices: &'a [Device], missing: &'a [Missing]) -> Devices<'a> {
        Devices { devices: devices.iter().map(Device::properties).collect(), missing }
    }
}

/// The JSON of what came of a scenario on a device.
impl Serialize for Attempt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut attempt = serializer.serialize_struct("Attempt", 14)?;
        attempt.serialize_field("scenario", self.scenario.name)?;
        attempt.serialize_field("device", self.device.name())?;
        attempt.serialize_field("expectation", &self.scenario.expectation)?;
        attempt.serialize_field("status", &self.status)?;
        attempt.serialize_field("as_expected", &self.as_expected())?;
        attempt.serialize_field("interrupted", &self.stopped.is_some())?;
        attempt.serialize_field("size", &self.size)?;
        attempt.serialize_field("runs", &self.times.len())?;
        attempt.serialize_field("runs_refused", &self.refused)?;
        attempt.serialize_field("seconds", &Spread::of(&self.times))?;
        attempt.serialize_field("did", &self.summary.did)?;
        attempt.serialize_field("checks", &self.summary.checks)?;
        attempt.serialize_field("outcomes", &self.summary.outcomes)?;
        attempt.serialize_field("error", &self.error)?;
        attempt.end()
    }
}

/// The JSON of the first error.
impl Serialize for FirstError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut error = serializer.serialize_struct("FirstError", 4)?;
        error.serialize_field("kind", self.error.kind().name())?;
        error.serialize_field("message", &self.text())?;
        error.serialize_field("run", &self.run)?;
        error.serialize_field("device", &self.device)?;
        error.end()
    }
}

/// The spread of durations.
#[derive(Serialize)]
pub struct Spread {
    #[serde(serialize_with = "seconds")]
    pub total: Duration,
    #[serde(serialize_with = "seconds")]
    pub min: Duration,
    #[serde(serialize_with = "seconds")]
    pub median: Duration,
    #[serde(serialize_with = "seconds")]
    pub max: Duration,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

impl Spread {
    /// The spread of the durations, or `None` if there are none.
    pub fn of(times: &[Duration]) -> Option<Spread> {
        let mut sorted = times.to_vec();
        sorted.sort();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Spread { total: sorted.iter().sum(), min, median: sorted[sorted.len() / 2], max })
    }
}
