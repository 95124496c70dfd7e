//! Judges many modules with expected answers on all cores.

use std::fmt;
use std::fs;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;
use wattle_check::keep::{Answered, Content};
use wattle_check::search::Statistics;
use wattle_litmus::{Schedule, on_all_cores};

use crate::spirv::{self, Answer, Header, Question};
use crate::verdict::Options;

/// What is asked of the modules of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Whether what a module's comments claim is met.
    Assertion,
    /// Whether there is no data race.
    Race,
    /// Whether every thread ends, under the schedule that the list or this names.
    Termination(Schedule),
}

/// A module with its expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The path, relative to the directory of the list.
    pub path: PathBuf,
    /// Whether the expected answer is `pass`.
    pub expected: bool,
    /// The name of the schedule, if the list has one.
    pub schedule: Option<String>,
    /// The line in the list.
    pub line: u32,
}

/// The error for an unusable list.
#[derive(Debug, Error)]
#[error("{file}:{line}: {why}")]
pub struct WrongList {
    file: String,
    line: u32,
    why: String,
}

/// Reads a list: the header `path,expected` or `path,expected,progress`, then a line for each module with `pass` or
/// `fail`.
///
/// # Errors
/// The first line that is wrong.
pub fn cases(file: &str, text: &str) -> Result<Vec<Case>, WrongList> {
    let wrong = |line: usize, why: String| WrongList { file: file.to_owned(), line: line as u32 + 1, why };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let has_schedule = match lines.next().map(|(_, line)| line.split(',').map(str::trim).collect::<Vec<_>>()) {
        Some(header) if header == ["path", "expected"] => false,
        Some(header) if header == ["path", "expected", "progress"] => true,
        _ => return Err(wrong(0, "the header is `path,expected` or `path,expected,progress`".into())),
    };
    let case = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let (path, expected, schedule) = match (fields.as_slice(), has_schedule) {
            ([path, expected], false) => (path, expected, None),
            ([path, expected, schedule], true) => (path, expected, Some((*schedule).to_owned())),
            _ => return Err(wrong(number, format!("`{line}` has not as many fields as the header"))),
        };
        let expected = match *expected {
            "pass" => true,
            "fail" => false,
            other => return Err(wrong(number, format!("`{other}` is neither `pass` nor `fail`"))),
        };
        Ok(Case { path: PathBuf::from(path), expected, schedule, line: number as u32 + 1 })
    };
    let cases: Vec<Case> = lines.map(case).collect::<Result<_, _>>()?;
    if cases.is_empty() { Err(wrong(0, "the list has no modules".into())) } else { Ok(cases) }
}

/// The reason why there is no answer about a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unjudged {
    /// The module cannot be read, or has something that is not supported.
    #[error("{0}")]
    Refused(String),
    /// The file is PTX, which is judged by itself.
    #[error(
        "it is PTX, and a list is of SPIR-V modules: `wattle check FILE.ptx` judges a launch of one of its kernels"
    )]
    Ptx,
}

/// The result for a module.
#[derive(Debug)]
pub struct Judged {
    /// The module with its expected answer.
    pub case: Case,
    /// The answer and the counts of the search, or why there is none.
    pub answer: Result<(Answer, Statistics), Unjudged>,
    /// The time that judging took.
    pub time: Duration,
    /// Whether the answer was kept from an earlier run.
    pub kept: bool,
}

impl Judged {
    /// Whether the answer is the expected one.
    pub fn passed(&self) -> bool {
        match &self.answer {
            Ok((Answer::Yes, _)) => self.case.expected,
            Ok((Answer::No(_), _)) => !self.case.expected,
            Ok((Answer::Unknown(_), _)) | Err(_) => false,
        }
    }

    /// Whether there is an answer at all.
    pub fn is_answered(&self) -> bool {
        matches!(&self.answer, Ok((Answer::Yes | Answer::No(_), _)))
    }
}

/// Writes one line: the module, the answer with its reason, and the expected answer.
impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.case.path.display())?;
        if let Some(schedule) = &self.case.schedule {
            write!(f, " ({schedule})")?;
        }
        match &self.answer {
            Ok((Answer::Yes, _)) => write!(f, ": pass")?,
            Ok((Answer::No(why), _)) => write!(f, ": fail ({why})")?,
            Ok((Answer::Unknown(why), _)) => write!(f, ": unknown ({why})")?,
            // The reader's errors quote the line on a line of its own.
            Err(Unjudged::Refused(why)) => {
                write!(f, ": refused: {}", why.split_whitespace().collect::<Vec<_>>().join(" "))?;
            }
            Err(Unjudged::Ptx) => write!(f, ": not judged: {}", Unjudged::Ptx)?,
        }
        write!(f, ", expected {}", if self.case.expected { "pass" } else { "fail" })
    }
}

/// Judges all modules of a list, whose paths start at `root`, on all cores. `on_done` is called for each when it is
/// done, in no particular order.
pub fn run(root: &Path, ask: Ask, cases: &[Case], options: &Options, on_done: &mut dyn FnMut(Judged)) {
    let judged = |case: &Case| {
        let start = Instant::now();
        let (answer, kept) = kept_or_judged(&root.join(&case.path), ask, case, options);
        Judged { case: case.clone(), answer, time: start.elapsed(), kept }
    };
    on_all_cores(cases, &options.limits, judged, |_, judged| on_done(judged));
}

/// The answer about one module that was kept from an earlier run, or else a new one; returns whether it was kept.
fn kept_or_judged(
    path: &Path,
    ask: Ask,
    case: &Case,
    options: &Options,
) -> (Result<(Answer, Statistics), Unjudged>, bool) {
    let bytes = match fs::read(path) {
        Ok(_) if path.extension().is_some_and(|extension| extension == "ptx") => return (Err(Unjudged::Ptx), false),
        Ok(bytes) => bytes,
        Err(error) => return (Err(Unjudged::Refused(error.to_string())), false),
    };
    let Options { model, forbids_races, loop_bound, progress, limits: _, meter: _, keeper } = options;
    let judged = || judge_bytes(&bytes, ask, case, options).map_err(Unjudged::Refused);
    let Some(keeper) = keeper else { return (judged(), false) };
    let mut content = Content::of("list");
    bytes.hash(&mut content);
    // The reason for an answer names the file.
    content.add_debug(&(&case.path, ask, &case.schedule, model, forbids_races, loop_bound, progress));
    let key = content.key();
    if let Some(Answered { yes, reason, statistics }) = Answered::find(&**keeper, &key) {
        return (Ok((if yes { Answer::Yes } else { Answer::No(reason) }, statistics)), true);
    }
    let began = Instant::now();
    let answer = judged();
    let answered = match &answer {
        Ok((Answer::Yes, statistics)) => Some((true, String::new(), *statistics)),
        Ok((Answer::No(reason), statistics)) => Some((false, reason.clone(), *statistics)),
        Ok((Answer::Unknown(_), _)) | Err(_) => None,
    };
    if let Some((yes, reason, statistics)) = answered {
        Answered { yes, reason, statistics }.keep(&**keeper, &key, began.elapsed());
    }
    (answer, false)
}

/// Judges one module of a list.
fn judge_bytes(bytes: &[u8], ask: Ask, case: &Case, options: &Options) -> Result<(Answer, Statistics), String> {
    let name = case.path.display().to_string();
    let module = spirv::read(&name, bytes).map_err(|error| error.to_string())?;
    let header = Header::read(&module.text).map_err(|error| error.to_string())?;
    let question = match ask {
        Ask::Race => Question::Race,
        Ask::Assertion => Question::Assertion(header.claim.clone().ok_or("the module claims nothing (@Output)")?),
        Ask::Termination(schedule) => Question::Termination(match &case.schedule {
            Some(name) => name.parse().map_err(|error: wattle_litmus::UnknownSchedule| error.to_string())?,
            None => schedule,
        }),
    };
    let mut world = spirv::launch(&name, &module, None, &header.setting()).map_err(|error| error.to_string())?;
    spirv::answer(&mut world, &question, options).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let table =
            cases("t.csv", "path,expected,progress\r\na/b.spvasm,pass,qfObe\r\n\r\nc.spv, fail ,fairUniform\r\n");
        let read: Vec<_> = table.unwrap().into_iter().map(|case| (case.path, case.expected, case.line)).collect();
        assert_eq!(read, [("a/b.spvasm".into(), true, 2), ("c.spv".into(), false, 4)]);
        assert_eq!(cases("t.csv", "path,expected\na,pass\n").unwrap()[0].schedule, None);
    }

    #[test]
    fn what_is_wrong_with_a_list_is_said_with_its_line() {
        let error = |text: &str| cases("t.csv", text).unwrap_err().to_string();
        assert_eq!(error(""), "t.csv:1: the header is `path,expected` or `path,expected,progress`");
        assert_eq!(error("path,expected\n"), "t.csv:1: the list has no modules");
        assert_eq!(error("path,expected\na,pass\nb,1\n"), "t.csv:3: `1` is neither `pass` nor `fail`");
        assert_eq!(error("path,expected,progress\na,pass\n"), "t.csv:2: `a,pass` has not as many fields as the header");
    }
}
