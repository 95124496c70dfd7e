//! PTX and SPIR-V modules in `wattle check`: a launch of one of their kernels, through every execution.

use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use wattle::Model;
use wattle::checker::Progress;
use wattle_check::keep::{Answered, Content, Key};
use wattle_check::search::Statistics;
use wattle_foreign::spirv::{self, Claim};
use wattle_foreign::{Advice, Condition, Options, Report, Step, Unsupported, Verdict, Violation, World, advise};

use crate::args::CheckArgs;
use crate::exit::{Exit, Input, Stop};
use crate::findings::{Case, Finding, Outcome, Place};
use crate::limits::ADVICE;
use crate::module_launch::{self, Launches, ModuleArgs, wrong};
use crate::session::Session;
use crate::text::{self, Tone};

/// The report of `check FILE.ptx`.
#[derive(Serialize)]
struct ModuleReport<'a> {
    file: String,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    /// The threads of a subgroup with which it was judged, where devices choose them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subgroups: Vec<u32>,
    model: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    executions: u64,
    abandoned: u64,
    /// What the verdict rests on that the source's language does not promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Whether the verdict was kept from an earlier run.
    kept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<String>,
    steps: Vec<StepReport>,
    /// The changes with which it holds, where it is violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a Advice>,
}

#[derive(Serialize)]
struct StepReport {
    thread: String,
    at: String,
    instruction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    does: Option<String>,
}

/// The compilers that make modules of sources, by the extensions of those.
const COMPILERS: [(&str, &str); 7] = [
    ("cu", "nvcc -ptx -lineinfo"),
    ("cl", "clang -target spir64 and llvm-spirv (README.md has the options)"),
    ("comp", "glslangValidator --target-env vulkan1.1 -g"),
    ("glsl", "glslangValidator --target-env vulkan1.1 -g -S comp"),
    ("hlsl", "dxc -spirv"),
    ("wgsl", "naga"),
    ("slang", "slangc -target spirv"),
];

/// The error of a name that is that of a source file, or of a folder.
pub fn source_file(name: &str) -> Option<Input> {
    if Path::new(name).is_dir() {
        let what = format!(
            "{name} is a folder: `wattle modules {name} --ask race --expected FILE.csv` judges SPIR-V modules in it, and `wattle litmus \
             {name} --model ptx --expected FILE.csv` litmus files, which the list names"
        );
        return Some(Input::new("module", what));
    }
    let (_, extension) = name.rsplit_once('.')?;
    let (_, compiler) = COMPILERS.iter().find(|(known, _)| *known == extension)?;
    let what = format!("{name} is a source file, and modules are checked, which compilers make of them: {compiler}");
    Some(Input::new("module", what))
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
    let launches = {
        let (name, asked) = (name.clone(), asked.clone());
        move || match language {
            Language::Spirv => module_launch::spirv(&name, &bytes, &asked),
            Language::Ptx => module_launch::ptx(&name, bytes, &asked),
        }
    };
    let Launches { worlds, claim } = session.limits.within(launches).map_err(Input::from)??;
    let asserted: Vec<Condition> = asked
        .asserted
        .iter()
        .map(|text| Condition::parse(text, worlds[0].1.ranges()))
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let limits = session.limits.of_search();
    let progress = args.progress.unwrap_or(Progress::Fair);
    let options = Options { model, loop_bound: args.loop_bound, progress, limits, ..Options::default() };
    let keeper = session.keeper.clone().zip(key);
    let found = keeper.as_ref().and_then(|(keeper, key)| Answered::find(&**keeper, key)).filter(|found| found.yes);
    let (kept, searched) = (found.is_some(), Instant::now());
    let (conditions, claimed) = (asserted.clone(), claim.clone());
    let bounds = options.clone();
    let judged = session.limits.within(move || {
        if let Some(Answered { statistics, reason, .. }) = found {
            let sizes = worlds.iter().filter_map(|(size, _)| *size).collect();
            let world = worlds.into_iter().next().map(|(_, world)| world);
            let note = Some(reason).filter(|note| !note.is_empty());
            return (world, sizes, Ok(Report { verdict: Verdict::Holds, statistics, note }));
        }
        judge_all(worlds, claim.as_ref(), &asserted, &options)
    });
    let (world, subgroups, report) = judged.map_err(Input::from)?;
    let Some(world) = world else { return Err(wrong("there is no launch")) };
    let report = report.map_err(wrong)?;
    let world = Arc::new(world);
    let advice = match &report.verdict {
        Verdict::Violated(..) if !args.no_advice => {
            let (of, took, budget) = (world.clone(), searched.elapsed(), session.limits.left().unwrap_or(ADVICE));
            let advised = move || advise(&of, claimed.as_ref(), &conditions, &bounds, took, budget.min(ADVICE));
            session.limits.within(advised).unwrap_or(Advice { cut_short: true, ..Advice::default() })
        }
        Verdict::Holds | Verdict::Violated(..) | Verdict::Unknown(_) => Advice::default(),
    };
    // What is wrong has a story, which is not kept.
    if let (Verdict::Holds, Some((keeper, key)), false) = (&report.verdict, &keeper, kept) {
        let reason = report.note.clone().unwrap_or_default();
        let answered = Answered { yes: true, reason, statistics: report.statistics };
        answered.keep(&**keeper, key, searched.elapsed());
    }
    let exit = match report.verdict {
        Verdict::Holds => Exit::Holds,
        Verdict::Violated(..) => Exit::DoesNotHold,
        Verdict::Unknown(_) => Exit::Unanswered,
    };
    if session.json {
        let advice = (!advice.is_empty()).then_some(&advice);
        session.report("check", exit, &document(file, &world, &report, advice, model, kept, &subgroups))?;
    } else {
        show(session, file, &world, &report, model, kept, &subgroups)?;
        for line in report.note.iter().flat_map(|note| text::wrap(&format!("note: {note}"), text::WIDTH - 2)) {
            session.line(format!("  {line}"))?;
        }
        show_advice(session, &advice)?;
    }
    let name = format!("{} under {model}", world.kernel().name);
    let outcome = outcome(file, &world, &report);
    Ok((exit, Case { suite: file.display().to_string(), name, time: began.elapsed(), outcome }))
}

/// Judges a launch in each way that is left to devices, until it is violated in one; the last of them, the sizes of
/// subgroups in which it was judged, or the one in which it is not right.
fn judge_all(
    worlds: Vec<(Option<u32>, World)>,
    claim: Option<&Claim>,
    asserted: &[Condition],
    options: &Options,
) -> (Option<World>, Vec<u32>, Result<Report, Unsupported>) {
    let (mut last, mut sizes, mut held, mut open) = (None, Vec::new(), Vec::<u32>::new(), None);
    let mut all = Report { verdict: Verdict::Holds, statistics: Statistics::default(), note: None };
    for (size, mut world) in worlds {
        let Report { verdict, statistics, note } = match spirv::judge_claimed(&mut world, claim, asserted, options) {
            Ok(report) => report,
            Err(error) => return (Some(world), Vec::from_iter(size), Err(error)),
        };
        all.statistics.add(&statistics);
        let violated = matches!(verdict, Verdict::Violated(..));
        all.note = if violated { note } else { all.note.or(note) };
        last = Some(world);
        match verdict {
            Verdict::Holds => {
                sizes.extend(size);
                held.extend(size);
            }
            Verdict::Violated(..) => {
                return (last, Vec::from_iter(size), Ok(Report { verdict, ..all }));
            }
            Verdict::Unknown(why) => {
                sizes.extend(size);
                open.get_or_insert((why, size));
            }
        }
    }
    // They are judged in another order: those first in which threads have more to do with each other.
    sizes.sort_unstable();
    held.sort_unstable();
    if let Some((why, size)) = open {
        let held: Vec<String> = held.iter().map(u32::to_string).collect();
        let held =
            if held.is_empty() { String::new() } else { format!("; it holds with those of {}", held.join(", ")) };
        all.verdict = Verdict::Unknown(match size {
            Some(size) => format!("{why} (with subgroups of {size}{held})"),
            None => why,
        });
    }
    (last, sizes, Ok(all))
}

/// What the verdict on a module depends on.
fn content(name: &str, bytes: &[u8], args: &CheckArgs, model: Model) -> Key {
    let ModuleArgs { entry, grid, block, arguments, dynamic_shared, asserted, volatile_is_plain } = &args.module;
    let mut content = Content::of("module");
    (name, bytes).hash(&mut content);
    content.add_debug(&(entry, grid, block, arguments, dynamic_shared, asserted, volatile_is_plain));
    content.add_debug(&(model, args.loop_bound, args.progress));
    content.key()
}

fn outcome(file: &Path, world: &World, report: &Report) -> Outcome {
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
            // What is wrong at the end has no place of its own: the last step of the story leads there.
            if places.is_empty() {
                places.push(steps.last().map_or_else(|| Place::file(file), |step| Place::parse(&step.at)));
            }
            Outcome::Failed(vec![Finding {
                kind: violation.kind().to_owned(),
                message: sentence(world, violation),
                story: steps.iter().map(step).collect::<Vec<_>>().join("\n"),
                places,
            }])
        }
    }
}

fn document<'a>(
    file: &Path,
    world: &'a World,
    report: &Report,
    advice: Option<&'a Advice>,
    model: Model,
    kept: bool,
    subgroups: &[u32],
) -> ModuleReport<'a> {
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
        subgroups: subgroups.to_vec(),
        model: model.name(),
        verdict,
        reason,
        executions: report.statistics.complete,
        abandoned: report.statistics.abandoned,
        note: report.note.clone(),
        kept,
        violation,
        steps: steps.iter().map(step).collect(),
        advice,
    }
}

/// What is wrong, in one sentence, with what to write on the command line where that mends it.
fn sentence(world: &World, violation: &Violation) -> String {
    let help = match violation {
        Violation::Unwritten { place, written: None, .. }
            if place.split(['[', ',']).next().is_some_and(|of| world.ranges().iter().any(|range| range.name == of)) =>
        {
            " (give the buffer its first contents: --arg NAME=u32[8]:0)"
        }
        Violation::Unwritten { .. } => "",
        Violation::Race { .. }
        | Violation::ReadOnly { .. }
        | Violation::Copying { .. }
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
    subgroups: &[u32],
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
        0 if matches!(report.verdict, Verdict::Violated(..)) => "in the first execution".to_owned(),
        1 => "1 execution".to_owned(),
        count => format!("{} executions", text::count(count)),
    };
    let shape = format!("{} x {} threads", world.launch().blocks(), world.launch().block_len());
    let subgroups: Vec<String> = subgroups.iter().map(u32::to_string).collect();
    let subgroups =
        if subgroups.is_empty() { String::new() } else { format!(", subgroups of {}", subgroups.join(", ")) };
    let kept = if kept { ", kept from an earlier run" } else { "" };
    session.line(format!("{}, {executions}, {shape}{subgroups}{kept}", style.paint(tone, &said)))?;
    let Verdict::Violated(violation, steps) = &report.verdict else { return Ok(()) };
    for line in text::wrap(&sentence(world, violation), text::WIDTH - 2) {
        session.line(format!("  {line}"))?;
    }
    for line in
        violation.clauses(model, steps).iter().flat_map(|clause| text::wrap(&clause.to_string(), text::WIDTH - 2))
    {
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

fn show_advice(session: &mut Session<'_>, advice: &Advice) -> Result<(), Stop> {
    if advice.is_empty() {
        return Ok(());
    }
    session.line("")?;
    if advice.fixes.is_empty() {
        let when = if advice.cut_short { " in the time there was" } else { "" };
        let tried = advice.tried;
        session.line(format!(
            "  no set of fences, barriers and atomic accesses was found{when} that makes it hold ({tried} tried)"
        ))?;
        return Ok(());
    }
    let help = session.style.paint(Tone::Note, "help:");
    session.line(format!("  {help} with this it holds (checked, with the module changed so):"))?;
    for fix in &advice.fixes {
        session.line(format!("    {}: {}", fix.at, fix.text))?;
        session.line(format!("      {}", session.style.paint(Tone::Faint, &fix.instruction)))?;
    }
    Ok(())
}
