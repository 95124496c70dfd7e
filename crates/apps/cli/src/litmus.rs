//! `wattle litmus`: judges litmus files.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use wattle::{Model, checker};
use wattle_litmus::{Answer, Expected, Judged, Observed, Options, Question, Verdict, World, judge, read, run_folder};

use crate::exit::{Exit, Input, Stop};
use crate::findings::{Case, Finding, FindingArgs, Outcome, Place};
use crate::kept::KeepArgs;
use crate::limits::{LimitArgs, Reached};
use crate::listed;
use crate::session::Session;
use crate::text::{self, Tone};

#[derive(Args, Debug)]
pub struct LitmusArgs {
    /// A litmus file; with --expected, the directory that the paths of the list start at
    #[arg(value_name = "FILE|ROOT")]
    pub path: PathBuf,
    /// Under this model: portable, ptx, vulkan, rust, sc or unordered
    #[arg(long, short, value_name = "MODEL")]
    pub model: Model,
    /// What the file claims, whether there is a data race, or whether every run ends
    #[arg(long, value_parser = ["outcome", "race", "liveness"], default_value = "outcome")]
    pub ask: String,
    /// Which threads are promised to run: fair, lobe, obe, hsa or hsa-obe; only asked of liveness
    #[arg(long, value_name = "PROGRESS", default_value = "fair")]
    pub progress: checker::Progress,
    /// Judges the files of this list (`path,expected`, with 1 for yes or 0 for no), and says which answers are not the
    /// expected ones
    #[arg(long, value_name = "FILE.csv")]
    pub expected: Option<PathBuf>,
    /// How often a loop that changes something each time is gone through
    #[arg(long, value_name = "N", default_value = "8")]
    pub loop_bound: u32,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub findings: FindingArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Serialize)]
struct FileReport<'a> {
    file: String,
    name: &'a str,
    model: &'static str,
    question: String,
    claim: Option<String>,
    answer: &'static str,
    reason: Option<String>,
    executions: u64,
    values: Vec<(String, i64)>,
    evidence: &'a [String],
}

#[derive(Serialize)]
struct FolderReport {
    root: String,
    model: &'static str,
    question: String,
    passed: usize,
    failed: usize,
    unanswered: usize,
    interrupted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    /// The number of answers that were kept from an earlier run.
    kept: usize,
    cases: Vec<CaseReport>,
}

#[derive(Serialize)]
struct CaseReport {
    /// The number of the line in the list.
    #[serde(skip)]
    line: u32,
    path: String,
    expected: bool,
    passed: bool,
    answer: Option<&'static str>,
    executions: Option<u64>,
    seconds: f64,
    kept: bool,
    wrong: Option<String>,
}

/// Judges a litmus file, or many with expected answers.
pub fn litmus(session: &mut Session, args: &LitmusArgs) -> Result<Exit, Stop> {
    args.findings.writable()?;
    let (exit, cases) = match &args.expected {
        Some(expected) => folder(session, args, expected)?,
        None => match file(session, args) {
            Ok((exit, case)) => (exit, vec![case]),
            Err(Stop::Input(why)) => {
                args.findings.write("litmus", Exit::Unanswered, &[Case::refused(&args.path, &why)])?;
                return Err(why.into());
            }
            Err(output @ Stop::Output(_)) => return Err(output),
        },
    };
    args.findings.write("litmus", exit, &cases)?;
    Ok(exit)
}

/// The question that was asked, and the options for its search.
fn asked(session: &Session, args: &LitmusArgs) -> Result<(Question, Options), Stop> {
    let question =
        Question::named(&args.ask, args.progress).map_err(|error| Input::new("unknown_question", error.to_string()))?;
    let limits = session.limits.of_search();
    Ok((question, Options { loop_bound: args.loop_bound, limits, ..Options::default() }))
}

/// Judges one litmus file.
pub fn file(session: &mut Session, args: &LitmusArgs) -> Result<(Exit, Case), Stop> {
    let (question, options) = asked(session, args)?;
    let options = Options { count_all: true, ..options };
    let began = Instant::now();
    if args.path.is_dir() {
        let message = format!("{} is a directory: give --expected FILE.csv with it", args.path.display());
        return Err(Input::new("no_list", message).into());
    }
    let world = read(&args.path, &args.path).map_err(|error| Input::new("litmus_file", error.to_string()))?;
    let (asked, model) = (world.clone(), args.model);
    let verdict = session
        .limits
        .within(move || judge(&asked, model, question, &options))
        .map_err(Input::from)?
        .map_err(|error| Input::new("litmus_file", format!("{}: {error}", args.path.display())))?;
    let exit = match verdict.answer {
        Answer::Yes => Exit::Holds,
        Answer::No => Exit::DoesNotHold,
        Answer::Unknown(_) => Exit::Unanswered,
    };
    let program = world.program();
    let evidence = verdict.evidence.as_ref().map(|evidence| evidence.lines(program)).unwrap_or_default();
    let outcome = match verdict.answer {
        Answer::Yes => Outcome::Passed,
        Answer::No => {
            let claim = program.claim_text().filter(|_| question == Question::Outcome).unwrap_or_default();
            let message = format!("{claim} {} under {}", sentence(question, Some(false)), args.model);
            Outcome::Failed(vec![Finding {
                kind: kind(question).to_owned(),
                message: message.trim_start().to_owned(),
                story: evidence.join("\n"),
                places: vec![Place::file(&args.path)],
            }])
        }
        Answer::Unknown(_) => Outcome::Unanswered(reason(verdict.answer).unwrap_or_default()),
    };
    let suite = args.path.display().to_string();
    let case = Case { suite, name: args.model.name().to_owned(), time: began.elapsed(), outcome };
    if session.json {
        let report = FileReport {
            file: args.path.display().to_string(),
            name: &program.name,
            model: args.model.name(),
            question: question.to_string(),
            claim: program.claim_text(),
            answer: answer(verdict.answer),
            reason: reason(verdict.answer),
            executions: verdict.statistics.complete,
            values: values(&world, &verdict),
            evidence: &evidence,
        };
        session.report("litmus", exit, &report)?;
        return Ok((exit, case));
    }
    text(session, args, question, &world, &verdict, &evidence)?;
    Ok((exit, case))
}

/// What is wrong where the answer is no, in a word or two.
fn kind(question: Question) -> &'static str {
    match question {
        Question::Outcome => "claim",
        Question::Race => "data race",
        Question::Liveness(_) => "can be stuck for ever",
    }
}

fn text(
    session: &mut Session,
    args: &LitmusArgs,
    question: Question,
    world: &World,
    verdict: &Verdict,
    evidence: &[String],
) -> Result<(), Stop> {
    let program = world.program();
    let (tone, said) = match verdict.answer {
        Answer::Yes => (Tone::Good, sentence(question, Some(true))),
        Answer::No => (Tone::Bad, sentence(question, Some(false))),
        Answer::Unknown(_) => (Tone::Note, sentence(question, None)),
    };
    let why = reason(verdict.answer).map(|reason| format!(": {reason}")).unwrap_or_default();
    session.line(session.style.paint(Tone::Strong, &program.name))?;
    // What the file claims is the question; the other questions are their own verdicts.
    if question == Question::Outcome {
        session.line(program.claim_text().unwrap_or_default())?;
    }
    let said = session.style.paint(tone, &said);
    let count = match verdict.statistics.complete {
        // Any claim holds of no run at all.
        0 if question == Question::Outcome && !matches!(verdict.answer, Answer::Unknown(_)) => {
            ", no run ends".to_owned()
        }
        0 => String::new(),
        1 => ", 1 execution".to_owned(),
        count => format!(", {} executions", text::count(count)),
    };
    session.line(format!("{said} under {}{why}{count}", args.model))?;
    for line in evidence {
        session.line(format!("  {line}"))?;
    }
    Ok(())
}

/// The answer, if there is one, in words that are true without the question.
fn sentence(question: Question, yes: Option<bool>) -> String {
    match (question, yes) {
        (Question::Outcome, Some(true)) => "holds".to_owned(),
        (Question::Outcome, Some(false)) => "does not hold".to_owned(),
        (Question::Outcome, None) => "unknown".to_owned(),
        (Question::Race, Some(true)) => "no data race".to_owned(),
        (Question::Race, Some(false)) => "data race".to_owned(),
        (Question::Race, None) => "not known whether there is a data race".to_owned(),
        (Question::Liveness(progress), Some(true)) => format!("every run ends ({progress})"),
        (Question::Liveness(progress), Some(false)) => format!("some run never ends ({progress})"),
        (Question::Liveness(progress), None) => format!("not known whether every run ends ({progress})"),
    }
}

fn folder(session: &mut Session, args: &LitmusArgs, expected: &Path) -> Result<(Exit, Vec<Case>), Stop> {
    let (question, options) = asked(session, args)?;
    let options = Options { keeper: session.keeper.clone(), ..options };
    if !args.path.is_dir() {
        let message = format!("{} is not a directory: with --expected, paths start at one", args.path.display());
        return Err(Input::new("no_directory", message).into());
    }
    let expected = Expected::read(expected).map_err(|error| Input::new("expected_file", error.to_string()))?;
    let all = expected.cases.len();
    let files = expected.cases.clone();
    let (root, model) = (args.path.clone(), args.model);
    let tone = |case: &CaseReport| (!case.passed).then_some(Tone::Bad);
    let (mut cases, ended) = listed::judged(session, all, tone, move |said| {
        run_folder(&root, model, question, &expected, &options, &mut |judged| said(case(judged), judged.to_string()));
    })?;
    if let Some(reached) = ended {
        let is_left = |case: &&wattle_litmus::Case| cases.iter().all(|judged: &CaseReport| judged.line != case.line);
        let left: Vec<_> = files.iter().filter(is_left).map(|case| not_begun(case, reached)).collect();
        cases.extend(left);
    }
    cases.sort_by_key(|case| case.line);
    let passed = cases.iter().filter(|case| case.passed).count();
    let is_open = |case: &CaseReport| !case.passed && matches!(case.answer, None | Some("unknown"));
    // A limit that was reached after the last answer has kept nothing from being answered.
    let stopped = ended.filter(|_| cases.iter().any(is_open));
    let wrong = cases.iter().filter(|case| !case.passed && !is_open(case)).count();
    let kept = cases.iter().filter(|case| case.kept).count();
    // A file that cannot be read or judged is no wrong answer.
    let exit = cases.iter().map(|case| match (case.passed, is_open(case)) {
        (true, _) => Exit::Holds,
        (false, true) => Exit::Unanswered,
        (false, false) => Exit::DoesNotHold,
    });
    let exit = exit.collect();
    let found = cases.iter().map(|case| finding(args, question, case, is_open(case))).collect();
    if session.json {
        let report = FolderReport {
            root: args.path.display().to_string(),
            model: args.model.name(),
            question: question.to_string(),
            passed,
            failed: wrong,
            unanswered: all - passed - wrong,
            interrupted: stopped.is_some(),
            stopped: stopped.map(|reached| reached.to_string()),
            kept,
            cases,
        };
        session.report("litmus", exit, &report)?;
        return Ok((exit, found));
    }
    let open = match all - passed - wrong {
        0 => String::new(),
        open => format!(", {open} without an answer"),
    };
    let why = stopped.map(|reached| format!(": {reached}")).unwrap_or_default();
    if kept > 0 {
        session.line(format!("{kept} of {all} kept from an earlier run"))?;
    }
    session.line(format!("{passed} passed, {wrong} failed{open}{why}"))?;
    Ok((exit, found))
}

/// A file of a list as a case: a wrong answer is what was found.
fn finding(args: &LitmusArgs, question: Question, case: &CaseReport, is_open: bool) -> Case {
    let wrong = case.wrong.clone().unwrap_or_default();
    let outcome = match (case.passed, is_open) {
        (true, _) => Outcome::Passed,
        (false, true) => Outcome::Unanswered(wrong),
        (false, false) => Outcome::Failed(vec![Finding {
            kind: kind(question).to_owned(),
            message: wrong,
            story: String::new(),
            places: vec![Place::file(&args.path.join(&case.path))],
        }]),
    };
    let suite = args.path.display().to_string();
    Case { suite, name: case.path.clone(), time: Duration::from_secs_f64(case.seconds), outcome }
}

/// A file that was not begun, or not answered in time.
fn not_begun(case: &wattle_litmus::Case, reached: Reached) -> CaseReport {
    CaseReport {
        line: case.line,
        path: case.path.display().to_string(),
        expected: case.expected,
        passed: false,
        answer: None,
        executions: None,
        seconds: 0.0,
        kept: false,
        wrong: Some(format!("{}: not judged: {reached}", case.path.display())),
    }
}

fn case(judged: &Judged) -> CaseReport {
    CaseReport {
        line: judged.case.line,
        path: judged.case.path.display().to_string(),
        expected: judged.case.expected,
        passed: judged.passed(),
        answer: judged.verdict.as_ref().ok().map(|verdict| answer(verdict.answer)),
        executions: judged.verdict.as_ref().ok().map(|verdict| verdict.statistics.complete),
        seconds: judged.time.as_secs_f64(),
        kept: judged.kept,
        wrong: (!judged.passed()).then(|| judged.to_string()),
    }
}

fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "yes",
        Answer::No => "no",
        Answer::Unknown(_) => "unknown",
    }
}

fn reason(answer: Answer) -> Option<String> {
    match answer {
        Answer::Unknown(reason) => Some(reason.to_string()),
        Answer::Yes | Answer::No => None,
    }
}

/// The final values of a witness.
fn values(world: &World, verdict: &Verdict) -> Vec<(String, i64)> {
    let Some(wattle_litmus::Evidence::End(values)) = &verdict.evidence else { return Vec::new() };
    let value = |&(observed, value): &(Observed, u64)| (world.program().observed_text(observed), value as i64);
    values.iter().map(value).collect()
}
