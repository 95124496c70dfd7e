//! Questions about litmus files, and files of expected answers.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use wattle_check::checker::Progress;

/// A question about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Whether the file's claim holds.
    Outcome,
    /// Whether the program has no data race.
    Race,
    /// Whether every run ends under a progress model.
    Liveness(Progress),
}

impl Question {
    /// The question of that name; `progress` is used for liveness.
    ///
    /// # Errors
    /// There is no such question.
    pub fn named(name: &str, progress: Progress) -> Result<Question, UnknownQuestion> {
        match name {
            "outcome" => Ok(Question::Outcome),
            "race" => Ok(Question::Race),
            "liveness" => Ok(Question::Liveness(progress)),
            _ => Err(UnknownQuestion(name.to_owned())),
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Outcome => write!(f, "outcome"),
            Question::Race => write!(f, "race"),
            Question::Liveness(progress) => write!(f, "liveness ({progress})"),
        }
    }
}

/// An error for a name that no question has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no question `{0}`: write outcome, race or liveness")]
pub struct UnknownQuestion(pub String);

/// A file with its expected answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The path of the litmus file, relative to the directory of the list.
    pub path: PathBuf,
    /// Whether the expected answer is yes: the claim holds, there is no race, every run ends.
    pub expected: bool,
    /// The line in the file of expected answers.
    pub line: u32,
}

/// A table of expected answers with the header `path,expected`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The cases in the order of the file.
    pub cases: Vec<Case>,
}

impl Expected {
    /// Reads a file of expected answers.
    ///
    /// # Errors
    /// The file cannot be read, or has an invalid line.
    pub fn read(path: &Path) -> Result<Expected, ExpectedError> {
        let file = path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|source| ExpectedError::Unreadable { file: file.clone(), source })?;
        Expected::parse(&file, &text)
    }

    /// Reads expected answers. `file` is the name of the text in errors.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn parse(file: &str, text: &str) -> Result<Expected, ExpectedError> {
        let wrong = |line: usize, column: usize, found: &str, expected: &'static str| {
            let (file, found) =
                (file.to_owned(), if found.is_empty() { "nothing".into() } else { format!("`{found}`") });
            Err(ExpectedError::Unexpected { file, line: line as u32 + 1, column: column as u32 + 1, found, expected })
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        match lines.next() {
            Some((_, header)) if header.split(',').map(str::trim).eq(["path", "expected"]) => {}
            Some((number, header)) => return wrong(number, 0, header, "the header `path,expected`"),
            None => return wrong(0, 0, "", "the header `path,expected`"),
        }
        let mut cases = Vec::new();
        for (number, line) in lines {
            let Some((path, answer)) = line.rsplit_once(',') else {
                return wrong(number, line.chars().count(), "", "`,` and 0 or 1");
            };
            let path = path.trim().trim_matches('"');
            if path.is_empty() {
                return wrong(number, 0, path, "the path of a litmus file");
            }
            let expected = match answer.trim() {
                "1" => true,
                "0" => false,
                other => return wrong(number, line.chars().count() - answer.chars().count(), other, "0 or 1"),
            };
            cases.push(Case { path: PathBuf::from(path), expected, line: number as u32 + 1 });
        }
        if cases.is_empty() {
            return wrong(text.lines().count(), 0, "", "a line with a path, `,` and 0 or 1: the list has none");
        }
        Ok(Expected { cases })
    }
}

impl FromStr for Expected {
    type Err = ExpectedError;

    fn from_str(text: &str) -> Result<Expected, ExpectedError> {
        Expected::parse("expected", text)
    }
}

/// The error for an unusable file of expected answers.
#[derive(Debug, thiserror::Error)]
pub enum ExpectedError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// The error of the read.
        source: io::Error,
    },
    /// A line of the file is invalid.
    #[error("{file}:{line}:{column}: found {found}, expected {expected}")]
    Unexpected {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// The text found there.
        found: String,
        /// The text expected there.
        expected: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read() {
        let table = Expected::parse("t.csv", "path,expected\r\na/b.litmus,1\r\n\r\n\"c,d.litmus\", 0\r\n").unwrap();
        let read: Vec<_> =
            table.cases.iter().map(|case| (case.path.to_str().unwrap(), case.expected, case.line)).collect();
        assert_eq!(read, [("a/b.litmus", true, 2), ("c,d.litmus", false, 4)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = |text: &str| Expected::parse("t.csv", text).unwrap_err().to_string();
        assert_eq!(error(""), "t.csv:1:1: found nothing, expected the header `path,expected`");
        assert_eq!(error("a.litmus,1\n"), "t.csv:1:1: found `a.litmus,1`, expected the header `path,expected`");
        assert_eq!(error("path,expected\na.litmus,yes\n"), "t.csv:2:10: found `yes`, expected 0 or 1");
        assert_eq!(error("path,expected\na.litmus\n"), "t.csv:2:9: found nothing, expected `,` and 0 or 1");
        let none = "expected a line with a path, `,` and 0 or 1: the list has none";
        assert_eq!(error("path,expected\n"), format!("t.csv:2:1: found nothing, {none}"));
        assert_eq!(error("path,expected\r\n\r\n"), format!("t.csv:3:1: found nothing, {none}"));
        assert_eq!(error("path,expected\n,1\n"), "t.csv:2:1: found nothing, expected the path of a litmus file");
    }

    #[test]
    fn questions_have_names() {
        assert_eq!(Question::named("race", Progress::Fair).unwrap(), Question::Race);
        assert_eq!(Question::named("liveness", Progress::Obe).unwrap(), Question::Liveness(Progress::Obe));
        assert!(Question::named("what", Progress::Fair).unwrap_err().to_string().contains("outcome, race or liveness"));
    }
}
