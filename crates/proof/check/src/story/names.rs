//! Names of threads, places, values and lines.

use wattle_ir::{Param, ParamKind, SharedArray, Site, Type};
use wattle_machine::Instruction;
use wattle_memory::{EventId, Kind, Level, Model, Placement, Scope, ThreadId};

use super::source::Sources;
use crate::program::World;
use crate::report::Witness;

/// The names of one execution.
pub(super) struct Names<'w> {
    pub witness: &'w Witness,
    /// The model that permits it.
    pub model: Model,
    sources: Sources,
    /// Whether its lines belong to several files.
    several_files: bool,
}

impl<'w> Names<'w> {
    pub fn new(witness: &'w Witness, model: Model) -> Names<'w> {
        let mut names = Names { witness, model, sources: Sources::default(), several_files: false };
        names.several_files = names.files().len() > 1;
        names
    }

    /// The files of all events' lines.
    pub fn files(&self) -> Vec<&'static str> {
        let events = 0..self.witness.graph.len();
        let mut files: Vec<_> = events.filter_map(|event| Some(self.site(event)?.file)).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    pub fn site(&self, event: EventId) -> Option<Site> {
        let event = self.witness.graph.event(event);
        event.thread?;
        self.witness.world.site(event.source)
    }

    /// The line of an event as `line 14`, or `scan.rs:14` if there are several files.
    pub fn at(&self, event: EventId) -> String {
        self.site(event).map_or_else(|| "an unknown line".into(), |site| self.at_site(site))
    }

    pub fn at_site(&self, site: Site) -> String {
        if self.several_files {
            let file = site.file.rsplit('/').next().unwrap_or(site.file);
            return format!("{file}:{}", site.line);
        }
        format!("line {}", site.line)
    }

    /// The name of a thread: `block 2`, `thread 1` if there is one block, `` `reader`, block 2 `` if there are several
    /// launches.
    pub fn thread(&self, thread: ThreadId) -> String {
        let world = &self.witness.world;
        let number = world.launch_of(thread);
        let Some(launch) = world.launches.get(number) else { return format!("thread {thread}") };
        if launch.host {
            return "the host".into();
        }
        let shape = launch.environment.shape;
        let within = (thread - launch.first) as u64;
        let per_block = shape.threads_per_block().max(1);
        let position = shape.position(within / per_block, within % per_block);
        let block = index_text(position.block, shape.grid_extent);
        let thread = index_text(position.thread, shape.block_extent);
        let place = match (shape.blocks(), per_block) {
            (1, 1) => String::new(),
            (_, 1) => format!("block {block}"),
            (1, _) => format!("thread {thread}"),
            _ => format!("block {block}, thread {thread}"),
        };
        let device_launches = world.launches.iter().filter(|launch| !launch.host).count();
        let kernel = &launch.program.kernel().name;
        match (device_launches > 1, place.is_empty()) {
            (true, true) => format!("`{kernel}`"),
            (true, false) => format!("`{kernel}`, {place}"),
            (false, true) => "the only thread".into(),
            (false, false) => place,
        }
    }

    /// All threads of the launches; a graph may have more, which stand for the system and run no program.
    pub fn threads(&self) -> std::ops::Range<ThreadId> {
        let world = &self.witness.world;
        0..(0..world.launches.len()).map(|launch| world.threads_of(launch).end).max().unwrap_or(0)
    }

    /// The kernel of a thread.
    pub fn kernel(&self, thread: ThreadId) -> String {
        let world = &self.witness.world;
        world
            .launches
            .get(world.launch_of(thread))
            .map(|launch| launch.program.kernel().name.to_string())
            .unwrap_or_default()
    }

    /// The value of an access in the form of its type.
    pub fn value(&self, event: EventId) -> String {
        self.value_as(event, event)
    }

    /// The value of an event in the type of an access of `viewer`'s kernel.
    pub fn value_as(&self, event: EventId, viewer: EventId) -> String {
        let Some(raw) = self.witness.graph.event(event).value else { return "?".into() };
        value_text(raw, self.element(viewer))
    }

    fn element(&self, event: EventId) -> Option<Type> {
        let thread = self.witness.graph.event(event).thread?;
        let kernel = self.witness.world.launches.get(self.witness.world.launch_of(thread))?.program.shared_kernel();
        let place = self.witness.place(event);
        let name = place.split('[').next()?;
        let path = place.split_once(']').map_or("", |(_, path)| path);
        let is_it = |param: &&Param| param.name == name && param.field.map_or("", |field| field.path) == path;
        let param = kernel.params.iter().find(is_it).and_then(|param| match param.kind {
            ParamKind::View { element, .. } => Some(element),
            ParamKind::Scalar(_) => None,
        });
        let is_array = |array: &&SharedArray| array.name == name && array.field.map_or("", |field| field.path) == path;
        param.or_else(|| kernel.shared.iter().find(is_array).map(|array| array.element))
    }

    /// The source line of an event, or a description of the event in the style of the source.
    pub fn text(&self, events: &[EventId]) -> String {
        let site = events.first().and_then(|&event| self.site(event));
        let line = site.and_then(|site| self.sources.line(site));
        line.unwrap_or_else(|| {
            // Both halves of an update are one.
            let graph = &self.witness.graph;
            let is_told = |event: EventId| {
                let half = graph.other_half(event).filter(|half| events.contains(half));
                graph.event(event).label.kind == Kind::Read || half.is_none()
            };
            let told = events.iter().filter(|&&event| is_told(event)).map(|&event| self.made_up(event));
            told.collect::<Vec<_>>().join("; ")
        })
    }

    /// Whether an event is a warp's barrier, which targets without one carry out as that of a block.
    fn is_warp_barrier(&self, id: EventId) -> bool {
        let (launch, at) = World::statement(self.witness.graph.event(id).source);
        self.witness.world.launches.get(launch).is_some_and(|launch| launch.program.is_warp_barrier(at))
    }

    /// The scope of a fence as the kernel has it: a target may have lowered it to another.
    fn written_scope(&self, id: EventId) -> Option<Scope> {
        let (launch, at) = World::statement(self.witness.graph.event(id).source);
        let program = &self.witness.world.launches.get(launch)?.program;
        let is_it = |one: &Instruction| one.at == at || one.seq_cst == Some(at);
        program.instructions().find(is_it)?.action.scope()
    }

    fn made_up(&self, id: EventId) -> String {
        let graph = &self.witness.graph;
        let label = graph.event(id).label;
        match label.kind {
            Kind::Fence => {
                let order = order_text(label.acquire, label.release, label.sc);
                let written = self.written_scope(id).map(|scope| format!("{scope:?}"));
                let scope = written.unwrap_or_else(|| level_text(label.level).to_owned());
                format!("mem_fence({scope}, {order})")
            }
            Kind::Barrier if self.is_warp_barrier(id) => "warp().sync()".into(),
            Kind::Barrier => "sync_block()".into(),
            Kind::Read | Kind::Write if graph.other_half(id).is_some() => {
                format!("update of {}", self.witness.place(id))
            }
            Kind::Read if label.atomic => format!("atomic load of {}", self.witness.place(id)),
            Kind::Read => self.witness.place(id),
            Kind::Write if label.atomic => format!("atomic store of {} to {}", self.value(id), self.witness.place(id)),
            Kind::Write => format!("{} = {}", self.witness.place(id), self.value(id)),
            Kind::MakeAvailable | Kind::MakeVisible => "a copy".into(),
        }
    }

    /// The group that two threads do not share: `block`, `device`.
    pub fn apart(&self, a: ThreadId, b: ThreadId) -> &'static str {
        let threads = self.witness.graph.threads();
        let host = |thread: ThreadId| threads.get(thread).is_some_and(|placement| placement.device == Placement::HOST);
        match (threads.get(a), threads.get(b)) {
            _ if host(a) || host(b) => "one of them is the host's",
            (Some(a), Some(b)) if !a.shares(b, Level::Device) => "they are on different devices",
            (Some(a), Some(b)) if !a.shares(b, Level::Block) => "they are in different blocks",
            _ => "they are different threads",
        }
    }
}

/// The name of a scope: `block`, `device`, `system`.
pub(super) fn scope_text(level: Level) -> &'static str {
    match level {
        Level::Thread => "thread",
        Level::Subgroup => "subgroup",
        Level::Block => "block",
        Level::QueueFamily => "queue family",
        Level::Device => "device",
        Level::System => "system",
    }
}

fn level_text(level: Level) -> &'static str {
    match level {
        Level::Device | Level::QueueFamily => "Device",
        Level::System => "System",
        Level::Thread | Level::Subgroup | Level::Block => "Block",
    }
}

/// The name of an order: `Acquire` and so on.
pub(super) fn order_text(acquire: bool, release: bool, sc: bool) -> &'static str {
    match (sc, acquire, release) {
        (true, ..) => "SeqCst",
        (_, true, true) => "AcqRel",
        (_, true, false) => "Acquire",
        (_, false, true) => "Release",
        (_, false, false) => "Relaxed",
    }
}

fn index_text(index: [u32; 4], extent: [u32; 4]) -> String {
    let rank = extent.iter().rposition(|&extent| extent > 1).map_or(1, |last| last + 1);
    match &index[..rank] {
        [one] => one.to_string(),
        several => format!("({})", several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn value_text(raw: u64, ty: Option<Type>) -> String {
    match ty {
        Some(ty) => wattle_ir::eval::display(ty, raw),
        None => raw.to_string(),
    }
}
