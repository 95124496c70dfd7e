//! What one execution of a launch shows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use wattle_check::search::{Address, Execution, Fault, Stuck, Visitor, Why};
use wattle_memory::{EventId, Model, ThreadId};
use wattle_modules::code::{Exchange, Meeting, Op, Special};

use super::assertion::{MOST_ENDS, cells_of, failed, item_value, left_open};
use super::waits::Waits;
use super::{copies, read_only, unwritten};
use crate::condition::{Condition, Item};
use crate::opencl;
use crate::process::{ModuleThread, takes_all};
use crate::reason::reason;
use crate::steps::{place, sizes, step, steps};
use crate::subnormal;
use crate::violation::{HeldUp, Step, StuckThread, Violation, alike};
use crate::world::{WaitsForEnded, World};
use crate::wrong::Wrong;

/// Why an operation of a warp cannot be judged some lanes of whose mask have ended.
pub(crate) const LANES_HAVE_ENDED: &str =
    "threads that it gathers from or elects among have ended, and the checker waits for all of them";

/// Why an operation of a subgroup of SPIR-V cannot be judged to which some of its threads do not come.
pub(crate) const NOT_ALL_COME: &str = "an operation of a subgroup that not all of its threads come to is not supported";

/// The visitor that checks each execution.
pub(crate) struct Judge<'w> {
    pub(crate) world: &'w World,
    model: Model,
    /// Whether a race is an error.
    forbids_races: bool,
    asserted: &'w [Condition],
    pub(crate) found: Option<(Violation, Vec<Step>)>,
    /// Whether the assumption that there are no races may have hidden something.
    pub(crate) unsure: bool,
    /// Whether an execution can end in more ways than were looked at.
    pub(crate) too_many: bool,
    /// Why nothing can be said about an assertion, if so.
    pub(super) open: Option<String>,
    /// The jumps back of loops at whose bound some branch ended.
    pub(super) bounded: BTreeSet<u32>,
    /// Why what some execution shows may be impossible, or none of the program's: see [`Judge::doubt`].
    pub(super) doubt: Option<String>,
    /// How many executions have shown a race that is doubtful.
    doubtful: u32,
    /// What threads of a workgroup wait for from each other.
    pub(crate) waits: Waits,
}

/// The most executions with doubtful races behind which something certain is looked for: there may be as many as there
/// are orders of the accesses that race.
const MOST_DOUBTFUL: u32 = 512;

impl<'w> Judge<'w> {
    pub(crate) fn new(world: &'w World, model: Model, asserted: &'w [Condition]) -> Judge<'w> {
        Judge {
            world,
            model,
            forbids_races: true,
            asserted,
            found: None,
            unsure: false,
            too_many: false,
            open: None,
            bounded: BTreeSet::new(),
            doubt: None,
            doubtful: 0,
            waits: Waits::default(),
        }
    }

    /// Makes a race an error of an execution, or none.
    pub(crate) fn with_races(self, forbids_races: bool) -> Judge<'w> {
        Judge { forbids_races, ..self }
    }
}

impl Judge<'_> {
    /// Ends the search with what an execution shows, unless that is doubtful: another one may show something that is
    /// not.
    fn report(&mut self, execution: &Execution<'_>, violation: Violation, steps: Vec<Step>) -> ControlFlow<()> {
        match self.doubt(execution, &violation) {
            Some(why) => {
                self.doubt.get_or_insert(why);
                self.doubtful += u32::from(matches!(violation, Violation::Race { .. }));
                if self.doubtful < MOST_DOUBTFUL { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
            None => {
                self.found.get_or_insert((violation, steps));
                ControlFlow::Break(())
            }
        }
    }

    /// The load of memory that nobody has written, of which a fault comes.
    pub(super) fn carried(&self, fault: &Fault) -> Option<u32> {
        let wrong = self.world.wrong(fault.fault).filter(|_| !self.world.is_beside(fault.thread));
        if let Some(Wrong::Loaded { load, .. }) = wrong { Some(load) } else { None }
    }

    /// What an execution shows by itself.
    pub(crate) fn wrong(&self, execution: &Execution<'_>) -> Option<(Violation, Vec<Step>)> {
        let graph = execution.graph;
        if let Some(at) = subnormal::flushed(self.world, execution) {
            self.world.refuse(at, subnormal::FLUSHED);
            return None;
        }
        // What happens to be unwritten yet is of less interest than the race with the write of it.
        let carried = |fault: &Fault| self.carried(fault);
        let follows = |fault: &&Fault| self.world.wrong(fault.fault).is_some_and(|wrong| wrong.may_follow());
        if let Some(fault) = execution.faults.iter().filter(|fault| carried(fault).is_none()).min_by_key(follows) {
            return Some(self.fault(execution, fault));
        }
        let mut races = if self.forbids_races { self.model.races(graph, execution.analysis) } else { Vec::new() };
        if let Some(lanes) = self.world.same_stores(self.model) {
            races.retain(|&race| {
                let is_error = !lanes.are_same(graph, race);
                if !is_error {
                    self.world.has_same_stores(graph.event(race.0).source);
                }
                is_error
            });
        }
        let certain = races.iter().find(|&&race| !opencl::is_doubtful(self.world, execution, race));
        if let Some(&(first, second)) = certain.or(races.first()) {
            let accesses = [first, second].map(|event| step(self.world, execution, event));
            let threads = [first, second].map(|event| graph.event(event).thread.unwrap_or(0));
            let reason = reason(self.model, graph, (first, second), |event| step(self.world, execution, event).at);
            let place = place(self.world, execution, first);
            let sizes = sizes(self.world, execution, [first, second]).map(Box::new);
            return Some((
                Violation::Race { place, accesses, sizes, reason: reason.map(Box::new) },
                steps(self.world, execution, &threads),
            ));
        }
        if let Some(both) = read_only::written(self.world, execution) {
            let accesses = both.map(|event| step(self.world, execution, event));
            let mut threads = both.map(|event| graph.event(event).thread.unwrap_or(0)).to_vec();
            threads.dedup();
            let place = place(self.world, execution, both[0]);
            return Some((Violation::ReadOnly { place, accesses }, steps(self.world, execution, &threads)));
        }
        if let Some(both) = copies::touched(self.world, execution) {
            let accesses = both.map(|event| step(self.world, execution, event));
            let mut threads = both.map(|event| graph.event(event).thread.unwrap_or(0)).to_vec();
            threads.dedup();
            let violation = Violation::Copying { place: place(self.world, execution, both[0]), accesses };
            return Some((violation, steps(self.world, execution, &threads)));
        }
        let used = execution.faults.iter().find_map(|fault| Some((fault, carried(fault)?)));
        match used {
            Some((fault, load)) => {
                let shown = unwritten::used(self.world, execution, fault, load);
                Some(shown.unwrap_or_else(|| self.fault(execution, fault)))
            }
            None => unwritten::read(self.world, execution),
        }
    }

    /// A fault of a thread.
    fn fault(&self, execution: &Execution<'_>, fault: &Fault) -> (Violation, Vec<Step>) {
        let of_host = self.world.beside.as_ref().and_then(|beside| beside.fault(fault.fault, fault.source as usize));
        let own = self.world.wrong(fault.fault);
        if let (None, Some(Wrong::Unwritten(place))) = (&of_host, &own) {
            let (instruction, at) =
                (self.world.text(fault.source as usize), self.world.place_of(fault.source as usize));
            let read = Step { thread: fault.thread, instruction, at, value: None };
            let mut steps = steps(self.world, execution, &[fault.thread]);
            steps.push(read.clone());
            return (Violation::Unassigned { place: place.clone(), read }, steps);
        }
        let own = || own.map(|wrong| wrong.to_string());
        let what = of_host.or_else(own).unwrap_or_default();
        let at = self.world.place_of(fault.source as usize);
        let violation = Violation::Fault { what, at, thread: fault.thread };
        (violation, steps(self.world, execution, &[fault.thread]))
    }

    /// Why what an execution shows may be impossible in OpenCL's model, or may rest on what the module does not show.
    pub(crate) fn doubt(&self, execution: &Execution<'_>, violation: &Violation) -> Option<String> {
        let is_race = matches!(violation, Violation::Race { .. });
        let races = if is_race { self.model.races(execution.graph, execution.analysis) } else { Vec::new() };
        opencl::doubt(self.world, execution, &races, &[])
    }

    /// An assertion that does not hold at some end of the execution, beyond doubt: several writes may be the last of a
    /// cell.
    fn asserts(&mut self, execution: &Execution<'_>) -> Option<Violation> {
        for condition in self.asserted {
            let (addresses, locations) = cells_of(execution, condition);
            let Some(ends) = execution.ends(&locations, MOST_ENDS) else {
                self.too_many = true;
                return None;
            };
            for end in ends {
                // The cells of an execution stand in ascending order.
                let value = |address: Address| addresses.binary_search(&address).ok().map(|at| end[at]);
                let item = |item: Item| item_value(self.world, item, &value);
                match condition.holds(&item) {
                    Some(true) => {}
                    Some(false) => {
                        let left: Vec<_> = locations.iter().copied().zip(end.iter().copied()).collect();
                        match opencl::doubt(self.world, execution, &[], &left) {
                            Some(why) => self.doubt = Some(why),
                            None => return Some(failed(self.world, condition, &item)),
                        }
                    }
                    None => self.open = Some(left_open(self.world, condition, &item)),
                }
            }
        }
        None
    }

    /// The operation of a warp at which a thread waits although the specification lets it pass: it waits for the lanes
    /// in its mask that have not exited (PTX ISA 8.8, 9.7.9.6 "shfl.sync"), which the search does not know; with the
    /// reason for which it is refused.
    pub(crate) fn waits_for_the_ended(&self, execution: &Execution<'_>) -> Option<(usize, &'static str)> {
        let has_ended = |thread: &&wattle_check::search::Thread<'_>| {
            thread.process::<ModuleThread>().is_some_and(ModuleThread::has_ended)
        };
        let some_have_ended = execution.threads.iter().any(has_ended);
        execution.stuck.iter().find_map(|stuck| {
            let Why::Barrier(event) = stuck.why else { return None };
            let at = execution.graph.event(event).source as usize;
            if self.world.is_beside(stuck.thread) {
                return None;
            }
            let (part, number) = self.world.instruction_of(at);
            // SPIR-V's waits for those that come to it, which the search does not know either.
            let is_spirv = part.spirv.is_some();
            if !is_spirv && !some_have_ended {
                return None;
            }
            let waits_for_more = match part.kernel().steps.get(number)?.op.outline(|_| {}, |_| {}).meeting? {
                Meeting::Lanes { how, .. } => takes_all(how) || is_spirv && how != Exchange::Barrier,
                Meeting::Gathering => some_have_ended,
                Meeting::Barrier => false,
            };
            waits_for_more.then_some((at, if is_spirv { NOT_ALL_COME } else { LANES_HAVE_ENDED }))
        })
    }

    /// Whether a thread waits for one that is chosen to be together with it and does not come: then it is not, in this
    /// execution.
    pub(crate) fn waits_for_the_chosen(&self, execution: &Execution<'_>) -> bool {
        execution.stuck.iter().any(|stuck| {
            let Why::Barrier(event) = stuck.why else { return false };
            let (part, number) = self.world.instruction_of(execution.graph.event(event).source as usize);
            let op = part.kernel().steps.get(number).map(|step| &step.op);
            !self.world.is_beside(stuck.thread) && matches!(op, Some(Op::Special { which: Special::Active, .. }))
        })
    }

    /// The threads that an execution leaves waiting for ever, and what they did: where they are many, one of each
    /// place.
    pub(crate) fn held_up(&self, execution: &Execution<'_>) -> HeldUp {
        const MOST: usize = 4;
        let stuck: Vec<_> = execution.stuck.iter().map(|stuck| self.stuck_thread(execution, stuck)).collect();
        let shown: Vec<ThreadId> = match stuck.len() > MOST {
            true => alike(&stuck).iter().map(|alike| alike[0].thread).collect(),
            false => stuck.iter().map(|stuck| stuck.thread).collect(),
        };
        (stuck, steps(self.world, execution, &shown))
    }

    fn stuck_thread(&self, execution: &Execution<'_>, stuck: &Stuck) -> StuckThread {
        let source = |event: EventId| execution.graph.event(event).source as usize;
        let (at_barrier, at) = match &stuck.why {
            Why::Barrier(event) => (true, Some(source(*event))),
            Why::Spins(reads) => (false, reads.first().map(|(read, _)| source(*read))),
        };
        // A loop that reads nothing is where the thread is.
        let thread = || execution.threads.get(stuck.thread)?.process::<ModuleThread>();
        let at = at.or_else(|| Some(thread()?.source()));
        let passes = |own: &ModuleThread| {
            let mut all = execution.threads.iter().enumerate();
            all.find_map(|(number, other)| other.process::<ModuleThread>()?.has_gone_past(own).then_some(number))
        };
        // A barrier that waits for all threads, for what PTX would let pass.
        let waits = at_barrier && self.world.parts.iter().any(|part| part.waits == WaitsForEnded::InBlock);
        let passed_by = if waits { thread().and_then(passes) } else { None };
        let in_warp = at_barrier && at.is_some_and(|at| self.world.is_exchange(at));
        let at = at.map(|at| self.world.place_of(at)).unwrap_or_default();
        StuckThread { thread: stuck.thread, at_barrier, in_warp, at, passed_by }
    }
}

impl Visitor for Judge<'_> {
    fn at_bound(&mut self, source: u32) {
        self.bounded.insert(source);
    }

    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        if let Some((violation, steps)) = self.wrong(execution) {
            return self.report(execution, violation, steps);
        }
        self.waits.note(self.world, execution);
        if let Some(violation) = self.asserts(execution) {
            let threads: Vec<ThreadId> = (0..execution.threads.len()).collect();
            let steps = steps(self.world, execution, &threads);
            self.found = Some((violation, steps));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        let wrong = self.wrong(execution);
        if wrong.is_none() && self.waits_for_the_chosen(execution) {
            return ControlFlow::Continue(());
        }
        if let (None, Some((at, why))) = (&wrong, self.waits_for_the_ended(execution)) {
            self.world.refuse(at, why);
            return ControlFlow::Break(());
        }
        let (violation, steps) = wrong.unwrap_or_else(|| {
            let (stuck, steps) = self.held_up(execution);
            (Violation::Stuck(stuck), steps)
        });
        self.report(execution, violation, steps)
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        match self.wrong(execution) {
            Some((violation, steps)) => self.report(execution, violation, steps),
            None => ControlFlow::Continue(()),
        }
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, has_happened: bool) -> ControlFlow<()> {
        if self.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        match self.wrong(execution) {
            Some((violation, steps)) if has_happened && matches!(violation, Violation::Race { .. }) => {
                self.report(execution, violation, steps)
            }
            Some(_) => {
                self.unsure = true;
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }
}
