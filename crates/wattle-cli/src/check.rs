//! `wattle check`: scenarios proved.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use wattle::checker::{Checker, Report, Verdict};
use wattle::memory::{Model, Target};
use wattle::{Scenario, interrupt};

use crate::args::CheckArgs;
use crate::choice;
use crate::exit::{Exit, Stop};
use crate::session::Session;

/// Proves scenarios by name.
pub fn check(session: &mut Session<'_>, args: &CheckArgs) -> Result<Exit, Stop> {
    let scenarios = choice::scenarios(session.scenarios, &args.names)?;
    let mut exit = Exit::Holds;
    for scenario in scenarios {
        let targets: Vec<Checker> = match (args.model, args.target) {
            (Some(model), _) => vec![Checker::new(model)],
            (None, Some(target)) => vec![Checker::for_target(target)],
            (None, None) => Target::ALL.into_iter().map(Checker::for_target).collect(),
        };
        for checker in targets {
            let checker = configured(checker, args);
            match checker.check_scenario(scenario, args.size) {
                Ok(report) => {
                    session.line(format!(
                        "{} {} {} {:?} {:?} {:?} runs {} shapes {:?} {:?} {:?}",
                        scenario.name,
                        report.target,
                        report.verdict,
                        report.violations.iter().map(|violation| violation.kind()).collect::<Vec<_>>(),
                        report.unknown,
                        report.statistics,
                        report.runs,
                        report.shapes,
                        report.outcomes,
                        report.elapsed
                    ))?;
                }
                Err(error) => session.line(format!("{} {error}", scenario.name))?,
            }
        }
    }
    Ok(exit)
}

fn configured(checker: Checker, args: &CheckArgs) -> Checker {
    let mut checker = checker.loop_bound(args.loop_bound).symmetry(!args.no_symmetry);
    if let Some(progress) = args.progress {
        checker = checker.progress(progress);
    }
    if let Some(time) = args.time {
        checker = checker.time(time);
    }
    if let Some(memory) = args.memory {
        checker = checker.memory(memory);
    }
    if args.plain_as_relaxed {
        checker = checker.plain_as_relaxed();
    }
    checker
}
