//! What was judged, for programs that gather tests and findings: `--junit FILE` and `--sarif FILE`.

mod junit;
mod sarif;
mod scenario;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::exit::{Exit, Input, Stop};
use crate::output::{self, unwritten};

pub use scenario::cases_of;

/// The files for continuous integration.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for continuous integration")]
pub struct FindingArgs {
    /// Writes the verdicts as JUnit XML: a violation is a failure, what was not answered an error, what is not possible
    /// skipped
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Writes what was found as SARIF 2.1.0: races and the like at their source lines
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

/// A case that was judged: a scenario for a target, a litmus file, a module.
pub struct Case {
    /// The suite to which it belongs: a scenario's name, a folder.
    pub suite: String,
    /// The case's name within its suite.
    pub name: String,
    /// How long it took.
    pub time: Duration,
    /// What came of it.
    pub outcome: Outcome,
}

impl Case {
    /// The case of a file that was refused, or not answered in time.
    pub fn refused(file: &Path, why: &Input) -> Case {
        let file = file.display().to_string();
        let (name, outcome) = (file.clone(), Outcome::Unanswered(why.message.clone()));
        Case { suite: file, name, time: Duration::ZERO, outcome }
    }
}

/// What came of a case.
pub enum Outcome {
    /// The case holds, or its answer is the expected one.
    Passed,
    /// The case does not hold: the findings, of which there is at least one.
    Failed(Vec<Finding>),
    /// The case was not answered, for this reason.
    Unanswered(String),
    /// The target cannot do what it needs: the reason.
    NotPossible(String),
}

/// A defect in a case: what is wrong, and where.
pub struct Finding {
    /// The kind of violation in a word or two.
    pub kind: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The whole story, as `wattle check` prints it.
    pub story: String,
    /// The places where it shows: of a race both accesses.
    pub places: Vec<Place>,
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// The column, from 1, if it is known.
    pub column: Option<u32>,
}

impl Place {
    /// The place that is written `file:line` or `file:line:column`; the whole text is the file where there is no line.
    pub fn parse(text: &str) -> Place {
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let split = |text: &str| text.rsplit_once(':').and_then(|(rest, last)| Some((rest.to_owned(), number(last)?)));
        let Some((rest, last)) = split(text) else {
            return Place { file: text.to_owned(), line: None, column: None };
        };
        match split(&rest) {
            Some((file, line)) => Place { file, line: Some(line), column: Some(last) },
            None => Place { file: rest, line: Some(last), column: None },
        }
    }

    /// A file as a whole.
    pub fn file(file: &Path) -> Place {
        Place { file: file.display().to_string(), line: None, column: None }
    }
}

impl FindingArgs {
    /// Whether a file was asked for.
    pub fn any(&self) -> bool {
        self.junit.is_some() || self.sarif.is_some()
    }

    /// Whether the files can be written, which is better known before the search than behind it.
    pub fn writable(&self) -> Result<(), Input> {
        if self.any() && self.junit == self.sarif {
            return Err(Input::new("file", "--junit and --sarif name the same file"));
        }
        [&self.junit, &self.sarif].into_iter().flatten().try_for_each(|file| output::writable(file))
    }

    /// Writes the files that were asked for, also where the command was stopped.
    pub fn write(&self, command: &str, exit: Exit, cases: &[Case]) -> Result<(), Stop> {
        if let Some(file) = &self.junit {
            let text = junit::text(command, cases).map_err(|error| unwritten("junit", file, &error))?;
            output::write("junit", file, text)?;
        }
        if let Some(file) = &self.sarif {
            let text = format!("{:#}\n", sarif::log(exit, cases));
            output::write("sarif", file, text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn places() {
        for (text, file, line, column) in [
            ("kernels/a.cu:12:5", "kernels/a.cu", Some(12), Some(5)),
            ("a.ptx:7", "a.ptx", Some(7), None),
            ("C:\\a.cu:7", "C:\\a.cu", Some(7), None),
            ("a.ptx", "a.ptx", None, None),
            ("a:0", "a:0", None, None),
        ] {
            let place = Place::parse(text);
            assert_eq!((place.file.as_str(), place.line, place.column), (file, line, column), "{text}");
        }
    }
}
