//! Searches of launches that are kept for later runs: what they are known by, and what is kept of them.
//!
//! The scenario's function runs each time; only the searches between its waits are taken from an earlier run. What is
//! kept has no executions to show, so a check in which something is wrong is made again without.

use std::collections::BTreeSet;
use std::hash::Hash;

use wattle_core::{lasting, lock};
use wattle_ir::Site;
use wattle_machine::Program;

use super::Checker;
use super::module_batch::{Batch, BatchKernel};
use super::run::{Outcome, Phase, Rests, Run};
use crate::keep::{Content, Key, Packed, Unpacked};
use crate::program::{LaunchWorld, World};
use crate::search::{Address, Statistics};

/// The content of a search of launches of Wattle's own; `None` where nothing is kept.
pub(super) fn key_of_world(run: &Run, world: &World) -> Option<Key> {
    let mut content = content(run, "launches")?;
    content.add_debug(&(world.plain_as_relaxed, &world.edits));
    world.launches.iter().for_each(|launch| add_launch(run, &mut content, launch));
    world.memories.hash(&mut content);
    Some(content.key())
}

/// The content of a search of launches as modules.
pub(super) fn key_of_batch(run: &Run, batch: &Batch) -> Option<Key> {
    let mut content = content(run, "modules")?;
    content.add_debug(&(batch.profile, &batch.buffers));
    for launch in &batch.launches {
        content.add_debug(&(launch.device, &launch.after, launch.cooperative));
        match &launch.kernel {
            BatchKernel::Own(launch) => add_launch(run, &mut content, launch),
            BatchKernel::Module { entry, grid, block, shared_bytes, warp_size, arguments, variables } => {
                (entry.name(), &entry.code.file, &entry.code.bytes, entry.code.language).hash(&mut content);
                (grid, block, shared_bytes, warp_size, arguments, variables).hash(&mut content);
            }
        }
    }
    batch.memories.hash(&mut content);
    Some(content.key())
}

/// What all searches of a check depend on.
fn content(run: &Run, kind: &str) -> Option<Content> {
    // Every field is named, so that a new one is thought about.
    let Checker {
        target,
        model,
        progress,
        loop_bound,
        time: _,
        memory: _,
        cancelled: _,
        plain_as_relaxed,
        warp_size: _,
        symmetry,
        emitted,
        edits: _,
        // Variants are tried without a keeper.
        module_variant: _,
        sample,
        count_orders,
        // What leaves something open is not kept.
        leaves_open: _,
        keeps_on: _,
        // What is wrong is not kept.
        every_kind: _,
        meter: _,
        most_shapes: _,
        keeper,
    } = &run.checker;
    if keeper.is_none() || sample.is_some() || *count_orders {
        return None;
    }
    let mut content = Content::of(kind);
    content.add_debug(&(target, model, progress, loop_bound, plain_as_relaxed, symmetry, emitted));
    Some(content)
}

fn add_launch(run: &Run, content: &mut Content, launch: &LaunchWorld) {
    let LaunchWorld {
        program,
        number,
        environment,
        lowering,
        variant,
        host,
        device,
        cooperative,
        first,
        first_block,
        after,
    } = launch;
    let known = lock(&run.shared.contents).get(&(*number, variant.clone())).copied();
    let program = known.unwrap_or_else(|| {
        let key = of_program(program);
        lock(&run.shared.contents).insert((*number, variant.clone()), key);
        key
    });
    (program, number, environment, host, device, cooperative, first, first_block, after).hash(content);
    content.add_debug(lowering);
}

/// The content of a program: its kernel, whose constants show their bits.
fn of_program(program: &Program) -> Key {
    let mut content = Content::of("kernel");
    content.add_debug(program.kernel());
    content.key()
}

/// What is kept of a search: nothing where it was not exhaustive, found something wrong, or has notes.
pub(super) fn pack(phase: &Phase) -> Option<Vec<u8>> {
    let leaves_open = phase.outcomes.iter().any(|outcome| !outcome.open.is_empty());
    let is_exhaustive = phase.unknown.is_empty() && phase.covered.is_none();
    if !is_exhaustive || !phase.violations.is_empty() || !phase.notes.is_empty() || leaves_open {
        return None;
    }
    let mut packed = Packed::default();
    packed.all(phase.outcomes.iter(), |packed, outcome| {
        packed.all(outcome.values.iter(), |packed, &(Address { memory, element }, value)| {
            [memory.into(), element, value].into_iter().for_each(|number| packed.number(number));
        });
    });
    packed.statistics(&phase.statistics);
    packed.number(phase.events);
    packed.number(phase.symmetric.into());
    packed.number(phase.world.host_is_plain.into());
    let perhaps_on: Vec<(Site, Site)> = phase.rests.perhaps_on.into_iter().collect();
    for lines in [&phase.rests.on, &perhaps_on, &phase.rests.waits] {
        packed.all(lines.iter(), |packed, &(read, write)| {
            pack_site(packed, read);
            pack_site(packed, write);
        });
    }
    packed.number(phase.rests.unfinished.into());
    packed.all(phase.executed.iter(), |packed, &(program, at)| {
        packed.number(program.into());
        packed.number(at.into());
    });
    Some(packed.0)
}

/// What was kept of a search.
pub(super) struct KeptSearch {
    outcomes: Vec<Outcome>,
    statistics: Statistics,
    events: u64,
    symmetric: bool,
    host_is_plain: bool,
    rests: Rests,
    executed: BTreeSet<(u32, u32)>,
}

impl KeptSearch {
    /// The search with this result.
    pub fn complete(self, phase: Phase) -> Phase {
        let KeptSearch { outcomes, statistics, events, symmetric, host_is_plain, rests, executed } = self;
        let mut world = (*phase.world).clone();
        world.host_is_plain = host_is_plain;
        let world = world.into();
        Phase { outcomes, statistics, events, symmetric, rests, executed, world, kept: true, ..phase }
    }
}

/// Takes apart what was kept of a search; `None` where that has another form.
pub(super) fn unpack(kept: &[u8]) -> Option<KeptSearch> {
    let mut from = Unpacked(kept);
    let outcomes: Vec<Outcome> = from.all(|from| {
        let values = from.all(|from| {
            let address = Address { memory: from.number()?.try_into().ok()?, element: from.number()? };
            Some((address, from.number()?))
        });
        Some(Outcome::of(values?))
    })?;
    let statistics = from.statistics()?;
    let mut number = || from.number();
    let (events, symmetric, host_is_plain) = (number()?, number()? != 0, number()? != 0);
    let mut lines = || from.all(|from| Some((unpack_site(from)?, unpack_site(from)?)));
    let (on, perhaps_on, waits): (_, Vec<(Site, Site)>, _) = (lines()?, lines()?, lines()?);
    let perhaps_on = perhaps_on.first().copied();
    let rests = Rests { on, perhaps_on, unfinished: from.number()? != 0, waits };
    let executed: BTreeSet<(u32, u32)> =
        from.all(|from| Some((from.number()?.try_into().ok()?, from.number()?.try_into().ok()?)))?;
    let search = KeptSearch { outcomes, statistics, events, symmetric, host_is_plain, rests, executed };
    from.0.is_empty().then_some(search)
}

fn pack_site(packed: &mut Packed, site: Site) {
    packed.text(site.file);
    packed.number(site.line.into());
    packed.number(site.column.into());
}

fn unpack_site(from: &mut Unpacked<'_>) -> Option<Site> {
    let file = lasting(from.text()?);
    Some(Site { file, line: from.number()?.try_into().ok()?, column: from.number()?.try_into().ok()? })
}
