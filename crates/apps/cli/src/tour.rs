//! `wattle tour`: every scenario on every device.

use std::time::{Duration, Instant};

use serde::Serialize;
use wattle::{Device, DeviceKind, Expectation, Scenario};

use crate::args::TourArgs;
use crate::attempt::{Attempt, Plan, Status};
use crate::choice;
use crate::devices;
use crate::exit::{Exit, Input, Stop};
use crate::limits::Reached;
use crate::progress::Progress;
use crate::report;
use crate::run;
use crate::session::Session;
use crate::text::{self, Tone};

const OUTCOMES: usize = 4;

#[derive(Serialize)]
struct Report<'a> {
    as_expected: bool,
    interrupted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    seconds: f64,
    attempts: &'a [Attempt<'a>],
    #[serde(flatten)]
    devices: report::Devices<'a>,
}

/// Runs every scenario on every device.
pub fn tour(session: &mut Session, args: &TourArgs) -> Result<Exit, Stop> {
    let limits = session.limits.clone();
    let (found, missing) = limits.within(Device::survey).map_err(Input::from)?;
    let devices = choice::devices(&args.device, || found)?;
    if !session.json {
        greet(session, &devices)?;
    }
    let start = Instant::now();
    let attempts = attempts(session, &devices)?;
    let seconds = start.elapsed();
    let stopped = run::stopped(&limits, &attempts, session.scenarios.len() * devices.len());
    let exit = stopped.map_or(Exit::Holds, |_| Exit::Unanswered).and(exit(&attempts));
    if session.json {
        let report = Report {
            as_expected: exit == Exit::Holds,
            interrupted: stopped.is_some(),
            stopped: stopped.map(|reached| reached.to_string()),
            seconds: seconds.as_secs_f64(),
            attempts: &attempts,
            devices: report::Devices::new(&devices, &missing),
        };
        session.report("tour", exit, &report)?;
    } else {
        summary(session, &devices, &attempts)?;
        verdict(session, &devices, &attempts, seconds, stopped)?;
        if args.device.is_empty() {
            devices::not_here(session, &missing)?;
        }
    }
    Ok(exit)
}

fn greet(session: &mut Session, devices: &[Device]) -> Result<(), Stop> {
    let names: Vec<_> = devices.iter().map(Device::name).collect();
    let scenarios = text::plural(session.scenarios.len() as u64, "scenario");
    let line = format!("{scenarios} on {}: {}", text::plural(devices.len() as u64, "device"), names.join(", "));
    session.line(line)?;
    if session.scenarios.is_empty() {
        session.line(choice::NO_SCENARIOS)?;
    }
    Ok(())
}

fn attempts<'s>(session: &mut Session<'s>, devices: &[Device]) -> Result<Vec<Attempt<'s>>, Stop> {
    let scenarios = session.scenarios;
    let progress = Progress::new((scenarios.len() * devices.len()) as u64);
    let mut attempts = Vec::new();
    for scenario in scenarios {
        for (number, device) in devices.iter().enumerate() {
            if session.limits.reached().is_some() {
                return Ok(attempts);
            }
            progress.doing(format!("{} on {}", scenario.name, device.name()));
            let attempt = Attempt::new(scenario, device, &Plan::once(&session.limits), || progress.step());
            if !session.json {
                progress.aside(|| -> Result<(), Stop> {
                    if number == 0 {
                        heading(session, scenario)?;
                    }
                    line(session, &attempt, devices)
                })?;
            }
            attempts.push(attempt);
        }
    }
    Ok(attempts)
}

fn heading(session: &mut Session, scenario: &Scenario) -> Result<(), Stop> {
    session.line("")?;
    let name = session.style.paint(Tone::Strong, scenario.name);
    let room = text::WIDTH - 2;
    let lines = text::wrap(&format!("{}  {}", scenario.name, scenario.summary), room);
    for (number, line) in lines.iter().enumerate() {
        match line.strip_prefix(scenario.name) {
            Some(rest) if number == 0 => session.line(format!("{name} {}", session.style.paint(Tone::Faint, rest)))?,
            _ => session.line(session.style.paint(Tone::Faint, line))?,
        }
    }
    Ok(())
}

/// A line of the report: what it did, the result, the time, the checks that held.
fn line(session: &mut Session, attempt: &Attempt, devices: &[Device]) -> Result<(), Stop> {
    let name = devices.iter().map(|device| text::columns(device.name())).max().unwrap_or(0);
    let (mark, tone) = mark(attempt);
    let time = attempt.times.first().copied().map(text::duration).unwrap_or_default();
    let head = format!("  {mark} {}  {time:>8}  ", text::pad(attempt.device.name(), name));
    let indent = " ".repeat(text::columns(&head));
    let lines = text::wrap(&story(attempt), text::WIDTH - indent.len());
    for (number, line) in lines.iter().enumerate() {
        if number == 0 {
            session.line(head.replacen(mark, &session.style.paint(tone, mark), 1) + line)?;
        } else {
            session.line(format!("{indent}{line}"))?;
        }
    }
    if let Some(first) = attempt.error.as_ref().filter(|_| !attempt.as_expected()) {
        let text = first.text();
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
        for line in text::fill(rest, text::WIDTH - indent.len()) {
            session.line(format!("{indent}{line}"))?;
        }
    }
    Ok(())
}

fn mark(attempt: &Attempt) -> (&'static str, Tone) {
    match attempt.status {
        Status::Unsupported => ("–", Tone::Faint),
        Status::Interrupted => ("…", Tone::Note),
        _ if !attempt.as_expected() => ("✗", Tone::Bad),
        Status::Held if attempt.scenario.expectation == Expectation::Refuted => ("·", Tone::Note),
        _ => ("✓", Tone::Good),
    }
}

fn story(attempt: &Attempt) -> String {
    let error = attempt.error.as_ref().map(|first| first.text()).unwrap_or_default();
    let error = text::headline(&error);
    let closely = attempt.device.properties().kind == DeviceKind::Simulated;
    match (attempt.status, attempt.scenario.expectation) {
        (Status::Held, Expectation::Holds) => did(attempt),
        (Status::Held, Expectation::Refuted) if closely => {
            format!("NOT REFUTED, and this device should have: {}", did(attempt))
        }
        (Status::Held, Expectation::Refuted) if did(attempt).is_empty() => {
            "nothing seen, this device hides it".to_owned()
        }
        (Status::Held, Expectation::Refuted) => format!("nothing seen, this device hides it: {}", did(attempt)),
        (Status::DoesNotHold, Expectation::Refuted) if closely => format!("refuted, as it should be: {error}"),
        (Status::DoesNotHold, Expectation::Refuted) => format!("wrong, and seen here too: {error}"),
        (Status::DoesNotHold, Expectation::Holds) => format!("DOES NOT HOLD: {error}"),
        (Status::Unsupported, _) => format!("not possible here: {error}"),
        (Status::Interrupted, _) => "stopped".to_owned(),
        (Status::Failed, _) => format!("COULD NOT BE TRIED: {error}"),
    }
}

fn did(attempt: &Attempt) -> String {
    let summary = &attempt.summary;
    let mut text = summary.did.clone();
    if !summary.checks.is_empty() {
        text = format!("{text}: {}", summary.checks.join("; "));
    }
    if !summary.outcomes.is_empty() {
        let mut outcomes: Vec<_> = summary.outcomes.iter().collect();
        outcomes.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        let shown: Vec<_> = outcomes.iter().take(OUTCOMES).map(|(outcome, times)| counted(outcome, **times)).collect();
        let more = outcomes.len().saturating_sub(OUTCOMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text = format!("{text}; saw {}{more}", shown.join(", "));
    }
    text
}

fn counted(outcome: &str, times: u64) -> String {
    format!("{outcome} ×{}", text::count(times))
}

/// Prints a table with a row for each scenario and a column for each device.
fn summary(session: &mut Session, devices: &[Device], attempts: &[Attempt]) -> Result<(), Stop> {
    let scenarios = session.scenarios;
    let name = scenarios.iter().map(|scenario| text::columns(scenario.name)).max().unwrap_or(0) + 2;
    let cells: Vec<Vec<Option<&Attempt>>> = scenarios
        .iter()
        .map(|scenario| devices.iter().map(|device| find(attempts, scenario, device)).collect())
        .collect();
    let width = |column: usize| {
        let cells = cells.iter().filter_map(|row| row[column]).map(|attempt| text::columns(&cell(attempt)) + 2);
        cells.max().unwrap_or(0).max(text::columns(devices[column].name())) + 3
    };
    let widths: Vec<_> = (0..devices.len()).map(width).collect();
    let names: String = devices.iter().zip(&widths).map(|(device, &width)| text::pad(device.name(), width)).collect();
    session.line("")?;
    session.line(session.style.paint(Tone::Strong, &(text::pad("", name) + names.trim_end())))?;
    for (scenario, row) in scenarios.iter().zip(&cells) {
        let mut line = text::pad(scenario.name, name);
        for (attempt, &width) in row.iter().zip(&widths) {
            line += &match attempt {
                None => text::pad("", width),
                Some(attempt) => {
                    let (mark, tone) = mark(attempt);
                    session.style.paint(tone, mark) + &text::pad(&format!(" {}", cell(attempt)), width - 1)
                }
            };
        }
        session.line(line)?;
    }
    Ok(())
}

fn find<'a, 's>(attempts: &'a [Attempt<'s>], scenario: &Scenario, device: &Device) -> Option<&'a Attempt<'s>> {
    attempts.iter().find(|attempt| attempt.scenario.name == scenario.name && attempt.device == *device)
}

fn cell(attempt: &Attempt) -> String {
    let refuted = attempt.scenario.expectation == Expectation::Refuted;
    let word = match attempt.status {
        Status::Held if !refuted => return attempt.times.first().copied().map(text::duration).unwrap_or_default(),
        Status::Held if attempt.as_expected() => "nothing seen",
        Status::Held => "not refuted",
        Status::DoesNotHold if refuted => "refuted",
        Status::DoesNotHold => "does not hold",
        Status::Unsupported => "not possible",
        Status::Interrupted => "stopped",
        Status::Failed => "failed",
    };
    word.to_owned()
}

fn verdict(
    session: &mut Session,
    devices: &[Device],
    attempts: &[Attempt],
    time: Duration,
    stopped: Option<Reached>,
) -> Result<(), Stop> {
    let number = |is: &dyn Fn(&Attempt) -> bool| attempts.iter().filter(|attempt| is(attempt)).count() as u64;
    let refuted = |attempt: &Attempt| attempt.scenario.expectation == Expectation::Refuted && attempt.as_expected();
    let counts = [
        (number(&|attempt| attempt.status == Status::Held && !refuted(attempt) && attempt.as_expected()), "held"),
        (number(&|attempt| attempt.status == Status::DoesNotHold && refuted(attempt)), "refuted as intended"),
        (number(&|attempt| attempt.status == Status::Held && refuted(attempt)), "wrong with nothing seen"),
        (number(&|attempt| attempt.status == Status::Unsupported), "not possible there"),
    ];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", text::count(*number)))
        .collect();
    let counts = if counts.is_empty() { "nothing was done".to_owned() } else { counts.join("; ") };
    let scenarios = text::plural(session.scenarios.len() as u64, "scenario");
    let on = text::plural(devices.len() as u64, "device");
    session.line("")?;
    let total = format!("{scenarios} on {on} in {}: {counts}.", text::duration(time));
    for line in text::wrap(&total, text::WIDTH) {
        session.line(line)?;
    }
    let bad: Vec<_> = attempts
        .iter()
        .filter(|attempt| !attempt.as_expected() && attempt.status != Status::Interrupted)
        .map(|attempt| format!("{} on {}", attempt.scenario.name, attempt.device.name()))
        .collect();
    if !bad.is_empty() {
        for line in text::wrap(&format!("Not as expected: {}.", bad.join(", ")), text::WIDTH) {
            session.line(session.style.paint(Tone::Bad, &line))?;
        }
    }
    if let Some(reached) = stopped {
        let all = session.scenarios.len() * devices.len();
        let done = attempts.iter().filter(|attempt| attempt.stopped.is_none()).count();
        session.stopped(reached, &format!("{done} of {all} were done"))?;
    } else if bad.is_empty() {
        session.line(session.style.paint(Tone::Good, "All is as it should be."))?;
    }
    Ok(())
}

fn exit(attempts: &[Attempt]) -> Exit {
    let unexpected = |attempt: &&Attempt| !attempt.as_expected();
    let exits = attempts.iter().filter(unexpected).map(|attempt| match attempt.status {
        Status::Failed | Status::Interrupted => Exit::Unanswered,
        _ => Exit::DoesNotHold,
    });
    exits.collect()
}
