//! The state that every command gets.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;
use wattle::Scenario;
use wattle_check::keep::Keeper;

use crate::exit::Exit;
use crate::limits::{Limits, Reached};
use crate::report;
use crate::text::{Style, Tone};

/// The state that every command gets.
pub struct Session<'a> {
    /// All scenarios that the command knows.
    pub scenarios: &'a [Scenario],
    /// The writer that reports go to.
    pub out: &'a mut dyn Write,
    /// The style of reports.
    pub style: Style,
    /// Whether reports are JSON.
    pub json: bool,
    /// The limits that end the command early.
    pub limits: Limits,
    /// The store of verdicts; `None` if none are kept.
    pub keeper: Option<Arc<dyn Keeper>>,
}

impl Session<'_> {
    /// Writes a line of text.
    pub fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", line.as_ref().trim_end())
    }

    /// Says which limit ended the command, and how far it was.
    pub fn stopped(&mut self, reached: Reached, how_far: &str) -> io::Result<()> {
        self.line(self.style.paint(Tone::Note, &format!("Stopped, since {reached}: {how_far}.")))
    }

    /// Writes the report of a command.
    pub fn report(&mut self, command: &'static str, exit: Exit, body: &impl Serialize) -> io::Result<()> {
        report::write(self.out, Some(command), exit, body)
    }
}
