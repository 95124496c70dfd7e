//! What every command is given.

use std::io::{self, Write};

use serde::Serialize;
use wattle::Scenario;

use crate::exit::Exit;
use crate::limits::Limits;
use crate::report;
use crate::text::Style;

/// What every command is given.
pub struct Session<'a> {
    /// The scenarios there are.
    pub scenarios: &'a [Scenario],
    /// Where reports go.
    pub out: &'a mut dyn Write,
    /// How they look.
    pub style: Style,
    /// Whether they are JSON.
    pub json: bool,
    /// What ends the command before its end.
    pub limits: Limits,
}

impl Session<'_> {
    /// Writes a line of text.
    pub fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", line.as_ref().trim_end())
    }

    /// Writes the report of a command.
    pub fn report(&mut self, command: &'static str, exit: Exit, body: &impl Serialize) -> io::Result<()> {
        report::write(self.out, Some(command), exit, body)
    }
}
