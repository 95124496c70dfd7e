//! `wattle stress`: litmus files and scenarios in many instances on a device.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use wattle::Device;
use wattle_stress::{
    Bench, Environment, NotJudged, Options, Refused, Report, Shard, Sources, html, litmus_files, merge, test, written,
};

use crate::attempt::timed;
use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::limits::{LimitArgs, Reached};
use crate::progress::Progress;
use crate::session::Session;
use crate::text;

#[derive(Args, Debug)]
pub struct StressArgs {
    /// Scenarios by name (`wattle list` has them), litmus files, or folders of these
    #[arg(value_name = "NAME|FILE.litmus|FOLDER", required_unless_present = "merge")]
    pub names: Vec<String>,
    /// On this device: the host, or one with a driver
    #[arg(long, short, default_value = "host")]
    pub device: String,
    /// Runs for this many seconds in all, divided among the tests; before that each is judged by the model, in up to 3
    /// seconds or its share
    #[arg(long, value_name = "S", default_value = "10", value_parser = crate::values::seconds, allow_hyphen_values = true)]
    pub seconds: Duration,
    /// The same seed makes the same launches
    #[arg(long, value_name = "N", default_value = "0")]
    pub seed: u64,
    /// Only every n-th launch, from the i-th on: the i-th of n parts of a campaign, from 0
    #[arg(long, value_name = "i/n", value_parser = shard)]
    pub shard: Option<Shard>,
    /// In this environment, as a report writes it, instead of a tuned one
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub environment: Option<Environment>,
    /// Runs this one launch again and again
    #[arg(long, value_name = "LAUNCH")]
    pub replay: Option<u64>,
    /// Writes the report as a page of HTML too
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Puts the JSON reports of a campaign's parts together, and runs nothing
    #[arg(long, value_name = "FILE.json", num_args = 1..,
        conflicts_with_all = ["names", "shard", "replay", "environment", "device", "seed", "seconds"])]
    pub merge: Vec<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    match parts {
        Some((index, count)) if index < count => Ok(Shard { index, count }),
        _ => Err("write i/n, with i from 0 to n-1: 0/4 is the first of four".to_owned()),
    }
}

/// The most time that the lift of one scenario, or the judging of one test, takes; and the time that it always has.
const JUDGING: Duration = Duration::from_secs(30);
const LEAST_JUDGING: Duration = Duration::from_secs(3);

/// Runs the tests, or puts reports together.
pub fn stress(session: &mut Session<'_>, args: &StressArgs) -> Result<Exit, Stop> {
    // What cannot be written is known before the time is spent.
    args.report.as_deref().map(crate::output::writable).transpose()?;
    let report = if args.merge.is_empty() { campaign(session, args)? } else { merged(&args.merge)? };
    if let Some(path) = &args.report {
        crate::output::write("report_file", path, html(&report))?;
    }
    // A limit, a shard that no instance was in, or an outcome that nobody has judged leaves a question without an
    // answer.
    let all_ran = report.is_answered() && session.limits.reached().is_none();
    let nothing = report.tests.is_empty() && report.written.is_empty();
    // One shard answers for itself; what is put together should be the campaign.
    let incomplete = !args.merge.is_empty() && !report.missing_shards().is_empty();
    let clean = if report.is_clean() { Exit::Holds } else { Exit::DoesNotHold };
    let exit = clean.and(if all_ran && !nothing && !incomplete { Exit::Holds } else { Exit::Unanswered });
    if session.json {
        session.report("stress", exit, &report)?;
    } else {
        write!(session.out, "{report}")?;
        if let Some(reached) = session.limits.reached() {
            session.stopped(reached, &format!("{} instances were run", text::count(report.instances())))?;
        }
    }
    Ok(exit)
}

fn merged(paths: &[PathBuf]) -> Result<Report, Input> {
    let wrong = |path: &Path, error: String| Input::new("report_file", format!("{}: {error}", path.display()));
    let read = |path: &PathBuf| -> Result<Report, Input> {
        let text = fs::read_to_string(path).map_err(|error| wrong(path, error.to_string()))?;
        let no_report = |error| format!("it is no report that `wattle stress --json` wrote: {error}");
        serde_json::from_str(&text).map_err(|error| wrong(path, no_report(error)))
    };
    let reports = paths.iter().map(read).collect::<Result<_, _>>()?;
    merge(reports).map_err(|error| Input::new("merge", error.to_string()))
}

fn campaign(session: &mut Session<'_>, args: &StressArgs) -> Result<Report, Stop> {
    let device = choice::devices(std::slice::from_ref(&args.device), Vec::new)?;
    let device: &Device = device.first().ok_or_else(|| Input::new("device", "there is no such device"))?;
    let bench = Bench::new(device).map_err(|error| Input::new(error.kind().name(), error.to_string()))?;
    let bench = bench.until(session.limits.deadline);
    let began = Instant::now();
    let mut sources = Sources::default();
    let mut scenarios = Vec::new();
    for name in &args.names {
        let path = Path::new(name);
        if path.is_dir() {
            let unreadable = |error| Input::new("folder", format!("{name}: {error}"));
            let files = litmus_files(path).map_err(unreadable)?;
            if files.is_empty() {
                return Err(Input::new("folder", format!("{name}: there is no litmus file in it")).into());
            }
            for file in files {
                // One bad file does not end a campaign over a folder.
                if let Err(error) = sources.add_file(&file) {
                    sources.refused.push(Refused::skipped(file.display().to_string(), error.to_string()));
                }
            }
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            sources.add_file(path).map_err(|error| Input::new("litmus_file", error.to_string()))?;
        } else {
            let scenario = choice::scenario(session.scenarios, name)?;
            let judging = JUDGING.min(args.seconds.max(LEAST_JUDGING));
            sources.add_scenario(scenario, session.limits.left().map_or(judging, |left| left.min(judging)));
            scenarios.push(*scenario);
        }
    }
    let mut options = Options {
        seed: args.seed,
        shard: args.shard.unwrap_or(Shard::WHOLE),
        environment: args.environment,
        replay: args.replay,
        ..Options::default()
    };
    let mut report = Report::new(&bench, args.names.clone(), args.seed, options.shard);
    report.refused = sources.refused;
    // Scenarios also run as they are written, which has a part of the time.
    let parts = (sources.tests.len() + scenarios.len()).max(1) as u32;
    let deadline = session.limits.deadline.map_or(began + args.seconds, |limit| limit.min(began + args.seconds));
    let progress = Progress::new(parts.into());
    let mut left = parts;
    let mut time = || {
        let share = deadline.saturating_duration_since(Instant::now()) / left.max(1);
        left = left.saturating_sub(1);
        share
    };
    let over = |name: &str, reached: Reached| Refused::skipped(name, reached.to_string());
    for source in &sources.tests {
        if let Some(reached) = session.limits.reached() {
            report.refused.push(over(&source.name, reached));
            continue;
        }
        progress.doing(&source.program.name);
        options.search.limits = session.limits.of_search();
        let share = time();
        let judged = Instant::now() + share.clamp(LEAST_JUDGING, JUDGING);
        options.search.limits.deadline = Some(options.search.limits.deadline.map_or(judged, |it| it.min(judged)));
        match test(&bench, &source.name, &source.program, share, &options) {
            Ok(Ok(done)) => report.tests.push(done),
            Ok(Err(error)) => report.refused.push(Refused::unanswered(&source.name, error.to_string())),
            Err(error @ NotJudged::Apart) => report.refused.push(Refused::unanswered(&source.name, error.to_string())),
            Err(error) => report.refused.push(Refused::skipped(&source.name, error.to_string())),
        }
        progress.step();
    }
    for scenario in &scenarios {
        if args.replay.is_some() {
            break;
        }
        let as_written = format!("{}, as it is written", scenario.name);
        if let Some(reached) = session.limits.reached() {
            report.refused.push(over(&as_written, reached));
            continue;
        }
        progress.doing(scenario.name);
        // The scenario's own code on the host looks at no limit.
        let (device, until) = (timed(bench.device(), &session.limits), session.limits.deadline);
        let (scenario, share) = (*scenario, time());
        let ran = session.limits.within(move || {
            let bench = Bench::new(&device).map_err(|error| error.to_string())?.until(until);
            written(&bench, &scenario, share)
        });
        match ran {
            Ok(Ok(done)) => report.written.push(done),
            Ok(Err(reason)) => report.refused.push(Refused::unanswered(as_written, reason)),
            Err(reached) => report.refused.push(over(&as_written, reached)),
        }
        progress.step();
    }
    report.milliseconds = began.elapsed().as_millis() as u64;
    report.conclude();
    Ok(report)
}
