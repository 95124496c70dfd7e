//! Refusals of a text, with their places.

use std::fmt;

/// The most functions that are called by one another: each is put in the place of its call.
pub(crate) const MOST_CALLS: usize = 256;

/// The reason why a text was refused, and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file, as the reader's caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The instruction, or the line if there is none, as the text writes it.
    pub instruction: String,
    /// The reason for the refusal.
    pub message: String,
    /// The kind of refusal.
    pub kind: RefusedKind,
}

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedKind {
    /// The text is wrong, or uses something that this reader does not support.
    Text,
    /// The text's version of PTX is newer than the limit.
    Version,
    /// The text is for a greater compute capability than the limit.
    Target,
    /// What a launch names or gives does not fit the module.
    Launch,
}

impl Refused {
    /// A refusal of text; the reader adds the file, and the line's text unless the instruction is set.
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Refused {
        let (file, instruction) = (String::new(), String::new());
        Refused { file, line, instruction, message: message.into(), kind: RefusedKind::Text }
    }

    /// The refusal with the name of its file, and the text of its line if no instruction is set.
    pub fn with_text(self, file: &str, text: &str) -> Refused {
        self.within(file, text)
    }

    /// The refusal with its file, and with its line's text if no instruction is set.
    pub(crate) fn within(mut self, file: &str, text: &str) -> Refused {
        self.file = file.to_owned();
        if self.instruction.is_empty() {
            let line = text.lines().nth((self.line as usize).saturating_sub(1));
            self.instruction = line.unwrap_or_default().trim().to_owned();
        }
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            RefusedKind::Launch => f.write_str(&self.message),
            RefusedKind::Text | RefusedKind::Version | RefusedKind::Target => {
                write!(f, "{}:{}: {}\n  in `{}`", self.file, self.line, self.message, self.instruction)
            }
        }
    }
}

impl std::error::Error for Refused {}
