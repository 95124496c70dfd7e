//! Launches of the checker's: modules' kernels that a scenario launches, and Wattle's own kernels as they are emitted.
//!
//! The buffers of the checker's device become ranges of global memory; what an execution leaves there goes back as
//! elements.

mod emitted;
mod images;
mod memory;
mod module;
mod simulated;
mod story;
mod visit;

use std::sync::Arc;

use wattle_check::checker::{
    Advice, Batch, BatchBuffer, BatchKernel, BatchLaunch, Judged, MODULE_JUDGES, ModuleJudge, ModuleTrials, Progress,
    Schedule, Scheduled, Unknown, schedules,
};
use wattle_check::search::{
    Dependencies, End, Setup, Spawn, Updates, Visitor as _, search, single_or_commuting_run, single_run,
};
use wattle_check::simulate::SimulatedModule;
use wattle_check::story::Story;
use wattle_core::{Error, Result};
use wattle_memory::ThreadId;

use crate::advice::scenario::{self, Variant};
use crate::beside::Beside;
use crate::gap::{gap, gap_of_whole, loops_at};
use crate::judge::ended::{self, Left};
use crate::process::ModuleThread;
use crate::range::{Range, address_of};
use crate::unsupported::Unsupported;
use crate::violation::{HeldUp, Step, Violation};
use crate::world::{WaitsForEnded, World};

use emitted::{Emitted, Ranges};
use images::Images;
use memory::Both;
use visit::Collector;

/// The judge of PTX modules, as the checker knows it.
#[linkme::distributed_slice(MODULE_JUDGES)]
static PTX: &'static dyn ModuleJudge = &Ptx;

struct Ptx;

impl ModuleJudge for Ptx {
    fn judge(&self, batch: &Batch) -> Result<Judged> {
        Variant::of(batch).into_iter().for_each(|variant| module::note_launches(variant, batch));
        let images = Images::of(batch);
        let mut prepared = Prepared::of(batch, &images)?;
        let mut all = Judged::default();
        loop {
            let judged = prepared.judge_choice(batch, &images)?;
            let is_wrong = !judged.violations.is_empty();
            all.statistics.add(&judged.statistics);
            all.events += judged.events;
            all.violations.extend(judged.violations);
            all.outcomes.extend(judged.outcomes);
            for note in judged.notes {
                if !all.notes.contains(&note) {
                    all.notes.push(note);
                }
            }
            for why in judged.unknown {
                if !all.unknown.contains(&why) {
                    all.unknown.push(why);
                }
            }
            if is_wrong || !prepared.world.elected.next() {
                break;
            }
        }
        if all.violations.is_empty() && all.unknown.is_empty() {
            match prepared.left_waiting(batch, &images) {
                Some(Left::Passed(stuck, steps)) => {
                    all.violations.push(prepared.story_of(batch, &Violation::Stuck(stuck), &steps));
                }
                Some(Left::Early(note)) => all.notes.push(note),
                None => {}
            }
        }
        all.unknown
            .extend(prepared.world.elected.left_open().filter(|_| all.violations.is_empty()).map(Unknown::Stopped));
        Ok(all)
    }

    fn simulated(&self, launch: &BatchLaunch, buffers: &[BatchBuffer], seed: u64) -> Result<Arc<dyn SimulatedModule>> {
        simulated::prepare(launch, buffers, seed)
    }

    fn advise(&self, trials: ModuleTrials<'_>) -> Advice {
        scenario::advise(trials)
    }
}

/// The error of a launch that cannot be judged.
fn refused(why: Unsupported) -> Error {
    Error::capability("checker", format!("judge this launch: {why}"), "leave it out, or write it otherwise")
}

/// The launches, ready to be searched.
struct Prepared {
    world: World,
    emitted: Vec<Emitted>,
    scheduled: Vec<Scheduled>,
}

impl Prepared {
    /// Searches all executions with one choice of the lanes that are elected.
    fn judge_choice(&mut self, batch: &Batch, images: &Images) -> Result<Judged> {
        loop {
            let mut judged = self.search_all(batch, images)?;
            if self.world.adapted().map_err(refused)? {
                continue;
            }
            // What is found with some values is found; what is not may be there with others.
            if judged.violations.is_empty() {
                let world = &self.world;
                judged.unknown.extend(world.why_unfixed(&|_| false).map(Unknown::Stopped));
                if let Some(why) = world.why_open_at_the_end() {
                    // The scenario does not go on: it would look at values that are nobody's.
                    judged.outcomes.clear();
                    judged.unknown.push(Unknown::Stopped(why));
                }
            }
            return Ok(judged);
        }
    }

    fn of(batch: &Batch, images: &Images) -> Result<Prepared> {
        let mut ranges = Ranges::new(images.ranges(batch));
        let (mut parts, mut emitted, mut scheduled) = (Vec::new(), Vec::new(), Vec::new());
        let (mut first, mut first_block, mut host_parts) = (0, 0, Vec::new());
        for (number, launch) in batch.launches.iter().enumerate() {
            let (blocks, per_block) = launch.kernel.extents();
            let mut part = match &launch.kernel {
                BatchKernel::Own(own) if own.host => {
                    scheduled.push(Scheduled { blocks, per_block, together: true, first });
                    host_parts.push(own.clone());
                    first += 1;
                    first_block += 1;
                    continue;
                }
                BatchKernel::Own(own) => {
                    let one = Emitted::of(own, (number, launch.device), batch, &mut ranges)?;
                    let part = one.part(own, batch, images)?;
                    emitted.push(one);
                    part
                }
                BatchKernel::Module { .. } => module::part(&launch.kernel, &batch.buffers, Variant::of(batch))?,
            };
            (part.first, part.first_block, part.device) = (first, first_block, launch.device);
            // Another launch's are 0, for which `cg::this_grid()` is no valid group.
            if launch.cooperative && part.reads_workspace() {
                part.workspace = Some(address_of(ranges.all.len()));
                ranges.all.push(Range::of_workspace());
            }
            if !launch.kernel.is_module() {
                part.waits = WaitsForEnded::Always;
            }
            parts.push(part);
            scheduled.push(Scheduled { blocks, per_block, together: launch.cooperative, first });
            first += blocks * per_block;
            first_block += blocks as u32;
        }
        let beside = (!host_parts.is_empty()).then(|| Beside::new(host_parts, batch, parts.len()));
        let mut world = World::of(parts, ranges.all).map_err(refused)?;
        if let Some(statement) = world.active.is_chosen() {
            let at = world.place_of(statement as usize);
            return Err(Error::capability(
                "checker",
                format!("judge the `activemask` at {at} in a scenario: which lanes are together is left to the device"),
                "judge the launch by itself, `wattle check FILE.ptx`, where all choices are tried, or launch it with one \
                 thread per block",
            ));
        }
        world.beside = beside;
        world.is_compiled = !batch.launches.iter().any(|launch| launch.kernel.is_module());
        Ok(Prepared { world, emitted, scheduled })
    }

    /// Searches all executions, and then those in which not all blocks begin.
    fn search_all(&self, batch: &Batch, images: &Images) -> Result<Judged> {
        let mut judged = Judged::default();
        let memory = Both(&self.world);
        let setup = self.setup(&memory, batch, true, None);
        let single =
            if batch.symmetry { single_or_commuting_run(&setup) } else { single_run(&setup, Updates::Conflict) };
        self.world.turns.run_has_ended();
        if let Err(Some(race)) = &single {
            let mut collector = Collector::new(self, batch, images);
            let _ = collector.complete(&race.execution(&setup));
            if collector.has_found() && !self.world.is_spoilt() {
                return Ok(collector.into_judged());
            }
        }
        let single = single.ok();
        let every_event = || self.world.read_only.is_written() || self.world.copies.is_doubtful();
        if let Some(single) = single.filter(|_| !self.world.is_spoilt() && !every_event()) {
            if let Some(meter) = &batch.meter {
                meter.begin();
                meter.count_execution(single.events as usize);
            }
            (judged.statistics.complete, judged.events) = (1, single.events);
            match self.emitted.iter().find_map(|emitted| emitted.reported(&single.memory)) {
                Some(what) => judged.violations.push(("fault", story::of_fault(what))),
                None => {
                    judged.outcomes.insert(images.left(&self.world, batch, &single.memory));
                }
            }
            return Ok(judged);
        }
        let mut collector = Collector::new(self, batch, images);
        if self.search(&mut collector, None) {
            // Only a search that assumes nothing finds what the assumption that there are no races has hidden.
            collector = Collector::new(self, batch, images);
            collector.assume_race_free = false;
            self.search(&mut collector, None);
        }
        let waits = self.world.parts.iter().any(|part| part.flow.loops.waits());
        if collector.is_clean() && waits {
            for schedule in schedules(batch.progress, &self.scheduled, &collector.writes)? {
                self.search(&mut collector, Some(schedule));
                if !collector.is_clean() {
                    break;
                }
            }
        }
        Ok(collector.into_judged())
    }

    /// What launches that are right rest on, where threads end and leave others at a barrier.
    fn left_waiting(&mut self, batch: &Batch, images: &Images) -> Option<Left> {
        let before = ended::let_all_wait(&mut self.world)?;
        let held_up = self.held_up(batch, images);
        ended::let_wait_as(&mut self.world, before);
        ended::left(&self.world, held_up?)
    }

    /// The threads that wait for ever.
    fn held_up(&mut self, batch: &Batch, images: &Images) -> Option<HeldUp> {
        loop {
            let held_up = {
                let memory = Both(&self.world);
                let setup = self.setup(&memory, batch, true, None);
                if single_or_commuting_run(&setup).is_ok() {
                    return None;
                }
                let mut collector = Collector::new(self, batch, images);
                self.search(&mut collector, None);
                collector.held_up
            };
            if !self.world.adapted().ok()? {
                return held_up;
            }
        }
    }

    /// A violation and its story.
    fn story_of(&self, batch: &Batch, violation: &Violation, steps: &[Step]) -> (&'static str, Story) {
        Variant::of(batch).into_iter().for_each(|variant| variant.note_violation(violation));
        story::of(&self.world, batch.model, violation, steps)
    }

    /// Searches once; returns whether it has to begin again without the assumption that there are no races.
    fn search(&self, collector: &mut Collector<'_>, schedule: Option<Schedule>) -> bool {
        if let Some(meter) = &collector.batch.meter {
            meter.begin();
        }
        let memory = Both(&self.world);
        let setup = self.setup(&memory, collector.batch, collector.assume_race_free, schedule.as_ref());
        let is_first = schedule.is_none();
        collector.schedule = schedule;
        let (end, statistics) = search(&setup, collector);
        if is_first {
            collector.judged.statistics.add(&statistics);
        }
        if collector.is_clean() {
            let (bound, loops) = (collector.batch.loop_bound, loops_at(&self.world, &collector.bounded));
            let gap = if is_first { gap_of_whole } else { gap };
            if let Some(why) = gap(&self.world, &end, &statistics, bound, &loops) {
                let at_bound = statistics.bounded > 0 && !matches!(end, End::Stopped(_));
                let unknown = if at_bound { Unknown::LoopsAtBound { loops, bound } } else { Unknown::Stopped(why) };
                collector.judged.unknown.push(unknown);
            }
        }
        collector.unsure && collector.judged.violations.is_empty()
    }

    fn setup<'s>(
        &'s self,
        memory: &'s Both<'s>,
        batch: &'s Batch,
        assume_race_free: bool,
        schedule: Option<&Schedule>,
    ) -> Setup<'s> {
        let mut threads = self.world.threads().into_iter();
        let mut beside = self.world.beside.iter().flat_map(Beside::threads);
        let mut setup = Setup::new(memory, batch.model);
        for (number, launch) in batch.launches.iter().enumerate() {
            let Scheduled { blocks, per_block, .. } = self.scheduled[number];
            let after = self.threads_before(&launch.after);
            if let (true, Some(world)) = (launch.kernel.is_host_part(), &self.world.beside) {
                let own = beside.next().map(|thread| Spawn { after, ..thread });
                setup = setup.with_threads(world, own.into_iter().collect());
                continue;
            }
            let mut own: Vec<Spawn<ModuleThread>> = threads.by_ref().take(blocks * per_block).collect();
            let halts = schedule.into_iter().flat_map(Schedule::halts).filter(|(launch, ..)| *launch == number);
            for (_, block, writes) in halts {
                for thread in &mut own[block as usize * per_block..][..per_block] {
                    thread.process = thread.process.clone().halting_after(writes);
                }
            }
            own.iter_mut().for_each(|thread| thread.after = after.clone());
            setup = setup.with_threads(&self.world, own);
        }
        Setup {
            loop_bound: batch.loop_bound,
            limits: batch.limits.clone(),
            meter: batch.meter.clone(),
            assume_race_free,
            same_stores: self.world.same_stores(batch.model),
            failed_iterations: true,
            symmetric: if batch.symmetry { self.symmetric(batch.progress, schedule) } else { Vec::new() },
            dependencies: if self.world.is_compiled { Dependencies::AsCompiled } else { Dependencies::AsWritten },
            ..setup
        }
    }

    /// Classes of threads that are interchangeable once they read their positions no more: those of a launch, where
    /// each is alone in its block; otherwise those of one block whose scopes tell no threads apart.
    fn symmetric(&self, progress: Progress, schedule: Option<&Schedule>) -> Vec<Vec<ThreadId>> {
        // These progress models tell blocks apart by their numbers.
        if matches!(progress, Progress::Hsa | Progress::HsaObe) {
            return Vec::new();
        }
        let halted: Vec<ThreadId> = schedule
            .into_iter()
            .flat_map(Schedule::halts)
            .flat_map(|(launch, block, _)| {
                let Scheduled { first, per_block, .. } = self.scheduled[launch];
                (first + block as usize * per_block..).take(per_block)
            })
            .collect();
        let mut classes = Vec::new();
        for part in self.world.parts.iter().filter(|part| !part.flow.meets()) {
            let (blocks, per_block) = (part.launch.blocks() as usize, part.launch.block_len() as usize);
            let all: Vec<ThreadId> = (part.first..part.first + blocks * per_block).collect();
            let together = if per_block == 1 {
                vec![&all[..]]
            } else {
                all.chunks(per_block).flat_map(|block| block.chunks(part.together() as usize)).collect()
            };
            classes.extend(together.into_iter().map(|class| {
                class.iter().copied().filter(|thread| !halted.contains(thread)).collect::<Vec<ThreadId>>()
            }));
        }
        classes
    }

    /// The threads of these launches.
    fn threads_before(&self, launches: &[usize]) -> Arc<[ThreadId]> {
        let threads = launches.iter().flat_map(|&launch| {
            let Scheduled { first, blocks, per_block, .. } = self.scheduled[launch];
            first..first + blocks * per_block
        });
        threads.collect()
    }
}
