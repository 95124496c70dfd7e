//! Threads, blocks and launches while they run.

use std::sync::Arc;
use std::time::Instant;

use wattle_ir::{Label, Site, Type, WarpOp};
use wattle_machine::{Environment, LaunchShape, Program};

use super::clock::Clock;
use super::finding::{Actor, Finding};
use super::gate::Gate;
use super::launch::LaunchId;
use super::machine::{Code, Machine};
use super::memory::{Address, MemoryId};
use super::sync::ThreadSync;

/// How many of a thread's latest reads are kept, so that the elements a spinning thread waits for are known.
pub(super) const READS: usize = 8;

/// A thread whose block has started.
pub(super) struct Running {
    pub machine: Machine,
    pub sync: ThreadSync,
    /// What is known of the memory of blocks, under a model that orders buffers and that memory separately, as Vulkan
    /// does; `sync` is about buffers then.
    pub block_sync: Option<Box<ThreadSync>>,
    /// The launch's position among those of this generation.
    pub launch: usize,
    /// The block's key.
    pub block: u32,
    /// The row-major number in its block.
    pub number: u32,
    pub state: RunState,
    /// The state at the last back edge of each unbounded loop.
    pub loops: Vec<Snapshot>,
    /// The latest reads, in a ring buffer.
    pub reads: [Address; READS],
    /// The total number of reads.
    pub read_count: u64,
}

/// The state of a running thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    /// The thread can run; the number is its index in the list of runnable threads.
    Runnable(usize),
    /// The thread waits at the barrier at that line, in those iterations of the loops around it.
    Barrier(Site, Vec<u64>),
    /// The thread waits at an operation of its warp.
    Warp(AtWarp),
    /// The thread waits at a barrier of a module, or at an operation of some lanes of its warp.
    Gate { in_warp: bool },
    /// The thread repeats the same iteration until some element of these changes; any memory, if the list is empty.
    Spinning(Vec<Address>),
}

/// A lane's part in an operation of its warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AtWarp {
    /// The operation, the type of its value, the value and the second operand; `None` for the warp's barrier.
    pub part: Option<(WarpOp, Type, u64, u32)>,
    /// The iterations of the loops around it.
    pub iterations: Vec<u64>,
}

/// The state of a thread at a back edge.
pub(super) struct Snapshot {
    pub label: Label,
    pub machine: Machine,
    /// The number of changes of memory so far.
    pub changes: u64,
    pub read_count: u64,
}

/// How often threads have met since a value changed, and how.
#[derive(Default)]
pub(super) struct Meetings {
    /// The number of changes of memory so far.
    pub changes: u64,
    /// The number of meetings since the first after the last change.
    pub count: u64,
    /// The threads at the last of them whose number is a power of two.
    pub threads: Vec<Machine>,
}

/// A block that has started.
pub(super) struct Block {
    /// The launch's position among those of this generation.
    pub launch: usize,
    /// The row-major number in its grid.
    pub number: u64,
    /// The keys of its threads, ended ones included.
    pub threads: Vec<Option<u32>>,
    pub live: usize,
    /// The threads that wait at the barrier.
    pub arrived: Vec<u32>,
    /// For each warp the threads that wait at an operation of it.
    pub at_warp: Vec<Vec<u32>>,
    /// The barriers and operations of warps to which threads of a module have come.
    pub gates: Vec<Gate>,
    /// The meetings of the block's threads at its barrier.
    pub met_at_barrier: Meetings,
    /// The meetings of each warp's threads at its operations.
    pub met_in_warp: Vec<Meetings>,
    /// The last thread that ended, and its last line.
    pub ended: Option<(u32, Site)>,
    /// The threads of a module that have ended, by their numbers in the block, and the last line of each.
    pub left: Vec<(u32, Site)>,
    pub shared: Vec<MemoryId>,
}

/// A launch of this generation, in flight or done.
pub(super) struct Launch {
    pub id: LaunchId,
    pub label: Arc<str>,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The number of dimensions.
    pub rank: usize,
    pub shape: LaunchShape,
    pub code: Code,
    /// The number of its device; `None` for the host.
    pub device: Option<u32>,
    /// The clock number of its first thread.
    pub base: u32,
    pub threads_per_block: u32,
    pub blocks: u64,
    /// The next block to start.
    pub next_block: u64,
    /// The keys of the running blocks.
    pub running: Vec<u32>,
    /// The maximum number of resident threads.
    pub resident: u64,
    /// The clock of everything that was done before the launch.
    pub start: Clock,
    /// The clocks of its threads that have ended beside another launch: what they acquired from it is known to what
    /// comes behind this one.
    pub known: Clock,
    pub steps: u64,
    pub step_limit: Option<u64>,
    pub deadline: Option<Instant>,
    pub findings: Vec<Finding>,
    pub done: bool,
}

impl Running {
    /// Records a read, in the place of the oldest one that is kept.
    pub fn log_read(&mut self, address: Address) {
        self.reads[self.read_count as usize % READS] = address;
        self.read_count += 1;
    }

    /// Exchanges what is known of buffers and of the memory of blocks, where they are ordered each by itself.
    pub fn exchange_classes(&mut self) {
        if let Some(block_sync) = &mut self.block_sync {
            std::mem::swap(&mut self.sync, block_sync);
        }
    }
}

impl Launch {
    /// Keeps a finding, unless one of its kind is kept already.
    pub fn keep(&mut self, finding: Finding) {
        let kind = std::mem::discriminant(&finding);
        if !self.findings.iter().any(|kept| std::mem::discriminant(kept) == kind) {
            self.findings.push(finding);
        }
    }

    /// The program and the environment of a kernel of Wattle's own.
    pub fn own(&self) -> Option<(&Program, &Environment)> {
        match &self.code {
            Code::Own(program, environment) => Some((program, environment)),
            Code::Module(_) => None,
        }
    }

    /// The thread with this clock number, as reports name it.
    pub fn actor(&self, thread: u32) -> Actor {
        let number = thread.saturating_sub(self.base) as u64;
        let per_block = (self.threads_per_block as u64).max(1);
        Actor {
            kernel: self.kernel.to_string(),
            launch: self.label.to_string(),
            rank: self.rank,
            position: self.shape.position(number / per_block, number % per_block),
            on_device: self.device.is_some(),
        }
    }

    /// The clock number after that of its last thread.
    pub fn end(&self) -> u32 {
        self.base + (self.blocks as u32).saturating_mul(self.threads_per_block)
    }
}
