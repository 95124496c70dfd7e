//! Judges many files with expected answers on all cores.

use std::fmt;
use std::fs;
use std::hash::Hash;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use wattle_check::keep::{Answered, Content};
use wattle_memory::Model;

use crate::ask::{Case, Expected, Question};
use crate::cores::on_all_cores;
use crate::error::ParseError;
use crate::judge::{Answer, JudgeError, Options, Verdict, judge};
use crate::parse::parse;
use crate::process::World;

/// The reason why a file got no verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// The error of the read.
        source: io::Error,
    },
    /// The file is not a litmus file.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The question cannot be asked about the file.
    #[error("{file}: {source}")]
    Judge {
        /// The file.
        file: String,
        /// The reason.
        source: JudgeError,
    },
}

/// The result for a file.
#[derive(Debug)]
pub struct Judged {
    /// The file with its expected answer.
    pub case: Case,
    /// The verdict on the file, or why there is none.
    pub verdict: Result<Verdict, CaseError>,
    /// The time that judging took.
    pub time: Duration,
    /// Whether the answer was kept from an earlier run; then it has no evidence.
    pub kept: bool,
}

impl Judged {
    /// Whether the answer is the expected one.
    pub fn passed(&self) -> bool {
        let expected = if self.case.expected { Answer::Yes } else { Answer::No };
        self.verdict.as_ref().is_ok_and(|verdict| verdict.answer == expected)
    }
}

/// Formats the result in one line: the file, the answer, and the expected one.
impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = u8::from(self.case.expected);
        match &self.verdict {
            Err(error) => write!(f, "{error}"),
            Ok(Verdict { answer, .. }) => {
                write!(f, "{}: ", self.case.path.display())?;
                match answer {
                    Answer::Yes => write!(f, "1, expected {expected}"),
                    Answer::No => write!(f, "0, expected {expected}"),
                    Answer::Unknown(reason) => write!(f, "unknown ({reason}), expected {expected}"),
                }
            }
        }
    }
}

/// The results for many files.
#[derive(Debug, Default)]
pub struct Summary {
    /// The results, in the order of the list.
    pub cases: Vec<Judged>,
    /// The number of files that were not judged because a limit was reached.
    pub left: usize,
}

impl Summary {
    /// The number of answers that are the expected ones.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.passed()).count()
    }

    /// The number of answers that are missing or not the expected ones.
    pub fn failed(&self) -> usize {
        self.cases.len() + self.left - self.passed()
    }

    /// The results whose answers are not the expected ones.
    pub fn wrong(&self) -> impl Iterator<Item = &Judged> {
        self.cases.iter().filter(|case| !case.passed())
    }
}

/// Formats the counts: `3 passed, 1 failed`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed(), self.failed())
    }
}

/// Judges all files of a list, whose paths start at `root`, on all cores. `on_progress` is called for each when it is
/// done, in no particular order.
pub fn run_folder(
    root: &Path,
    model: Model,
    question: Question,
    expected: &Expected,
    options: &Options,
    on_progress: &mut dyn FnMut(&Judged),
) -> Summary {
    let mut done: Vec<Option<Judged>> = expected.cases.iter().map(|_| None).collect();
    let judged = |case: &Case| {
        let start = Instant::now();
        let (verdict, kept) = kept_or_judged(&root.join(&case.path), &case.path, model, question, options);
        Judged { case: case.clone(), verdict, time: start.elapsed(), kept }
    };
    on_all_cores(&expected.cases, &options.limits, judged, |number, judged| {
        on_progress(&judged);
        done[number] = Some(judged);
    });
    let cases: Vec<_> = done.into_iter().flatten().collect();
    Summary { left: expected.cases.len() - cases.len(), cases }
}

/// The answer about one file that was kept from an earlier run, or else a new one; returns whether it was kept.
fn kept_or_judged(
    path: &Path,
    name: &Path,
    model: Model,
    question: Question,
    options: &Options,
) -> (Result<Verdict, CaseError>, bool) {
    let Options { loop_bound, most_states, limits: _, count_all, keeper } = options;
    let (Some(keeper), Ok(text)) = (keeper, fs::read(path)) else {
        return (judge_file(path, name, model, question, options), false);
    };
    let mut content = Content::of("litmus");
    text.hash(&mut content);
    content.add_debug(&(model, question, loop_bound, most_states, count_all));
    let key = content.key();
    if let Some(Answered { yes, statistics, .. }) = Answered::find(&**keeper, &key) {
        let answer = if yes { Answer::Yes } else { Answer::No };
        return (Ok(Verdict { answer, evidence: None, statistics }), true);
    }
    let began = Instant::now();
    let verdict = judge_file(path, name, model, question, options);
    if let Ok(Verdict { answer: answer @ (Answer::Yes | Answer::No), statistics, .. }) = &verdict {
        let answered = Answered { yes: *answer == Answer::Yes, reason: String::new(), statistics: *statistics };
        answered.keep(&**keeper, &key, began.elapsed());
    }
    (verdict, false)
}

/// Judges one file, whose name in errors is `name`.
///
/// # Errors
/// The file cannot be read, or the question cannot be asked about it.
pub fn judge_file(
    path: &Path,
    name: &Path,
    model: Model,
    question: Question,
    options: &Options,
) -> Result<Verdict, CaseError> {
    let world = read(path, name)?;
    let file = || name.display().to_string();
    judge(&world, model, question, options).map_err(|source| CaseError::Judge { file: file(), source })
}

/// Reads a file, whose name in errors is `name`.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path, name: &Path) -> Result<World, CaseError> {
    let file = name.display().to_string();
    let text = fs::read_to_string(path).map_err(|source| CaseError::Unreadable { file: file.clone(), source })?;
    Ok(World::new(parse(&file, &text)?))
}
