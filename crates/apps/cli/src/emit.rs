//! `wattle emit`: the code that is made of a scenario's kernels.

use std::sync::Arc;

use serde::Serialize;
use wattle::{Device, DeviceKind, ErrorKind, Kernel, Scenario, Work, interrupt};
use wattle_spirv::Features;

use crate::args::{CodeForm, EmitArgs};
use crate::choice;
use crate::exit::{Exit, Input, Stop};
use crate::output;
use crate::session::Session;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<u32>>,
}

/// Prints the code that is made of the kernels that a scenario launches.
pub fn emit(session: &mut Session, args: &EmitArgs) -> Result<Exit, Stop> {
    let scenario = choice::scenario(session.scenarios, &args.name)?;
    let of = *scenario;
    let mut kernels = session.limits.within(move || launched(&of)).map_err(Input::from)??;
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
    if args.target == CodeForm::SpirvBin && !session.json {
        return module(session, args, &kernels);
    }
    if args.target != CodeForm::Ptx && (args.arch.is_some() || args.ptx.is_some()) {
        return Err(Input::new("not_ptx", "--arch and --ptx are about PTX: give --target ptx with them").into());
    }
    if session.json && args.output.is_some() {
        return Err(Input::new(
            "output",
            "--output is for the code alone, and --json has it in its document: leave one of them out",
        )
        .into());
    }
    if args.target == CodeForm::Ptx && !session.json {
        let text = ptx_together(&kernels, args)?;
        return print(session, args, &text);
    }
    let reports: Vec<_> = kernels.iter().map(|kernel| report(&**kernel, args)).collect::<Result<_, _>>()?;
    if session.json {
        let report = Report { scenario: scenario.name, target: args.target.name(), kernels: reports };
        session.report("emit", Exit::Holds, &report)?;
        return Ok(Exit::Holds);
    }
    let text: Vec<_> = reports.into_iter().filter_map(|report| report.text).collect();
    print(session, args, &text.join("\n"))
}

fn print(session: &mut Session, args: &EmitArgs, text: &str) -> Result<Exit, Stop> {
    match &args.output {
        Some(file) => output::write("output", file, text)?,
        None => session.line(text)?,
    }
    Ok(Exit::Holds)
}

/// All kernels in one module, which an assembler takes: under one header, and those of one name numbered.
fn ptx_together(kernels: &[Arc<dyn Kernel>], args: &EmitArgs) -> Result<String, Input> {
    let mut text = String::new();
    let mut entries: Vec<String> = Vec::new();
    for kernel in kernels {
        let mut kernel = built(&**kernel)?;
        let alike = entries.iter().filter(|entry| **entry == kernel.name).count();
        entries.push(kernel.name.clone());
        if alike > 0 {
            kernel.name = format!("{}_{}", kernel.name, alike + 1);
        }
        let module = ptx(&kernel, args)?;
        if text.is_empty() {
            text = module.header;
        }
        text += "\n";
        text += &module.body;
    }
    Ok(text)
}

fn ptx(kernel: &wattle::ir::Kernel, args: &EmitArgs) -> Result<wattle_ptx::Module, Input> {
    let target = wattle_ptx::PtxTarget::new(args.arch.unwrap_or(90));
    let target = args.ptx.map_or(target, |(major, minor)| target.with_ptx(major, minor));
    wattle_ptx::build(kernel, &target).map_err(|lacking| {
        let instead = match lacking {
            wattle_ptx::Lacking::Version { .. } => "name a later one with --ptx, or none",
            ref lacking => lacking.instead(),
        };
        Input::new("capability", format!("{lacking}; {instead}"))
    })
}

/// Writes the module of the one kernel there is.
fn module(session: &mut Session, args: &EmitArgs, kernels: &[Arc<dyn Kernel>]) -> Result<Exit, Stop> {
    let [kernel] = kernels else {
        let known = kernels.iter().map(|kernel| kernel.info().name.to_owned()).collect();
        let message =
            format!("`{}` launches {} kernels, and a file holds one: choose with --kernel", args.name, kernels.len());
        return Err(Input { known, ..Input::new("several_kernels", message) }.into());
    };
    let words = spirv(&**kernel)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match &args.output {
        Some(file) => output::write("output", file, &bytes)?,
        None => session.out.write_all(&bytes)?,
    }
    Ok(Exit::Holds)
}

fn report(kernel: &dyn Kernel, args: &EmitArgs) -> Result<KernelReport, Input> {
    let info = kernel.info();
    let (mut text, mut words) = (None, None);
    match args.target {
        CodeForm::Ir => text = Some(built(kernel)?.to_string()),
        CodeForm::Spirv => {
            let disassembled = wattle_spirv::disassemble(&spirv(kernel)?);
            text = Some(disassembled.map_err(|error| Input::new("spirv", error))?);
        }
        CodeForm::SpirvBin => words = Some(spirv(kernel)?),
        CodeForm::Ptx => text = Some(ptx(&built(kernel)?, args)?.text()),
    }
    Ok(KernelReport { name: info.name, file: info.site.file, line: info.site.line, rank: kernel.rank(), text, words })
}

fn built(kernel: &dyn Kernel) -> Result<wattle::ir::Kernel, Input> {
    kernel.build().map_err(|error| Input::new(error.kind().name(), error.to_string()))
}

/// The module for a device that has every feature.
fn spirv(kernel: &dyn Kernel) -> Result<Vec<u32>, Input> {
    match wattle_spirv::build_for(&built(kernel)?, &Features::all(), &kernel.views_of_one_buffer()) {
        Ok(module) => Ok(module.words),
        Err(lacking) => Err(Input::new("capability", format!("{lacking}; {}", lacking.instead()))),
    }
}

/// The distinct kernels that the scenario launches at its smallest size, in the order of their first launches. What
/// comes of the scenario does not matter.
fn launched(scenario: &Scenario) -> Result<Vec<Arc<dyn Kernel>>, Input> {
    let size = match scenario.work {
        Work::Fixed(_) => None,
        Work::Sized(_, sizes) => Some(sizes.proof.min(sizes.small).min(sizes.full)),
    };
    let mut devices = Device::all();
    // A simulated device runs every kernel, whatever its shape.
    devices.sort_by_key(|device| device.properties().kind != DeviceKind::Simulated);
    let mut kernels = Vec::new();
    let mut why = String::new();
    for device in devices {
        let launched = scenario.launched(&device, size);
        if interrupt::requested() {
            return Err(Input::new("interrupted", "interrupted before all kernels had been launched"));
        }
        let refused = matches!(&launched.outcome, Err(error) if matches!(error.kind(), ErrorKind::Capability { .. }));
        kernels = launched.kernels;
        if !kernels.is_empty() && !refused {
            return Ok(kernels);
        }
        if let Err(error) = launched.outcome {
            why += &format!("\n  {}: {}", device.name(), error.to_string().replace('\n', "\n  "));
        }
    }
    if kernels.is_empty() {
        return Err(Input::new(
            "no_kernels",
            format!("`{}` launches no kernel on any device here{why}", scenario.name),
        ));
    }
    Ok(kernels)
}
