//! The checker: takes a scenario through every execution that a memory model permits.
//!
//! ```
//! use wattle_check::checker::{Checker, Verdict};
//! use wattle_memory::Model;
//!
//! let report = Checker::new(Model::Portable).check(|_device| Ok(()))?;
//! assert_eq!(report.verdict, Verdict::Holds);
//! # Ok::<(), wattle_core::Error>(())
//! ```
//!
//! The scenario's function is run once for each distinct outcome of its launches, as `loom::model` runs a closure: on a
//! device that does nothing until the scenario waits, then searches all executions of the launches that were enqueued,
//! and goes on with one of the memories that they can leave. So the function that is proved here is the very one that
//! runs on devices. It must be deterministic apart from its launches; otherwise the check reports an error.

mod additions;
mod advice;
mod batch;
mod changes;
mod device;
mod display;
mod explore;
mod frames;
mod judge;
mod kept;
mod launches;
mod memory;
mod module_batch;
mod modules;
mod orders;
mod outcomes;
mod queue;
mod rests;
mod run;
mod runs;
mod schedule;
mod seeds;
#[cfg(feature = "serde")]
mod serialize;
mod stronger;
mod strongest;
mod variants;
mod waits;
mod weaker;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use wattle_core::Ending;
use wattle_core::{Device, Result, Scenario};
use wattle_memory::{Model, Target};

pub use crate::wrap::wrap;
pub use changes::{Advice, Change};
pub use display::thousands;
pub use module_batch::{Batch, BatchArgument, BatchBuffer, BatchKernel, BatchLaunch, Judged, ModuleVariant, Profile};
pub use modules::{MODULE_JUDGES, ModuleJudge, ModuleTrials};
pub use orders::{OrderTable, Variant};
pub use schedule::{Schedule, schedules};

use crate::keep::Keeper;
use crate::program::Edits;
pub use crate::program::Scheduled;
use crate::report;
pub use crate::report::{Orders, Progress, Report, Unknown, Verdict, Violation, Witness};
use crate::search::{Limits, Sample};
pub use crate::search::{Meter, Reading};

/// The default number of iterations of a loop that may go on for ever and that changes something each time.
const LOOP_BOUND: u32 = 4;

/// What is to be checked, and under which bounds.
#[derive(Clone, Debug)]
pub struct Checker {
    pub(crate) target: Target,
    pub(crate) model: Model,
    pub(crate) progress: Progress,
    pub(crate) loop_bound: u32,
    pub(crate) time: Option<Duration>,
    pub(crate) memory: Option<u64>,
    pub(crate) cancelled: Option<Arc<AtomicBool>>,
    pub(crate) plain_as_relaxed: bool,
    pub(crate) warp_size: Option<u32>,
    pub(crate) symmetry: bool,
    /// Whether kernels are emitted, and read back, and judged as what was read.
    pub(crate) emitted: Option<Profile>,
    pub(crate) edits: Edits,
    /// What advice changes in the modules that are launched.
    pub(crate) module_variant: Option<ModuleVariant>,
    pub(crate) sample: Option<Sample>,
    pub(crate) count_orders: bool,
    /// Whether a run may stand for executions that leave different values: the scenario looks at none of these.
    pub(crate) leaves_open: bool,
    /// Whether the check goes on after a failed check of the scenario, since only its observations are wanted.
    pub(crate) keeps_on: bool,
    /// Whether each search goes on after a violation, to find one of each kind.
    pub(crate) every_kind: bool,
    pub(crate) meter: Option<Arc<Meter>>,
    /// The maximum number of shapes of launches by frames that are tried, for a first pass; `None` for all.
    pub(crate) most_shapes: Option<usize>,
    /// The store of the results of searches; `None` if they are not kept.
    pub(crate) keeper: Option<Arc<dyn Keeper>>,
}

impl Checker {
    /// A checker under a model. A target's model judges the code that is emitted for it: `Model::Ptx` judges that for
    /// sm_90.
    pub fn new(model: Model) -> Checker {
        Checker {
            target: model.target(),
            model,
            progress: Progress::default(),
            loop_bound: LOOP_BOUND,
            time: None,
            memory: None,
            cancelled: None,
            plain_as_relaxed: false,
            warp_size: None,
            symmetry: true,
            emitted: None,
            edits: Edits::default(),
            module_variant: None,
            sample: None,
            count_orders: false,
            leaves_open: true,
            keeps_on: false,
            every_kind: false,
            meter: None,
            most_shapes: None,
            keeper: None,
        }
    }

    /// A checker of the code that is emitted for a target, under the target's own model.
    pub fn for_target(target: Target) -> Checker {
        Checker { target, model: target.model(), ..Checker::new(Model::Portable) }
    }

    /// The name of what is judged: `portable`, `ptx`, `ptx:sm_80`, `vulkan`, `host`; the model's where that alone
    /// differs; with `, as emitted` where the code itself is read back.
    pub fn name(&self) -> String {
        report::name(self.target, self.model, self.emitted.is_some())
    }

    /// Sets the progress model; the default is what Wattle's devices promise.
    pub fn progress(self, progress: Progress) -> Checker {
        Checker { progress, ..self }
    }

    /// How often a loop without a bound, whose iterations change something, is iterated: 4 by default. A check that
    /// reaches the bound does not say that the scenario holds.
    pub fn loop_bound(self, loop_bound: u32) -> Checker {
        Checker { loop_bound, ..self }
    }

    /// Sets a limit for the duration of the check, which has none by default.
    pub fn time(self, time: Duration) -> Checker {
        Checker { time: Some(time), ..self }
    }

    /// Sets a limit for the memory of the process, in bytes.
    pub fn memory(self, bytes: u64) -> Checker {
        Checker { memory: Some(bytes), ..self }
    }

    /// Ends the check, with what was found so far, once the flag is set.
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Checker {
        Checker { cancelled: Some(flag), ..self }
    }

    /// Shows on a meter how far the check is, for whoever watches it from another thread. A meter is for one check at a
    /// time.
    pub fn shown_on(self, meter: Arc<Meter>) -> Checker {
        Checker { meter: Some(meter), ..self }
    }

    /// Treats plain accesses of `Shared` memory as relaxed atomics of device scope, as textbooks do.
    pub fn plain_as_relaxed(self) -> Checker {
        Checker { plain_as_relaxed: true, ..self }
    }

    /// How many lanes the warps of launches have that ask for no other number: a power of two up to 128. By default it
    /// is 32 for PTX and 1 for the host; what runs on more than one kind of device is checked with each power of two
    /// that makes a difference to its kernels. The report names the numbers.
    pub fn warp_size(self, lanes: u32) -> Checker {
        Checker { warp_size: Some(lanes), ..self }
    }

    /// The numbers of lanes of a warp with which kernels are checked that use their warps; others with the first alone.
    fn warp_sizes(&self) -> &[u32] {
        self.warp_size.as_ref().map_or(self.target.warp_sizes(), std::slice::from_ref)
    }

    /// Sets whether executions that differ only by exchanging equal threads are built once; the default is yes.
    pub fn symmetry(self, symmetry: bool) -> Checker {
        Checker { symmetry, ..self }
    }

    /// Judges what is emitted: each kernel as the PTX that CUDA devices get, or for Vulkan as the SPIR-V that a device
    /// with all features gets, read back and searched instruction by instruction, instead of its intermediate
    /// representation. For the targets of PTX and Vulkan, and the portable model.
    pub fn emitted(self) -> Checker {
        self.emitted_for(Profile::Best)
    }

    /// Judges what is emitted, as [`Checker::emitted`], for a device of Vulkan's with these features.
    pub fn emitted_for(self, profile: Profile) -> Checker {
        Checker { emitted: Some(profile), ..self }
    }

    /// Takes the results of searches that were made before from a keeper, and has it keep those of others. A check that
    /// holds then shows no execution; one in which something is wrong is made in full.
    pub fn kept_by(self, keeper: Arc<dyn Keeper>) -> Checker {
        Checker { keeper: Some(keeper), ..self }
    }

    /// Draws `executions` executions of each search at random, weak ones included, instead of building all, for
    /// programs beyond exhaustive search. Such a check can find violations, and never shows that a scenario holds.
    pub fn sample(self, executions: u64, seed: u64) -> Checker {
        Checker { sample: Some(Sample { executions, seed }), ..self }
    }

    /// Goes on after a violation, so that the report has one of each kind (each fault by its line), and the outcomes of
    /// the executions in which nothing is wrong. After a data race the rest of a search need not be complete: a program
    /// with a race has no meaning beyond it.
    pub fn every_kind(self) -> Checker {
        Checker { every_kind: true, ..self }
    }

    /// Checks the programs with these changes.
    pub fn edits(self, edits: Edits) -> Checker {
        Checker { edits, ..self }
    }

    /// Checks a scenario's function: what it asserts, and everything that is wrong in itself.
    ///
    /// # Errors
    /// The scenario cannot be checked: it is not deterministic, or does something that the checker cannot do. What is
    /// wrong with a scenario that can be checked is in the report.
    pub fn check<R: Ending>(&self, scenario: impl Fn(&Device) -> Result<R>) -> Result<Report> {
        explore::check(self, &|device| scenario(device).map(Ending::summary))
    }

    /// Checks a scenario's function in a test; returns the report if it holds.
    ///
    /// # Panics
    /// It does not hold, is not known to hold, or cannot be checked. The panic's text is the report.
    #[track_caller]
    pub fn assert_holds<R: Ending>(&self, scenario: impl Fn(&Device) -> Result<R>) -> Report {
        self.asserted(self.check(scenario), Verdict::Holds)
    }

    /// Checks a scenario's function that is wrong on purpose, in a test; returns the report if it is refuted.
    ///
    /// # Panics
    /// No violation was found, or it cannot be checked. The panic's text is the report.
    #[track_caller]
    pub fn assert_refuted<R: Ending>(&self, scenario: impl Fn(&Device) -> Result<R>) -> Report {
        self.asserted(self.check(scenario), Verdict::Violated)
    }

    #[track_caller]
    fn asserted(&self, checked: Result<Report>, expected: Verdict) -> Report {
        let expectation = if expected == Verdict::Holds { "hold, and does not" } else { "be refuted, and is not" };
        match checked {
            Ok(report) if report.verdict == expected => report,
            Ok(report) => panic!("the scenario should {expectation}:\n{report}"),
            Err(error) => panic!("the scenario cannot be checked under {}: {error}", self.name()),
        }
    }

    /// Checks a registered scenario, at its size for proofs unless another is given.
    ///
    /// # Errors
    /// As [`Checker::check`].
    pub fn check_scenario(&self, scenario: &Scenario, size: Option<usize>) -> Result<Report> {
        explore::check(self, &|device| scenario.run(device, size))
    }

    /// The report of a check that did not begin: its verdict is unknown, for this reason.
    pub fn unanswered(&self, why: impl Into<String>) -> Report {
        let unknown = vec![Unknown::Stopped(why.into())];
        Report { verdict: Verdict::Unknown, unknown, ..explore::begun(self) }
    }

    /// Finds advice on a scenario that was checked with this report: what could be weaker, or what is missing. Variants
    /// are tried until `budget` is over.
    pub fn advise<R: Ending>(
        &self,
        scenario: impl Fn(&Device) -> Result<R>,
        report: &Report,
        budget: Duration,
    ) -> Advice {
        advice::advise(self, &|device| scenario(device).map(Ending::summary), report, budget)
    }

    /// Finds advice on a registered scenario.
    pub fn advise_scenario(
        &self,
        scenario: &Scenario,
        size: Option<usize>,
        report: &Report,
        budget: Duration,
    ) -> Advice {
        advice::advise(self, &|device| scenario.run(device, size), report, budget)
    }

    fn keeping_on(self) -> Checker {
        Checker { keeps_on: true, ..self }
    }

    /// The limits of a search.
    fn limits(&self, deadline: Option<Instant>) -> Limits {
        Limits { deadline, memory: self.memory, heeds_interrupt: true, cancelled: self.cancelled.clone() }
    }

    fn deadline(&self) -> Option<Instant> {
        self.time.and_then(|time| Instant::now().checked_add(time))
    }
}
