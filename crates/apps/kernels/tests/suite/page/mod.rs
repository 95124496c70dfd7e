//! The page `ALGORITHMS.md`: its families, its rows, and what is known of each without measuring.

use wattle::checker::{Report, Verdict};
use wattle::{Expectation, Scenario};

/// The path of the page in the workspace.
pub const PATH: &str = "crates/apps/kernels/ALGORITHMS.md";

/// The scenarios of the page by families, which are those of one page of documentation that names its source, and the sums of
/// the last block.
pub fn families() -> Vec<Vec<&'static Scenario>> {
    let mut families: Vec<Vec<&'static Scenario>> = Vec::new();
    for scenario in wattle_kernels::all() {
        let page = scenario.documentation;
        if !["\nSource", "\nDescribed in"].iter().any(|head| page.contains(head))
            && !scenario.name.starts_with("last-block-sum")
        {
            continue;
        }
        match families.iter_mut().find(|family| family[0].documentation == page) {
            Some(family) => family.push(scenario),
            None => families.push(vec![scenario]),
        }
    }
    families
}

/// The head of a family: the first sentence of its page.
pub fn title(family: &[&Scenario]) -> String {
    let first = family[0].documentation.trim_start().split("\n\n").next().unwrap_or_default();
    first.replace('\n', " ").trim_end_matches('.').to_owned()
}

/// The source that a family's page names, if it does.
pub fn source(family: &[&Scenario]) -> Option<String> {
    let is_source = |part: &&str| part.starts_with("Source") || part.starts_with("Described in");
    Some(family[0].documentation.split("\n\n").find(is_source)?.trim().replace('\n', " "))
}

/// What a report says, in a word or two.
pub fn verdict(report: &Report) -> String {
    match (report.verdict, report.violations.first()) {
        (Verdict::Violated, Some(violation)) => violation.kind().to_owned(),
        (Verdict::Holds | Verdict::Violated | Verdict::Unknown, _) => report.answer(),
    }
}

/// The beginning of a scenario's row, up to the verdict under `portable`.
pub fn row(scenario: &Scenario, portable: &str) -> String {
    let right = if scenario.expectation == Expectation::Holds { "" } else { "**" };
    format!("| `{}` | {} | {right}{portable}{right}", scenario.name, scenario.summary)
}
