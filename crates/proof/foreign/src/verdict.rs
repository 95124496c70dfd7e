//! What a judgement is asked and what it answers.

use std::sync::Arc;

use wattle_check::checker::Progress;
use wattle_check::keep::Keeper;
use wattle_check::search::{Limits, Meter, Statistics};
use wattle_memory::Model;

use crate::violation::{Step, Violation};

/// The bounds of a judgement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The model: PTX's, unless another is asked for.
    pub model: Model,
    /// Whether a race is an error; otherwise its accesses mean what the model says.
    pub forbids_races: bool,
    /// The maximum number of iterations of a loop that changes something each time and whose exit depends on memory.
    pub loop_bound: u32,
    /// The progress model: the blocks that are promised to run where threads wait for one another.
    pub progress: Progress,
    /// The limits at which the search stops.
    pub limits: Limits,
    /// The meter on which the search shows how far it is.
    pub meter: Option<Arc<Meter>>,
    /// The keeper of the answers about a list for later runs, if they are kept ([`corpus::run`](crate::corpus::run)).
    pub keeper: Option<Arc<dyn Keeper>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: Model::Ptx,
            forbids_races: true,
            loop_bound: 8,
            progress: Progress::Fair,
            limits: Limits::default(),
            meter: None,
            keeper: None,
        }
    }
}

/// The answer about a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every execution is right.
    Holds,
    /// Some execution is wrong: what is wrong with it, and the steps of the threads that take part, in program order.
    Violated(Violation, Vec<Step>),
    /// The search was not exhaustive: the reason.
    Unknown(String),
}

impl Verdict {
    /// How much it says: what is wrong in some execution is so, whatever is not known of others.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Verdict::Holds => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Violated(..) => 2,
        }
    }
}

/// A verdict with the counts of its search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The answer.
    pub verdict: Verdict,
    /// The counts of the search.
    pub statistics: Statistics,
    /// What the verdict rests on that the source's language does not promise.
    pub note: Option<String>,
}
