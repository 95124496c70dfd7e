//! `wattle list`: the scenarios, and what each is about.

use serde::Serialize;
use wattle::{Expectation, Scenario, Sizes, Work};

use crate::args::ListArgs;
use crate::choice;
use crate::exit::{Exit, Stop};
use crate::session::Session;
use crate::text::{self, Tone};

#[derive(Serialize)]
struct Report<'a> {
    scenarios: Vec<&'a Scenario>,
}

/// Lists the scenarios; with names, shows what those are about.
pub fn list(session: &mut Session, args: &ListArgs) -> Result<Exit, Stop> {
    let all = session.scenarios;
    let chosen = choice::scenarios(all, &args.names)?;
    if session.json {
        let scenarios = if args.names.is_empty() { all.iter().collect() } else { chosen };
        session.report("list", Exit::Holds, &Report { scenarios })?;
    } else if args.names.is_empty() {
        overview(session)?;
    } else {
        for (number, scenario) in chosen.into_iter().enumerate() {
            if number > 0 {
                session.line("")?;
            }
            page(session, scenario)?;
        }
    }
    Ok(Exit::Holds)
}

fn overview(session: &mut Session) -> Result<(), Stop> {
    let all = session.scenarios;
    if all.is_empty() {
        return Ok(session.line(choice::NO_SCENARIOS)?);
    }
    let name = all.iter().map(|scenario| text::columns(scenario.name)).max().unwrap_or(0) + 2;
    let size = all.iter().map(|scenario| text::columns(&full_size(scenario))).max().unwrap_or(0).max(4);
    let room = text::WIDTH.saturating_sub(name + size + 2);
    let head = format!("{}{:>size$}  what it shows", text::pad("name", name), "size");
    session.line(session.style.paint(Tone::Faint, &head))?;
    for scenario in all {
        let mut what = scenario.summary.to_owned();
        if scenario.expectation == Expectation::Refuted {
            what.push_str(" (wrong, and there to be caught)");
        }
        for (number, line) in text::wrap(&what, room).iter().enumerate() {
            let (left, right) = if number == 0 { (scenario.name, full_size(scenario)) } else { ("", String::new()) };
            let left = session.style.paint(Tone::Strong, &text::pad(left, name));
            session.line(format!("{left}{right:>size$}  {line}"))?;
        }
    }
    session.line("")?;
    session
        .line(session.style.paint(Tone::Faint, "`list NAME` tells more; sizes are those of the host and of GPUs."))?;
    Ok(())
}

fn full_size(scenario: &Scenario) -> String {
    match scenario.work {
        Work::Fixed(_) => "-".to_owned(),
        Work::Sized(_, sizes) => text::count(sizes.full as u64),
    }
}

fn page(session: &mut Session, scenario: &Scenario) -> Result<(), Stop> {
    session.line(session.style.paint(Tone::Strong, scenario.name))?;
    session.line(scenario.summary)?;
    session.line("")?;
    let page = scenario.documentation.trim_matches('\n');
    if !page.is_empty() {
        for line in page.lines().chain([""]) {
            session.line(line)?;
        }
    }
    let expectation = match scenario.expectation {
        Expectation::Holds => "holds on every device",
        Expectation::Refuted => "is wrong, and there to be caught: a device that looks closely refuses it",
    };
    let sizes = match scenario.work {
        Work::Fixed(_) => "one size".to_owned(),
        Work::Sized(_, Sizes { full, small, proof }) => {
            let [full, small, proof] = [full, small, proof].map(|size| text::count(size as u64));
            format!("{full} on the host and on GPUs, {small} on the simulated device, {proof} to be proved")
        }
    };
    for (what, value) in [("expected", expectation), ("size", &sizes)] {
        let what = session.style.paint(Tone::Faint, &text::pad(what, 10));
        session.line(format!("{what}{value}"))?;
    }
    Ok(())
}
