//! Launches that are told to end.

use std::time::Duration;

use wattle_core::{Error, ErrorKind, ThreadLine};

/// How long a launch may take to end after it was told to. Loops without a bound end at once; others run to their end.
pub const GRACE: Duration = Duration::from_secs(10);

/// Why a launch was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It ran for longer than this, which was its limit.
    TimeLimit(Duration),
    /// Somebody has interrupted the process ([`wattle_core::interrupt`]).
    Interrupted,
}

impl Reason {
    /// The error of a launch that was told to end, and where its threads were then, as far as they have told.
    pub fn error(self, kernel: &str, lines: Vec<ThreadLine>) -> Error {
        let kernel = kernel.to_owned();
        let kind = match self {
            Reason::TimeLimit(limit) => ErrorKind::TimeLimit { kernel, limit, lines },
            Reason::Interrupted => ErrorKind::Interrupted { kernel, lines },
        };
        kind.into()
    }
}
