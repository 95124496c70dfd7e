//! The state that the threads of the launches share.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};

use rustc_hash::{FxBuildHasher, FxHashMap};
use wattle_core::lock;
use wattle_ir::{Access, ParamKind, Place, SharedId, Site};
use wattle_machine::{Ahead, Deferred, Environment, Fault, Position, Program, Thread};
use wattle_memory::{Lowering, NoScope, Placement, Scope, ThreadId};

use super::{Edits, KernelThread, Scheduled};
use crate::search::{Address, Initial, Memory, Spawn};

/// A memory before the launches: the value of each element, `None` for one that has never been written.
pub type Image = Arc<Vec<Option<u64>>>;

/// A launch.
#[derive(Clone, Debug)]
pub struct LaunchWorld {
    /// The kernel's program.
    pub program: Arc<Program>,
    /// The kernel's number: launches of one kernel have the same.
    pub number: u32,
    /// The shape and the arguments of the launch; memories have their numbers in [`World::memories`].
    pub environment: Environment,
    /// How its memory operations are lowered.
    pub lowering: Lowering,
    /// What is special about the device that the kernel is built for, in words, if the kernel asks it.
    pub variant: String,
    /// Whether the launch runs on the host: one thread.
    pub host: bool,
    /// The number of the device that it runs on, if that is not the host.
    pub device: u32,
    /// Whether all its blocks run at once.
    pub cooperative: bool,
    /// The first of its threads, among all.
    pub first: ThreadId,
    /// The number of its first block among those of its device.
    pub first_block: u32,
    /// The launches that must have ended before it begins, by their numbers in the world.
    pub after: Vec<usize>,
}

/// Memories from this number on are block shared arrays; see [`World::shared_memory`].
const SHARED: u32 = 1 << 24;
/// The memory of the hidden word that stands for sequentially consistent fences in Vulkan.
pub(super) const HIDDEN: u32 = u32::MAX;

/// The state that the threads of some launches share.
#[derive(Clone)]
pub struct World {
    /// The launches.
    pub launches: Vec<LaunchWorld>,
    /// The memories before them.
    pub memories: Vec<Image>,
    /// Whether plain accesses of shared memory count as relaxed atomics: the textbook's own question.
    pub plain_as_relaxed: bool,
    /// Whether plain accesses of the host stay plain, though it makes relaxed atomics of them.
    pub host_is_plain: bool,
    /// The edits of the programs.
    pub edits: Edits,
    faults: Arc<Mutex<Vec<Fault>>>,
    barriers: Arc<Mutex<HashMap<BarrierInstance, u64>>>,
    ahead: Arc<Mutex<Seen>>,
}

/// A barrier's program, its instruction, and the iterations of the loops around it.
type BarrierInstance = (u32, u32, Vec<u64>);

/// The writes that threads may still make, each with its launch and thread, by the hash of these; `None` where they are
/// not known.
type Seen = FxHashMap<u64, Vec<(u32, Thread<Deferred>, Option<Arc<[Ahead]>>)>>;

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.launches.iter().map(|launch| &launch.program.kernel().name)).finish()
    }
}

impl World {
    /// A world of launches, over memories.
    pub fn new(launches: Vec<LaunchWorld>, memories: Vec<Image>) -> World {
        World {
            launches,
            memories,
            plain_as_relaxed: false,
            host_is_plain: false,
            edits: Edits::default(),
            faults: Arc::default(),
            barriers: Arc::default(),
            ahead: Arc::default(),
        }
    }

    /// The threads of all launches, each before its first statement.
    ///
    /// # Errors
    /// The target lacks a scope that some launch uses.
    pub fn threads(&self) -> Result<Vec<Spawn<KernelThread>>, NoScope> {
        let mut threads = Vec::new();
        for (number, launch) in self.launches.iter().enumerate() {
            launch.lowering.level(launch.widest())?;
            let shape = launch.environment.shape;
            let per_block = shape.threads_per_block();
            let after: Arc<[ThreadId]> = launch.after.iter().flat_map(|&earlier| self.threads_of(earlier)).collect();
            for block in 0..shape.blocks() {
                let members: Arc<[ThreadId]> =
                    (0..per_block).map(|thread| launch.first + (block * per_block + thread) as usize).collect();
                for thread in 0..per_block {
                    let placement = Placement {
                        device: if launch.host { Placement::HOST } else { launch.device },
                        ..Placement::new(launch.first_block + block as u32, thread as u32)
                    };
                    let position = shape.position(block, thread);
                    let process = KernelThread::new(number as u32, launch, position, block as u32, members.clone());
                    threads.push(Spawn { placement, process, after: after.clone() });
                }
            }
        }
        Ok(threads)
    }

    /// The threads of one launch.
    pub fn threads_of(&self, launch: usize) -> std::ops::Range<ThreadId> {
        let launch = &self.launches[launch];
        let shape = launch.environment.shape;
        launch.first..launch.first + (shape.blocks() * shape.threads_per_block()) as usize
    }

    /// The launches, as a scheduler sees them.
    pub(crate) fn scheduled(&self) -> Vec<Scheduled> {
        let of = |launch: &LaunchWorld| Scheduled {
            blocks: launch.environment.shape.blocks() as usize,
            per_block: launch.environment.shape.threads_per_block() as usize,
            together: launch.host || launch.cooperative,
            first: launch.first,
        };
        self.launches.iter().map(of).collect()
    }

    /// The launch of a thread.
    pub fn launch_of(&self, thread: ThreadId) -> usize {
        (0..self.launches.len()).find(|&launch| self.threads_of(launch).contains(&thread)).unwrap_or(0)
    }

    /// The number of a statement: its launch, and the instruction.
    pub fn source(launch: u32, at: u32) -> u32 {
        launch << 20 | at
    }

    /// The launch and the instruction of a statement.
    pub fn statement(source: u32) -> (usize, u32) {
        ((source >> 20) as usize, source & ((1 << 20) - 1))
    }

    /// The source line of a statement; `None` for an event of the system.
    pub fn site(&self, source: u32) -> Option<Site> {
        let (launch, at) = World::statement(source);
        Some(self.launches.get(launch)?.program.site_at(at))
    }

    /// The number of a fault; the same one for the same fault.
    pub(super) fn fault_number(&self, fault: Fault) -> u32 {
        let mut faults = lock(&self.faults);
        let known = faults.iter().position(|known| *known == fault);
        known.unwrap_or_else(|| {
            faults.push(fault);
            faults.len() - 1
        }) as u32
    }

    /// The number of a dynamic instance of a barrier; the same one for the same instance.
    pub(super) fn barrier_instance(&self, instance: BarrierInstance) -> u64 {
        let mut known = lock(&self.barriers);
        let next = known.len() as u64;
        *known.entry(instance).or_insert(next)
    }

    /// The fault with that number.
    pub fn fault(&self, number: u32) -> Option<Fault> {
        lock(&self.faults).get(number as usize).cloned()
    }

    /// The writes that a thread may still make, if they are known.
    pub(super) fn writes_ahead(&self, launch: u32, thread: &Thread<Deferred>) -> Option<Arc<[Ahead]>> {
        let mut ahead = lock(&self.ahead);
        // A thread is copied only where it is new: it holds all of its local memory.
        let alike = ahead.entry(FxBuildHasher.hash_one((launch, thread))).or_default();
        if let Some((.., known)) = alike.iter().find(|(of, other, _)| *of == launch && other == thread) {
            return known.clone();
        }
        let world = &self.launches[launch as usize];
        let writes = thread.writes_ahead(&world.program, &world.environment).map(Arc::from);
        alike.push((launch, thread.clone(), writes.clone()));
        writes
    }

    /// The memory of a block's shared array.
    pub(super) fn shared_memory(launch: &LaunchWorld, block: u32, array: u32) -> u32 {
        let arrays = launch.program.kernel().shared.len() as u32;
        SHARED + (launch.first_block + block) * arrays.max(1) + array + if launch.host { 1 << 23 } else { 0 }
    }

    /// Whether a memory is a block's shared array.
    pub fn is_shared(memory: u32) -> bool {
        (SHARED..HIDDEN).contains(&memory)
    }

    /// The name of an address as the kernel of a launch writes it: `payload[0]`.
    pub fn address_name(&self, launch: usize, address: Address) -> String {
        let Some(launch) = self.launches.get(launch) else { return format!("{address:?}") };
        for (param, argument) in launch.program.kernel().params.iter().zip(&launch.environment.arguments) {
            if let Some(view) = argument.view().filter(|view| view.memory == address.memory.into()) {
                let path = param.field.map_or("", |field| field.path);
                return format!("{}[{}]{path}", param.name, address.element.saturating_sub(view.offset));
            }
        }
        if World::is_shared(address.memory) {
            let kernel = launch.program.kernel();
            let number = (address.memory & ((1 << 23) - 1)) % (kernel.shared.len().max(1) as u32);
            if let Some(array) = kernel.shared.get(number as usize) {
                let index = array.len.index(address.element);
                let index: Vec<_> = index[..array.len.rank()].iter().map(u64::to_string).collect();
                let path = kernel.path(Place::Shared(SharedId(number)));
                return format!("{}[{}]{path}", array.name, index.join(", "));
            }
        }
        format!("memory {}[{}]", address.memory, address.element)
    }
}

impl Memory for World {
    fn initial(&self, address: Address) -> Initial {
        if address.memory == HIDDEN {
            return Initial { value: 0, unwritten: false };
        }
        let value = self.memories.get(address.memory as usize);
        let value = value.and_then(|image| image.get(address.element as usize).copied().flatten());
        Initial { value: value.unwrap_or(0), unwritten: value.is_none() }
    }
}

impl LaunchWorld {
    /// The widest scope that the kernel uses.
    pub fn widest(&self) -> Scope {
        self.program.widest_scope()
    }

    /// The row-major number of a thread in its block.
    pub(super) fn thread_in_block(&self, position: Position) -> u32 {
        let extent = self.environment.shape.block_extent;
        position.thread.iter().zip(extent).fold(0, |number, (&at, extent)| number * extent + at)
    }

    /// Whether other threads may touch the place while a thread uses it by plain accesses.
    pub(super) fn is_shared_by_threads(&self, place: Place) -> bool {
        match place {
            Place::Param(id) => matches!(
                self.program.kernel().params.get(id.index()).map(|param| param.kind),
                Some(ParamKind::View { access: Access::Shared | Access::Atomic, .. })
            ),
            Place::Shared(_) => true,
            Place::Local(_) => false,
        }
    }
}
