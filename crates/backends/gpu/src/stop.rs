//! Launches that are requested to end.

use std::time::Duration;

use wattle_core::{Error, ErrorKind, ThreadLine};

/// How long a launch may take to end after the request. Loops without a bound end at once; others run to their end.
pub const GRACE: Duration = Duration::from_secs(10);

/// Why a launch was requested to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The launch ran for longer than this, its time limit.
    TimeLimit(Duration),
    /// The process was interrupted ([`wattle_core::interrupt`]).
    Interrupted,
}

impl Reason {
    /// The error of a launch that was requested to end, with the lines where its threads were, if they reported them.
    pub fn error(self, kernel: &str, lines: Vec<ThreadLine>) -> Error {
        let kernel = kernel.to_owned();
        let kind = match self {
            Reason::TimeLimit(limit) => ErrorKind::TimeLimit { kernel, limit, lines },
            Reason::Interrupted => ErrorKind::Interrupted { kernel, lines },
        };
        kind.into()
    }
}
