//! One run of a scenario's function: what it is given, and what has come of it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use wattle_core::{DeviceKind, Error, KernelIdentity, LaunchOptions, Properties, Shape};
use wattle_machine::Program;
use wattle_memory::{Scope, Target};

use super::Checker;
use super::Witness;
use super::frames::Frames;
use super::orders::Orders;
use super::report::{Unknown, Violation};
use crate::program::World;
use crate::search::{Address, Statistics};

/// One run of a scenario's function.
pub(super) struct Run {
    pub checker: Checker,
    pub frames: Frames,
    pub properties: Properties,
    pub memories: Mutex<Vec<Vec<Option<u64>>>>,
    /// What every run of this check shares.
    pub shared: Arc<Shared>,
    pub path: Mutex<Path>,
}

/// What the runs of one check share.
#[derive(Default)]
pub(super) struct Shared {
    pub programs: Mutex<HashMap<KernelIdentity, (Arc<Program>, u32)>>,
    pub deadline: Option<std::time::Instant>,
}

/// Which outcomes this run goes on with, and what has come of it.
#[derive(Default)]
pub(super) struct Path {
    /// The searches so far, of this run and, from where it goes on, of the ones before.
    pub phases: Vec<Arc<Phase>>,
    /// Which outcome of each is gone on with.
    pub chosen: Vec<usize>,
    /// How many phases this run has come to.
    pub at: usize,
    /// The run did something else than an earlier one up to the same point.
    pub strayed: Option<String>,
    /// Something that the checker cannot do.
    pub refused: Option<Error>,
    /// Launches whose overlap with others was not looked at in full.
    pub overlaps: bool,
    /// The distinct launches by frames.
    pub framed: Vec<(Shape, LaunchOptions)>,
}

/// The most threads of a block.
pub(super) fn most_threads(target: Target) -> u32 {
    if target == Target::Host { 1 } else { 1024 }
}

impl Run {
    pub fn new(checker: &Checker, frames: Frames, shared: Arc<Shared>, path: Path) -> Run {
        let scopes = match checker.target {
            Target::Vulkan => vec![Scope::Block, Scope::Device],
            _ => Scope::ALL.to_vec(),
        };
        let mut properties =
            Properties::new("checker", "every execution that a memory model permits", DeviceKind::Checker);
        properties.max_threads_per_block = most_threads(checker.target);
        properties.max_shared_memory = 1 << 20;
        properties.max_cooperative_blocks = 1 << 14;
        properties.scopes = scopes;
        Run { checker: checker.clone(), frames, properties, memories: Mutex::default(), shared, path: Mutex::new(path) }
    }
}

/// What a search of launches gave.
pub(super) struct Phase {
    /// Tells launches and memories apart.
    pub fingerprint: u64,
    /// What is launched, in words.
    pub what: String,
    /// The distinct memories that the launches can leave.
    pub outcomes: Vec<Outcome>,
    pub violations: Vec<Violation>,
    pub unknown: Vec<Unknown>,
    pub statistics: Statistics,
    /// The dependencies that keep some outcome away: the line that reads, and the one that stores.
    pub rests_on: Vec<(wattle_ir::Site, wattle_ir::Site)>,
    pub shapes: Vec<String>,
    pub symmetric: bool,
    /// The instructions that ran.
    pub executed: BTreeSet<(u32, u32)>,
    pub world: Arc<World>,
}

/// A memory that launches can leave, and an execution that leaves it.
pub(super) struct Outcome {
    pub values: Memory,
    pub witness: Box<Witness>,
    /// The orders of the accesses that leave it, where they were asked for.
    pub orders: Option<Orders>,
}

/// What cells hold in the end.
pub(super) type Memory = Vec<(Address, u64)>;
