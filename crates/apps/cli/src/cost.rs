//! `wattle cost`: what fences, atomics and barriers cost.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use wattle::{Device, ErrorKind};
use wattle_cost::{Comparison, Effort, Question, Report, Watch};

use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::limits::LimitArgs;
use crate::output::{unwritten, write};
use crate::progress::Progress;
use crate::session::Session;

#[derive(Subcommand, Debug)]
pub enum CostCommand {
    /// Each fence, atomic access and barrier: alone, behind writes of its thread, and on all blocks at once
    Fences(CostArgs),
    /// A fence beside another launch that writes, in the same memory synchronization domain and in another
    Interference(CostArgs),
}

#[derive(Args, Debug)]
pub struct CostArgs {
    /// The device to measure
    #[arg(long, short, default_value = "host")]
    pub device: String,
    /// Draws what was measured
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Sets what is measured beside an earlier report, which `--save` or `--json` wrote
    #[arg(long, value_name = "FILE.json")]
    pub compare: Option<PathBuf>,
    /// Keeps the report as JSON, for `--compare` and `--from`
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,
    /// Takes an earlier report, which `--save` or `--json` wrote, instead of measuring
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["device", "quick"])]
    pub from: Option<PathBuf>,
    /// Measures a few rows with a few samples: whether it works at all
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl CostCommand {
    /// The arguments, whatever is asked.
    pub fn args(&self) -> &CostArgs {
        match self {
            CostCommand::Fences(args) | CostCommand::Interference(args) => args,
        }
    }

    /// An earlier report of the same.
    fn read(&self, file: &Path) -> Result<Report, Input> {
        let report = read(file)?;
        let (asked, name) = match self {
            CostCommand::Fences(_) => (Question::Fences, "fences"),
            CostCommand::Interference(_) => (Question::Interference, "interference"),
        };
        if report.question != asked {
            let message =
                format!("{} is a report of another kind: `wattle cost {name}` writes what is wanted", file.display());
            return Err(Input::new("not_comparable", message));
        }
        Ok(report)
    }

    fn measure(&self) -> Measure {
        match self {
            CostCommand::Fences(_) => wattle_cost::fences,
            CostCommand::Interference(_) => wattle_cost::interference,
        }
    }
}

type Measure = fn(&Device, &Effort, &Watch<'_>) -> wattle::Result<Report>;

/// Measures, prints, draws, compares.
pub fn cost(session: &mut Session, command: &CostCommand) -> Result<Exit, Stop> {
    let args = command.args();
    // What cannot be read, written or compared is known before minutes are spent.
    let earlier = args.compare.as_deref().map(|file| command.read(file)).transpose()?;
    [&args.svg, &args.save].into_iter().flatten().try_for_each(|file| crate::output::writable(file))?;
    let report = match &args.from {
        Some(file) => command.read(file)?,
        None => measured(session, args, command.measure())?,
    };
    if let Some(file) = &args.svg {
        write("file", file, report.svg())?;
    }
    if let Some(file) = &args.save {
        let text = serde_json::to_string_pretty(&report).map_err(|error| unwritten("file", file, &error))?;
        write("file", file, text)?;
    }
    let exit = if report.is_partial { Exit::Unanswered } else { Exit::Holds };
    match &earlier {
        Some(earlier) => {
            let comparison = Comparison::of(earlier, &report);
            let comparison = comparison.map_err(|why| Input::new("not_comparable", why))?;
            if session.json {
                session.report("cost", exit, &comparison)?;
            } else {
                comparison.lines().iter().try_for_each(|line| session.line(line))?;
            }
        }
        None if session.json => session.report("cost", exit, &report)?,
        None => report.lines().iter().try_for_each(|line| session.line(line))?,
    }
    if let (Some(reached), true, false) = (session.limits.reached(), report.is_partial, session.json) {
        session.stopped(reached, &format!("{} rows were measured", report.rows.len()))?;
    }
    Ok(exit)
}

fn measured(session: &mut Session, args: &CostArgs, measure: Measure) -> Result<Report, Stop> {
    let device = choice::device(&args.device)?;
    let effort = if args.quick { Effort::Small } else { Effort::Full };
    let progress = Arc::new(Progress::new(0));
    let (limits, shown) = (session.limits.clone(), progress.clone());
    let work = move || {
        let watch = Watch {
            stop: Box::new(|| limits.reached().is_some()),
            step: Box::new(|done, all| shown.at(done as u64, all as u64)),
        };
        measure(&device, &effort, &watch)
    };
    let report = session.limits.within(work).map_err(Input::from)?;
    drop(progress);
    report.map_err(|error| match (error.kind(), session.limits.reached()) {
        (ErrorKind::Interrupted { .. }, Some(reached)) => Input::from(reached).into(),
        _ => Input::new(error.kind().name(), error.to_string()).into(),
    })
}

fn read(file: &Path) -> Result<Report, Input> {
    let bytes = std::fs::read(file).map_err(|error| cannot_read(file, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("{} is no report of `wattle cost` with `--save` or `--json`: {error}", file.display());
        Input::new("not_a_report", message)
    })
}

fn cannot_read(file: &Path, error: &std::io::Error) -> Input {
    Input::new("file", format!("{} cannot be read: {error}", file.display()))
}
