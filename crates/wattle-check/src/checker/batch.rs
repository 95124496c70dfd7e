//! Launches that run at the same time, searched together: what memories they can leave, and what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use wattle_core::{Argument, Error, ErrorKind, Kernel, LaunchOptions, Result, Shape};
use wattle_ir::Access;
use wattle_machine::{Argument as Given, Environment, LaunchShape, Program};
use wattle_memory::{Kind, Lowering, Model, Target, ThreadId};

use super::Witness;
use super::device::{Run, lock};
use super::memory::CheckedMemory;
use super::orders::{self, Orders};
use super::queue::{limited, system};
use super::report::{Unknown, Violation};
use super::schedule::{Schedule, schedules};
use crate::program::{KernelThread, LaunchWorld, Mapping, World};
use crate::search::{
    Address, End, Execution, Fault, Limits, Problem, Setup, Spawn, Statistics, Visitor, last_values, search,
};

/// A launch that is enqueued.
pub(super) struct Enqueued {
    pub kernel: Arc<dyn Kernel>,
    pub host_part: Option<Arc<dyn Kernel>>,
    pub shape: Shape,
    pub options: LaunchOptions,
}

/// What a search of launches gave.
pub(super) struct Phase {
    /// Tells launches and memories apart.
    fingerprint: u64,
    /// What is launched, in words.
    what: String,
    /// The distinct memories that the launches can leave.
    pub outcomes: Vec<Outcome>,
    pub violations: Vec<Violation>,
    pub unknown: Vec<Unknown>,
    pub statistics: Statistics,
    pub shapes: Vec<String>,
    pub symmetric: bool,
    /// The instructions that ran.
    pub executed: BTreeSet<(u32, u32)>,
    pub world: Arc<World>,
}

/// A memory that launches can leave, and an execution that leaves it.
pub(super) struct Outcome {
    values: Memory,
    pub witness: Box<Witness>,
    /// The orders of the accesses that leave it, where they were asked for.
    pub orders: Option<Orders>,
}

/// What cells hold in the end.
type Memory = Vec<(Address, u64)>;

/// The most outcomes of one search that are kept.
const MAX_OUTCOMES: usize = 100_000;

/// Runs launches, a group for each queue, and leaves one of the memories that they can leave.
pub(super) fn run(run: &Run, groups: &[Vec<Enqueued>]) -> Result<()> {
    let world = world(run, groups).inspect_err(|error| {
        lock(&run.path).refused.get_or_insert(error.clone());
    })?;
    let (fingerprint, what) = fingerprint(&world);
    let known = {
        let path = lock(&run.path);
        path.phases.get(path.at).cloned()
    };
    let phase = match known {
        Some(phase) if phase.fingerprint == fingerprint => phase,
        Some(phase) => {
            let text = format!("it launched {} and later, after the same outcomes, {what}", phase.what);
            lock(&run.path).strayed = Some(text.clone());
            return Err(system("checking", text));
        }
        None => {
            let phase = Arc::new(judge(run, world, fingerprint, what.clone())?);
            let mut path = lock(&run.path);
            path.phases.push(phase.clone());
            path.chosen.push(0);
            phase
        }
    };
    let chosen = {
        let mut path = lock(&run.path);
        path.at += 1;
        path.chosen.get(path.at - 1).copied().unwrap_or(0)
    };
    let outcome = phase.outcomes.get(chosen).filter(|_| phase.violations.is_empty());
    let Some(outcome) = outcome else {
        return Err(Error::check(format!("{what} cannot go on: the checker has found what is wrong")));
    };
    let mut memories = lock(&run.memories);
    for &(address, value) in &outcome.values {
        let element =
            memories.get_mut(address.memory as usize).and_then(|memory| memory.get_mut(address.element as usize));
        if let Some(element) = element {
            *element = Some(value);
        }
    }
    Ok(())
}

fn world(run: &Run, groups: &[Vec<Enqueued>]) -> Result<World> {
    let mut launches: Vec<LaunchWorld> = Vec::new();
    let (mut threads, mut blocks) = (0, 0);
    for group in groups {
        let mut earlier: Vec<usize> = Vec::new();
        for enqueued in group {
            let (grid, block) = run.frames.resolve(&enqueued.shape);
            let (grid, block) = limited(&enqueued.shape, &enqueued.options, grid, block);
            lock(&run.path).framed |= enqueued.shape.kind == wattle_core::ShapeKind::Frames
                && enqueued.shape.inner.iter().any(|&extent| extent > 1);
            let shape = LaunchShape {
                grid_extent: grid,
                block_extent: block,
                frame_count: enqueued.shape.outer,
                frame_extent: enqueued.shape.inner,
            };
            if shape.threads_per_block() > run.properties.max_threads_per_block as u64 {
                return Err(ErrorKind::Capability {
                    device: format!("checker for {}", run.checker.target),
                    what: format!("run {} threads per block", shape.threads_per_block()),
                    instead: "the host has one thread per block: launch by FrameSpec, or one thread per block".into(),
                }
                .into());
            }
            let one =
                LaunchShape { grid_extent: [1; 4], block_extent: [1; 4], frame_count: [1; 4], frame_extent: [1; 4] };
            let parts =
                [Some((&enqueued.kernel, shape, false)), enqueued.host_part.as_ref().map(|host| (host, one, true))];
            let mut these = Vec::new();
            for (kernel, shape, host) in parts.into_iter().flatten() {
                let launch = launch(run, &**kernel, shape, enqueued.options.shared_elements())?;
                these.push(launches.len());
                let cooperative = enqueued.options.is_cooperative();
                launches.push(LaunchWorld {
                    host,
                    cooperative,
                    first: threads,
                    first_block: blocks,
                    after: earlier.clone(),
                    ..launch
                });
                threads += (shape.blocks() * shape.threads_per_block()) as usize;
                blocks += shape.blocks() as u32;
            }
            earlier = these;
        }
    }
    let memories = lock(&run.memories).iter().map(|memory| Arc::new(memory.clone())).collect();
    let mut world = World::new(launches, memories);
    world.plain_as_relaxed = run.checker.plain_as_relaxed;
    world.edits = run.checker.edits.clone();
    Ok(world)
}

fn launch(run: &Run, kernel: &dyn Kernel, shape: LaunchShape, shared_len: u32) -> Result<LaunchWorld> {
    let (program, number) = program(run, kernel)?;
    let (mut arguments, mut views) = (Vec::new(), Vec::new());
    kernel.arguments(&mut |argument| {
        match argument {
            Argument::Scalar(constant) => {
                arguments.push(Given::Scalar(constant.raw));
                views.push(None);
            }
            Argument::View(view) => {
                let Some(memory) = view.buffer.memory().as_any().downcast_ref::<CheckedMemory>() else {
                    return Err(system("launching", "a buffer of another kind of device"));
                };
                arguments.push(Given::View(view.extent()));
                let mapping = Mapping { memory: memory.id, offset: view.offset() as u64, strides: view.strides() };
                let access: Access = view.access;
                views.push(Some((mapping, access)));
            }
        }
        Ok(())
    })?;
    let environment = Environment { shape, arguments, shared_len };
    environment.check(program.kernel()).map_err(|error| system("launching", error))?;
    let lowering = Lowering::new(run.checker.target, program.widest_scope());
    let launch = LaunchWorld {
        program,
        number,
        environment,
        views,
        lowering,
        host: false,
        cooperative: false,
        first: 0,
        first_block: 0,
        after: Vec::new(),
    };
    launch.lowering.level(launch.widest()).map_err(|error| {
        Error::from(ErrorKind::Capability {
            device: format!("checker for {}", run.checker.target),
            what: format!("judge this launch: {error}"),
            instead: "use a scope that it has".into(),
        })
    })?;
    Ok(launch)
}

fn program(run: &Run, kernel: &dyn Kernel) -> Result<(Arc<Program>, u32)> {
    let identity = kernel.identity();
    let mut programs = lock(&run.shared.programs);
    if let Some((program, number)) = programs.get(&identity) {
        return Ok((program.clone(), *number));
    }
    let program = Arc::new(Program::compile(Arc::new(kernel.build()?))?);
    let number = programs.len() as u32;
    programs.insert(identity, (program.clone(), number));
    Ok((program, number))
}

fn fingerprint(world: &World) -> (u64, String) {
    let mut hasher = DefaultHasher::new();
    let mut what = Vec::new();
    for launch in &world.launches {
        let shape = launch.environment.shape;
        (launch.number, shape, launch.first, &launch.after, launch.host).hash(&mut hasher);
        for (argument, view) in launch.environment.arguments.iter().zip(&launch.views) {
            match argument {
                Given::Scalar(raw) => raw.hash(&mut hasher),
                Given::View(extent) => extent.hash(&mut hasher),
            }
            view.map(|(mapping, _)| (mapping.memory, mapping.offset, mapping.strides)).hash(&mut hasher);
        }
        what.push(format!("`{}` with {}", launch.program.kernel().name, shape_text(launch)));
    }
    world.memories.hash(&mut hasher);
    (hasher.finish(), what.join(" and "))
}

fn shape_text(launch: &LaunchWorld) -> String {
    let shape = launch.environment.shape;
    let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    if launch.host {
        return "the host's thread".into();
    }
    format!("{} × {}", count(shape.blocks(), "block"), count(shape.threads_per_block(), "thread"))
}

/// Searches the launches.
fn judge(run: &Run, world: World, fingerprint: u64, what: String) -> Result<Phase> {
    let checker = &run.checker;
    let forbids_races = checker.model.forbids_races() && checker.target != Target::Host;
    // Plain accesses of the host are relaxed atomics; where nothing races, that makes no difference, and there is far
    // less to search.
    let mut world = world;
    world.host_is_plain = checker.target == Target::Host;
    let world = Arc::new(world);
    let symmetric = if checker.symmetry { symmetric(&world) } else { Vec::new() };
    let mut phase = Phase {
        fingerprint,
        what,
        outcomes: Vec::new(),
        violations: Vec::new(),
        unknown: Vec::new(),
        statistics: Statistics::default(),
        shapes: world.launches.iter().map(shape_text).collect(),
        symmetric: symmetric.iter().any(|class| class.len() > 1),
        executed: BTreeSet::new(),
        world: world.clone(),
    };
    let has_races = !matches!(checker.model, Model::Sc | Model::Unordered);
    let mut judge = Judge::new(run, world, has_races, forbids_races);
    judge.search_all(&symmetric, &mut phase)?;
    if judge.raced {
        let mut world = (*judge.world).clone();
        world.host_is_plain = false;
        phase.world = Arc::new(world);
        (phase.statistics, phase.unknown) = (Statistics::default(), Vec::new());
        judge = Judge::new(run, phase.world.clone(), false, forbids_races);
        judge.search_all(&symmetric, &mut phase)?;
    }
    if judge.violations.is_empty() && judge.outcomes.is_empty() && phase.unknown.is_empty() {
        phase.unknown.push(Unknown::Nothing);
    }
    if judge.too_many {
        phase.unknown.push(Unknown::Stopped(format!("more than {MAX_OUTCOMES} distinct outcomes")));
    }
    phase.outcomes =
        judge.outcomes.into_iter().map(|(values, (witness, orders))| Outcome { values, witness, orders }).collect();
    phase.executed = judge.executed;
    phase.violations = judge.violations;
    Ok(phase)
}

/// The threads that nothing tells apart: those of a launch whose code does not ask which one it is, where each is alone
/// in its block; else those of one block.
fn symmetric(world: &World) -> Vec<Vec<ThreadId>> {
    let mut classes = Vec::new();
    for (number, launch) in world.launches.iter().enumerate() {
        if launch.program.uses_position() || launch.host {
            continue;
        }
        let (threads, per_block) = (world.threads_of(number), launch.environment.shape.threads_per_block() as usize);
        if per_block == 1 {
            classes.push(threads.collect());
        } else {
            let all: Vec<ThreadId> = threads.collect();
            classes.extend(all.chunks(per_block).map(<[ThreadId]>::to_vec));
        }
    }
    classes
}

/// What looks at each execution.
struct Judge<'r> {
    run: &'r Run,
    world: Arc<World>,
    outcomes: BTreeMap<Memory, (Box<Witness>, Option<Orders>)>,
    executed: BTreeSet<(u32, u32)>,
    violations: Vec<Violation>,
    /// The schedule that is looked at; then only stuck threads are of interest.
    schedule: Option<Schedule>,
    /// The most writes that a thread of each block of each launch makes.
    writes: Vec<Vec<u32>>,
    too_many: bool,
    /// Whether the search may take the program to have no races, which ends when one is found.
    assume_race_free: bool,
    /// Whether a race is an error; elsewhere one only means that the program has to be searched in full.
    forbids_races: bool,
    raced: bool,
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
            too_many: false,
            assume_race_free,
            forbids_races,
            raced: false,
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
        for schedule in schedules(self.run.checker.progress, &world, &self.writes)? {
            let mut some = spawns.clone();
            for (launch, block, writes) in schedule.halts() {
                let per_block = world.launches[launch].environment.shape.threads_per_block() as usize;
                for thread in world.threads_of(launch).skip(block as usize * per_block).take(per_block) {
                    some[thread].process = some[thread].process.clone().halting_after(writes);
                }
            }
            self.schedule = Some(schedule);
            self.search(some, Vec::new(), phase)?;
            if !self.violations.is_empty() {
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
        let setup = Setup {
            world: &*world,
            threads,
            model: checker.model,
            loop_bound: checker.loop_bound,
            symmetric,
            assume_race_free: self.assume_race_free,
            system: Vec::new(),
            sample: checker.sample,
            limits: Limits {
                deadline: self.run.shared.deadline,
                memory: checker.memory,
                heeds_interrupt: true,
                cancelled: checker.cancelled.clone(),
            },
        };
        let (end, statistics) = search(&setup, self);
        if self.schedule.is_none() {
            phase.statistics.add(&statistics);
        }
        if let Some(sample) = checker.sample {
            phase.unknown.push(Unknown::Sampled(sample.executions));
        }
        if statistics.bounded > 0 {
            phase.unknown.push(Unknown::LoopBound(checker.loop_bound));
        }
        match end {
            End::Exhausted | End::BrokenOff => Ok(()),
            End::Stopped(stopped) => {
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
                let instead = "use one type for all accesses of a place".into();
                Err(ErrorKind::Capability { device: "checker".into(), what, instead }.into())
            }
        }
    }

    fn count_writes(&mut self, execution: &Execution<'_, KernelThread>) {
        let blocks = |launch: &LaunchWorld| vec![0; launch.environment.shape.blocks() as usize];
        if self.writes.is_empty() {
            self.writes = self.world.launches.iter().map(blocks).collect();
        }
        let mut counts = vec![0u32; execution.threads.len() + 1];
        for event in execution.graph.events() {
            if let (Some(thread), Kind::Write, Some(_)) = (event.thread, event.label.kind, event.location) {
                counts[thread] += 1;
            }
        }
        for (number, launch) in self.world.launches.iter().enumerate() {
            let per_block = launch.environment.shape.threads_per_block() as usize;
            for (at, thread) in self.world.threads_of(number).enumerate() {
                let most = &mut self.writes[number][at / per_block.max(1)];
                *most = (*most).max(counts[thread]);
            }
        }
    }

    /// Whether there is a race, under a model that does not mind: then what was built is not all that there is.
    fn must_search_in_full(&mut self, execution: &Execution<'_, KernelThread>) -> bool {
        let races = || Model::Portable.races(execution.graph, execution.analysis);
        self.raced |= self.assume_race_free && !self.forbids_races && !races().is_empty();
        self.raced
    }

    fn witness(&self, execution: &Execution<'_, KernelThread>) -> Box<Witness> {
        Box::new(Witness {
            world: self.world.clone(),
            graph: execution.graph.clone(),
            analysis: execution.analysis.clone(),
            cells: execution.cells.clone(),
            stuck: execution.stuck.clone(),
            faults: execution.faults.clone(),
        })
    }

    /// What is wrong with an execution in itself.
    fn wrong(&self, execution: &Execution<'_, KernelThread>) -> Option<Violation> {
        let graph = execution.graph;
        if let Some(fault) = execution.faults.first() {
            let what = self.describe(fault);
            return Some(Violation::Fault { witness: self.witness(execution), what });
        }
        let unwritten = |&read: &usize| {
            let event = graph.event(read);
            let initial = graph.source(read).is_some_and(|source| graph.event(source).unwritten);
            event.label.kind == Kind::Read && initial
        };
        if self.forbids_races {
            let races = self.run.checker.model.races(graph, execution.analysis);
            // A race between lines that are far apart in the source says less than one between neighbours.
            if let Some(&accesses) = races.first() {
                return Some(Violation::Race { witness: self.witness(execution), accesses });
            }
        }
        let read = (0..graph.len()).find(unwritten)?;
        Some(Violation::Unwritten { witness: self.witness(execution), read })
    }

    fn describe(&self, fault: &Fault) -> String {
        let (launch, _) = World::statement(fault.source);
        match (self.world.fault(fault.fault), self.world.launches.get(launch)) {
            (Some(fault), Some(launch)) => format!("{}, at {}", fault.describe(launch.program.kernel()), fault.site()),
            _ => "a fault".into(),
        }
    }
}

impl Visitor<KernelThread> for Judge<'_> {
    fn complete(&mut self, execution: &Execution<'_, KernelThread>) -> ControlFlow<()> {
        if self.schedule.is_some() {
            return ControlFlow::Continue(());
        }
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if let Some(violation) = self.wrong(execution) {
            self.violations.push(violation);
            return ControlFlow::Break(());
        }
        for event in execution.graph.events().iter().filter(|event| event.source != u32::MAX && event.thread.is_some())
        {
            let (launch, at) = World::statement(event.source);
            if let Some(launch) = self.world.launches.get(launch) {
                self.executed.insert((launch.number, at));
            }
        }
        self.count_writes(execution);
        for values in last_memories(execution) {
            if self.outcomes.len() >= MAX_OUTCOMES {
                self.too_many = true;
                return ControlFlow::Break(());
            }
            if !self.outcomes.contains_key(&values) {
                let witness = self.witness(execution);
                self.outcomes.insert(values.clone(), (witness, None));
            }
            if self.run.checker.count_orders
                && let Some((_, known)) = self.outcomes.get_mut(&values)
            {
                let found = orders::count(execution, &self.world);
                known.get_or_insert_default().add(&found);
            }
        }
        ControlFlow::Continue(())
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_, KernelThread>) -> ControlFlow<()> {
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if self.forbids_races && self.schedule.is_none() {
            let races = self.run.checker.model.races(execution.graph, execution.analysis);
            if let Some(&accesses) = races.first() {
                self.violations.push(Violation::Race { witness: self.witness(execution), accesses });
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_, KernelThread>) -> ControlFlow<()> {
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        let stuck = execution.stuck.clone();
        if let Some(schedule) = &self.schedule
            && !schedule.permits(self.run.checker.progress, execution, &self.world)
        {
            return ControlFlow::Continue(());
        }
        let halts = self.schedule.iter().flat_map(Schedule::halts);
        let halted = halts.map(|(launch, block, _)| (launch, block)).collect();
        // What is wrong before threads are stuck explains more than that they are.
        let violation = self.wrong(execution).unwrap_or_else(|| Violation::Stuck {
            witness: self.witness(execution),
            stuck,
            halted,
        });
        self.violations.push(violation);
        ControlFlow::Break(())
    }
}

/// The memories that an execution can leave: one, unless unordered writes leave several.
fn last_memories(execution: &Execution<'_, KernelThread>) -> Vec<Memory> {
    let mut memories = vec![Vec::new()];
    for &(address, location) in &execution.cells {
        if World::is_shared(address.memory) || address.memory == u32::MAX {
            continue;
        }
        // What is still what it was does not make two memories different.
        let initial = execution.graph.event(execution.graph.initial(location));
        let values = last_values(execution.graph, execution.analysis, location);
        if initial.unwritten && !is_written(execution, location) {
            continue;
        }
        memories = memories
            .into_iter()
            .flat_map(|memory: Memory| {
                values.iter().map(move |&value| {
                    let mut memory = memory.clone();
                    memory.push((address, value));
                    memory
                })
            })
            .take(1024)
            .collect();
    }
    memories
}

fn is_written(execution: &Execution<'_, KernelThread>, location: usize) -> bool {
    execution
        .graph
        .events()
        .iter()
        .any(|event| event.thread.is_some() && event.label.kind == Kind::Write && event.location == Some(location))
}
