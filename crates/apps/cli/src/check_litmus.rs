//! Litmus files in `wattle check`: judging them, and writing them.

use std::path::Path;
use std::time::Duration;

use wattle::Model;
use wattle::checker::{Checker, Progress, Report};
use wattle::memory::Target;
use wattle_litmus::{Dialect, EmitOptions, Program, emit_scenario, print};

use crate::args::CheckArgs;
use crate::check_report::Judged;
use crate::exit::{Exit, Input, Stop};
use crate::findings::{Case, FindingArgs, Outcome};
use crate::limits::{Reached, limited};
use crate::litmus::{self, LitmusArgs};
use crate::panics;
use crate::session::Session;

/// Judges a litmus file's claim, under the model of its dialect unless another was asked for.
pub fn check_file(session: &mut Session<'_>, file: &Path, args: &CheckArgs) -> Result<(Exit, Case), Stop> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Input::new("litmus", format!("{} could not be read: {error}", file.display())))?;
    let dialect = if text.trim_start().to_ascii_uppercase().starts_with("VULKAN") { Model::Vulkan } else { Model::Ptx };
    let model = args.model.or(args.target.map(|target| target.model())).unwrap_or(dialect);
    let asked = LitmusArgs {
        path: file.to_owned(),
        model,
        ask: "outcome".into(),
        progress: args.progress.unwrap_or_default(),
        expected: None,
        loop_bound: args.loop_bound,
        keep: args.keep,
        findings: FindingArgs::default(),
        limits: args.limits,
    };
    litmus::file(session, &asked)
}

/// The case of a litmus file that was not begun, since a limit was reached.
pub fn not_begun(file: &str, args: &CheckArgs, reached: Reached) -> Case {
    let name = args.model.map_or("outcome", |model| model.name()).to_owned();
    let outcome = Outcome::Unanswered(format!("not begun: {reached}"));
    Case { suite: file.to_owned(), name, time: Duration::ZERO, outcome }
}

/// The launches of a scenario as litmus programs.
fn programs_of(report: &Report, dialect: Dialect) -> Result<Vec<Program>, String> {
    // Launches and shapes that were not come to would be missing without a word.
    if let Some(why) = report.unknown.iter().find(|why| why.is_stopped()) {
        return Err(format!("not everything was looked at: {why}"));
    }
    emit_scenario(report, dialect, &EmitOptions::default()).map_err(|error| error.to_string())
}

/// Writes what is emitted as litmus files.
pub fn emit(session: &mut Session<'_>, judged: &Judged, dialect: &str, args: &CheckArgs) -> Result<(), Stop> {
    let (dialect, target) = match dialect {
        "ptx" => {
            let asked = args.target.filter(|target| matches!(target, Target::Ptx { .. }));
            (Dialect::Ptx, asked.unwrap_or(Target::Ptx { sm: 90 }))
        }
        _ => (Dialect::Vulkan, Target::Vulkan),
    };
    let input = |message: String| Input::new("emit_litmus", message);
    // The fair schedule is all that is written; advice and other targets do not matter here.
    let checker = limited(&Checker::for_target(target).progress(Progress::Fair), &session.limits);
    let (of, size) = (judged.scenario, args.size);
    let name = judged.scenario.name;
    let written = move || {
        let report = panics::kept(|| checker.check_scenario(&of, size)).0.map_err(|error| error.to_string())?;
        programs_of(&report, dialect).map_err(|why| format!("`{name}` cannot be written: {why}"))
    };
    let mut programs = match session.limits.reached() {
        None => session.limits.within(written).map_err(Input::from)?.map_err(input)?,
        Some(reached) => return Err(Input::from(reached).into()),
    };
    let parts = programs.len();
    let Some(program) = args.part.checked_sub(1).and_then(|part| programs.get_mut(part)) else {
        let message = format!("`{}` has {parts} parts: --part is from 1 to {parts}", judged.scenario.name);
        return Err(input(message).into());
    };
    // Every reader expects the header in the first line; a text after it is free.
    if parts > 1 {
        let part = format!("part {} of {parts}, of other shapes or launches: --part K writes another", args.part);
        program.description.push(part);
    }
    session.line(print(program))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_was_not_all_looked_at_is_not_written() {
        let scenario = wattle_kernels::find("publication").unwrap();
        let checker = Checker::for_target(Target::Ptx { sm: 90 });
        let whole = checker.check_scenario(scenario, None).unwrap();
        assert!(programs_of(&whole, Dialect::Ptx).is_ok_and(|programs| !programs.is_empty()));
        let stopped = checker.time(Duration::ZERO).check_scenario(scenario, None).unwrap();
        let why = programs_of(&stopped, Dialect::Ptx).unwrap_err();
        assert!(why.contains("not everything was looked at"), "{why}");
    }
}
