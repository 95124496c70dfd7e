//! `wattle run`: runs scenarios by name.

use clap::Args;
use serde::Serialize;
use wattle::{Device, Scenario, Work};

use crate::attempt::{Attempt, Plan, Status};
use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::limits::{LimitArgs, Limits, Reached};
use crate::progress::Progress;
use crate::report::Spread;
use crate::session::Session;
use crate::shape::AskedShape;
use crate::text::{self, Tone};
use crate::values;

const NAME: usize = 12;
const BAR: usize = 40;

#[derive(Serialize)]
struct Report<'a> {
    interrupted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    attempts: &'a [Attempt<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<ShapeReport>,
}

#[derive(Serialize)]
struct ShapeReport {
    blocks: Option<u32>,
    threads: Option<u32>,
    used: bool,
}

#[derive(Args, Debug)]
pub struct RunArgs {
    /// The scenarios, by name (`wattle list` has them)
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// On this device, or on `all`; may be given several times [default: host]
    #[arg(long, short)]
    pub device: Vec<String>,
    /// The size of the work: 1000, 1_000 or 2^24 [default: the scenario's own for the device]
    #[arg(long, short = 'n', value_parser = values::size, allow_negative_numbers = true)]
    pub size: Option<usize>,
    /// At most this many blocks, in launches that leave the choice to the device (FrameSpec)
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// At most this many threads per block, in launches that leave the choice to the device (FrameSpec)
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Runs each scenario this many times; on the simulated device, each time with the next seed
    #[arg(long, short, value_name = "R", default_value = "1", value_parser = values::runs, allow_negative_numbers = true)]
    pub repeat: u64,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Runs scenarios by name.
pub fn run(session: &mut Session, args: &RunArgs) -> Result<Exit, Stop> {
    let scenarios = choice::scenarios(session.scenarios, &args.names)?;
    if args.size.is_some() {
        sized(&scenarios)?;
    }
    let devices = choice::devices(&args.device, || vec![Device::host()])?;
    let asked = AskedShape::new(args.blocks, args.threads);
    let limits = session.limits.clone();
    let plan = Plan { size: args.size, repeat: args.repeat, asked: asked.clone(), limits: limits.clone() };
    let progress = Progress::new(args.repeat.saturating_mul((scenarios.len() * devices.len()) as u64));
    let planned = scenarios.len() * devices.len();
    let mut attempts: Vec<Attempt> = Vec::new();
    'all: for scenario in scenarios {
        for device in &devices {
            if limits.reached().is_some() {
                break 'all;
            }
            progress.doing(format!("{} on {}", scenario.name, device.name()));
            let attempt = Attempt::new(scenario, device, &plan, || progress.step());
            if !session.json {
                progress.aside(|| text(session, &attempt, attempts.is_empty()))?;
            }
            attempts.push(attempt);
        }
    }
    drop(progress);
    let stopped = stopped(&limits, &attempts, planned);
    let exit = stopped.map_or(Exit::Holds, |_| Exit::Unanswered).and(exit(&attempts));
    if session.json {
        let shape = ShapeReport { blocks: args.blocks, threads: args.threads, used: asked.was_used() };
        let report = Report {
            interrupted: stopped.is_some(),
            stopped: stopped.map(|reached| reached.to_string()),
            attempts: &attempts,
            shape: asked.is_some().then_some(shape),
        };
        session.report("run", exit, &report)?;
    } else if let (Some(reached), true) = (stopped, attempts.len() < planned) {
        session.stopped(reached, &format!("{} of {planned} were begun", attempts.len()))?;
    } else if asked.is_some() && !asked.was_used() {
        let note = "note: --blocks and --threads changed nothing: no launch here leaves the choice to the device";
        session.line("")?;
        session.line(session.style.paint(Tone::Note, note))?;
    }
    Ok(exit)
}

/// Refuses a size for scenarios that have one only.
pub fn sized(scenarios: &[&Scenario]) -> Result<(), Input> {
    let fixed: Vec<_> = scenarios
        .iter()
        .filter(|scenario| matches!(scenario.work, Work::Fixed(_)))
        .map(|scenario| format!("`{}`", scenario.name))
        .collect();
    if fixed.is_empty() {
        return Ok(());
    }
    let has = if fixed.len() == 1 { "has" } else { "have" };
    Err(Input::new("size", format!("--size: {} {has} one size only; leave it out", fixed.join(", "))))
}

fn text(session: &mut Session, attempt: &Attempt, first: bool) -> Result<(), Stop> {
    if !first {
        session.line("")?;
    }
    let mut heading =
        format!("{} on {}", session.style.paint(Tone::Strong, attempt.scenario.name), attempt.device.name());
    if let Some(size) = attempt.size {
        heading += &format!(", size {}", text::count(size as u64));
    }
    session.line(heading)?;
    let (word, tone) = match attempt.status {
        Status::Held => ("held", Tone::Good),
        Status::DoesNotHold => ("does not hold", Tone::Bad),
        Status::Unsupported => ("not possible on this device", Tone::Note),
        Status::Interrupted => ("stopped; nothing wrong so far", Tone::Note),
        Status::Failed => ("could not be tried", Tone::Bad),
    };
    let mut result = session.style.paint(tone, word);
    if let Some(remark) = remark(attempt) {
        result += &format!(" ({remark})");
    }
    row(session, "result", &result)?;
    if !attempt.summary.did.is_empty() {
        row(session, "did", &attempt.summary.did)?;
    }
    for (number, check) in attempt.summary.checks.iter().enumerate() {
        row(session, if number == 0 { "checks" } else { "" }, check)?;
    }
    times(session, attempt)?;
    outcomes(session, attempt)?;
    if let Some(first) = &attempt.error {
        let mut lines = text::fill(&first.text(), text::WIDTH - NAME - 2);
        if attempt.times.len() > 1 {
            lines.insert(0, format!("in run {}, on {}:", text::count(first.run), first.device));
        }
        for (number, line) in lines.iter().enumerate() {
            row(session, if number == 0 { "error" } else { "" }, line)?;
        }
    }
    Ok(())
}

fn row(session: &mut Session, name: &str, value: &str) -> Result<(), Stop> {
    let name = session.style.paint(Tone::Faint, &text::pad(name, NAME));
    Ok(session.line(format!("  {name}{value}"))?)
}

fn remark(attempt: &Attempt) -> Option<String> {
    let runs = attempt.times.len() as u64;
    let mut remarks = Vec::new();
    if attempt.refused > 0 && runs > 1 {
        remarks.push(format!("{} of {}", text::count(attempt.refused), text::plural(runs, "run")));
    }
    if attempt.scenario.expectation == wattle::Expectation::Refuted {
        remarks.push(match attempt.status {
            Status::DoesNotHold => "as it should be: it is there to be refuted".to_owned(),
            Status::Held => "but it is wrong, and there to be refuted: try `--device simulated`".to_owned(),
            _ => return None,
        });
    }
    if let Some(reached) = attempt.stopped {
        remarks.push(match runs {
            0 => reached.to_string(),
            _ => format!("{reached}, after {}", text::plural(runs, "run")),
        });
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

fn times(session: &mut Session, attempt: &Attempt) -> Result<(), Stop> {
    let Some(spread) = Spread::of(&attempt.times) else { return Ok(()) };
    let total = text::duration(spread.total);
    if attempt.times.len() == 1 {
        return row(session, "time", &total);
    }
    let [min, median, max] = [spread.min, spread.median, spread.max].map(text::duration);
    let runs = text::plural(attempt.times.len() as u64, "run");
    row(session, "time", &format!("{total} for {runs}: {min} to {max}, half of them within {median}"))
}

fn outcomes(session: &mut Session, attempt: &Attempt) -> Result<(), Stop> {
    let outcomes = &attempt.summary.outcomes;
    let all: u64 = outcomes.values().sum();
    let most = outcomes.values().copied().max().unwrap_or(0);
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .map(|(outcome, &times)| {
            let share = format!("{:5.1} %", times as f64 / all as f64 * 100.0);
            let width = text::columns(&text::count(most));
            vec![outcome.clone(), format!("{:>width$}", text::count(times)), share, text::bar(times, most, BAR)]
        })
        .collect();
    for (number, line) in text::table(&rows).iter().enumerate() {
        row(session, if number == 0 { "outcomes" } else { "" }, line)?;
    }
    Ok(())
}

/// The limit that ended the command before all attempts were done.
pub fn stopped(limits: &Limits, attempts: &[Attempt], planned: usize) -> Option<Reached> {
    let whole = attempts.len() == planned && attempts.iter().all(|attempt| attempt.stopped.is_none());
    if whole { None } else { limits.reached() }
}

fn exit(attempts: &[Attempt]) -> Exit {
    let exit = |attempt: &Attempt| match attempt.status {
        Status::Held => Exit::Holds,
        Status::DoesNotHold => Exit::DoesNotHold,
        Status::Unsupported | Status::Interrupted | Status::Failed => Exit::Unanswered,
    };
    attempts.iter().map(exit).collect()
}
