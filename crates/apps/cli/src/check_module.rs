//! PTX and SPIR-V modules in `wattle check`: a launch of one of their kernels, through every execution.

use std::hash::Hash;
use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use wattle::Model;
use wattle_check::keep::{Answered, Content, Key};
use wattle_foreign::spirv::{self, Answer, Header, Question};
use wattle_foreign::{Argument, Condition, Launch, Options, Report, Source, Step, Verdict, Violation, World, judge};

use crate::args::CheckArgs;
use crate::exit::{Exit, Input, Stop};
use crate::findings::{Case, Finding, Outcome, Place};
use crate::session::Session;
use crate::text::{self, Tone};

/// The launch of a module's kernel.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for a PTX or SPIR-V module")]
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
    /// An argument, in the order of the parameters: out=f32[8]:0.0 is a buffer, n=8 a number; of SPIR-V the first contents
    /// of the variable of that name
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
    /// Whether the verdict was kept from an earlier run.
    kept: bool,
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

/// Whether a name is that of a module's file.
pub fn is_module(name: &str) -> bool {
    Language::of(name).is_some()
}

/// The language of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Ptx,
    Spirv,
}

impl Language {
    /// The language of a file by its extension; `None` for a file that is no module.
    fn of(name: &str) -> Option<Language> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "ptx" => Some(Language::Ptx),
            "spv" | "spvasm" => Some(Language::Spirv),
            _ => None,
        }
    }

    /// The model under which modules of this language are judged.
    fn model(self) -> Model {
        match self {
            Language::Ptx => Model::Ptx,
            Language::Spirv => Model::Vulkan,
        }
    }
}

fn wrong(message: impl ToString) -> Stop {
    Stop::from(Input::new("module", message.to_string()))
}

/// Judges a launch of a module's kernel.
pub fn check_file(session: &mut Session<'_>, file: &Path, args: &CheckArgs) -> Result<(Exit, Case), Stop> {
    let began = Instant::now();
    let asked = &args.module;
    if args.names.len() > 1 {
        return Err(wrong("a module is checked by itself: its launch is described by the options"));
    }
    let name = file.display().to_string();
    let Some(language) = Language::of(&name) else {
        return Err(wrong(format!("{name} is no module: a module's name ends with .ptx, .spv or .spvasm")));
    };
    let model = args.model.or(args.target.map(|target| target.model())).unwrap_or(language.model());
    if model != language.model() {
        let what = match language {
            Language::Ptx => "a PTX module is judged under PTX's",
            Language::Spirv => "a SPIR-V module is judged under Vulkan's",
        };
        return Err(wrong(format!("{what} model, not {model}")));
    }
    let bytes = std::fs::read(file).map_err(|error| wrong(format!("{name} could not be read: {error}")))?;
    let key = session.keeper.is_some().then(|| content(&name, &bytes, args, model));
    let (mut world, claim) = match language {
        Language::Spirv => spirv_launch(&name, &bytes, asked)?,
        Language::Ptx => (ptx_launch(&name, bytes, asked)?, None),
    };
    let asserted: Vec<Condition> = asked
        .asserted
        .iter()
        .map(|text| Condition::parse(text, world.ranges()))
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let limits = session.limits.of_search();
    let options = Options { model, loop_bound: args.loop_bound, limits, ..Options::default() };
    let keeper = session.keeper.clone().zip(key);
    let found = keeper.as_ref().and_then(|(keeper, key)| Answered::find(&**keeper, key)).filter(|found| found.yes);
    let (kept, searched) = (found.is_some(), Instant::now());
    let judged = session.limits.within(move || {
        if let Some(Answered { statistics, .. }) = found {
            return (world, Ok(Report { verdict: Verdict::Holds, statistics }));
        }
        let report = judge(&mut world, &asserted, &options);
        let report = match (report, claim) {
            (Ok(Report { verdict: Verdict::Holds, statistics }), Some(claim)) => {
                spirv::answer(&mut world, &Question::Assertion(claim), &options).map(|(answer, _)| Report {
                    verdict: match answer {
                        Answer::Yes => Verdict::Holds,
                        Answer::No(values) => {
                            let text = "the claim of the module's comments (@Output)".to_owned();
                            Verdict::Violated(Violation::Assertion { text, values }, Vec::new())
                        }
                        Answer::Unknown(why) => Verdict::Unknown(why),
                    },
                    statistics,
                })
            }
            (report, _) => report,
        };
        (world, report)
    });
    let (world, report) = judged.map_err(Input::from)?;
    let report = report.map_err(wrong)?;
    // What is wrong has a story, which is not kept.
    if let (Verdict::Holds, Some((keeper, key)), false) = (&report.verdict, &keeper, kept) {
        let answered = Answered { yes: true, reason: String::new(), statistics: report.statistics };
        answered.keep(&**keeper, key, searched.elapsed());
    }
    let exit = match report.verdict {
        Verdict::Holds => Exit::Holds,
        Verdict::Violated(..) => Exit::DoesNotHold,
        Verdict::Unknown(_) => Exit::Unanswered,
    };
    if session.json {
        session.report("check", exit, &document(file, &world, &report, model, kept))?;
    } else {
        show(session, file, &world, &report, model, kept)?;
    }
    let name = format!("{} under {model}", world.kernel().name);
    let outcome = outcome(&world, &report);
    Ok((exit, Case { suite: file.display().to_string(), name, time: began.elapsed(), outcome }))
}

/// What the verdict on a module depends on.
fn content(name: &str, bytes: &[u8], args: &CheckArgs, model: Model) -> Key {
    let ModuleArgs { entry, grid, block, arguments, dynamic_shared, asserted, volatile_is_plain } = &args.module;
    let mut content = Content::of("module");
    (name, bytes).hash(&mut content);
    content.add_debug(&(entry, grid, block, arguments, dynamic_shared, asserted, volatile_is_plain));
    content.add_debug(&(model, args.loop_bound));
    content.key()
}

fn outcome(world: &World, report: &Report) -> Outcome {
    match &report.verdict {
        Verdict::Holds => Outcome::Passed,
        Verdict::Unknown(reason) => Outcome::Unanswered(reason.clone()),
        Verdict::Violated(violation, steps) => {
            let step = |step: &Step| {
                let does = step.value.as_ref().map(|does| format!("  {does}")).unwrap_or_default();
                format!("{}: {}: {}{does}", world.thread_name(step.thread), step.at, step.instruction)
            };
            let mut places: Vec<Place> = violation.places().into_iter().map(Place::parse).collect();
            places.dedup();
            Outcome::Failed(vec![Finding {
                kind: violation.kind().to_owned(),
                message: sentence(world, violation),
                story: steps.iter().map(step).collect::<Vec<_>>().join("\n"),
                places,
            }])
        }
    }
}

fn ptx_launch(name: &str, bytes: Vec<u8>, asked: &ModuleArgs) -> Result<World, Stop> {
    let text = String::from_utf8(bytes).map_err(|_| wrong(format!("{name} is no text")))?;
    let launch = Launch {
        grid: asked.grid.0,
        block: asked.block.0,
        arguments: asked.arguments.clone(),
        dynamic_shared: asked.dynamic_shared,
    };
    let source = Source { file: name.to_owned(), text };
    let mut world = World::new(source, asked.entry.as_deref(), launch).map_err(wrong)?;
    world.volatile_is_plain = asked.volatile_is_plain;
    Ok(world)
}

/// A launch as the module's comments describe it, where the options do not.
fn spirv_launch(name: &str, bytes: &[u8], asked: &ModuleArgs) -> Result<(World, Option<spirv::Claim>), Stop> {
    let module = spirv::read(name, bytes).map_err(wrong)?;
    let header = Header::read(&module.text).map_err(|error| wrong(format!("{name}: {error}")))?;
    let mut setting = header.setting();
    if header.config.is_none() {
        (setting.local_size, setting.subgroup) = (None, None);
    }
    if asked.grid != Shape::default() {
        setting.workgroups = asked.grid.0;
    }
    if asked.block != Shape::default() {
        (setting.local_size, setting.subgroup) = (Some(asked.block.0), None);
    }
    setting.inputs.extend(spirv::contents(&asked.arguments));
    let world = spirv::launch(name, &module, asked.entry.as_deref(), &setting).map_err(wrong)?;
    Ok((world, header.claim))
}

fn document<'a>(file: &Path, world: &'a World, report: &Report, model: Model, kept: bool) -> ModuleReport<'a> {
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
        model: model.name(),
        verdict,
        reason,
        executions: report.statistics.complete,
        abandoned: report.statistics.abandoned,
        kept,
        violation,
        steps: steps.iter().map(step).collect(),
    }
}

/// What is wrong, in one sentence, with what to write on the command line where that mends it.
fn sentence(world: &World, violation: &Violation) -> String {
    let help = match violation {
        Violation::Unwritten { .. } => " (give the buffer its first contents: --arg NAME=u32[8]:0)",
        Violation::Race { .. }
        | Violation::ReadOnly { .. }
        | Violation::Assertion { .. }
        | Violation::Fault { .. }
        | Violation::Unassigned { .. }
        | Violation::Stuck(_) => "",
    };
    violation.sentence(world) + help
}

fn show(
    session: &mut Session<'_>,
    file: &Path,
    world: &World,
    report: &Report,
    model: Model,
    kept: bool,
) -> Result<(), Stop> {
    let style = session.style;
    let title = format!("{} in {}", world.kernel().name, file.display());
    session.line(style.paint(Tone::Strong, &title))?;
    let (tone, said) = match &report.verdict {
        Verdict::Holds => (Tone::Good, format!("holds under {model}")),
        Verdict::Violated(..) => (Tone::Bad, format!("violated under {model}")),
        Verdict::Unknown(reason) => (Tone::Note, format!("unknown under {model}: {reason}")),
    };
    let executions = match report.statistics.complete {
        1 => "1 execution".to_owned(),
        count => format!("{} executions", text::count(count)),
    };
    let shape = format!("{} x {} threads", world.launch().blocks(), world.launch().block_len());
    let kept = if kept { ", kept from an earlier run" } else { "" };
    session.line(format!("{}, {executions}, {shape}{kept}", style.paint(tone, &said)))?;
    let Verdict::Violated(violation, steps) = &report.verdict else { return Ok(()) };
    for line in text::wrap(&sentence(world, violation), text::WIDTH - 2) {
        session.line(format!("  {line}"))?;
    }
    for line in violation.clause(model).iter().flat_map(|clause| text::wrap(&clause.to_string(), text::WIDTH - 2)) {
        session.line(format!("  {}", style.paint(Tone::Faint, &line)))?;
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
