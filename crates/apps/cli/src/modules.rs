//! `wattle modules`: judges a corpus of SPIR-V modules.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use wattle_foreign::corpus::{self, Ask, Case, Judged, Unjudged};
use wattle_foreign::{Options, spirv::Answer};
use wattle_litmus::Schedule;

use crate::exit::{Exit, Input, Stop};
use crate::findings::{Case as Found, Finding, FindingArgs, Outcome, Place};
use crate::kept::KeepArgs;
use crate::limits::{LimitArgs, Reached};
use crate::listed;
use crate::session::Session;
use crate::text::Tone;

#[derive(Args, Debug)]
pub struct ModulesArgs {
    /// The directory that the paths of the list start at
    #[arg(value_name = "ROOT")]
    pub root: PathBuf,
    /// What the modules' comments claim, whether there is a data race, or whether every thread ends
    #[arg(long, value_name = "QUESTION")]
    pub ask: Question,
    /// The modules with the expected answers: `path,expected`, with pass or fail, and for termination `,progress`
    #[arg(long, value_name = "FILE.csv")]
    pub expected: PathBuf,
    /// Which threads are promised to run, where the list does not say: fairUniform, qfObe, qfHsaSgObe, ...
    #[arg(long, value_name = "PROGRESS", default_value = "fairUniform")]
    pub progress: Schedule,
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

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Question {
    Assertion,
    Race,
    Termination,
}

/// The answer about a file that was not judged.
const NOT_JUDGED: &str = "not judged";

#[derive(Serialize)]
struct ListReport {
    root: String,
    passed: usize,
    failed: usize,
    /// The number of files that a limit kept from being judged, or that are PTX.
    not_judged: usize,
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
    #[serde(skip)]
    answered: bool,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<String>,
    expected: bool,
    passed: bool,
    answer: &'static str,
    reason: Option<String>,
    seconds: f64,
    kept: bool,
}

/// Judges the modules of a list: a line for each, and the counts.
pub fn modules(session: &mut Session<'_>, args: &ModulesArgs) -> Result<Exit, Stop> {
    let ask = match args.ask {
        Question::Assertion => Ask::Assertion,
        Question::Race => Ask::Race,
        Question::Termination => Ask::Termination(args.progress),
    };
    args.findings.writable()?;
    let cases = list(&args.expected)?;
    let all = cases.len();
    let options = Options {
        loop_bound: args.loop_bound,
        limits: session.limits.of_search(),
        keeper: session.keeper.clone(),
        ..Options::default()
    };
    let (root, modules) = (args.root.clone(), cases.clone());
    let tone = |report: &CaseReport| Some(if report.passed { Tone::Good } else { Tone::Bad });
    let (mut reports, ended) = listed::judged(session, all, tone, move |said| {
        corpus::run(&root, ask, &modules, &options, &mut |judged| said(report(&judged), judged.to_string()));
    })?;
    let judged = reports.len();
    let stopped = ended.filter(|_| judged < all);
    if let Some(reached) = stopped {
        let is_left = |case: &&Case| reports.iter().all(|report: &CaseReport| report.line != case.line);
        let left: Vec<_> = cases.iter().filter(is_left).map(|case| not_judged(case, reached)).collect();
        reports.extend(left);
    }
    reports.sort_by_key(|report| report.line);
    let passed = reports.iter().filter(|report| report.passed).count();
    let not_judged = reports.iter().filter(|report| report.answer == NOT_JUDGED).count();
    let failed = all - passed - not_judged;
    let kept = reports.iter().filter(|report| report.kept).count();
    let exit = reports.iter().map(|report| match (report.passed, report.answered) {
        (true, _) => Exit::Holds,
        (false, false) => Exit::Unanswered,
        (false, true) => Exit::DoesNotHold,
    });
    let exit = exit.collect();
    let stopped = stopped.map(|reached| reached.to_string());
    let found: Vec<_> = reports.iter().map(|report| finding(args, report)).collect();
    args.findings.write("modules", exit, &found)?;
    if session.json {
        let root = args.root.display().to_string();
        let report = ListReport { root, passed, failed, not_judged, stopped, kept, cases: reports };
        session.report("modules", exit, &report)?;
        return Ok(exit);
    }
    if kept > 0 {
        session.line(format!("{kept} of {all} kept from an earlier run"))?;
    }
    let open = if not_judged > 0 { format!(", {not_judged} not judged") } else { String::new() };
    let why = stopped.map(|why| format!(": {why}")).unwrap_or_default();
    session.line(format!("{passed} passed, {failed} failed{open}{why}"))?;
    Ok(exit)
}

/// A module of the list as a case: a wrong answer is what was found.
fn finding(args: &ModulesArgs, report: &CaseReport) -> Found {
    let why = report.reason.clone().unwrap_or_default();
    let outcome = match (report.passed, report.answered) {
        (true, _) => Outcome::Passed,
        (false, false) => Outcome::Unanswered(why),
        (false, true) => {
            let expected = if report.expected { "pass" } else { "fail" };
            let kind = match args.ask {
                Question::Assertion => "claim",
                Question::Race => "data race",
                Question::Termination => "can be stuck for ever",
            };
            let message = format!("{} where {expected} was expected", report.answer);
            let places = vec![Place::file(&args.root.join(&report.path))];
            Outcome::Failed(vec![Finding { kind: kind.to_owned(), message, story: why, places }])
        }
    };
    let name = match &report.progress {
        Some(progress) => format!("{} ({progress})", report.path),
        None => report.path.clone(),
    };
    Found { suite: args.root.display().to_string(), name, time: Duration::from_secs_f64(report.seconds), outcome }
}

fn list(file: &Path) -> Result<Vec<Case>, Stop> {
    let name = file.display().to_string();
    let wrong = |message: String| Stop::from(Input::new("expected_file", message));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(format!("{name}: {error}")))?;
    corpus::cases(&name, &text).map_err(|error| wrong(error.to_string()))
}

/// A module that a limit kept from being judged.
fn not_judged(case: &Case, reached: Reached) -> CaseReport {
    CaseReport {
        line: case.line,
        answered: false,
        path: case.path.display().to_string(),
        progress: case.schedule.clone(),
        expected: case.expected,
        passed: false,
        answer: NOT_JUDGED,
        reason: Some(reached.to_string()),
        seconds: 0.0,
        kept: false,
    }
}

fn report(judged: &Judged) -> CaseReport {
    let (answer, reason) = match &judged.answer {
        Ok((Answer::Yes, _)) => ("pass", None),
        Ok((Answer::No(why), _)) => ("fail", Some(why.clone())),
        Ok((Answer::Unknown(why), _)) => ("unknown", Some(why.clone())),
        Err(Unjudged::Refused(why)) => ("refused", Some(why.clone())),
        Err(Unjudged::Ptx) => (NOT_JUDGED, Some(Unjudged::Ptx.to_string())),
    };
    CaseReport {
        line: judged.case.line,
        answered: judged.is_answered(),
        path: judged.case.path.display().to_string(),
        progress: judged.case.schedule.clone(),
        expected: judged.case.expected,
        passed: judged.passed(),
        answer,
        reason,
        seconds: judged.time.as_secs_f64(),
        kept: judged.kept,
    }
}
