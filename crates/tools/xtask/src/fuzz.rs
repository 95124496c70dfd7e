//! `fuzz`: random kernels on every device with a driver, for a given time.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use wattle_check::Simulated as _;
use wattle_core::{Device, DeviceKind, ErrorKind};
use wattle_fuzz::{Found, Profile, campaign, differs, folder, shrink};
use wattle_vulkan as _;

/// How many kernels are run between two looks at the clock.
const AT_A_TIME: u64 = 50;
/// The time limit for making a case that differs smaller.
const SHRINKING: Duration = Duration::from_secs(60);
/// The number of differing cases after which the command ends.
const ENOUGH: usize = 3;

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After this many minutes, which the devices share in equal parts.
    Minutes(f64),
    /// After this many kernels on each device.
    Kernels(u64),
}

/// The arguments of the command.
pub struct Wanted {
    /// When to stop.
    pub until: Until,
    /// The seed of the first kernel.
    pub seed: u64,
    /// The device to run on, or `None` for all with drivers.
    pub device: Option<String>,
}

pub fn run(wanted: &Wanted) -> ExitCode {
    let chosen = match &wanted.device {
        Some(name) => Device::select(name).map(|device| vec![device]),
        None => Ok(Device::all().into_iter().filter(has_driver).collect()),
    };
    let devices = match chosen {
        Ok(devices) if devices.is_empty() => {
            eprintln!("no device with a driver is here");
            return ExitCode::from(2);
        }
        Ok(devices) => devices,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let until = match wanted.until {
        Until::Minutes(minutes) => Until::Minutes(minutes / devices.len() as f64),
        Until::Kernels(kernels) => Until::Kernels(kernels),
    };
    let mut sound = true;
    for device in devices {
        sound &= on(&device, wanted.seed, until);
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn has_driver(device: &Device) -> bool {
    matches!(device.properties().kind, DeviceKind::Gpu | DeviceKind::Software)
}

fn on(device: &Device, first: u64, until: Until) -> bool {
    println!("{}: {}", device.name(), device.properties().description);
    let began = Instant::now();
    let (mut seed, mut same, mut narrowed, mut not_possible) = (first, 0, 0, 0);
    let (mut found, mut ended) = (Vec::new(), None);
    while found.len() < ENOUGH && ended.is_none() {
        let now = match until {
            Until::Minutes(minutes) if began.elapsed().as_secs_f64() >= minutes * 60.0 => 0,
            Until::Minutes(_) => AT_A_TIME,
            Until::Kernels(kernels) => AT_A_TIME.min(kernels - (seed - first)),
        };
        if now == 0 {
            break;
        }
        let report = campaign(device, seed..seed + now, &Profile::full(), |_| ());
        seed += now;
        ended = report.ended;
        same += report.same;
        narrowed += report.narrowed;
        not_possible += report.not_possible.0;
        found.extend(report.found);
        if (seed - first).is_multiple_of(AT_A_TIME * 20) {
            eprintln!("  {} kernels, {:.0?}", seed - first, began.elapsed());
        }
    }
    println!(
        "{}: {same} kernels the same ({narrowed} made for less), {} differ, {not_possible} not possible; {:.0?}",
        device.name(),
        found.len(),
        began.elapsed()
    );
    if let Some(why) = &ended {
        println!("{}: it could not go on: {why}", device.name());
    }
    for found in &found {
        keep(device, found);
    }
    found.is_empty()
}

/// Makes a case small, prints it, and writes it where the suites replay it.
fn keep(device: &Device, found: &Found) {
    println!("seed {}: {}", found.seed, found.difference);
    let small = if found.has_ended {
        let small = shrink(found.seed, &found.profile, SHRINKING, |case| {
            match differs(case, &Device::simulated(0), device) {
                Ok(difference) => difference.is_some(),
                // A case that holds the device ends the search for smaller ones.
                Err(error) => !matches!(error.kind(), ErrorKind::TimeLimit { .. } | ErrorKind::DeviceUnusable { .. }),
            }
        });
        let difference = match differs(&small, &Device::simulated(0), device) {
            Ok(Some(difference)) => difference.to_string(),
            Ok(None) => "it is gone".to_owned(),
            Err(error) => error.to_string(),
        };
        println!("made smaller: {difference}");
        small
    } else {
        // It may hold the device still.
        found.case.clone()
    };
    println!("{small}");
    // Without the repository's folder the case stays in the current one.
    let folder = Some(folder()).filter(|folder| folder.is_dir()).unwrap_or_default();
    let file = folder.join(format!("seed-{}.json", found.seed));
    match small.save(&file) {
        Ok(()) => println!("kept as {}", file.display()),
        Err(error) => eprintln!("{} cannot be written: {error}", file.display()),
    }
}
