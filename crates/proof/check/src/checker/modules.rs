//! Launches of kernels that are read from modules, searched by the crate that reads them.
//!
//! The checker runs the scenario, and collects the launches that run at the same time in a [`Batch`]. What their
//! threads do is known to the readers of modules, which are no part of this crate: one of them makes itself known as a
//! [`ModuleJudge`] by being linked, and returns what it has [`Judged`].

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use wattle_core::queue::QueuedLaunch;
use wattle_core::{Error, ModuleCall, ModuleEntry, Result, SeenOfWarps, ViewArgument, lock};
use wattle_ir::Element as _;
use wattle_machine::LaunchShape;
use wattle_memory::{CodeLanguage, Model, Target};

use super::changes::Advice;
use super::frames::OpenWarps;
use super::kept::KeptSearch;
use super::launches::{Group, lanes, of_kernel, shape_of};
use super::memory::CheckedMemory;
use super::module_batch::{Batch, BatchBuffer, BatchKernel, BatchLaunch, Judged, ModuleVariant};
use super::run::{Outcome, Phase, Rests, Run, note};
use crate::program::{LaunchWorld, World};
use crate::report::{Unknown, Verdict, Violation};
use crate::search::Limits;
use crate::simulate::SimulatedModule;

/// Judges launches of modules' kernels.
pub trait ModuleJudge: Sync {
    /// Searches all executions of the launches.
    ///
    /// # Errors
    /// They cannot be judged: an instruction without a meaning for the checker, a kernel that cannot be emitted.
    fn judge(&self, batch: &Batch) -> Result<Judged>;

    /// Prepares a launch of a module's kernel for the simulated device; the addresses of its arguments are in these
    /// buffers. The seed chooses what is left to devices.
    ///
    /// # Errors
    /// The launch cannot be judged: it has an instruction without a meaning for the checker.
    fn simulated(&self, launch: &BatchLaunch, buffers: &[BatchBuffer], seed: u64) -> Result<Arc<dyn SimulatedModule>>;

    /// Finds changes of the modules with which a scenario holds that is violated as it is.
    fn advise(&self, trials: ModuleTrials<'_>) -> Advice;
}

/// Trials of variants of the modules that a scenario launches.
pub struct ModuleTrials<'t> {
    /// Checks the scenario with a variant, for at most so long; `None` where it cannot be checked.
    pub check: &'t mut dyn FnMut(ModuleVariant, Duration) -> Option<Verdict>,
    /// The limits at which all trials end.
    pub limits: Limits,
    /// How long the check took that found it violated.
    pub took: Duration,
    /// The time for all trials.
    pub budget: Duration,
}

/// The judges of modules: being linked makes one known.
#[linkme::distributed_slice]
pub static MODULE_JUDGES: [&'static dyn ModuleJudge];

/// Whether some of these launches are judged as modules.
pub(super) fn are_modules(run: &Run, groups: &[Group]) -> bool {
    run.checker.emitted.is_some()
        || groups.iter().flat_map(|group| &group.launches).any(|launch| launch.kernel.module().is_some())
}

/// Collects launches, a group for each queue.
pub(super) fn batch(run: &Run, groups: &[Group]) -> Result<Batch> {
    let checker = &run.checker;
    let is_judged = match checker.target.code() {
        CodeLanguage::Ptx { .. } => {
            checker.target != Target::Host && matches!(checker.model, Model::Portable | Model::Ptx | Model::Sc)
        }
        CodeLanguage::Spirv => checker.model == Model::Vulkan,
    };
    if !is_judged {
        let what = format!("judge modules, or what is emitted, as code for {}", checker.name());
        let instead = "check PTX under PTX's model (`--target ptx:sm_90`, `Checker::new(Model::Ptx)`), and SPIR-V under \
                       Vulkan's (`--target vulkan`, `Checker::new(Model::Vulkan)`)";
        return Err(Error::capability("checker", what, instead));
    }
    let asked = !checker.edits.is_empty() || checker.count_orders || checker.sample.is_some();
    if asked || checker.plain_as_relaxed {
        let what = "count orders, sample or change the accesses of a module's kernel";
        return Err(Error::capability("checker", what, "check it without"));
    }
    let mut launches = Vec::new();
    let (mut threads, mut blocks) = (0, 0);
    for &Group { device, launches: ref group } in groups {
        let mut earlier: Vec<usize> = Vec::new();
        for enqueued in group {
            let shape = shape_of(run, enqueued)?;
            let mut these = vec![launches.len()];
            let after = earlier.clone();
            let cooperative = enqueued.options.is_cooperative();
            let kernel = match enqueued.kernel.module() {
                Some(call) => of_module(run, call, enqueued)?,
                None => own(run, of_kernel(run, &*enqueued.kernel, enqueued, shape, false)?),
            };
            launches.push(BatchLaunch { kernel, device, after: after.clone(), cooperative });
            if let Some(part) = &enqueued.host_part {
                let one = LaunchShape::linear(1, 1);
                these.push(launches.len());
                let kernel = own(run, of_kernel(run, &**part, enqueued, one, true)?);
                launches.push(BatchLaunch { kernel, device, after, cooperative });
            }
            earlier = these;
        }
    }
    for launch in &mut launches {
        let (own_blocks, per_block) = launch.kernel.extents();
        if let BatchKernel::Own(launch) = &mut launch.kernel {
            (launch.first, launch.first_block) = (threads, blocks);
        }
        threads += own_blocks * per_block;
        blocks += own_blocks as u32;
    }
    Ok(Batch {
        launches,
        buffers: lock(&run.buffers).clone(),
        memories: lock(&run.memories).iter().map(|memory| Arc::new(memory.clone())).collect(),
        target: checker.target,
        profile: checker.emitted.unwrap_or_default(),
        model: checker.model,
        progress: checker.progress,
        loop_bound: checker.loop_bound,
        symmetry: checker.symmetry,
        limits: checker.limits(run.shared.deadline),
        meter: checker.meter.clone(),
        variant: checker.module_variant.clone(),
    })
}

/// The number of the buffer that begins with that memory. It gets the name of the parameter that it is given for first.
fn named(run: &Run, first: u32, parameter: &str) -> Option<usize> {
    let mut buffers = lock(&run.buffers);
    let number = buffers.iter().position(|buffer| buffer.first == first)?;
    if buffers[number].name.is_empty() {
        parameter.clone_into(&mut buffers[number].name);
    }
    Some(number)
}

fn own(run: &Run, launch: LaunchWorld) -> BatchKernel {
    for (param, argument) in launch.program.kernel().params.iter().zip(&launch.environment.arguments) {
        if let Some(view) = argument.view() {
            named(run, view.memory as u32, param.name);
        }
    }
    BatchKernel::Own(launch)
}

fn of_module(run: &Run, call: &ModuleCall, enqueued: &QueuedLaunch) -> Result<BatchKernel> {
    let warps = match call.entry().code.warps {
        SeenOfWarps::Nothing => OpenWarps::default(),
        seen => OpenWarps::of(
            enqueued.shape.inner.iter().map(|&extent| u64::from(extent)).product(),
            seen == SeenOfWarps::Size,
        ),
    };
    lock(&run.path).note_warps(enqueued, warps);
    let buffer = |view: &ViewArgument<'_>, name: &str| {
        let of_run = |memory: &CheckedMemory| std::ptr::eq(&*memory.run, run).then_some(memory.first);
        Ok(named(run, view.place(of_run)?, name).unwrap_or_default())
    };
    BatchKernel::of_module(call, enqueued, lanes(run, enqueued)?, buffer, variables(run, call.entry()))
}

/// The numbers of a module's variables among the buffers. They come into being with the first launch of one of its
/// kernels.
fn variables(run: &Run, entry: &ModuleEntry) -> Vec<usize> {
    let mut known = lock(&run.variables);
    if let Some((_, numbers)) = known.iter().find(|(code, _)| Arc::ptr_eq(code, &entry.code)) {
        return numbers.clone();
    }
    let (mut memories, mut buffers) = (lock(&run.memories), lock(&run.buffers));
    let numbers = entry.code.variables.iter().map(|variable| {
        let first = memories.len() as u32;
        let mut bytes: Vec<_> = variable.initial.iter().map(|&byte| Some(u64::from(byte))).collect();
        bytes.resize(variable.bytes as usize, Some(0));
        buffers.push(BatchBuffer { name: variable.name.clone(), first, layout: u8::LAYOUT, len: bytes.len() });
        memories.push(bytes);
        buffers.len() - 1
    });
    let numbers: Vec<usize> = numbers.collect();
    known.push((entry.code.clone(), numbers.clone()));
    numbers
}

/// A hash that identifies launches and memories, and the launches in words.
pub(super) fn fingerprint(batch: &Batch) -> (u64, String) {
    let mut hasher = DefaultHasher::new();
    let mut what = Vec::new();
    for launch in &batch.launches {
        launch.after.hash(&mut hasher);
        match &launch.kernel {
            BatchKernel::Own(launch) => (launch.number, &launch.environment, launch.host).hash(&mut hasher),
            BatchKernel::Module { entry, grid, block, shared_bytes, warp_size, arguments, .. } => {
                (entry.name(), grid, block, shared_bytes, warp_size, arguments).hash(&mut hasher);
            }
        }
        what.push(format!("`{}` with {}", launch.kernel.name(), launch.kernel.shape_text()));
    }
    batch.memories.hash(&mut hasher);
    (hasher.finish(), what.join(" and "))
}

/// Passes a batch to the linked judge of modules, unless the result is kept. Fails if no judge is linked.
pub(super) fn judge(batch: &Batch, kept: Option<KeptSearch>, fingerprint: u64, what: String) -> Result<Phase> {
    if let Some(kept) = kept {
        return Ok(kept.complete(phase_of(batch, Judged::default(), fingerprint, what)));
    }
    let Some(judge) = MODULE_JUDGES.first() else {
        let instead = "link the crate that reads them, `wattle-foreign`";
        return Err(Error::capability("checker", "judge launches of modules: no reader of modules is linked", instead));
    };
    let judged = judge.judge(batch)?;
    Ok(phase_of(batch, judged, fingerprint, what))
}

/// What was found, as a search's result.
fn phase_of(batch: &Batch, judged: Judged, fingerprint: u64, what: String) -> Phase {
    let violation = |(kind, story)| Violation::Module { kind, story: Box::new(story) };
    let mut unknown = judged.unknown;
    if judged.violations.is_empty() && judged.outcomes.is_empty() && unknown.is_empty() {
        unknown.push(Unknown::Nothing);
    }
    let mut shapes = Vec::new();
    batch.launches.iter().for_each(|launch| note(&mut shapes, launch.kernel.shape_text()));
    Phase {
        fingerprint,
        what,
        outcomes: judged.outcomes.into_iter().map(Outcome::of).collect(),
        violations: judged.violations.into_iter().map(violation).collect(),
        unknown,
        statistics: judged.statistics,
        events: judged.events,
        covered: None,
        rests: Rests::default(),
        assumes: Vec::new(),
        notes: judged.notes,
        shapes,
        symmetric: judged.statistics.alike > 0,
        kept: false,
        executed: BTreeSet::new(),
        world: Arc::new(World::new(Vec::new(), batch.memories.clone())),
    }
}
