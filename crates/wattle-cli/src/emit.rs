//! `wattle emit`.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use wattle::{Device, DeviceKind, Kernel, Scenario, Work, interrupt};

use crate::args::{EmitArgs, Target};
use crate::attempt::{Attempt, Plan, Status, kind};
use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::session::Session;
use crate::shape::Wish;

#[derive(Serialize)]
struct Report<'a> {
    scenario: &'a str,
    target: &'static str,
    kernels: Vec<KernelReport>,
}

#[derive(Serialize)]
struct KernelReport {
    name: &'static str,
    file: &'static str,
    line: u32,
    rank: usize,
    text: String,
}

/// Prints the code that is made of the kernels that a scenario launches.
pub fn emit(session: &mut Session, args: &EmitArgs) -> Result<Exit, Stop> {
    let scenario = choice::scenario(session.scenarios, &args.name)?;
    let mut kernels = launched(scenario)?;
    if let Some(name) = &args.kernel {
        let mut known: Vec<String> = Vec::new();
        for kernel in &kernels {
            // A generic kernel is there once for each of its types.
            if !known.iter().any(|known| known == kernel.info().name) {
                known.push(kernel.info().name.to_owned());
            }
        }
        kernels.retain(|kernel| kernel.info().name == name);
        if kernels.is_empty() {
            let what = format!("`{}` launches no kernel", scenario.name);
            let message = format!("{what} `{name}`");
            return Err(Input { message, ..Input::unknown("unknown_kernel", "kernel", name, known) }.into());
        }
    }
    let reports: Vec<_> = kernels.iter().map(|kernel| report(&**kernel, args.target)).collect::<Result<_, _>>()?;
    if session.json {
        let target = match args.target {
            Target::Ir => "ir",
        };
        session.report("emit", Exit::Holds, &Report { scenario: scenario.name, target, kernels: reports })?;
    } else {
        for (number, kernel) in reports.iter().enumerate() {
            if number > 0 {
                session.line("")?;
            }
            session.line(&kernel.text)?;
        }
    }
    Ok(Exit::Holds)
}

fn report(kernel: &dyn Kernel, target: Target) -> Result<KernelReport, Input> {
    let info = kernel.info();
    let text = match target {
        Target::Ir => kernel.build().map_err(|error| Input::new(kind(&error), error.to_string()))?.to_string(),
    };
    Ok(KernelReport { name: info.name, file: info.site.file, line: info.site.line, rank: kernel.rank(), text })
}

/// The distinct kernels that the scenario launches at its smallest size, in the order of their first launches. What
/// comes of the scenario does not matter.
fn launched(scenario: &Scenario) -> Result<Vec<Arc<dyn Kernel>>, Input> {
    let size = match scenario.work {
        Work::Fixed(_) => None,
        Work::Sized(_, sizes) => Some(sizes.proof.min(sizes.small).min(sizes.full)),
    };
    let plan = Plan { size, repeat: 1, wish: Wish::default() };
    let mut devices = Device::all();
    // A simulated device runs every kernel, whatever its shape.
    devices.sort_by_key(|device| device.properties().kind != DeviceKind::Simulated);
    let seen = Arc::new(Mutex::new((HashSet::<TypeId>::new(), Vec::<Arc<dyn Kernel>>::new())));
    let mut why = String::new();
    for device in devices {
        let to = seen.clone();
        let observed = device.observed(Arc::new(move |kernel: &dyn Kernel| {
            let (known, kernels) = &mut *to.lock().unwrap_or_else(PoisonError::into_inner);
            if known.insert(kernel.identity()) {
                kernels.push(kernel.to_arc());
            }
        }));
        let attempt = Attempt::new(scenario, &observed, &plan, || ());
        let kernels = seen.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        if interrupt::requested() {
            break;
        }
        if !kernels.is_empty() && attempt.status != Status::Unsupported {
            return Ok(kernels);
        }
        if let Some(first) = &attempt.error {
            why += &format!("\n  {}: {}", device.name(), first.text().replace('\n', "\n  "));
        }
    }
    if interrupt::requested() {
        return Err(Input::new("interrupted", "interrupted before all kernels had been launched"));
    }
    let kernels = seen.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
    if kernels.is_empty() {
        return Err(Input::new(
            "no_kernels",
            format!("`{}` launches no kernel on any device here{why}", scenario.name),
        ));
    }
    Ok(kernels)
}
