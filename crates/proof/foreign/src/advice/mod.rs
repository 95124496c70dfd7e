//! Advice on a launch of a PTX kernel that is violated: which fence, barrier or atomic access mends it.
//!
//! A change is one of the module's text, in the words of CUDA C++. Whatever is advised has been tried: the changed text is
//! read and judged as the first one was, with every change of the advice in it.

mod candidates;
mod change;
mod increment;

use std::time::{Duration, Instant};

use wattle_check::search::Watch;

use candidates::Candidates;
pub use change::Change;
use change::apply;

use crate::condition::Condition;
use crate::judge::{Options, Report, Verdict, judge};
use crate::violation::Violation;
use crate::world::{Source, World};

/// The changes that mend a launch.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// Changes with which the launch holds, made all together. Without one of them it does not, unless the time was up before
    /// that was tried.
    pub fixes: Vec<Change>,
    /// How many variants were tried.
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
    world: &'w World,
    source: &'w Source,
    asserted: &'w [Condition],
    options: &'w Options,
    deadline: Instant,
    each: Duration,
    advice: Advice,
}

impl Trials<'_> {
    /// The report on the launch with these changes; `None` where there is none: the time is up, or the changed text is refused.
    fn report(&mut self, changes: &[&Change]) -> Option<Report> {
        let now = Instant::now();
        let reached = Watch::new(&self.options.limits).check().is_some();
        if reached || now >= self.deadline {
            self.advice.cut_short = true;
            return None;
        }
        self.advice.tried += 1;
        let source = Source { file: self.source.file.clone(), text: apply(&self.source.text, changes) };
        let mut world = World::new(source, Some(&self.world.kernel().name), self.world.launch().clone()).ok()?;
        world.volatile_is_plain = self.world.volatile_is_plain;
        let mut options = self.options.clone();
        let end = self.deadline.min(now + self.each);
        options.limits.deadline = Some(options.limits.deadline.map_or(end, |given| given.min(end)));
        judge(&mut world, self.asserted, &options).ok()
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

    /// What is needed of changes with which the launch holds.
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

    /// Fences and scopes come first: a barrier can hide a mistake between blocks in a launch of one, and a race can always be
    /// silenced by making it atomic.
    fn search(&mut self, candidates: &Candidates) -> Option<Vec<Change>> {
        let Candidates { scopes, fences, sc_fences, increments, block, warp } = candidates;
        let orders: Vec<&Change> = scopes.iter().chain(fences).collect();
        if let Some(found) = self.alone(scopes).or_else(|_| self.alone(fences)).ok().or_else(|| self.together(&orders))
        {
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
        self.together(&increments)
            .or_else(|| self.together(&scopes.iter().chain(sc_fences).collect::<Vec<_>>()))
            .or_else(|| self.together(&warp))
            .or_else(|| self.together(&block))
            .or_else(|| self.atomic())
            .or_else(|| self.pairs(&[increments, orders, block].concat()))
    }

    /// Makes the accesses of one race after another atomic, reads that acquire and writes that release, and then as weak as
    /// they may be.
    fn atomic(&mut self) -> Option<Vec<Change>> {
        let mut changes: Vec<Change> = Vec::new();
        for _ in 0..MOST_RACES {
            let report = self.report(&changes.iter().collect::<Vec<_>>())?;
            match report.verdict {
                Verdict::Holds => break,
                Verdict::Violated(Violation::Race { accesses, .. }, _) => {
                    let known = changes.len();
                    for added in accesses.iter().filter_map(|access| candidates::ordered(self.world, access)) {
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

/// Finds changes of a module's text with which a launch of its kernel holds, that is violated as it is, within `budget`.
/// `took` is how long the search took that found it violated. There is none for SPIR-V modules.
pub fn advise(world: &World, asserted: &[Condition], options: &Options, took: Duration, budget: Duration) -> Advice {
    let Some(source) = world.source() else { return Advice::default() };
    let mut trials = Trials {
        world,
        source,
        asserted,
        options,
        deadline: Instant::now() + budget,
        each: (took * PATIENCE).max(LEAST).min(budget),
        advice: Advice::default(),
    };
    trials.advice.fixes = trials.search(&candidates::of(world)).unwrap_or_default();
    if !trials.advice.fixes.is_empty() {
        trials.advice.cut_short = false;
    }
    trials.advice
}
