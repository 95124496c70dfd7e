//! PTX: text becomes tokens, statements, and then the machine's instructions. What is refused is what the PTX ISA does
//! not allow, and what this interpreter does not know.

pub mod assigned;
pub mod decode;
pub mod lex;
pub mod parse;
mod statement;
pub mod types;
mod variables;

use std::fmt;

pub use decode::{Image, Kernel, decode};

/// Why a text was refused, and at which line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// From 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What kind of refusal it is.
    pub kind: Kind,
}

/// Kinds of refusal; each has an error of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text is wrong, or not known here.
    Text,
    /// The text's version of PTX is newer than the driver.
    Version,
    /// The text is for a greater compute capability than the device has.
    Target,
}

impl Refused {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Refused {
        Refused { line, message: message.into(), kind: Kind::Text }
    }
}

impl fmt::Display for Refused {
    /// As ptxas says it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ptxas application ptx input, line {}; error   : {}", self.line, self.message)
    }
}

impl std::error::Error for Refused {}
