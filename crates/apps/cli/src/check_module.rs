//! PTX modules in `wattle check`: a launch of one of their kernels, through every execution.

use std::path::Path;
use std::str::FromStr;

use clap::Args;
use serde::Serialize;
use wattle::Model;
use wattle_foreign::{Argument, Condition, Launch, Options, Report, Source, Step, Verdict, Violation, World, judge};

use crate::args::CheckArgs;
use crate::exit::{Exit, Input, Stop};
use crate::session::Session;
use crate::text::{self, Tone};

/// The launch of a module's kernel.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for a PTX module")]
pub struct ModuleArgs {
    /// The kernel, by its name in the module [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The blocks of the launch: 2 or 2,2,1
    #[arg(long, value_name = "BLOCKS", default_value = "1")]
    pub grid: Shape,
    /// The threads of a block: 64 or 8,8,1
    #[arg(long, value_name = "THREADS", default_value = "1")]
    pub block: Shape,
    /// An argument, in the order of the parameters: out=f32[8]:0.0 is a buffer, n=8 a number
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<Argument>,
    /// The size in bytes of the shared memory that is sized at launch
    #[arg(long, value_name = "BYTES", default_value = "0")]
    pub dynamic_shared: u64,
    /// What holds at the end of each execution: 'out[0] == 8.0 && count == 2'
    #[arg(long = "assert", value_name = "CONDITION")]
    pub asserted: Vec<String>,
    /// Takes volatile accesses for plain ones, as CUDA C++ does; for PTX they are relaxed, at system scope
    #[arg(long)]
    pub volatile_is_plain: bool,
}

/// The extents of a grid or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape([u32; 3]);

impl Default for Shape {
    fn default() -> Shape {
        Shape([1; 3])
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let mut shape = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err("there are at most three dimensions".into());
        }
        for (extent, part) in shape.iter_mut().zip(parts) {
            let number = part.trim().parse().ok().filter(|&number| number > 0);
            *extent = number.ok_or("write a number from 1, or several with commas between them: 8 or 8,4")?;
        }
        Ok(Shape(shape))
    }
}

/// The report of `check FILE.ptx`.
#[derive(Serialize)]
struct ModuleReport<'a> {
    file: String,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    model: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    executions: u64,
    abandoned: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<String>,
    steps: Vec<StepReport>,
}

#[derive(Serialize)]
struct StepReport {
    thread: String,
    at: String,
    instruction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    does: Option<String>,
}

/// Judges a launch of a module's kernel.
pub fn check_file(session: &mut Session<'_>, file: &Path, args: &CheckArgs) -> Result<Exit, Stop> {
    let asked = &args.module;
    let wrong = |message: String| Stop::from(Input::new("module", message));
    if args.names.len() > 1 {
        return Err(wrong("a module is checked by itself: its launch is described by the options".into()));
    }
    let model = args.model.or(args.target.map(|target| target.model())).unwrap_or(Model::Ptx);
    if model != Model::Ptx {
        return Err(wrong(format!("a PTX module is judged under PTX's model, not {model}")));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| wrong(format!("{} could not be read: {error}", file.display())))?;
    let launch = Launch {
        grid: asked.grid.0,
        block: asked.block.0,
        arguments: asked.arguments.clone(),
        dynamic_shared: asked.dynamic_shared,
    };
    let source = Source { file: file.display().to_string(), text };
    let mut world = World::new(source, asked.entry.as_deref(), launch).map_err(|error| wrong(error.to_string()))?;
    world.volatile_is_plain = asked.volatile_is_plain;
    let asserted: Vec<Condition> = asked
        .asserted
        .iter()
        .map(|text| Condition::parse(text, world.ranges()))
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    let limits = session.limits.of_search();
    let options = Options { loop_bound: args.loop_bound, limits, ..Options::default() };
    let judged = session.limits.within(move || {
        let report = judge(&mut world, &asserted, &options);
        (world, report)
    });
    let (world, report) = judged.map_err(Input::from)?;
    let report = report.map_err(|error| wrong(error.to_string()))?;
    let exit = match report.verdict {
        Verdict::Holds => Exit::Holds,
        Verdict::Violated(..) => Exit::DoesNotHold,
        Verdict::Unknown(_) => Exit::Unanswered,
    };
    if session.json {
        session.report("check", exit, &document(file, &world, &report))?;
    } else {
        show(session, file, &world, &report)?;
    }
    Ok(exit)
}

fn document<'a>(file: &Path, world: &'a World, report: &Report) -> ModuleReport<'a> {
    let (verdict, reason, violation, steps) = match &report.verdict {
        Verdict::Holds => ("holds", None, None, &[][..]),
        Verdict::Unknown(reason) => ("unknown", Some(reason.clone()), None, &[][..]),
        Verdict::Violated(violation, steps) => ("violated", None, Some(sentence(world, violation)), steps.as_slice()),
    };
    let step = |step: &Step| StepReport {
        thread: world.thread_name(step.thread),
        at: step.at.clone(),
        instruction: step.instruction.clone(),
        does: step.value.clone(),
    };
    ModuleReport {
        file: file.display().to_string(),
        kernel: &world.kernel().name,
        grid: world.launch().grid,
        block: world.launch().block,
        model: Model::Ptx.name(),
        verdict,
        reason,
        executions: report.statistics.complete,
        abandoned: report.statistics.abandoned,
        violation,
        steps: steps.iter().map(step).collect(),
    }
}

/// What is wrong, in one sentence.
fn sentence(world: &World, violation: &Violation) -> String {
    match violation {
        Violation::Race { place, accesses: [first, second] } => format!(
            "data race on {place}: nothing orders {} at {} and {} at {}",
            world.thread_name(first.thread),
            first.at,
            world.thread_name(second.thread),
            second.at
        ),
        Violation::Assertion { text, values } => format!("`{text}` does not hold: {values}"),
        Violation::Fault { what, at, thread } => format!("{what}, by {} at {at}", world.thread_name(*thread)),
        Violation::Unwritten { place, read } => format!(
            "{place} is read by {} at {}, and nobody has written it (give the buffer its first contents: \
             --arg NAME=u32[8]:0)",
            world.thread_name(read.thread),
            read.at
        ),
        Violation::Stuck(threads) => {
            let one = |stuck: &wattle_foreign::StuckThread| {
                let how = if stuck.at_barrier { "waits at a barrier" } else { "goes round" };
                format!("{} {how} for ever at {}", world.thread_name(stuck.thread), stuck.at)
            };
            threads.iter().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

fn show(session: &mut Session<'_>, file: &Path, world: &World, report: &Report) -> Result<(), Stop> {
    let style = session.style;
    let title = format!("{} in {}", world.kernel().name, file.display());
    session.line(style.paint(Tone::Strong, &title))?;
    let (tone, said) = match &report.verdict {
        Verdict::Holds => (Tone::Good, "holds under ptx".to_owned()),
        Verdict::Violated(..) => (Tone::Bad, "violated under ptx".to_owned()),
        Verdict::Unknown(reason) => (Tone::Note, format!("unknown under ptx: {reason}")),
    };
    let executions = match report.statistics.complete {
        1 => "1 execution".to_owned(),
        count => format!("{} executions", text::count(count)),
    };
    let shape = format!("{} x {} threads", world.launch().blocks(), world.launch().block_len());
    session.line(format!("{}, {executions}, {shape}", style.paint(tone, &said)))?;
    let Verdict::Violated(violation, steps) = &report.verdict else { return Ok(()) };
    for line in text::wrap(&sentence(world, violation), text::WIDTH - 2) {
        session.line(format!("  {line}"))?;
    }
    if let Violation::Race { .. } = violation {
        let clause = "PTX ISA 8.5, 8.7.1: two conflicting operations are in a data race if they are not related in \
                      causality order and they are not morally strong.";
        for line in text::wrap(clause, text::WIDTH - 2) {
            session.line(format!("  {}", style.paint(Tone::Faint, &line)))?;
        }
    }
    let mut of = None;
    for step in steps {
        if of != Some(step.thread) {
            of = Some(step.thread);
            session.line(format!("  {}", style.paint(Tone::Strong, &world.thread_name(step.thread))))?;
        }
        let is_racing = matches!(violation, Violation::Race { accesses, .. } if accesses.contains(step));
        let mark = if is_racing { style.paint(Tone::Bad, ">") } else { " ".to_owned() };
        let does = step.value.as_ref().map(|does| format!("  {does}")).unwrap_or_default();
        session.line(format!("  {mark} {}{does}", step.at))?;
        session.line(format!("      {}", style.paint(Tone::Faint, &step.instruction)))?;
    }
    Ok(())
}
