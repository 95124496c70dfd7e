//! The cases of a scenario: one for each target.

use std::time::Duration;

use wattle::checker::{Report, Verdict, Violation, Witness};
use wattle::story::{Part, Story, tell};

use super::{Case, Finding, Outcome, Place};
use crate::check_report::{Judged, Unjudged};

/// The cases of a judged scenario.
pub fn cases_of(judged: &Judged) -> impl Iterator<Item = Case> + '_ {
    // What one target cannot do is skipped where another has a verdict; otherwise nothing was answered.
    let is_answered = judged.tried.iter().any(|tried| tried.result.is_ok());
    judged.tried.iter().map(move |tried| {
        let (time, outcome) = match &tried.result {
            Ok(report) => (report.elapsed, outcome(report)),
            Err(Unjudged::Impossible(error)) if is_answered => {
                (Duration::ZERO, Outcome::NotPossible(error.to_string()))
            }
            Err(Unjudged::Impossible(error)) => (Duration::ZERO, Outcome::Unanswered(error.to_string())),
            Err(Unjudged::Stopped(reached)) => (Duration::ZERO, Outcome::Unanswered(reached.to_string())),
        };
        Case { suite: judged.scenario.name.to_owned(), name: tried.name.clone(), time, outcome }
    })
}

fn outcome(report: &Report) -> Outcome {
    match report.verdict {
        Verdict::Holds => Outcome::Passed,
        Verdict::Violated => Outcome::Failed(report.violations.iter().map(|found| finding(found, report)).collect()),
        Verdict::Unknown => {
            let reasons: Vec<_> = report.unknown.iter().map(ToString::to_string).collect();
            Outcome::Unanswered(reasons.join("; "))
        }
    }
}

fn finding(violation: &Violation, report: &Report) -> Finding {
    let story = tell(violation, report);
    let message = if story.headline.is_empty() { violation.kind().to_owned() } else { story.headline.clone() };
    let places = violation.witness().map_or_else(Vec::new, |witness| places(&story, witness));
    Finding { kind: violation.kind().to_owned(), message, story: story.to_string(), places }
}

/// The places of the steps that show what is wrong; where none does, of those that cause it, or of all.
fn places(story: &Story, witness: &Witness) -> Vec<Place> {
    let of = |wanted: Option<Part>| {
        let mut places = Vec::new();
        let steps = story.columns.iter().flat_map(|column| &column.steps);
        for step in steps.filter(|step| wanted.is_none_or(|part| step.part == part)) {
            let sites = step.events.iter().filter_map(|&event| witness.world.site(witness.graph.event(event).source));
            for site in sites {
                let place = Place { file: site.file.to_owned(), line: Some(site.line), column: Some(site.column) };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    };
    let parts = [Some(Part::Wrong), Some(Part::Cause), None];
    parts.into_iter().map(of).find(|places| !places.is_empty()).unwrap_or_default()
}
