//! One run of a scenario's function: its inputs, and its results.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use wattle_core::queue::QueuedLaunch;
use wattle_core::{
    Decided, DeviceKind, Error, KernelIdentity, LaunchOptions, ModuleCode, ModuleLanguage, Properties, Shape, system,
};
use wattle_machine::Program;
use wattle_memory::CodeLanguage;

use wattle_ir::Site;

use super::Checker;
use super::frames::{Choice, OpenWarps};
use super::module_batch::BatchBuffer;
use super::variants::{Asked, DeviceVariant, variants};
use crate::keep::Key;
use crate::peers::DeviceOfQueue;
use crate::program::World;
use crate::report::{Orders, Unknown, Violation, Witness};
use crate::search::{Address, Statistics};

/// A run of a scenario's function, in which each search has one chosen outcome.
pub(super) struct Run {
    pub checker: Checker,
    pub choice: Choice,
    pub properties: Properties,
    pub memories: Mutex<Vec<Vec<Option<u64>>>>,
    /// The elements of these in which executions leave different values.
    pub open: Mutex<BTreeSet<Address>>,
    pub buffers: Mutex<Vec<BatchBuffer>>,
    /// The variables of the modules that have been launched, by their numbers among the buffers.
    pub variables: Mutex<Vec<(Arc<ModuleCode>, Vec<usize>)>>,
    pub devices: DeviceOfQueue,
    /// The state shared by all runs of this check.
    pub shared: Arc<Shared>,
    pub path: Mutex<RunPath>,
    /// The device that is tried first.
    pub first_variant: DeviceVariant,
    /// Whether the host reads something else than zeros where nobody has written.
    pub fills: bool,
    /// The host's thread that runs the scenario's function.
    pub thread: ThreadId,
}

/// The programs of kernels for each device: the kernel's number, and what it asks of the device.
pub(super) type Programs = HashMap<(KernelIdentity, DeviceVariant), (Arc<Program>, u32, Asked)>;

/// The state shared by the runs of one check.
#[derive(Default)]
pub(super) struct Shared {
    pub programs: Mutex<Programs>,
    pub deadline: Option<std::time::Instant>,
    /// The contents of programs, by their numbers, for what is kept of searches.
    pub contents: Mutex<HashMap<(u32, String), Key>>,
    /// The results of this check's searches, which are kept if it holds.
    pub to_keep: Mutex<Vec<(Key, Vec<u8>)>>,
    /// Whether the scenario has read a buffer.
    pub reads_back: AtomicBool,
    /// Whether a run of the scenario looks at an element in which executions leave different values.
    pub looks_at_open: AtomicBool,
}

/// The outcomes with which a run continues, and its results.
#[derive(Default)]
pub(super) struct RunPath {
    /// The searches so far: those of this run and, from the branching point on, of earlier ones.
    pub phases: Vec<Arc<Phase>>,
    /// The index of the outcome taken from each search.
    pub chosen: Vec<usize>,
    /// The number of phases that this run has reached.
    pub at: usize,
    /// The message if the run differed from an earlier one before the point where they branch.
    pub strayed: Option<String>,
    /// Whether something looks at an element in which executions leave different values.
    pub looks_at_open: bool,
    /// The first element that the host has read and nobody written.
    pub unwritten: Option<String>,
    /// The error if the scenario uses something that the checker does not support.
    pub refused: Option<Error>,
    /// Whether the overlap of some launches with others was not searched in full.
    pub overlaps: bool,
    /// What was decided for the host in one of several ways.
    pub decided: BTreeSet<Decided>,
    /// The distinct launches by frames.
    pub framed: Vec<(Shape, LaunchOptions)>,
    /// The warps of kernels whose launch leaves the number of lanes to the device.
    pub warps: OpenWarps,
    /// What kernels ask of their device.
    pub asked: Asked,
}

impl RunPath {
    /// Notes the warps of a launch, unless it says how many lanes they have.
    pub fn note_warps(&mut self, launch: &QueuedLaunch, warps: OpenWarps) {
        if launch.options.get_warp_size().is_none() {
            self.warps = self.warps.and(warps);
        }
    }

    /// A path with the outcomes and choices of this one, for a further run of the function that goes the same way.
    pub fn again(&self) -> RunPath {
        RunPath { phases: self.phases.clone(), chosen: self.chosen.clone(), ..RunPath::default() }
    }
}

/// The maximum number of threads per block of a target.
const MOST_THREADS: u32 = 1024;

impl Run {
    pub fn new(checker: &Checker, choice: Choice, shared: Arc<Shared>, path: RunPath) -> Run {
        let mut properties =
            Properties::new("checker", "every execution that a memory model permits", DeviceKind::Checker);
        properties.max_threads_per_block = MOST_THREADS;
        properties.max_shared_memory = 1 << 20;
        properties.max_cooperative_blocks = 1 << 14;
        properties.scopes = checker.target.scopes().to_vec();
        properties.warp_width = choice.warp_size;
        properties.modules = vec![match checker.target.code() {
            CodeLanguage::Spirv => ModuleLanguage::Spirv,
            CodeLanguage::Ptx { .. } => ModuleLanguage::Ptx,
        }];
        Run {
            checker: checker.clone(),
            choice,
            properties,
            memories: Mutex::default(),
            open: Mutex::default(),
            buffers: Mutex::default(),
            variables: Mutex::default(),
            devices: DeviceOfQueue::default(),
            shared,
            path: Mutex::new(path),
            first_variant: variants(checker.target)[0],
            fills: false,
            thread: std::thread::current().id(),
        }
    }
}

/// The result of a search of launches.
pub(super) struct Phase {
    /// A hash that identifies launches and memories.
    pub fingerprint: u64,
    /// The launches in words.
    pub what: String,
    /// The distinct memories that the launches can leave.
    pub outcomes: Vec<Outcome>,
    pub violations: Vec<Violation>,
    pub unknown: Vec<Unknown>,
    pub statistics: Statistics,
    /// The number of events of the finished executions.
    pub events: u64,
    /// The share of the search that was covered, if a limit ended it.
    pub covered: Option<f64>,
    pub rests: Rests,
    /// The lines that keep what the clock shows, which the search takes for 0.
    pub assumes: Vec<Site>,
    /// What the verdict rests on that the languages of modules do not promise.
    pub notes: Vec<String>,
    pub shapes: Vec<String>,
    pub symmetric: bool,
    /// Whether the phase is the result of an earlier run's search.
    pub kept: bool,
    /// The instructions that ran, by kernel number and instruction number.
    pub executed: BTreeSet<(u32, u32)>,
    pub world: Arc<World>,
}

impl Phase {
    /// Whether nothing can be said of what comes after the launches.
    pub fn is_broken(&self, checker: &Checker) -> bool {
        self.outcomes.is_empty() || !self.violations.is_empty() && !checker.every_kind
    }
}

/// What a search found that takes no notice of dependencies.
#[derive(Default)]
pub(super) struct Rests {
    /// The dependencies, each by the line that reads and the one that stores, without which there would be one more
    /// outcome; those of the first such outcome found.
    pub on: Vec<(Site, Site)>,
    /// A dependency on which it may rest, likewise, where the search is unfinished.
    pub perhaps_on: Option<(Site, Site)>,
    /// Whether a limit ended the search before it found such an outcome.
    pub unfinished: bool,
    /// Loops of a block's threads that other threads of the block let go, each by the line that reads there and the one
    /// that writes what it reads; empty where the target promises that all threads of a block run.
    pub waits: Vec<(Site, Site)>,
}

/// A memory that launches can leave, and an execution that leaves it.
pub(super) struct Outcome {
    pub values: FinalValues,
    /// The cells in which executions leave different values, of which this outcome has one.
    pub open: Vec<Address>,
    /// The execution, unless it is the only one and too long to be shown.
    pub witness: Option<Box<Witness>>,
    /// The orders of the accesses that lead to it, if requested.
    pub orders: Option<Orders>,
}

impl Outcome {
    /// An outcome of which no execution is shown.
    pub fn of(values: FinalValues) -> Outcome {
        Outcome { values, open: Vec::new(), witness: None, orders: None }
    }
}

/// The final values of cells.
pub(super) type FinalValues = Vec<(Address, u64)>;

/// The error that ends a run which looks at a cell in which executions leave different values: the check begins again
/// without such.
pub(super) fn open_value() -> Error {
    system("checking", "this value differs between executions")
}

/// Adds an item unless the list has it.
pub(super) fn note<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
