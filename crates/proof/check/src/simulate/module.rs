//! Launches of kernels that are read from modules. What their threads do is known to the crate that reads modules; the
//! simulator runs them as what they are here.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use wattle_ir::{Site, Type};
use wattle_machine::LaunchShape;

use super::bytes::{ByteMemory, ModuleBuffer, Pieces};
use super::launch::{Agent, LaunchError, MAX_BLOCK, MAX_THREADS, MAX_WORDS};
use super::memory::{Init, Memories, MemoryId};
use crate::search::{AccessTarget, Action, Address};

/// A launch of a module's kernel, as its reader prepares it.
pub trait SimulatedModule: fmt::Debug + Send + Sync {
    /// A thread before its first instruction: the one of that number in the block of that number.
    fn thread(self: Arc<Self>, block: u32, number: u32) -> Box<dyn SimulatedThread>;

    /// The number of words of a thread's registers and of its own memory.
    fn words(&self) -> usize;

    /// The variables in the shared memory of a block, by ascending addresses.
    fn shared(&self) -> Vec<SharedVariable>;

    /// The sizes in bytes of the ranges that stand behind those of the buffers: memory of zeros that the launch alone
    /// has.
    fn own_ranges(&self) -> Vec<u64>;

    /// The source line of a statement.
    fn site(&self, source: u32) -> Site;

    /// What a statement's accesses are besides their labels.
    fn role(&self, source: u32) -> Role;

    /// The text of a fault, by the number that the thread reported.
    fn fault(&self, fault: u32) -> String;

    /// The name of a byte of a range, or behind the last range of the block's shared memory, as reports show it.
    fn place(&self, range: u32, offset: u64) -> String;

    /// Whether release and acquire patterns go on through all accesses of a thread to one place, as PTX has it.
    fn extends_patterns(&self) -> bool;

    /// Whether fences and barriers say of buffers and of the memory of blocks, each by itself, that they order them, as
    /// Vulkan has it.
    fn separates_classes(&self) -> bool;

    /// Why lanes may miss an operation of their warp, if they may: where some have ended, or where they only have not
    /// come. Then it cannot be judged whether the others wait.
    fn why_lanes_may_miss(&self, have_ended: bool) -> Option<&'static str>;
}

/// A thread of a module's kernel.
///
/// Its world has this launch alone, so that threads are numbered from 0: block by block, and in each in the order of
/// the threads there. All values that it is given are known.
pub trait SimulatedThread: Any + Send {
    /// Runs to the next action.
    fn next(&mut self) -> Action;

    /// Answers the last read, update or exchange.
    fn answer(&mut self, value: u64);

    /// Answers the last read, which has found bytes that nobody has written, the lowest bit for the lowest byte;
    /// returns whether the thread takes that along, and reports a fault where it matters. Otherwise the read is the
    /// error.
    fn answer_unwritten(&mut self, word: u64, bytes: u8) -> bool;

    /// Why what it has done cannot be judged, if so: a value that nothing fixes matters, or an instruction has no
    /// meaning for the reader.
    fn why_not_judged(&self) -> Option<String>;

    /// The source line of its instruction.
    fn site(&self) -> Site;

    /// The number of its instruction.
    fn at(&self) -> u32;

    /// Whether it will do what it did from an earlier time on, given the same answers.
    fn repeats(&self, earlier: &dyn SimulatedThread) -> bool;

    /// A copy of the thread, in the same state.
    fn copy(&self) -> Box<dyn SimulatedThread>;
}

/// A variable in the shared memory of a block.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// The address of its first byte.
    pub address: u64,
    /// The initial contents, byte by byte; `None` for a byte that has none.
    pub initial: Vec<Option<u8>>,
}

/// What the accesses of a statement are besides their labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The accesses are what their labels say.
    Usual,
    /// The statement begins a copy: what it writes are marks, which only its own thread's wait may read.
    BeginsCopy,
    /// The statement waits for copies: what it reads in shared memory must be the marks of its own thread.
    EndsCopy,
    /// The statement reads memory that must be read-only while the kernel runs.
    ReadsReadOnly,
}

/// A request for a launch of a module's kernel.
#[derive(Clone, Debug)]
pub struct ModuleRequest {
    /// The launch.
    pub module: Arc<dyn SimulatedModule>,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The number of dimensions of the launch.
    pub rank: usize,
    /// The blocks and threads of the launch, with the last dimension varying fastest.
    pub shape: LaunchShape,
    /// The buffers, by the numbers of their ranges.
    pub buffers: Vec<ModuleBuffer>,
    /// The place where it runs.
    pub agent: Agent,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The maximum number of actions of its threads together, after which it is ended.
    pub step_limit: Option<u64>,
    /// The time at which it is ended.
    pub deadline: Option<Instant>,
}

impl ModuleRequest {
    /// Checks the request; returns the launch as it runs.
    pub(super) fn bind(&self, memories: &mut Memories) -> Result<ModuleRun, LaunchError> {
        let kernel = || self.kernel.to_string();
        let failed = |error| LaunchError::Buffer { kernel: kernel(), error };
        let ranges = self.buffers.iter().map(|buffer| ByteMemory::of(buffer, memories).map_err(failed));
        let mut ranges: Vec<ByteMemory> = ranges.collect::<Result<_, _>>()?;
        let (blocks, per_block) = (self.shape.blocks(), self.shape.threads_per_block());
        let words = per_block.saturating_mul(self.module.words() as u64);
        let limits = [
            ("threads", blocks.saturating_mul(per_block), MAX_THREADS),
            ("threads in a block", per_block, MAX_BLOCK),
            ("words of registers in a block", words, MAX_WORDS),
        ];
        if let Some((what, found, max)) = limits.into_iter().find(|(_, found, max)| found > max) {
            return Err(LaunchError::TooLarge { kernel: kernel(), what, found, max });
        }
        let words = |bytes: &u64| memories.allocate(Type::U32, (*bytes as usize).div_ceil(WORD), Init::Zero);
        let owned: Vec<MemoryId> = self.module.own_ranges().iter().map(words).collect();
        ranges.extend(owned.iter().map(|id| ByteMemory::words(id.index)));
        Ok(ModuleRun {
            module: self.module.clone(),
            ranges,
            shared: self.module.shared(),
            extends_patterns: self.module.extends_patterns(),
            separates_classes: self.module.separates_classes(),
            owned,
        })
    }
}

/// A module's launch while it runs.
pub(super) struct ModuleRun {
    pub module: Arc<dyn SimulatedModule>,
    /// The ranges of global memory.
    pub ranges: Vec<ByteMemory>,
    pub shared: Vec<SharedVariable>,
    pub extends_patterns: bool,
    pub separates_classes: bool,
    owned: Vec<MemoryId>,
}

impl ModuleRun {
    /// Frees the memory that the launch alone has.
    pub fn free(&self, memories: &mut Memories) {
        self.owned.iter().for_each(|&memory| memories.free(memory));
    }

    /// The shared memory of a block before its first instruction.
    pub fn allocate_shared(&self, memories: &mut Memories) -> Vec<MemoryId> {
        let allocate = |variable: &SharedVariable| {
            let id = memories.allocate(Type::U32, variable.initial.len().div_ceil(WORD), Init::Unwritten);
            if let Ok(allocation) = memories.get_mut(id) {
                let known = variable.initial.iter().enumerate().filter_map(|(at, byte)| Some((at, (*byte)?)));
                for (at, byte) in known {
                    let (word, within) = (at / WORD, at % WORD);
                    allocation.values[word] |= u64::from(byte) << (8 * within);
                    allocation.written[word].add(within..within + 1, WORD);
                }
            }
            id
        };
        self.shared.iter().map(allocate).collect()
    }

    /// Whether a range is the shared memory of a block.
    pub fn is_shared(&self, range: u32) -> bool {
        range as usize >= self.ranges.len()
    }

    /// The parts of an access to a range, or behind the last one to the shared memory of a block.
    pub fn pieces(&self, target: AccessTarget, shared: &[MemoryId]) -> Pieces {
        let Address { memory, element: offset } = target.address;
        if let Some(range) = self.ranges.get(memory as usize) {
            return range.pieces(offset, target.bytes);
        }
        let behind = self.shared.partition_point(|variable| variable.address <= offset);
        let variable = behind.checked_sub(1).and_then(|at| Some((self.shared.get(at)?, shared.get(at)?)));
        variable.map_or(Pieces::NONE, |(variable, id)| {
            ByteMemory::words(id.index).pieces(offset - variable.address, target.bytes)
        })
    }
}

/// The size of the elements of a block's shared memory.
const WORD: usize = 4;
