//! The simulated device: its memory, its launches, and waiting for them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use wattle_ir::Type;
use wattle_machine::{Argument, LaunchShape, View};

use super::clock::{ALIGNMENT, Clock};
use super::finding::{Finding, Findings};
use super::launch::{Agent, LaunchError, LaunchId, LaunchRequest, MAX_RESIDENT, MAX_WORDS, bind};
use super::machine::Code;
use super::memory::{Address, Contents, Init, MAX_ELEMENTS, Memories, MemoryError, MemoryId, Written, mask};
use super::module::ModuleRequest;
use super::running::{Block, Launch, Running};
use super::sync::Releases;

/// The maximum number of threads that clocks can number before no launch may be in flight.
const MAX_NUMBERS: u64 = 1 << 26;

/// The options of a simulator.
#[derive(Clone, Debug)]
pub struct Options {
    /// Chooses the interleaving; the same seed and the same calls give the same one.
    pub seed: u64,
    /// How many threads of a launch may be resident at once; at least one block always is.
    pub resident_threads: u32,
    /// Ends all launches when it is set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Options {
    /// Options with this seed, 4096 resident threads, and no flag.
    pub fn seeded(seed: u64) -> Options {
        Options { seed, resident_threads: 4096, stop: None }
    }
}

/// A launch whose arguments fit.
struct Admitted {
    kernel: Arc<str>,
    rank: usize,
    shape: LaunchShape,
    label: Arc<str>,
    agent: Agent,
    cooperative: bool,
    step_limit: Option<u64>,
    deadline: Option<Instant>,
    code: Code,
}

/// A device whose threads are interleaved, pseudo-randomly, on one core.
pub struct Simulator {
    pub(super) rng: Pcg32,
    pub(super) options: Options,
    pub(super) memories: Memories,
    /// The launches in flight, and those that overlapped with them.
    pub(super) launches: Vec<Launch>,
    pub(super) threads: Vec<Option<Box<Running>>>,
    pub(super) free_threads: Vec<u32>,
    pub(super) blocks: Vec<Option<Block>>,
    pub(super) free_blocks: Vec<u32>,
    /// The keys of the threads that can run.
    pub(super) runnable: Vec<u32>,
    /// The threads that wait for a change of an element, and those that wait for any change.
    pub(super) waiters: HashMap<Address, Vec<u32>>,
    pub(super) waiters_for_any: Vec<u32>,
    /// The clocks that sequentially consistent fences pass to each other.
    pub(super) fences: Releases,
    /// The number of changes of values in memory.
    pub(super) changes: u64,
    /// The number of times that no launch was in flight: everything done before such a time is ordered before
    /// everything after it.
    pub(super) generation: u64,
    pub(super) runs: u64,
    /// What the clock showed last.
    ticks: u64,
    pub(super) trace: u64,
    /// The clock of the finished launches of this generation.
    pub(super) finished: Clock,
    pub(super) next_number: u64,
    launched: u64,
    pub(super) results: BTreeMap<LaunchId, Vec<Finding>>,
}

impl Simulator {
    /// A device without memory or launches.
    pub fn new(options: Options) -> Simulator {
        Simulator {
            rng: Pcg32::new(options.seed, 0x7761_7474_6c65),
            options,
            memories: Memories::default(),
            launches: Vec::new(),
            threads: Vec::new(),
            free_threads: Vec::new(),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            runnable: Vec::new(),
            waiters: HashMap::new(),
            waiters_for_any: Vec::new(),
            fences: Releases::default(),
            changes: 0,
            generation: 1,
            runs: 0,
            ticks: 0,
            trace: 0,
            finished: Clock::default(),
            next_number: 0,
            launched: 0,
            results: BTreeMap::new(),
        }
    }

    /// Allocates memory for `elements` elements.
    ///
    /// # Errors
    /// For `bool`, which lives in no memory, and for more elements than one allocation can have.
    pub fn allocate(&mut self, element: Type, elements: usize, init: Init) -> Result<MemoryId, MemoryError> {
        if element == Type::Bool {
            return Err(MemoryError::Element(element));
        }
        if elements > MAX_ELEMENTS {
            return Err(MemoryError::TooLarge { elements });
        }
        Ok(self.memories.allocate(element, elements, init))
    }

    /// Frees memory.
    ///
    /// # Errors
    /// The memory does not exist, or a launch in flight uses it.
    pub fn free(&mut self, id: MemoryId) -> Result<(), MemoryError> {
        self.memories.get(id)?;
        let is_it = |view: &View| view.memory == id.into();
        let uses = |launch: &&Launch| {
            !launch.done
                && match &launch.code {
                    Code::Own(_, environment) => environment.arguments.iter().filter_map(Argument::view).any(is_it),
                    Code::Module(run) => run.ranges.iter().any(|range| range.is_in(id.index)),
                }
        };
        if let Some(launch) = self.launches.iter().find(uses) {
            return Err(MemoryError::InUse { memory: id, launch: launch.label.to_string() });
        }
        self.memories.free(id);
        Ok(())
    }

    /// Reads elements as raw words, and reports which of them are unwritten.
    ///
    /// # Errors
    /// The memory or the range does not exist.
    pub fn read(&self, id: MemoryId, range: Range<usize>) -> Result<Contents, MemoryError> {
        self.memories.get(id)?.read(range)
    }

    /// Writes elements from `start` on; bits beyond the element's type are dropped.
    ///
    /// # Errors
    /// The memory or the range does not exist.
    pub fn write(&mut self, id: MemoryId, start: usize, values: &[u64]) -> Result<(), MemoryError> {
        let allocation = self.memories.get_mut(id)?;
        let range = allocation.range(&(start..start.saturating_add(values.len())))?;
        let mask = mask(allocation.element);
        let mut changed = Vec::new();
        for (element, &value) in range.zip(values) {
            if allocation.values[element] != value & mask {
                changed.push(element);
            }
            allocation.values[element] = value & mask;
            allocation.written[element] = Written::ALL;
            allocation.forget_writer(element);
        }
        for element in changed {
            self.changed(Address { memory: id.index, element: element as u64 });
        }
        Ok(())
    }

    /// Copies elements between allocations of one element type; unwritten ones stay unwritten.
    ///
    /// # Errors
    /// The memory or the range does not exist.
    pub fn copy(&mut self, from: MemoryId, range: Range<usize>, to: MemoryId, start: usize) -> Result<(), MemoryError> {
        let first = range.start;
        let Contents { values, unwritten } = self.read(from, range)?;
        self.write(to, start, &values)?;
        let allocation = self.memories.get_mut(to)?;
        for element in unwritten {
            if let Some(written) = allocation.written.get_mut(start + element - first) {
                *written = Written::NOTHING;
            }
        }
        Ok(())
    }

    /// The number of elements of an allocation.
    ///
    /// # Errors
    /// The allocation does not exist.
    pub fn elements(&self, id: MemoryId) -> Result<usize, MemoryError> {
        Ok(self.memories.get(id)?.values.len())
    }

    /// Starts a launch; its threads run when the caller waits, interleaved with those of all others in flight.
    ///
    /// # Errors
    /// The arguments do not match, or the simulated device has too few threads or too little memory.
    pub fn launch(&mut self, request: LaunchRequest) -> Result<LaunchId, LaunchError> {
        let environment = bind(&request, &self.memories)?;
        let kernel = request.program.kernel();
        let admitted = Admitted {
            kernel: kernel.name.as_str().into(),
            rank: kernel.rank,
            shape: request.shape,
            label: request.label,
            agent: request.agent,
            cooperative: request.cooperative,
            step_limit: request.step_limit,
            deadline: request.deadline,
            code: Code::Own(request.program, Arc::new(environment)),
        };
        self.admit(admitted)
    }

    /// Starts a launch of a module's kernel, as [`launch`](Simulator::launch) starts one of Wattle's own.
    ///
    /// # Errors
    /// A buffer does not exist, or the simulated device has too few threads or too little memory.
    pub fn launch_module(&mut self, request: ModuleRequest) -> Result<LaunchId, LaunchError> {
        let run = Arc::new(request.bind(&mut self.memories)?);
        let admitted = Admitted {
            label: request.kernel.clone(),
            kernel: request.kernel,
            rank: request.rank,
            shape: request.shape,
            agent: request.agent,
            cooperative: request.cooperative,
            step_limit: request.step_limit,
            deadline: request.deadline,
            code: Code::Module(run.clone()),
        };
        self.admit(admitted).inspect_err(|_| run.free(&mut self.memories))
    }

    fn admit(&mut self, launch: Admitted) -> Result<LaunchId, LaunchError> {
        let (blocks, per_block) = (launch.shape.blocks(), launch.shape.threads_per_block());
        let threads = blocks.saturating_mul(per_block);
        let base = self.next_number;
        let end = (base + threads).next_multiple_of(ALIGNMENT as u64);
        if end > MAX_NUMBERS {
            return Err(LaunchError::Overlap);
        }
        let most = (MAX_WORDS / (launch.code.words() as u64).max(1)).min(MAX_RESIDENT);
        let resident = if launch.cooperative { threads } else { (self.options.resident_threads as u64).min(most) };
        if launch.cooperative && threads > most {
            let (kernel, what) = (launch.kernel.to_string(), "threads resident at once");
            return Err(LaunchError::TooLarge { kernel, what, found: threads, max: most });
        }
        self.next_number = end;
        self.launched += 1;
        let id = LaunchId(self.launched);
        self.launches.push(Launch {
            id,
            label: launch.label,
            kernel: launch.kernel,
            rank: launch.rank,
            shape: launch.shape,
            code: launch.code,
            device: match launch.agent {
                Agent::Device(number) => Some(number),
                Agent::Host => None,
            },
            base: base as u32,
            threads_per_block: per_block as u32,
            blocks: if threads == 0 { 0 } else { blocks },
            next_block: 0,
            running: Vec::new(),
            resident,
            start: self.finished.clone(),
            known: Clock::default(),
            steps: 0,
            step_limit: launch.step_limit,
            deadline: launch.deadline,
            findings: Vec::new(),
            done: false,
        });
        let launch = self.launches.len() - 1;
        self.start_blocks(launch);
        if threads == 0 {
            self.end_launch(launch);
        }
        Ok(id)
    }

    /// Whether the launch is not in flight.
    pub fn is_done(&self, id: LaunchId) -> bool {
        !self.launches.iter().any(|launch| launch.id == id && !launch.done)
    }

    /// Runs until the launch is done. Its findings are returned once.
    ///
    /// # Errors
    /// The findings of the launch.
    pub fn finish(&mut self, id: LaunchId) -> Result<(), Findings> {
        while !self.is_done(id) {
            self.step();
        }
        match self.results.remove(&id) {
            Some(findings) if !findings.is_empty() => Err(Findings(findings)),
            _ => Ok(()),
        }
    }

    /// Runs until no launch is in flight; [`finish`](Simulator::finish) then returns the findings of each.
    pub fn finish_all(&mut self) {
        while self.in_flight() {
            self.step();
        }
    }

    /// Makes up to `runs` runs of steps, each a few requests of one thread, and fewer where a launch ends: what comes
    /// behind that one on its queue runs beside the others. Returns whether a thread can continue. If none can, the
    /// launches in flight wait: for another launch, or for ever, which [`Simulator::end_stuck`] reports.
    pub fn step_for(&mut self, runs: u64) -> bool {
        let results = self.results.len();
        for _ in 0..runs {
            if !self.in_flight() {
                return false;
            }
            if self.runnable.is_empty() {
                // Time limits apply to waiting launches, too.
                self.look();
                return false;
            }
            self.step();
            if self.results.len() != results {
                break;
            }
        }
        self.in_flight() && !self.runnable.is_empty()
    }

    /// Ends the launches in flight if none of their threads can continue, since nothing else will wake them.
    pub fn end_stuck(&mut self) {
        if self.in_flight() && self.runnable.is_empty() {
            self.step();
        }
    }

    /// A digest of all requests of all threads so far, in their order: equal for equal interleavings.
    pub fn trace(&self) -> u64 {
        self.trace
    }

    pub(super) fn in_flight(&self) -> bool {
        self.launches.iter().any(|launch| !launch.done)
    }

    /// The ticks of the clock, which all threads have together: it moves on by some with each read, by the seed.
    pub(super) fn ticks(&mut self) -> u64 {
        // Who looks at it may do something else the next time, as after a change of memory.
        self.changes += 1;
        self.ticks += 1 + u64::from(self.rng.next_u32() & 15);
        self.ticks
    }

    /// Draws a number below `bound`. It is written out because a seed must give the same run in every version.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((self.rng.next_u32() as u64 * bound as u64) >> 32) as usize
    }
}
