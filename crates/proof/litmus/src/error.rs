//! Errors of litmus files, with their places.

use std::fmt;

/// A place in a file, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line of the file, from 1.
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
    /// The place of the error.
    pub place: Place,
    /// The error at that place.
    pub problem: Problem,
}

/// An error at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Unexpected text.
    #[error("found {found}, expected {expected}")]
    Unexpected {
        /// The text found.
        found: String,
        /// The text expected.
        expected: String,
    },
    /// The instruction is one of PTX's proxy instructions.
    #[error(
        "found `{instruction}`, which goes through a proxy (surface, texture, constant or alias); proxies are not \
         supported, expected an instruction of the generic proxy"
    )]
    Proxy {
        /// The instruction as it is written.
        instruction: String,
    },
    /// Control barriers with one number in one block wait for different threads.
    #[error(
        "found barrier {instance} waiting for {here}, where it waits for {there} at {first}; one control barrier has \
         one scope and one number of threads (SPIR-V 1.6, OpControlBarrier; PTX ISA 8.8, 9.7.13.1), so give them \
         different numbers or the same scope"
    )]
    Barriers {
        /// The number of both barriers.
        instance: u64,
        /// The threads that this barrier waits for.
        here: String,
        /// The threads that the other barrier waits for.
        there: String,
        /// The place of the other barrier.
        first: Place,
    },
}

impl Problem {
    pub(crate) fn unexpected(found: impl Into<String>, expected: impl Into<String>) -> Problem {
        Problem::Unexpected { found: found.into(), expected: expected.into() }
    }
}

/// An error with its place, before the file is known.
pub(crate) type Wrong = (Place, Problem);
