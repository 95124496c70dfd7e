//! Advice on the modules that a scenario launches: the whole scenario is checked again with changed modules.
//!
//! The checker knows nothing of the changes. It passes a [`Variant`] on to the searches of its trials, which take the
//! changed modules from it and leave there what they found.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use wattle_check::checker::{self, Batch, ModuleTrials, ModuleVariant};
use wattle_check::search::{Limits, Statistics};
use wattle_core::{ModuleCode, ModuleEntry, lasting, lock};
use wattle_ir::Site;
use wattle_modules::spirv::Spirv;

use super::change::{Candidates, Change};
use super::{Language, Trials, language, ptx, spirv};
use crate::verdict::{Options, Report, Verdict};
use crate::violation::{Step, Violation};
use crate::world::World;

/// The modules of a trial.
#[derive(Default)]
pub(crate) struct Variant {
    changed: Vec<(Original, Changed)>,
    /// What the trial's searches found; the launches only in the first trial.
    found: Mutex<TrialFindings>,
}

/// A module as the scenario has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Original {
    file: String,
    bytes: Vec<u8>,
}

/// A module with the changes.
#[derive(Clone, Debug)]
pub(crate) enum Changed {
    /// Of PTX the text.
    Ptx(String),
    /// Of SPIR-V the module.
    Spirv(Box<Spirv>),
}

#[derive(Default)]
struct TrialFindings {
    notes_launches: bool,
    launches: Vec<(Original, World)>,
    violation: Option<Violation>,
}

impl Variant {
    /// The variant of a batch, if it is one of a trial.
    pub fn of(batch: &Batch) -> Option<&Variant> {
        batch.variant.as_ref()?.0.downcast_ref()
    }

    /// The module in its changed form.
    pub fn changed(&self, code: &ModuleCode) -> Option<&Changed> {
        let is_it = |(original, _): &&(Original, Changed)| original.file == code.file && original.bytes == code.bytes;
        self.changed.iter().find(is_it).map(|(_, changed)| changed)
    }

    /// Records what a search found wrong.
    pub fn note_violation(&self, violation: &Violation) {
        self.found().violation = Some(violation.clone());
    }

    /// Records in the first trial the launch of a kernel, which `alone` prepares by itself. One that cannot be prepared
    /// has no advice.
    pub fn note_launch(&self, entry: &ModuleEntry, alone: impl FnOnce() -> Option<World>) {
        let mut found = self.found();
        if !found.notes_launches {
            return;
        }
        let original = Original { file: entry.code.file.clone(), bytes: entry.code.bytes.clone() };
        let is_known = |(known, world): &(Original, World)| known == &original && is_of(world, entry);
        if !found.launches.iter().any(is_known)
            && let Some(world) = alone()
        {
            found.launches.push((original, world));
        }
    }

    fn found(&self) -> std::sync::MutexGuard<'_, TrialFindings> {
        lock(&self.found)
    }
}

fn is_of(world: &World, entry: &ModuleEntry) -> bool {
    world.kernel().name == entry.name()
}

/// The modules of a scenario.
struct Modules {
    /// Each module once.
    originals: Vec<Original>,
    /// A launch of each kernel, with the number of its module.
    launches: Vec<(usize, World)>,
}

impl Modules {
    fn of(found: Vec<(Original, World)>) -> Modules {
        let mut modules = Modules { originals: Vec::new(), launches: Vec::new() };
        for (original, world) in found {
            let known = modules.originals.iter().position(|known| *known == original);
            let number = known.unwrap_or_else(|| {
                modules.originals.push(original);
                modules.originals.len() - 1
            });
            modules.launches.push((number, world));
        }
        modules
    }

    /// The variant with these changes; `None` where a changed module is refused.
    fn variant(&self, changes: &[&Change]) -> Option<Variant> {
        let mut changed = Vec::new();
        for (number, original) in self.originals.iter().enumerate() {
            let own: Vec<&Change> = changes.iter().copied().filter(|change| change.module == number).collect();
            if own.is_empty() {
                continue;
            }
            let (_, world) = self.launches.iter().find(|(of, _)| *of == number)?;
            let module = match (world.source(), world.origin()) {
                (Some(source), _) => Changed::Ptx(ptx::changed(&source.text, &own)),
                (None, Some(origin)) => Changed::Spirv(Box::new(spirv::changed(&origin.module, &own)?)),
                (None, None) => return None,
            };
            changed.push((original.clone(), module));
        }
        Some(Variant { changed, found: Mutex::default() })
    }
}

impl Language for Modules {
    fn candidates(&self) -> Candidates {
        let mut all = Candidates::default();
        for (module, world) in &self.launches {
            let Some(own) = language(world) else { continue };
            let mut found = own.candidates();
            for (kind, changes) in all.kinds_mut().into_iter().zip(found.kinds_mut()) {
                for mut change in std::mem::take(changes) {
                    change.module = *module;
                    let is_same = |known: &&mut Change| {
                        (known.module, &known.at, &known.text) == (change.module, &change.at, &change.text)
                    };
                    // A function that several kernels call.
                    match kind.iter_mut().find(is_same) {
                        Some(known) => known.absorb(change),
                        None => kind.push(change),
                    }
                }
            }
        }
        all
    }

    fn ordered(&self, access: &Step) -> Option<Change> {
        self.launches.iter().find_map(|(module, world)| {
            let change = language(world)?.ordered(access)?;
            Some(Change { module: *module, ..change })
        })
    }
}

/// Finds changes of the modules that a scenario launches, with which it holds.
pub(crate) fn advise(trials: ModuleTrials<'_>) -> checker::Advice {
    let ModuleTrials { check, limits, took, budget } = trials;
    let deadline = Instant::now() + budget;
    let mut try_variant = |variant: Variant, limits: &Limits| {
        let left = limits.deadline.map_or(budget, |end| end.saturating_duration_since(Instant::now()));
        let variant = Arc::new(variant);
        let verdict = check(ModuleVariant(variant.clone()), left)?;
        Some((verdict, variant))
    };
    let first = Variant {
        found: Mutex::new(TrialFindings { notes_launches: true, ..TrialFindings::default() }),
        ..Variant::default()
    };
    let first_limits = Limits { deadline: Some(deadline), ..limits.clone() };
    let Some((_, first)) = try_variant(first, &first_limits) else { return checker::Advice::default() };
    let modules = Modules::of(std::mem::take(&mut first.found().launches));
    let mut report = |changes: &[&Change], options: &Options| {
        let (verdict, variant) = try_variant(modules.variant(changes)?, &options.limits)?;
        let verdict = match verdict {
            checker::Verdict::Holds => Verdict::Holds,
            checker::Verdict::Unknown => Verdict::Unknown("the scenario's check was not exhaustive".into()),
            checker::Verdict::Violated => Verdict::Violated(
                // What the searches did not find, the scenario asserts.
                variant.found().violation.take().unwrap_or(Violation::Assertion {
                    text: "what the scenario asserts".into(),
                    values: String::new(),
                }),
                Vec::new(),
            ),
        };
        Some(Report { verdict, statistics: Statistics::default(), note: None })
    };
    let options = Options { limits, ..Options::default() };
    let super::Advice { fixes, tried, cut_short } =
        Trials::new(&modules, &mut report, &options, took, deadline.saturating_duration_since(Instant::now())).advice();
    let changes = fixes.into_iter().map(|fix| checker::Change::of_module(site(&fix.at), fix.kernel, fix.text));
    checker::Advice { fixes: changes.collect(), tried: tried + 1, cut_short, ..checker::Advice::default() }
}

/// The place that is written as file, line and, if it is known, column.
fn site(at: &str) -> Site {
    let number = |text: &str| text.rsplit_once(':').and_then(|(rest, number)| Some((rest.len(), number.parse().ok()?)));
    let (end, line, column) = match number(at) {
        Some((end, last)) => match number(&at[..end]) {
            Some((file, line)) => (file, line, last),
            None => (end, last, 0),
        },
        None => (at.len(), 0, 0),
    };
    Site { file: lasting(&at[..end]), line, column }
}

#[cfg(test)]
mod tests {
    use super::site;

    #[test]
    fn places_have_a_line_and_may_have_a_column() {
        let of = |at: &str| {
            let found = site(at);
            (found.file, found.line, found.column)
        };
        assert_eq!(of("a.cu:12:5"), ("a.cu", 12, 5));
        assert_eq!(of("a.ptx:12"), ("a.ptx", 12, 0));
        assert_eq!(of("C:\\a.ptx:12"), ("C:\\a.ptx", 12, 0));
        assert_eq!(of("a"), ("a", 0, 0));
    }
}
