//! `stress`: the public litmus files that are kernels, on every device that runs kernels, for a given time.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wattle_core::{Device, DeviceKind};
use wattle_cuda as _;
use wattle_litmus::Expected;
use wattle_stress::{Bench, Options, Refused, Report, Shard, Sources, test};
use wattle_vulkan as _;

/// The folder of the files, beside the checkout, and its lists of those with outcomes.
const ROOT: &str = "../shared/litmus";
const LISTS: [&str; 2] = ["ptx-outcome.csv", "vulkan-outcome.csv"];
/// The most time that the models have for a file.
const JUDGING: Duration = Duration::from_secs(5);

/// Runs the files on every device, for `minutes` in all, and prints each device's report.
pub fn run(minutes: f64, seed: u64) -> ExitCode {
    let sources = match sources() {
        Ok(sources) => sources,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let runs_kernels = |device: &Device| {
        let kind = device.properties().kind;
        matches!(kind, DeviceKind::Host | DeviceKind::Gpu | DeviceKind::Software) && device.name() != "host-serial"
    };
    let devices: Vec<Device> = Device::all().into_iter().filter(runs_kernels).collect();
    let each = Duration::from_secs_f64(minutes * 60.0 / devices.len() as f64);
    let mut clean = true;
    for device in &devices {
        match on(device, &sources, each, seed) {
            Ok(report) => {
                println!("{report}");
                // A device on which not one file ran has shown nothing.
                clean &= report.is_clean() && !report.tests.is_empty();
            }
            Err(error) => {
                eprintln!("{error}");
                clean = false;
            }
        }
    }
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn sources() -> Result<Sources, String> {
    let mut sources = Sources::default();
    for list in LISTS {
        let expected = Expected::read(&Path::new(ROOT).join(list)).map_err(|error| error.to_string())?;
        for case in expected.cases {
            sources.add_file(&Path::new(ROOT).join(case.path)).map_err(|error| error.to_string())?;
        }
    }
    Ok(sources)
}

fn on(device: &Device, sources: &Sources, time: Duration, seed: u64) -> wattle_core::Result<Report> {
    let (bench, began) = (Bench::new(device)?, Instant::now());
    let mut report = Report::new(&bench, Vec::new(), seed, Shard::WHOLE);
    report.refused.clone_from(&sources.refused);
    for (number, source) in sources.tests.iter().enumerate() {
        let left = (sources.tests.len() - number) as u32;
        let share = (began + time).saturating_duration_since(Instant::now()) / left;
        let mut options = Options { seed, ..Options::default() };
        options.search.limits.deadline = Instant::now().checked_add(share.clamp(Duration::from_secs(1), JUDGING));
        match test(&bench, &source.name, &source.program, share, &options) {
            Ok(Ok(done)) => report.tests.push(done),
            Ok(Err(error)) => report.refused.push(Refused::unanswered(&source.name, error.to_string())),
            Err(error) => report.refused.push(Refused::skipped(&source.name, error.to_string())),
        }
    }
    report.milliseconds = began.elapsed().as_millis() as u64;
    report.conclude();
    Ok(report)
}
