//! The visitor that checks each execution of a batch, and keeps what it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use wattle_check::checker::{Batch, Judged, Schedule, Unknown};
use wattle_check::search::{Address, Execution, Visitor};
use wattle_memory::{Kind, Model};

use super::images::Images;
use super::{Prepared, story};
use crate::judge::assertion::MOST_ENDS;
use crate::judge::execution::Judge;
use crate::judge::unfair::count_writes;
use crate::opencl;
use crate::violation::{HeldUp, Step, Violation};

/// The most outcomes of one search that are kept.
const MOST_OUTCOMES: usize = 100_000;

/// What a search of a batch has found so far.
pub(super) struct Collector<'b> {
    prepared: &'b Prepared,
    pub batch: &'b Batch,
    images: &'b Images,
    judge: Judge<'b>,
    pub judged: Judged,
    /// The unfair schedule under test, if any; then only stuck threads are of interest.
    pub schedule: Option<Schedule>,
    pub assume_race_free: bool,
    /// Whether a race is an error: of modules it is, whoever wrote them; of what Wattle emits where the model says so.
    forbids_races: bool,
    /// Whether the assumption that there are no races may have hidden something.
    pub unsure: bool,
    /// The most writes of a thread of each block of each launch.
    pub writes: Vec<Vec<u32>>,
    spoilt: bool,
    /// The jumps back of loops at whose bound some branch ended.
    pub bounded: BTreeSet<u32>,
    /// Outcomes that may be none of the program's, each with the reason.
    doubtful: BTreeMap<Vec<(Address, u64)>, String>,
    /// Why what some execution shows may be none of the program's.
    doubt: Option<String>,
    /// The threads that wait for ever, if some do.
    pub held_up: Option<HeldUp>,
}

impl<'b> Collector<'b> {
    pub fn new(prepared: &'b Prepared, batch: &'b Batch, images: &'b Images) -> Collector<'b> {
        let judge = Judge::new(&prepared.world, batch.model, &[]);
        let forbids_races =
            batch.model.forbids_races() || batch.launches.iter().any(|launch| launch.kernel.is_module());
        let judge = judge.with_races(forbids_races);
        let writes = prepared.scheduled.iter().map(|launch| vec![0; launch.blocks]).collect();
        Collector {
            prepared,
            batch,
            images,
            judge,
            judged: Judged::default(),
            schedule: None,
            assume_race_free: batch.model.has_races(),
            forbids_races,
            unsure: false,
            writes,
            spoilt: false,
            bounded: BTreeSet::new(),
            doubtful: BTreeMap::new(),
            doubt: None,
            held_up: None,
        }
    }

    /// Whether nothing is wrong so far, and the search was exhaustive.
    pub fn is_clean(&self) -> bool {
        self.judged.violations.is_empty() && self.judged.unknown.is_empty() && !self.unsure && !self.spoilt
    }

    /// Whether some execution has been found to be wrong.
    pub fn has_found(&self) -> bool {
        !self.judged.violations.is_empty()
    }

    pub fn into_judged(self) -> Judged {
        let Collector { mut judged, mut doubtful, doubt, judge, prepared, .. } = self;
        if judged.violations.is_empty() {
            judged.notes.extend(judge.waits.words(&prepared.world));
        }
        doubtful.retain(|outcome, _| !judged.outcomes.contains(outcome));
        // What the scenario does with an outcome that cannot be would be wrong too.
        let why = doubt.or_else(|| doubtful.into_values().next());
        judged.unknown.extend(why.map(Unknown::Stopped));
        judged
    }

    fn is_spoilt(&mut self) -> bool {
        self.spoilt |= self.prepared.world.is_spoilt();
        self.spoilt
    }

    /// Whether there is a race that is no error: then a search that assumes that there is none was not exhaustive.
    fn must_search_in_full(&mut self, execution: &Execution<'_>) -> bool {
        let races = || !Model::Portable.races(execution.graph, execution.analysis).is_empty();
        self.unsure |= self.assume_race_free && !self.forbids_races && races();
        self.unsure
    }

    fn report(&mut self, violation: &Violation, steps: &[Step]) {
        let story = self.prepared.story_of(self.batch, violation, steps);
        self.judged.violations.push(story);
    }

    /// Ends the search with what an execution shows, unless that is doubtful: another one may show something that is
    /// not.
    fn report_unless_doubtful(
        &mut self,
        execution: &Execution<'_>,
        violation: &Violation,
        steps: &[Step],
    ) -> ControlFlow<()> {
        match self.judge.doubt(execution, violation) {
            Some(why) => {
                self.doubt.get_or_insert(why);
                ControlFlow::Continue(())
            }
            None => {
                self.report(violation, steps);
                ControlFlow::Break(())
            }
        }
    }

    /// Reports what an execution shows by itself, and whether the search goes on then; `None` if it shows nothing.
    fn wrong(&mut self, execution: &Execution<'_>) -> Option<ControlFlow<()>> {
        if let Some((violation, steps)) = self.judge.wrong(execution) {
            return Some(self.report_unless_doubtful(execution, &violation, &steps));
        }
        let reported = self.prepared.emitted.iter().find_map(|emitted| {
            let [claimed, site] = emitted.words().map(|word| final_value(execution, word));
            (claimed != 0).then(|| emitted.fault(site))
        });
        self.judged.violations.push(("fault", story::of_fault(reported?)));
        Some(ControlFlow::Break(()))
    }

    /// Keeps what an execution leaves; returns whether that is all of it.
    fn keep(&mut self, execution: &Execution<'_>) -> bool {
        let buffers = self.batch.buffers.len() as u32;
        let cells = execution.cells.iter().filter(|(address, _)| address.memory < buffers);
        let (addresses, locations): (Vec<Address>, Vec<_>) = cells.copied().unzip();
        let is_written = |location: usize| {
            let mut events = execution.graph.events().iter();
            events.any(|event| {
                event.thread.is_some() && event.label.kind == Kind::Write && event.location == Some(location)
            })
        };
        let written: Vec<bool> = locations.iter().map(|&location| is_written(location)).collect();
        let Some(ends) = execution.ends(&locations, MOST_ENDS) else { return false };
        for end in ends {
            let cells = addresses.iter().copied().zip(end.iter().copied()).zip(&written);
            let cells: Vec<_> = cells.filter(|(_, written)| **written).map(|(cell, _)| cell).collect();
            let left: Vec<_> = locations.iter().copied().zip(end).collect();
            let outcome = self.images.left(&self.prepared.world, self.batch, &cells);
            match opencl::doubt(&self.prepared.world, execution, &[], &left) {
                Some(why) => _ = self.doubtful.insert(outcome, why),
                None => _ = self.judged.outcomes.insert(outcome),
            }
        }
        self.judged.outcomes.len() + self.doubtful.len() <= MOST_OUTCOMES
    }
}

/// The value with which an execution leaves a cell, 0 where it did not touch it.
fn final_value(execution: &Execution<'_>, of: Address) -> u64 {
    let Some((_, location)) = execution.cells.iter().find(|(address, _)| *address == of) else { return 0 };
    let ends = execution.ends(&[*location], MOST_ENDS).unwrap_or_default();
    ends.iter().flatten().copied().max().unwrap_or(0)
}

impl Visitor for Collector<'_> {
    fn at_bound(&mut self, source: u32) {
        self.bounded.insert(source);
    }

    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.is_spoilt() || self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if self.schedule.is_some() {
            return ControlFlow::Continue(());
        }
        if let Some(meter) = &self.batch.meter {
            meter.count_execution(execution.graph.len());
        }
        self.judged.events += execution.graph.len() as u64;
        if let Some(flow) = self.wrong(execution) {
            return flow;
        }
        self.judge.waits.note(&self.prepared.world, execution);
        count_writes(execution, &self.prepared.scheduled, &mut self.writes);
        if !self.keep(execution) {
            let why = format!("more than {MOST_OUTCOMES} distinct outcomes");
            self.judged.unknown.push(Unknown::Stopped(why));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.is_spoilt() || self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if let Some(schedule) = &self.schedule
            && !schedule.permits(self.batch.progress, execution, &self.prepared.scheduled)
        {
            return ControlFlow::Continue(());
        }
        if let Some(flow) = self.wrong(execution) {
            return flow;
        }
        if let Some((at, why)) = self.judge.waits_for_the_ended(execution) {
            self.prepared.world.refuse(at, why);
            return ControlFlow::Break(());
        }
        let (stuck, steps) = self.judge.held_up(execution);
        let flow = self.report_unless_doubtful(execution, &Violation::Stuck(stuck.clone()), &steps);
        self.held_up = Some((stuck, steps));
        flow
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.is_spoilt() || self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        let wrong = if self.schedule.is_none() { self.wrong(execution) } else { None };
        wrong.unwrap_or(ControlFlow::Continue(()))
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, has_happened: bool) -> ControlFlow<()> {
        if self.is_spoilt() || self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if self.schedule.is_some() {
            return ControlFlow::Continue(());
        }
        match self.judge.wrong(execution) {
            Some((violation, steps)) if has_happened && matches!(violation, Violation::Race { .. }) => {
                self.report_unless_doubtful(execution, &violation, &steps)
            }
            Some(_) => {
                self.unsure = true;
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }
}
