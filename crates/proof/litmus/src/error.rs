//! What is wrong with a file, and where.

use std::fmt;

/// A place in a file, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A file that cannot be read as a litmus file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{place}: {problem}")]
pub struct ParseError {
    /// The file, as the caller named it.
    pub file: String,
    /// Where it stopped making sense.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Something else should stand there.
    #[error("found {found}, expected {expected}")]
    Unexpected {
        /// What stands there.
        found: String,
        /// What could.
        expected: String,
    },
    /// One of PTX's proxy instructions.
    #[error(
        "found `{instruction}`, which goes through a proxy (surface, texture, constant or alias); proxies are not \
         supported, expected an instruction of the generic proxy"
    )]
    Proxy {
        /// The instruction as it is written.
        instruction: String,
    },
    /// Control barriers of one number in one block that wait for different threads.
    #[error(
        "found barrier {instance} waiting for {here}, where it waits for {there} at {first}; one control barrier has \
         one scope and one number of threads (SPIR-V 1.6, OpControlBarrier; PTX ISA 8.5, 9.7.13.1), so give them \
         different numbers or the same scope"
    )]
    Barriers {
        /// The number of both.
        instance: u64,
        /// For whom this one waits.
        here: String,
        /// For whom the other one waits.
        there: String,
        /// Where the other one stands.
        first: Place,
    },
}

impl Problem {
    pub(crate) fn unexpected(found: impl Into<String>, expected: impl Into<String>) -> Problem {
        Problem::Unexpected { found: found.into(), expected: expected.into() }
    }
}

/// A place with a problem, before the file is known.
pub(crate) type Wrong = (Place, Problem);
