//! The results with which a command ends.

use std::ffi::c_int;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::near::near;

/// The result of a command, which is the exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// What was asked about holds; for `tour`, all is as expected. A command whose output's reader has gone ends so
    /// too.
    Holds = 0,
    /// What was asked about does not hold.
    DoesNotHold = 1,
    /// The question could not be answered: bad input, a device that cannot, an interruption.
    Unanswered = 2,
}

impl Exit {
    /// The exit code as a number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The result of two things: what does not hold matters more than what could not be answered.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::DoesNotHold, _) | (_, Exit::DoesNotHold) => Exit::DoesNotHold,
            (Exit::Unanswered, _) | (_, Exit::Unanswered) => Exit::Unanswered,
            (Exit::Holds, Exit::Holds) => Exit::Holds,
        }
    }
}

/// The result of many things; none hold.
impl FromIterator<Exit> for Exit {
    fn from_iter<I: IntoIterator<Item = Exit>>(exits: I) -> Exit {
        exits.into_iter().fold(Exit::Holds, Exit::and)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        exit.code().into()
    }
}

/// Ends the process without what drivers do at its end: they wait for launches, some of which no device can be asked to
/// end.
pub fn at_once(exit: Exit) -> ! {
    unsafe extern "C" {
        // SAFETY: it takes any number, and does not return.
        safe fn _exit(status: c_int) -> !;
    }
    let _ = io::stdout().flush();
    _exit(exit.code().into())
}

/// The reason why a command ends early.
pub enum Stop {
    /// The command cannot answer what was asked.
    Input(Input),
    /// The command cannot write its output.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

impl From<Input> for Stop {
    fn from(input: Input) -> Stop {
        Stop::Input(input)
    }
}

/// A request that cannot be answered.
#[derive(Debug, Serialize)]
pub struct Input {
    /// The kind of mistake in one word, for programs.
    pub kind: &'static str,
    /// The sentence that says what is wrong.
    pub message: String,
    /// The known names that could have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// All names that are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// The command that shows the names, where these may be too many for a message.
    #[serde(skip)]
    pub listed_by: Option<&'static str>,
}

/// The most names that a message lists where a command shows them too.
const MOST_LISTED: usize = 12;

impl Input {
    /// An error that has only a message.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Input {
        Input { kind, message: message.into(), near: Vec::new(), known: Vec::new(), listed_by: None }
    }

    /// A name that is not one of `known`.
    pub fn unknown(kind: &'static str, what: &str, name: &str, known: Vec<String>) -> Input {
        Input {
            kind,
            message: format!("there is no {what} `{name}`"),
            near: near(name, known.iter().map(String::as_str)),
            known,
            listed_by: None,
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if !self.near.is_empty() {
            write!(f, "\n  help: did you mean {}?", quoted(&self.near))?;
        }
        if let (Some(command), MOST_LISTED..) = (self.listed_by, self.known.len()) {
            write!(f, "\n  help: `{command}` shows the {} there are", self.known.len())?;
        } else if !self.known.is_empty() {
            for (number, line) in crate::text::wrap(&self.known.join(", "), 92).iter().enumerate() {
                write!(f, "\n  {:<10}{line}", if number == 0 { "there are" } else { "" })?;
            }
        }
        Ok(())
    }
}
