//! Where tests come from: litmus files, folders of them, and scenarios.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wattle_check::checker::{Checker, Verdict};
use wattle_core::{ErrorKind, Expectation, Scenario};
use wattle_litmus::{Dialect, EmitOptions, emit_scenario, read};
use wattle_memory::Target;

use crate::lift::lift;
use crate::program::Program;
use crate::report::{Judgement, Refused, Written};
use crate::run::Bench;

/// A test with what names it.
#[derive(Clone, Debug)]
pub struct Source {
    /// A path, or a scenario's name.
    pub name: String,
    /// The program of the test.
    pub program: Program,
}

/// Tests, and the sources that cannot be tests, with the reasons.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The tests that can run.
    pub tests: Vec<Source>,
    /// The files and scenarios that are no tests, each with the reason.
    pub refused: Vec<Refused>,
}

impl Sources {
    /// Adds a litmus file. The reason why it is no test is kept, unless it cannot be read.
    ///
    /// # Errors
    /// The file cannot be read, or is no litmus file.
    pub fn add_file(&mut self, path: &Path) -> Result<(), wattle_litmus::CaseError> {
        let (world, name) = (read(path, path)?, path.display().to_string());
        match lift(world.program()) {
            Ok(program) => self.tests.push(Source { name, program }),
            Err(error) => self.refused.push(Refused::skipped(name, error.to_string())),
        }
        Ok(())
    }

    /// Adds the launches of a scenario, as its litmus files have them for PTX.
    pub fn add_scenario(&mut self, scenario: &Scenario, time: Duration) {
        let refused = |reason: String| Refused::skipped(scenario.name, reason);
        let until = Instant::now().checked_add(time);
        let checker = Checker::for_target(Target::Ptx { sm: 90 }).time(time);
        let programs = checker.check_scenario(scenario, None).map_err(|error| error.to_string()).and_then(|report| {
            let mut options = EmitOptions::default();
            options.limits.deadline = until;
            emit_scenario(&report, Dialect::Ptx, &options).map_err(|error| error.to_string())
        });
        match programs {
            Err(reason) => self.refused.push(refused(reason)),
            Ok(programs) if programs.is_empty() => self.refused.push(refused("it launches nothing".into())),
            Ok(programs) => {
                for file in programs {
                    match lift(&file) {
                        Ok(program) => self.tests.push(Source { name: scenario.name.to_owned(), program }),
                        Err(error) => self.refused.push(refused(error.to_string())),
                    }
                }
            }
        }
    }
}

/// The litmus files in a folder and its folders, by name.
///
/// # Errors
/// A folder cannot be read.
pub fn litmus_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "litmus") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Runs a scenario as it is written, again and again: what runs is what rustc or the device's compiler makes of the
/// kernel's own code. Its observations are compared with the checker's.
///
/// # Errors
/// The device cannot run it, in words.
pub fn written(bench: &Bench, scenario: &Scenario, time: Duration) -> Result<Written, String> {
    let began = Instant::now();
    let checked = Checker::for_target(bench.target()).time(time / 2).check_scenario(scenario, None);
    let to_be_refuted = scenario.expectation == Expectation::Refuted;
    // A check that is broken off, by a violation or a limit, has not had all observations.
    let allowed = checked.ok().filter(|report| report.verdict == Verdict::Holds).map(|report| report.outcomes);
    let mut all = Written {
        scenario: scenario.name.to_owned(),
        runs: 0,
        failed: 0,
        to_be_refuted,
        outcomes: Default::default(),
        error: None,
    };
    while all.runs == 0 || (began.elapsed() < time && !bench.is_over()) {
        let summary = match scenario.run(bench.device(), None) {
            Ok(summary) => summary,
            Err(error) => match error.kind() {
                ErrorKind::Check(_) => {
                    all.failed += 1;
                    all.error.get_or_insert_with(|| error.to_string());
                    all.runs += 1;
                    continue;
                }
                _ => return Err(error.to_string()),
            },
        };
        all.runs += 1;
        for (outcome, count) in summary.outcomes {
            let judgement = match &allowed {
                Some(allowed) if allowed.contains_key(&outcome) => Judgement::Allowed,
                Some(_) => Judgement::Forbidden,
                None => Judgement::Unknown,
            };
            all.outcomes.entry(outcome).or_insert((0, judgement)).0 += count;
        }
    }
    Ok(all)
}
