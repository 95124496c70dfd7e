//! The page of known algorithms and mistakes: what the checker says of each, and in how long.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use wattle_check::checker::Checker;
use wattle_core::Scenario;
use wattle_memory::Target;

use crate::page;

/// The time limit of one verdict.
const PATIENCE: Duration = Duration::from_secs(60);

const HEAD: &str = "\
# Known algorithms and known mistakes

Algorithms whose threads talk through memory, the classic litmus tests, and mistakes from the wild: each in a form that holds, and in
forms that do not, with the source of each. `cargo xtask algorithms` measures and writes this page, and a test compares it with
the checker's verdicts under `portable`.

A cell has the verdict and the time that the whole check took, on two shared cores. Under `portable` and `vulkan` a data race ends a
search; under `ptx` and on the host it is no error, so that there the search goes on to the value that it leads to. Where
dependencies may keep an outcome away, a verdict that holds includes a search for one that they do, of a second at most.
";

/// Measures all scenarios of the page, and writes it.
pub fn run() -> ExitCode {
    let mut text = HEAD.to_owned();
    for family in page::families() {
        let _ = writeln!(text, "\n## {}\n", page::title(&family));
        if let Some(source) = page::source(&family) {
            let _ = writeln!(text, "{source}\n");
        }
        text += "| scenario | what | portable | ptx | vulkan | host |\n|---|---|---|---|---|---|\n";
        for scenario in family {
            let cells: Vec<String> = Target::ALL.into_iter().map(|target| cell(scenario, target)).collect();
            let (first, time) = cells[0].split_once('\t').unwrap_or((&cells[0], ""));
            let others: Vec<String> = cells[1..].iter().map(|cell| cell.replace('\t', " ")).collect();
            let _ = writeln!(text, "{} {time} | {} |", page::row(scenario, first), others.join(" | "));
            println!("{}", scenario.name);
        }
    }
    match std::fs::write(page::PATH, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} could not be written, run this in the workspace's root: {error}", page::PATH);
            ExitCode::FAILURE
        }
    }
}

/// The verdict for a target and, behind a tab, its time.
fn cell(scenario: &Scenario, target: Target) -> String {
    match Checker::for_target(target).time(PATIENCE).check_scenario(scenario, None) {
        Ok(report) => format!("{}\t{:.1} ms", page::verdict(&report), report.elapsed.as_secs_f64() * 1e3),
        Err(_) => "cannot be judged\t".to_owned(),
    }
}
