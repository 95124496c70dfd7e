//! `wattle check`: scenarios proved, one after another, for every target side by side.

use std::path::Path;
use std::sync::Arc;

use wattle::checker::{Advice, Checker, Meter, Report, Verdict};
use wattle::memory::Target;
use wattle::story::{SvgOptions, svg};
use wattle::{Model, Scenario};

use crate::args::CheckArgs;
use crate::check_litmus;
use crate::check_module;
use crate::check_report::{self, Judged, Tried, Unjudged};
use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::findings::{self, Case};
use crate::limits::{ADVICE, limited};
use crate::misplaced::misplaced;
use crate::panics;
use crate::progress::Progress;
use crate::run;
use crate::session::Session;

/// Proves scenarios by name, and litmus files.
pub fn check(session: &mut Session<'_>, args: &CheckArgs) -> Result<Exit, Stop> {
    let is_source = || args.names.iter().find_map(|name| check_module::source_file(name));
    if let Some(error) = is_source().or_else(|| misplaced(args)) {
        return Err(error.into());
    }
    args.findings.writable()?;
    args.svg.as_deref().map(crate::output::writable).transpose()?;
    if let Some(file) = args.names.iter().find(|name| check_module::is_module(name)) {
        let file = Path::new(file);
        let (judged, case) = match check_module::check_file(session, file, args) {
            Ok((exit, case)) => (Ok(exit), case),
            Err(Stop::Input(why)) => {
                let case = Case::refused(file, &why);
                (Err(why.into()), case)
            }
            Err(output @ Stop::Output(_)) => return Err(output),
        };
        let exit = judged.as_ref().map_or(Exit::Unanswered, |exit| *exit);
        args.findings.write("check", exit, &[case])?;
        return judged;
    }
    let (files, names): (Vec<String>, Vec<String>) =
        args.names.iter().cloned().partition(|name| name.ends_with(".litmus"));
    let scenarios = choice::scenarios(session.scenarios, &names)?;
    if args.size.is_some() {
        run::sized(&scenarios)?;
    }
    let mut exit = Exit::Holds;
    let mut cases: Vec<Case> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if let (Some(reached), true) = (session.limits.reached(), number > 0) {
            exit = exit.and(Exit::Unanswered);
            cases.push(check_litmus::not_begun(file, args, reached));
            continue;
        }
        let judged = check_litmus::check_file(session, Path::new(file), args);
        let (one, case) = match (judged, session.limits.reached()) {
            // What was found in the files before is a result all the same.
            (Err(Stop::Input(_)), Some(reached)) if number > 0 => {
                if !session.json {
                    session.line(format!("{file}  unknown: {reached}"))?;
                }
                (Exit::Unanswered, check_litmus::not_begun(file, args, reached))
            }
            (judged, _) => judged?,
        };
        exit = exit.and(one);
        cases.push(case);
    }
    let progress = Progress::new((scenarios.len() * checkers(args).len()) as u64);
    let planned = scenarios.len();
    let mut all = Vec::new();
    let mut not_begun = 0;
    for scenario in scenarios {
        // What is not begun any more is in the documents all the same.
        let is_late = session.limits.reached().is_some() && !all.is_empty();
        let judged = judge(scenario, args, &progress, session);
        exit = exit.and(judged.exit());
        if is_late {
            exit = exit.and(Exit::Unanswered);
            not_begun += 1;
            cases.extend(findings::cases_of(&judged));
            all.push(judged);
            continue;
        }
        if let Some(file) = &args.svg {
            draw(&judged, file)?;
        }
        if let Some(dialect) = &args.emit_litmus {
            check_litmus::emit(session, &judged, dialect, args)?;
        } else if !session.json {
            let first = all.is_empty();
            progress.aside(|| check_report::text(session, &judged, first))?;
        }
        if args.findings.any() {
            cases.extend(findings::cases_of(&judged));
        }
        all.push(judged);
    }
    drop(progress);
    args.findings.write("check", exit, &cases)?;
    if let (Some(reached), true, false) = (session.limits.reached(), not_begun > 0, session.json) {
        session.stopped(reached, &format!("{} of {planned} scenarios were begun", planned - not_begun))?;
    }
    if session.json && !all.is_empty() {
        session.report("check", exit, &check_report::Document { scenarios: &all })?;
    }
    Ok(exit)
}

/// The checkers that judge the scenarios.
fn checkers(args: &CheckArgs) -> Vec<Checker> {
    let checkers = match (args.model, args.target) {
        (Some(model), _) => vec![Checker::new(model)],
        (None, Some(target)) => vec![Checker::for_target(target)],
        (None, None) if args.emitted => vec![Checker::for_target(Target::Ptx { sm: 90 })],
        (None, None) => Target::ALL.into_iter().map(Checker::for_target).collect(),
    };
    checkers.into_iter().map(|checker| configured(checker, args)).collect()
}

fn configured(checker: Checker, args: &CheckArgs) -> Checker {
    let mut checker = checker.loop_bound(args.loop_bound).symmetry(!args.no_symmetry);
    if let Some(progress) = args.progress {
        checker = checker.progress(progress);
    }
    if let Some(memory) = args.limits.memory {
        checker = checker.memory(memory);
    }
    if let Some(executions) = args.sample {
        checker = checker.sample(executions, args.seed);
    }
    if args.plain_as_relaxed {
        checker = checker.plain_as_relaxed();
    }
    if args.emitted {
        checker = checker.emitted();
    }
    checker
}

fn judge(scenario: &Scenario, args: &CheckArgs, progress: &Progress, session: &Session<'_>) -> Judged {
    let limits = &session.limits;
    let mut tried: Vec<Tried> = Vec::new();
    // A picture is of an execution, which no kept result has.
    let keeper = session.keeper.as_ref().filter(|_| args.svg.is_none() && args.emit_litmus.is_none());
    let kept = |checker: Checker| match keeper {
        Some(keeper) => checker.kept_by(keeper.clone()),
        None => checker,
    };
    let checkers: Vec<Checker> = checkers(args).into_iter().map(kept).collect();
    let (of, size) = (*scenario, args.size);
    for (number, checker) in checkers.iter().enumerate() {
        progress.doing(format!("{} under {}", scenario.name, checker.name()));
        let begun = match limits.reached() {
            Some(reached) => Err(reached),
            None => {
                let meter = Arc::new(Meter::default());
                let name = format!("{} under {}", scenario.name, checker.name());
                // A target that takes all the time it is given leaves the others theirs.
                let share = limits.left().map(|left| left / (checkers.len() - number) as u32);
                let mut checker = limited(checker, limits).shown_on(meter.clone());
                if let Some(share) = share {
                    checker = checker.time(share);
                }
                let mut look = || progress.doing(format!("{name}: {}", meter.read()));
                // A panic of the scenario is a failed assertion, and is in the report.
                limits.watched(move || panics::kept(|| checker.check_scenario(&of, size)).0, &mut look)
            }
        };
        progress.step();
        tried.push(Tried {
            name: checker.name(),
            checker: checker.clone(),
            result: match begun {
                Ok(Ok(report)) => Ok(report),
                Ok(Err(error)) => Err(Unjudged::Impossible(error)),
                Err(reached) => Err(Unjudged::Stopped(reached)),
            },
        });
    }
    // What is promised comes first: advice on it serves all targets.
    let advised = checkers.iter().zip(&tried).find_map(|(checker, tried)| Some((checker, tried.result.as_ref().ok()?)));
    let advice = advised.filter(|_| !args.no_advice && args.sample.is_none()).map(|(checker, report)| {
        if limits.reached().is_some() {
            return Advice { cut_short: true, ..Advice::default() };
        }
        progress.doing(format!("advice on {}", scenario.name));
        let (checker, report, budget) = (limited(checker, limits), report.clone(), limits.left().unwrap_or(ADVICE));
        let advice = move || panics::kept(|| checker.advise_scenario(&of, size, &report, budget.min(ADVICE))).0;
        limits.within(advice).unwrap_or(Advice { cut_short: true, ..Advice::default() })
    });
    Judged { scenario: *scenario, tried, advice: advice.unwrap_or_default() }
}

impl Judged {
    /// The report whose story is shown: the first that says that something is wrong, else the first.
    pub fn main(&self) -> Option<&Report> {
        let reports = || self.tried.iter().filter_map(|tried| tried.result.as_ref().ok());
        reports().find(|report| report.verdict == Verdict::Violated).or_else(|| reports().next())
    }

    /// The result of all verdicts. That a target cannot run a scenario is no verdict, unless no other was asked.
    fn exit(&self) -> Exit {
        let of = |report: &Report| match report.verdict {
            Verdict::Holds => Exit::Holds,
            Verdict::Violated => Exit::DoesNotHold,
            Verdict::Unknown => Exit::Unanswered,
        };
        let exits = self.tried.iter().filter_map(|tried| match &tried.result {
            Ok(report) => Some(of(report)),
            Err(Unjudged::Stopped(_)) => Some(Exit::Unanswered),
            Err(Unjudged::Impossible(_)) => None,
        });
        exits.reduce(Exit::and).unwrap_or(Exit::Unanswered)
    }

    /// The advice on how to mend the scenario.
    pub fn advice(&self) -> &Advice {
        &self.advice
    }
}

/// Draws the execution that shows what is wrong, or one that is right.
fn draw(judged: &Judged, file: &Path) -> Result<(), Stop> {
    let report = judged.main();
    let witness = report.and_then(|report| {
        let wrong = report.violations.iter().find_map(|violation| violation.witness());
        wrong.or(report.example.as_deref())
    });
    let Some(witness) = witness else {
        let message = format!("there is no execution of `{}` to draw", judged.scenario.name);
        return Err(Input::new("svg", message).into());
    };
    let violation = report.and_then(|report| report.violations.first());
    let model = report.map_or(Model::Portable, |report| report.model);
    let picture = svg(witness, &SvgOptions { violation, model, ..SvgOptions::default() });
    Ok(crate::output::write("svg", file, picture)?)
}
