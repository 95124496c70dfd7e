//! Launches as the checker tries them: the shape, the program with its edits, and the world that they make up.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use wattle_core::queue::QueuedLaunch;
use wattle_core::{Error, Kernel, Result, ShapeKind, lock};
use wattle_ir::builder::IndexLayout;
use wattle_ir::specialize;
use wattle_machine::{Environment, Instruction, LaunchShape, Program};
use wattle_memory::Lowering;

use super::frames::{OpenWarps, shape_text};
use super::memory::CheckedMemory;
use super::run::{Programs, Run, note};
use super::variants::Asked;
use crate::arguments::arguments;
use crate::program::{Edits, LaunchWorld, World, with_barrier_before};

/// The launches of a queue.
pub(super) struct Group {
    /// The number of the queue's device.
    pub device: u32,
    pub launches: Vec<QueuedLaunch>,
}

/// The shape in which a launch is tried.
pub(super) fn shape_of(run: &Run, enqueued: &QueuedLaunch) -> Result<LaunchShape> {
    let most_threads = run.checker.target.threads_by_frames();
    let (grid, block) = run.choice.frames.resolve(&enqueued.shape, &enqueued.options, most_threads);
    if enqueued.shape.kind == ShapeKind::Frames {
        note(&mut lock(&run.path).framed, (enqueued.shape, enqueued.options));
    }
    let shape = enqueued.shape.launched(grid, block, lanes(run, enqueued)?);
    most_threads_fit(run, &shape)?;
    Ok(shape)
}

/// The lanes of a warp of a launch: what it says, or else what is tried.
pub(super) fn lanes(run: &Run, enqueued: &QueuedLaunch) -> Result<u32> {
    match enqueued.options.get_warp_size() {
        Some(_) => enqueued.options.lanes(&run.properties, |_| true),
        None => Ok(run.choice.warp_size),
    }
}

/// Refuses blocks of more threads than any device has.
fn most_threads_fit(run: &Run, shape: &LaunchShape) -> Result<()> {
    if shape.threads_per_block() <= run.properties.max_threads_per_block as u64 {
        return Ok(());
    }
    let (threads, most) = (shape.threads_per_block(), run.properties.max_threads_per_block);
    let what = format!("run blocks of {threads} threads: {most} at the most");
    let instead = "launch blocks of fewer threads";
    let device = format!("checker for {}", run.checker.target);
    Err(Error::capability(device, what, instead).limited(threads, most))
}

/// Refuses blocks with more shared memory than any device has.
fn shared_fits(run: &Run, kernel: &wattle_ir::Kernel, shared_len: u32) -> Result<()> {
    let asked = kernel.shared_bytes(shared_len);
    let most = run.checker.target.most_shared().unwrap_or(run.properties.max_shared_memory);
    if asked <= most {
        return Ok(());
    }
    let what = format!("give a block of kernel `{}` {asked} bytes of shared memory: {most} at the most", kernel.name);
    let device = format!("checker for {}", run.checker.target);
    Err(Error::capability(device, what, "launch a smaller size").limited(asked, most))
}

/// The launch of a kernel of Wattle's own, or of a host part.
pub(super) fn of_kernel(
    run: &Run,
    kernel: &dyn Kernel,
    enqueued: &QueuedLaunch,
    shape: LaunchShape,
    host: bool,
) -> Result<LaunchWorld> {
    let launch = launch(run, kernel, shape, enqueued.options.get_shared_len())?;
    if launch.program.uses_warps() {
        let warps = OpenWarps::of(shape.threads_per_block(), launch.program.asks_size_of_warps());
        lock(&run.path).note_warps(enqueued, warps);
    }
    Ok(LaunchWorld { host, cooperative: enqueued.options.is_cooperative(), ..launch })
}

/// The launches of groups that run at the same time, with the memories before them.
pub(super) fn world(run: &Run, groups: &[Group]) -> Result<World> {
    let mut launches: Vec<LaunchWorld> = Vec::new();
    let (mut threads, mut blocks) = (0, 0);
    for Group { device, launches: group } in groups {
        let (device, mut earlier) = (*device, Vec::new());
        for enqueued in group {
            let shape = shape_of(run, enqueued)?;
            let one = LaunchShape::linear(1, 1);
            let parts =
                [Some((&enqueued.kernel, shape, false)), enqueued.host_part.as_ref().map(|host| (host, one, true))];
            let mut these = Vec::new();
            for (kernel, shape, host) in parts.into_iter().flatten() {
                let launch = of_kernel(run, &**kernel, enqueued, shape, host)?;
                these.push(launches.len());
                let after = earlier.clone();
                launches.push(LaunchWorld { device, first: threads, first_block: blocks, after, ..launch });
                threads += (shape.blocks() * shape.threads_per_block()) as usize;
                blocks += shape.blocks() as u32;
            }
            earlier = these;
        }
    }
    let memories = lock(&run.memories).iter().map(|memory| Arc::new(memory.clone())).collect();
    let mut world = World::new(launches, memories);
    world.plain_as_relaxed = run.checker.plain_as_relaxed;
    world.edits = edits(run, &world.launches);
    Ok(world)
}

/// The edits, which have the numbers of instructions of the device that is tried first, with those of these launches'
/// programs: an edit of a line is one of all that stands for it, for whichever device.
fn edits(run: &Run, launches: &[LaunchWorld]) -> Edits {
    let mut edits = run.checker.edits.clone();
    if edits.instructions.is_empty() || run.choice.variant == run.first_variant {
        return edits;
    }
    let programs = lock(&run.shared.programs);
    for launch in launches {
        let first = programs.iter().find_map(|((_, variant), (program, number, _))| {
            (*variant == run.first_variant && *number == launch.number).then_some(program)
        });
        let Some(first) = first.filter(|first| !Arc::ptr_eq(first, &launch.program)) else { continue };
        // What is at one place in the source and does the same is one instruction there.
        let parts = |program: &Program| -> Vec<_> {
            let of = |instruction: Instruction| {
                instruction.parts().map(move |(at, action)| (at, (instruction.site, action))).collect::<Vec<_>>()
            };
            program.instructions().flat_map(of).collect()
        };
        let edited = |(at, what)| Some((what, *run.checker.edits.of(launch.number, at)?));
        let of_lines: HashMap<_, _> = parts(first).into_iter().filter_map(edited).collect();
        edits.instructions.retain(|(number, _), _| *number != launch.number);
        let here = parts(&launch.program);
        let here = here.into_iter().filter_map(|(at, what)| Some(((launch.number, at), *of_lines.get(&what)?)));
        edits.instructions.extend(here);
    }
    edits
}

/// A launch as the first of its world. Fails if its shared memory does not fit or the target lacks its scope.
fn launch(run: &Run, kernel: &dyn Kernel, shape: LaunchShape, shared_len: u32) -> Result<LaunchWorld> {
    let (program, number, mut asked) = program(run, kernel)?;
    shared_fits(run, program.kernel(), shared_len)?;
    // One thread has all indices.
    asked.layout &= shape.blocks() * shape.threads_per_block() > 1;
    let so_far = lock(&run.path).asked;
    lock(&run.path).asked = so_far.and(asked);
    let memory = |memory: &CheckedMemory, number| std::ptr::eq(&*memory.run, run).then(|| memory.of(number).into());
    let environment = Environment { shape, arguments: arguments(kernel, memory)?, shared_len };
    let lowering = Lowering::new(run.checker.target, program.widest_scope());
    let launch = LaunchWorld {
        program,
        number,
        environment,
        lowering,
        variant: asked.text(run.choice.variant),
        host: false,
        device: 0,
        cooperative: false,
        first: 0,
        first_block: 0,
        after: Vec::new(),
    };
    launch.lowering.level(launch.widest()).map_err(|error| {
        let device = format!("checker for {}", run.checker.target);
        Error::capability(device, format!("judge this launch: {error}"), "use a scope that it has")
    })?;
    Ok(launch)
}

/// The program of a kernel, its number, and what it asks of its device.
fn program(run: &Run, kernel: &dyn Kernel) -> Result<(Arc<Program>, u32, Asked)> {
    let (identity, variant) = (kernel.identity(), run.choice.variant);
    let mut programs = lock(&run.shared.programs);
    if let Some(known) = programs.get(&(identity, variant)) {
        return Ok(known.clone());
    }
    // A kernel has one number, for whichever device it is built.
    let others = programs.iter().find(|((other, _), _)| *other == identity);
    let number = others.map_or_else(|| kernels(&programs), |(_, (_, number, _))| *number);
    let built = kernel.build_with(variant.layout)?;
    let [one, other] = [IndexLayout::Strided, IndexLayout::Contiguous].map(|layout| kernel.build_with(layout));
    let mut asked = Asked::by(&built);
    asked.layout = one? != other?;
    let built = specialize(&built, &|property| variant.answer(property)).into_owned();
    let built = match run.checker.edits.barriers.get(&number) {
        Some(&fork) => with_barrier_before(&built, fork),
        None => built,
    };
    let program = Arc::new(Program::compile(Arc::new(built))?);
    let known = (program, number, asked);
    programs.insert((identity, variant), known.clone());
    Ok(known)
}

/// The number of kernels among these programs.
fn kernels(programs: &Programs) -> u32 {
    programs.values().map(|(_, number, _)| number + 1).max().unwrap_or(0)
}

/// A hash of launches and memories, and the launches in words.
pub(super) fn fingerprint(world: &World) -> (u64, String) {
    let mut hasher = DefaultHasher::new();
    let mut what = Vec::new();
    for launch in &world.launches {
        (launch.number, &launch.environment, launch.first, &launch.after, launch.host, launch.device).hash(&mut hasher);
        what.push(format!("`{}` with {}", launch.program.kernel().name, shape_text(launch)));
    }
    world.memories.hash(&mut hasher);
    (hasher.finish(), what.join(" and "))
}
