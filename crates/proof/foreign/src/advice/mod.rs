//! Advice on a launch of a kernel that is violated: which fence, barrier or atomic access mends it.
//!
//! A change is one of the module, in the words of the language that it was compiled from: CUDA C++ for PTX, and for
//! SPIR-V GLSL, OpenCL C or SPIR-V's own. Whatever is advised has been tried: the changed module is judged as the first
//! one was, with every change of the advice in it. The search for changes is one for all languages; a [`Language`] has
//! the changes.

mod change;
mod ptx;
pub(crate) mod scenario;
mod spirv;

use std::time::{Duration, Instant};

use wattle_check::search::Watch;

use change::Candidates;
pub use change::Change;

use crate::condition::Condition;
use crate::judge::choice::is_fault_of_one_thread;
use crate::judge::ended;
use crate::spirv::{Claim, judge_claimed};
use crate::verdict::{Options, Report, Verdict};
use crate::violation::{Step, Violation};
use crate::world::World;

/// The changes of modules of one language.
trait Language {
    /// The changes of the modules that are worth a trial, by kind.
    fn candidates(&self) -> Candidates;

    /// The access of a race as an atomic one, a read that acquires or a write that releases; `None` where it cannot be.
    fn ordered(&self, access: &Step) -> Option<Change>;
}

/// A language in which a launch by itself can be made again.
trait Launches: Language {
    /// The launch with these changes, in each way that is left to devices; `None` where the changed module is refused.
    fn launches(&self, changes: &[&Change]) -> Option<Vec<World>>;
}

/// The report on what is judged, with these changes; `None` where a changed module is refused.
type Judged<'j> = dyn FnMut(&[&Change], &Options) -> Option<Report> + 'j;

/// The language of a launch by itself.
fn language(world: &World) -> Option<Box<dyn Launches + '_>> {
    match (world.source(), world.origin()) {
        (Some(source), _) => Some(Box::new(ptx::Ptx { world, source })),
        (None, Some(origin)) => Some(Box::new(spirv::Module::of(world, origin))),
        (None, None) => None,
    }
}

/// The changes that mend a launch.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Advice {
    /// Changes with which the launch holds, made all together. Without one of them it does not, unless the time was up
    /// before that was tried.
    pub fixes: Vec<Change>,
    /// The number of variants that were tried.
    pub tried: u64,
    /// Whether the time was up before all variants were tried.
    pub cut_short: bool,
}

impl Advice {
    /// Whether nothing was tried: there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.tried == 0 && self.fixes.is_empty() && !self.cut_short
    }
}

/// The most races that are mended one after another by making their accesses atomic.
const MOST_RACES: usize = 8;

/// How much longer than the violation's own search one trial may take, and at least.
const PATIENCE: u32 = 20;
const LEAST: Duration = Duration::from_millis(300);

struct Trials<'w> {
    language: &'w dyn Language,
    judged: &'w mut Judged<'w>,
    options: &'w Options,
    deadline: Instant,
    each: Duration,
    advice: Advice,
}

impl<'w> Trials<'w> {
    /// Trials for at most `budget`, after a search that took `took`.
    fn new(
        language: &'w dyn Language,
        judged: &'w mut Judged<'w>,
        options: &'w Options,
        took: Duration,
        budget: Duration,
    ) -> Trials<'w> {
        let each = (took * PATIENCE).max(LEAST).min(budget);
        Trials { language, judged, options, deadline: Instant::now() + budget, each, advice: Advice::default() }
    }

    /// Tries the candidates within the time, and returns the advice that was found.
    fn advice(mut self) -> Advice {
        let found = self.search(&self.language.candidates()).unwrap_or_default();
        // Trials would prove nothing if they judged anything else than what is violated.
        if !found.is_empty() && !self.holds(&[]) {
            self.advice.fixes = found;
            self.advice.cut_short = false;
        }
        self.advice
    }

    /// The report on the launch with these changes; `None` where there is none: the time is up, or the changed module
    /// is refused.
    fn report(&mut self, changes: &[&Change]) -> Option<Report> {
        let now = Instant::now();
        let reached = Watch::new(&self.options.limits).check().is_some();
        if reached || now >= self.deadline {
            self.advice.cut_short = true;
            return None;
        }
        self.advice.tried += 1;
        let mut options = self.options.clone();
        let end = self.deadline.min(now + self.each);
        options.limits.deadline = Some(options.limits.deadline.map_or(end, |given| given.min(end)));
        let report = (self.judged)(changes, &options);
        self.advice.cut_short |= Instant::now() >= end;
        // A barrier to which not all threads come is no advice, although PTX opens it.
        let is_left = |note: &str| changes.iter().any(|change| ended::is_left(note, &change.at));
        report.filter(|report| !report.note.as_deref().is_some_and(is_left))
    }

    fn holds(&mut self, changes: &[&Change]) -> bool {
        self.report(changes).is_some_and(|report| report.verdict == Verdict::Holds)
    }

    /// Tries each of the changes alone; else which of them do not let threads wait for ever.
    fn alone(&mut self, changes: &[Change]) -> Result<Vec<Change>, Vec<Change>> {
        let mut harmless = Vec::new();
        for change in changes {
            match self.report(&[change]).map(|report| report.verdict) {
                Some(Verdict::Holds) => return Ok(vec![change.clone()]),
                Some(Verdict::Violated(Violation::Stuck(_), _)) | None => {}
                Some(Verdict::Violated(..) | Verdict::Unknown(_)) => harmless.push(change.clone()),
            }
        }
        Err(harmless)
    }

    /// Tries all of the changes together, and leaves out what is not needed.
    fn together(&mut self, changes: &[&Change]) -> Option<Vec<Change>> {
        (changes.len() > 1 && self.holds(changes)).then(|| self.needed(changes.to_vec()))
    }

    /// The changes that are needed among those with which the launch holds: it does not hold without any one of them.
    fn needed(&mut self, mut kept: Vec<&Change>) -> Vec<Change> {
        for at in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            if self.holds(&fewer) {
                kept = fewer;
            }
        }
        kept.into_iter().cloned().collect()
    }

    /// Tries each two of the changes.
    fn pairs(&mut self, changes: &[&Change]) -> Option<Vec<Change>> {
        for (at, second) in changes.iter().enumerate() {
            for first in &changes[..at] {
                if !first.clashes(second) && self.holds(&[first, second]) {
                    return Some(vec![(*first).clone(), (*second).clone()]);
                }
                if self.advice.cut_short {
                    return None;
                }
            }
        }
        None
    }

    /// Tries each kind of changes alone, one after another, and then all of them together.
    fn kinds(&mut self, kinds: [&[Change]; 4]) -> Option<Vec<Change>> {
        let found = kinds.into_iter().find_map(|kind| self.alone(kind).ok());
        found.or_else(|| self.together(&kinds.into_iter().flatten().collect::<Vec<_>>()))
    }

    /// Fences and scopes come first: a barrier can hide a mistake between blocks in a launch of one, and a race can
    /// always be silenced by making it atomic.
    fn search(&mut self, candidates: &Candidates) -> Option<Vec<Change>> {
        let Candidates { scopes, orders, fences, sc_fences, visible, increments, block, warp } = candidates;
        if let Some(found) = self.kinds([scopes, orders, fences, visible]) {
            return Some(found);
        }
        let mut harmless = Vec::new();
        for kind in [increments, block, warp] {
            match self.alone(kind) {
                Ok(found) => return Some(found),
                Err(others) => harmless.push(others),
            }
        }
        let [increments, block, warp] = [0, 1, 2].map(|kind: usize| harmless[kind].iter().collect::<Vec<_>>());
        let visible: Vec<&Change> = visible.iter().collect();
        let ordered: Vec<&Change> = scopes.iter().chain(orders).chain(fences).collect();
        self.together(&increments)
            .or_else(|| self.together(&scopes.iter().chain(sc_fences).collect::<Vec<_>>()))
            .or_else(|| self.together(&warp))
            .or_else(|| self.together(&block))
            // Other threads see what a barrier orders only where the accesses are for them to see.
            .or_else(|| (!visible.is_empty()).then(|| self.together(&[&visible[..], &block].concat())).flatten())
            // Data that other blocks read, and a flag for the threads of its own: a barrier and fences.
            .or_else(|| self.together(&[&ordered[..], &block].concat()))
            .or_else(|| self.atomic())
            .or_else(|| self.pairs(&[increments, ordered, block].concat()))
    }

    /// Makes the accesses of one race after another atomic, reads that acquire and writes that release, and then as
    /// weak as they may be.
    fn atomic(&mut self) -> Option<Vec<Change>> {
        let mut changes: Vec<Change> = Vec::new();
        for _ in 0..MOST_RACES {
            let report = self.report(&changes.iter().collect::<Vec<_>>())?;
            match report.verdict {
                Verdict::Holds => break,
                Verdict::Violated(Violation::Race { accesses, .. }, _) => {
                    let known = changes.len();
                    for added in accesses.iter().filter_map(|access| self.language.ordered(access)) {
                        if changes.iter().all(|known| !known.clashes(&added)) {
                            changes.push(added);
                        }
                    }
                    if changes.len() == known {
                        return None;
                    }
                }
                Verdict::Violated(..) | Verdict::Unknown(_) => return None,
            }
        }
        if !self.holds(&changes.iter().collect::<Vec<_>>()) {
            return None;
        }
        let mut kept = self.needed(changes.iter().collect());
        for at in 0..kept.len() {
            let Some(weaker) = kept[at].relaxed() else { continue };
            let before = std::mem::replace(&mut kept[at], weaker);
            if !self.holds(&kept.iter().collect::<Vec<_>>()) {
                kept[at] = before;
            }
        }
        Some(kept)
    }
}

/// Finds changes of a module with which a launch of its kernel holds, and the claim and the assertions about it, that
/// is violated as it is, within `budget`. `took` is how long the search took that found it violated. There is none for
/// several launches.
pub fn advise(
    world: &World,
    claim: Option<&Claim>,
    asserted: &[Condition],
    options: &Options,
    took: Duration,
    budget: Duration,
) -> Advice {
    let Some(language) = language(world) else { return Advice::default() };
    if is_fault_of_one_thread(world, options) {
        return Advice::default();
    }
    let mut judged = |changes: &[&Change], options: &Options| {
        let mut last = None;
        for mut world in language.launches(changes)? {
            let report = judge_claimed(&mut world, claim, asserted, options).ok()?;
            if report.verdict != Verdict::Holds {
                return Some(report);
            }
            last = Some(report);
        }
        last
    };
    Trials::new(&*language, &mut judged, options, took, budget).advice()
}
