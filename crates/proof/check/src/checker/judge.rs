//! The search of a group of launches.

mod counted;
mod visit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wattle_core::{Error, Result, system};
use wattle_ir::Site;
use wattle_machine::Timing;
use wattle_memory::{Target, ThreadId};

use super::frames::shape_text;
use super::kept::KeptSearch;
use super::outcomes::MAX_OUTCOMES;
use super::rests::{leaves_stores_out, rests_on};
use super::run::{FinalValues, Outcome, Phase, Rests, Run};
use super::schedule::{Schedule, schedules};
use super::waits::WaitsInBlock;
use crate::program::{KernelThread, World};
use crate::report::{Orders, Progress, Unknown, Violation, Witness};
use crate::search::{
    Address, Dependencies, End, FOUND_NOTHING, MOST_TURNS, Meter, MostEvents, PrivateCells, Problem, Setup,
    SharedCells, Spawn, Statistics, Updates, Wrong, WrongRun, keeping, search, single_or_commuting_run, single_run,
};

use counted::{Size, counted_runs_of};
use visit::described;

/// The number of events of a graph from which on private cells are kept out of it.
const MOST_EVENTS: usize = 192;

/// The lines at which the launches keep what the clock shows. The search takes that for 0.
///
/// # Errors
/// A launch's way, or another thread, depends on the clock, which may show anything.
fn assumptions(world: &World) -> Result<Vec<Site>> {
    let mut sites = Vec::new();
    for launch in &world.launches {
        let kernel = launch.program.kernel();
        match Timing::of(kernel) {
            Timing::Unused => {}
            Timing::Kept(site) if sites.contains(&site) => {}
            Timing::Kept(site) => sites.push(site),
            Timing::Decides(site) => {
                let what = format!(
                    "check kernel `{}`: {site} depends on the clock, which may show anything, so that no search comes to \
                     an end",
                    kernel.name
                );
                let instead = "keep times in elements that are each thread's own (`PerItem`), or print them; let no \
                               branch, index, assertion or other thread depend on them";
                return Err(Error::capability("checker", what, instead));
            }
        }
    }
    Ok(sites)
}

/// Searches the launches, unless that was done before.
pub(super) fn judge(
    run: &Run,
    world: World,
    kept: Option<KeptSearch>,
    fingerprint: u64,
    what: String,
) -> Result<Phase> {
    let checker = &run.checker;
    let assumes = assumptions(&world)?;
    let forbids_races = checker.target.forbids_races(checker.model);
    // Plain accesses of the host are relaxed atomics; where nothing races, that makes no difference, and there is far
    // less to search.
    let mut world = world;
    world.host_is_plain = checker.target == Target::Host;
    let world = Arc::new(world);
    // These progress models tell blocks apart by their numbers.
    let by_number = matches!(checker.progress, Progress::Hsa | Progress::HsaObe);
    let symmetric = if checker.symmetry && !by_number { symmetric(&world) } else { Vec::new() };
    let mut phase = blank(fingerprint, what, assumes, &world);
    if let Some(kept) = kept {
        return Ok(kept.complete(phase));
    }
    let has_races = checker.model.has_races();
    // What is tried for advice need not say why it holds.
    let asked = checker.edits.is_empty();
    let is_single = has_single_run(run, &world, forbids_races, &mut phase)?;
    let mut counted = None;
    if !is_single {
        let mut runs = blank(phase.fingerprint, phase.what.clone(), phase.assumes.clone(), &world);
        counted = counted_runs_of(run, &world, &mut runs)?.map(|size| (size, runs));
    }
    if let Some((Size::Large, _)) = counted
        && let Some((_, runs)) = counted.take()
    {
        phase = runs;
    }
    if is_single || !phase.outcomes.is_empty() {
        rest_on_dependencies(run, has_races, &mut phase)?;
        return Ok(phase);
    }
    let mut judge = Judge::new(run, world, has_races, forbids_races);
    judge.search_all(&symmetric, &mut phase)?;
    if judge.raced {
        let mut world = (*judge.world).clone();
        world.host_is_plain = false;
        phase.world = Arc::new(world);
        (phase.statistics, phase.unknown, phase.covered) = (Statistics::default(), Vec::new(), None);
        judge = Judge::new(run, phase.world.clone(), false, forbids_races);
        judge.search_all(&symmetric, &mut phase)?;
    }
    let may_rest = || phase.statistics.dependent > 0 || leaves_stores_out(&judge.world, &judge.executed);
    if asked && judge.violations.is_empty() && phase.unknown.is_empty() && may_rest() {
        phase.rests = rests_on(run, &judge.world, judge.assume_race_free, judge.outcomes.keys().collect())?;
    }
    phase.rests.waits = judge.waits_in_block.lines(&judge.world);
    if judge.violations.is_empty() && judge.outcomes.is_empty() && phase.unknown.is_empty() {
        phase.unknown.push(Unknown::Nothing);
    }
    if judge.too_many {
        phase.unknown.push(Unknown::Stopped(format!("more than {MAX_OUTCOMES} distinct outcomes")));
    }
    phase.outcomes = judge
        .outcomes
        .into_iter()
        .map(|(values, (witness, orders))| Outcome { witness: Some(witness), orders, ..Outcome::of(values) })
        .collect();
    // What a search does not come to the end of may be clear without one.
    if let (true, false, Some((_, mut runs))) = (judge.violations.is_empty(), phase.unknown.is_empty(), counted) {
        rest_on_dependencies(run, has_races, &mut runs)?;
        runs.rests.waits = phase.rests.waits;
        return Ok(runs);
    }
    phase.events = judge.events;
    phase.executed = judge.executed;
    phase.violations = judge.violations;
    Ok(phase)
}

/// Looks for the dependencies on which it rests that runs which stand for all executions leave no other outcome. What
/// is tried for advice need not say why it holds.
fn rest_on_dependencies(run: &Run, has_races: bool, phase: &mut Phase) -> Result<()> {
    let holds = phase.violations.is_empty() && phase.unknown.is_empty();
    let world = phase.world.clone();
    if !run.checker.edits.is_empty() || !holds || !leaves_stores_out(&world, &phase.executed) {
        return Ok(());
    }
    if phase.outcomes.iter().any(|outcome| !outcome.open.is_empty()) {
        // Not all outcomes are known.
        phase.rests.unfinished = true;
        return Ok(());
    }
    let known = phase.outcomes.iter().map(|outcome| &outcome.values).collect();
    phase.rests = rests_on(run, &world, has_races, known)?;
    Ok(())
}

/// The result of a search that has found nothing.
fn blank(fingerprint: u64, what: String, assumes: Vec<Site>, world: &Arc<World>) -> Phase {
    Phase {
        fingerprint,
        what,
        outcomes: Vec::new(),
        violations: Vec::new(),
        unknown: Vec::new(),
        statistics: Statistics::default(),
        shapes: world.launches.iter().map(shape_text).collect(),
        symmetric: false,
        executed: BTreeSet::new(),
        rests: Rests::default(),
        events: 0,
        covered: None,
        assumes,
        notes: Vec::new(),
        kept: false,
        world: world.clone(),
    }
}

/// Whether the launches have a single execution, which then is the result of the search. It waits for nobody, so that
/// no schedule changes it.
fn has_single_run(run: &Run, world: &Arc<World>, forbids_races: bool, phase: &mut Phase) -> Result<bool> {
    let checker = &run.checker;
    if checker.sample.is_some() || checker.count_orders {
        return Ok(false);
    }
    let threads = world.threads().map_err(|error| system("launching", error))?;
    let limits = checker.limits(run.shared.deadline);
    let setup = Setup { limits, ..Setup::new(&**world, checker.model).with_threads(&**world, threads) };
    // Without symmetry the executions that differ by the order of updates alone are counted.
    let single = if checker.symmetry { single_or_commuting_run(&setup) } else { single_run(&setup, Updates::Conflict) };
    let single = match single {
        Ok(single) => single,
        Err(Some(run)) if !checker.every_kind && (forbids_races || matches!(run.wrong, Wrong::Fault(_))) => {
            (phase.statistics.complete, phase.events) = (1, run.events);
            let WrongRun { graph, analysis, wrong, cells, .. } = *run;
            let faults = match wrong {
                Wrong::Race(..) => Vec::new(),
                Wrong::Fault(fault) => vec![fault],
            };
            let witness =
                Witness { world: world.clone(), graph, analysis, cells, stuck: Vec::new(), faults, excerpt: true };
            let witness = Box::new(witness);
            phase.violations.push(match wrong {
                Wrong::Race(first, second) => Violation::Race { witness, accesses: (first, second) },
                Wrong::Fault(fault) => Violation::Fault { witness, what: described(world, &fault) },
            });
            return Ok(true);
        }
        Err(_) => return Ok(false),
    };
    phase.symmetric |= single.updates == Updates::Commute;
    (phase.statistics.complete, phase.events) = (1, single.events);
    phase.statistics.apart = single.apart.into();
    if let Some(meter) = &checker.meter {
        meter.begin();
        meter.count_execution(single.events as usize);
        meter.count_share(1.0);
    }
    phase.executed.extend(statements(world, &single.executed));
    let witness = single.graph.map(|(graph, analysis)| {
        let (world, cells) = (world.clone(), single.cells);
        Box::new(Witness { world, graph, analysis, cells, stuck: Vec::new(), faults: Vec::new(), excerpt: false })
    });
    phase.outcomes.push(Outcome { witness, ..Outcome::of(visible(single.memory)) });
    Ok(true)
}

/// The part of what a run leaves that outlasts its launches.
fn visible(memory: FinalValues) -> FinalValues {
    memory.into_iter().filter(|(address, _)| is_visible(address)).collect()
}

/// Whether a cell outlasts its launches.
fn is_visible(address: &Address) -> bool {
    !World::is_shared(address.memory) && address.memory != u32::MAX
}

/// The instructions of statements, by kernel number and instruction number.
fn statements(world: &World, sources: &BTreeSet<u32>) -> BTreeSet<(u32, u32)> {
    let of_launches = sources.iter().filter(|&&source| source != u32::MAX);
    let instruction = |&source: &u32| {
        let (launch, at) = World::statement(source);
        world.launches.get(launch).map(|launch| (launch.number, at))
    };
    of_launches.filter_map(instruction).collect()
}

/// Classes of threads that are interchangeable once they read their indices no more: those of a launch, where each is
/// alone in its block; otherwise those of one block.
fn symmetric(world: &World) -> Vec<Vec<ThreadId>> {
    let mut classes = Vec::new();
    for (number, launch) in world.launches.iter().enumerate() {
        if launch.host {
            continue;
        }
        let (threads, per_block) = (world.threads_of(number), launch.environment.shape.threads_per_block() as usize);
        if per_block > 1 && launch.program.has_warps() {
            // The lanes of a warp are not those of another one.
            continue;
        }
        let all: Vec<ThreadId> = threads.collect();
        if per_block == 1 {
            classes.push(all);
            continue;
        }
        let together = launch.lowering.target().converging_threads().map_or(per_block, |threads| threads as usize);
        let chunks = all.chunks(per_block).flat_map(|block| block.chunks(together));
        classes.extend(chunks.map(<[ThreadId]>::to_vec));
    }
    classes
}

/// The visitor that checks each execution.
pub(super) struct Judge<'r> {
    pub run: &'r Run,
    pub world: Arc<World>,
    pub outcomes: BTreeMap<FinalValues, (Box<Witness>, Option<Orders>)>,
    executed: BTreeSet<(u32, u32)>,
    violations: Vec<Violation>,
    /// The unfair schedule under test, if any; then only stuck threads are of interest.
    schedule: Option<Schedule>,
    /// The maximum number of writes by a thread of each block of each launch.
    writes: Vec<Vec<u32>>,
    /// The number of events of the finished executions.
    events: u64,
    too_many: bool,
    /// Whether the search may assume that the program has no races; it ends when one is found.
    pub assume_race_free: bool,
    /// Whether a race is an error; if not, a race only means that the program must be searched in full.
    forbids_races: bool,
    raced: bool,
    /// How far the search is.
    meter: Arc<Meter>,
    /// The statements that touched private cells, which are no events.
    touched: BTreeSet<u32>,
    /// The statements at which threads of a block wait for others of it, where the target does not promise that these
    /// run.
    waits_in_block: WaitsInBlock,
}

impl<'r> Judge<'r> {
    fn new(run: &'r Run, world: Arc<World>, assume_race_free: bool, forbids_races: bool) -> Self {
        Judge {
            run,
            world,
            outcomes: BTreeMap::new(),
            executed: BTreeSet::new(),
            violations: Vec::new(),
            schedule: None,
            writes: Vec::new(),
            events: 0,
            too_many: false,
            assume_race_free,
            forbids_races,
            raced: false,
            meter: run.checker.meter.clone().unwrap_or_default(),
            touched: BTreeSet::new(),
            waits_in_block: WaitsInBlock::default(),
        }
    }

    /// Searches all executions, and then those in which not all blocks begin.
    fn search_all(&mut self, symmetric: &[Vec<ThreadId>], phase: &mut Phase) -> Result<()> {
        let world = self.world.clone();
        let spawns = world.threads().map_err(|error| system("launching", error))?;
        self.search(spawns.clone(), symmetric.to_vec(), phase)?;
        if !self.violations.is_empty() || self.raced || !phase.unknown.is_empty() {
            return Ok(());
        }
        if !world.launches.iter().any(|launch| launch.program.waits()) {
            return Ok(());
        }
        for schedule in schedules(self.run.checker.progress, &world.scheduled(), &self.writes)? {
            let mut some = spawns.clone();
            let mut halted = BTreeSet::new();
            for (launch, block, writes) in schedule.halts() {
                let per_block = world.launches[launch].environment.shape.threads_per_block() as usize;
                for thread in world.threads_of(launch).skip(block as usize * per_block).take(per_block) {
                    some[thread].process = some[thread].process.clone().halting_after(writes);
                    halted.insert(thread);
                }
            }
            self.schedule = Some(schedule);
            let runs = |thread: &ThreadId| !halted.contains(thread);
            let alike = symmetric.iter().map(|class| class.iter().copied().filter(runs).collect()).collect();
            self.search(some, alike, phase)?;
            let stopped = phase.unknown.iter().any(|unknown| matches!(unknown, Unknown::Stopped(_)));
            if stopped || !self.violations.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn search(
        &mut self,
        threads: Vec<Spawn<KernelThread>>,
        symmetric: Vec<Vec<ThreadId>>,
        phase: &mut Phase,
    ) -> Result<()> {
        let checker = &self.run.checker;
        let world = self.world.clone();
        self.meter.begin();
        let setup = Setup {
            meter: Some(self.meter.clone()),
            loop_bound: checker.loop_bound,
            symmetric,
            assume_race_free: self.assume_race_free,
            dependencies: Dependencies::AsCompiled,
            failed_iterations: true,
            sample: checker.sample,
            limits: checker.limits(self.run.shared.deadline),
            ..Setup::new(&*world, checker.model).with_threads(&*world, threads)
        };
        let (end, statistics) = self.search_setup(setup);
        if self.schedule.is_none() {
            phase.statistics.add(&statistics);
            phase.symmetric |= statistics.alike > 0;
        }
        if let Some(sample) = checker.sample {
            phase.unknown.push(Unknown::Sampled(sample.executions));
        }
        if statistics.bounded > 0 {
            phase.unknown.push(Unknown::LoopBound(checker.loop_bound));
        }
        if statistics.cut > 0 {
            let what = "an iteration of a waiting loop can fail in more ways than were tried";
            phase.unknown.push(Unknown::Stopped(what.into()));
        }
        if statistics.endless > 0 {
            phase.unknown.push(Unknown::Stopped(format!(
                "a loop that does not depend on shared memory goes on after {MOST_TURNS} iterations"
            )));
        }
        if statistics.undecided > 0 {
            let what = "it was not decided whether a thread's stores depend on a read of it: too much stands between \
                        them, or an operation of its warp";
            phase.unknown.push(Unknown::Stopped(what.into()));
        }
        match end {
            // Under a schedule, executions in which a thread is held are none that count.
            End::Exhausted
                if statistics.found_nothing()
                    && self.schedule.is_none()
                    && self.violations.is_empty()
                    && !self.raced =>
            {
                phase.unknown.push(Unknown::Stopped(FOUND_NOTHING.into()));
                Ok(())
            }
            End::Exhausted | End::BrokenOff => Ok(()),
            End::Stopped(stopped) => {
                let share = self.meter.read().share;
                phase.covered = Some(phase.covered.map_or(share, |covered| covered.min(share)));
                phase.unknown.push(Unknown::Stopped(stopped.to_string()));
                Ok(())
            }
            End::Problem(Problem::MixedSizes { bytes: [first, second], source, address }) => {
                let (launch, _) = World::statement(source);
                let site = world.site(source).map(|site| site.to_string()).unwrap_or_default();
                let what = format!(
                    "check accesses of {first} and of {second} bytes to one place, `{}`, at {site}",
                    world.address_name(launch, address)
                );
                Err(Error::capability("checker", what, "use one type for all accesses of a place"))
            }
        }
    }

    /// Searches; where graphs are large, with private cells in the states of their threads. Small ones are shown whole.
    fn search_setup(&mut self, setup: Setup<'_>) -> (End, Statistics) {
        let checker = &self.run.checker;
        let most = MostEvents::new(MOST_EVENTS);
        // Private cells stay in the graph where they order other accesses, and where all orders are counted.
        let keeps = !checker.model.private_cells_order() && !checker.count_orders;
        let small = Setup { most_events: keeps.then_some(&most), ..setup };
        let (mut end, mut statistics) = search(&small, self);
        let (mut shared, mut again) = (SharedCells::default(), most.was_exceeded());
        while again {
            self.forget();
            let cells = PrivateCells::new(small.memory, shared.clone());
            let spawns = small.threads.iter().enumerate();
            let threads = spawns.map(|(thread, spawn)| Spawn {
                placement: spawn.placement,
                process: keeping(spawn.process.clone(), thread, &cells),
                after: spawn.after.clone(),
            });
            let setup = Setup {
                memory: small.memory,
                threads: threads.collect(),
                model: small.model,
                loop_bound: small.loop_bound,
                symmetric: small.symmetric.clone(),
                assume_race_free: small.assume_race_free,
                same_stores: small.same_stores,
                system: small.system.clone(),
                dependencies: small.dependencies,
                tried_values: small.tried_values.clone(),
                failed_iterations: small.failed_iterations,
                sample: small.sample,
                private: Some(&cells),
                most_events: None,
                meter: small.meter.clone(),
                limits: small.limits.clone(),
            };
            (end, statistics) = search(&setup, self);
            self.touched = cells.executed();
            again = false;
            if let Some(known) = cells.contradicted() {
                // Whatever was found is worthless, also where the search was over before it noticed.
                self.forget();
                again = !matches!(end, End::Stopped(_));
                shared = known;
            }
        }
        for source in std::mem::take(&mut self.touched) {
            let (launch, at) = World::statement(source);
            self.executed.extend(self.world.launches.get(launch).map(|launch| (launch.number, at)));
        }
        (end, statistics)
    }

    /// Forgets what a search has found that is worthless.
    fn forget(&mut self) {
        if self.schedule.is_none() {
            self.outcomes.clear();
            self.executed.clear();
            self.writes.clear();
            self.too_many = false;
        }
        self.violations.clear();
        self.raced = false;
    }
}
