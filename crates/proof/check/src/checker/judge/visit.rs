//! The checks on each execution that a search finds.

use std::ops::ControlFlow;

use wattle_memory::{Kind, Model};

use super::super::orders;
use super::super::outcomes::{MAX_OUTCOMES, last_memories};
use super::super::schedule::Schedule;
use super::Judge;
use crate::program::{LaunchWorld, World};
use crate::report::{Violation, Witness};
use crate::search::{Execution, Fault, Visitor};

impl Judge<'_> {
    fn count_writes(&mut self, execution: &Execution<'_>) {
        let blocks = |launch: &LaunchWorld| vec![0; launch.environment.shape.blocks() as usize];
        if self.writes.is_empty() {
            self.writes = self.world.launches.iter().map(blocks).collect();
        }
        let mut counts = vec![0u32; execution.threads.len() + 1];
        for event in execution.graph.events() {
            if let (Some(thread), Kind::Write, Some(_)) = (event.thread, event.label.kind, event.location) {
                counts[thread] += 1;
            }
        }
        for (count, thread) in counts.iter_mut().zip(&execution.threads) {
            *count += thread.private().map_or(0, |own| own.writes);
        }
        for (number, launch) in self.world.launches.iter().enumerate() {
            let per_block = launch.environment.shape.threads_per_block() as usize;
            for (at, thread) in self.world.threads_of(number).enumerate() {
                let most = &mut self.writes[number][at / per_block.max(1)];
                *most = (*most).max(counts[thread]);
            }
        }
    }

    /// Whether there is a race under a model in which races are no error: then the restricted search was not
    /// exhaustive.
    fn must_search_in_full(&mut self, execution: &Execution<'_>) -> bool {
        let races = || Model::Portable.races(execution.graph, execution.analysis);
        self.raced |= self.assume_race_free && !self.forbids_races && !races().is_empty();
        self.raced
    }

    fn witness(&self, execution: &Execution<'_>) -> Box<Witness> {
        Box::new(Witness {
            world: self.world.clone(),
            graph: execution.graph.clone(),
            analysis: execution.analysis.clone(),
            cells: execution.cells.clone(),
            stuck: execution.stuck.clone(),
            faults: execution.faults.clone(),
            excerpt: false,
        })
    }

    /// What is wrong in an execution by itself: one violation, or one of each kind if the checker wants them.
    fn wrong(&self, execution: &Execution<'_>) -> Vec<Violation> {
        let (graph, witness) = (execution.graph, || self.witness(execution));
        let fault = |fault: &Fault| Violation::Fault { witness: witness(), what: described(&self.world, fault) };
        let mut wrong: Vec<Violation> = execution.faults.iter().map(fault).collect();
        let wants_more = |wrong: &Vec<Violation>| wrong.is_empty() || self.run.checker.every_kind;
        if wants_more(&wrong) && self.forbids_races {
            let races = self.run.checker.model.races(graph, execution.analysis);
            // A race between lines far apart in the source explains less than one between neighbours.
            wrong.extend(races.first().map(|&accesses| Violation::Race { witness: witness(), accesses }));
        }
        if wants_more(&wrong) {
            let unwritten = |&read: &usize| graph.event(read).label.kind == Kind::Read && graph.finds_unwritten(read);
            let read = (0..graph.len()).find(unwritten);
            wrong.extend(read.map(|read| Violation::Unwritten { witness: witness(), read }));
        }
        wrong
    }

    /// Takes what is wrong in an execution into the result. The search goes on where every kind is wanted.
    fn show(&mut self, wrong: Vec<Violation>) -> ControlFlow<()> {
        for violation in wrong {
            violation.join(&mut self.violations);
            if !self.run.checker.every_kind {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// The text of a fault: what failed, and its source line.
pub(super) fn described(world: &World, fault: &Fault) -> String {
    let (launch, _) = World::statement(fault.source);
    match (world.fault(fault.fault), world.launches.get(launch)) {
        (Some(fault), Some(launch)) => format!("{}, at {}", fault.describe(launch.program.kernel()), fault.site()),
        _ => "a fault".into(),
    }
}

impl Visitor for Judge<'_> {
    fn begin_again(&mut self) {
        self.forget();
    }

    fn may_wait_at(&mut self, source: u32) {
        self.waits_in_block.may_wait_at(source);
    }

    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.schedule.is_some() {
            return ControlFlow::Continue(());
        }
        self.meter.count_execution(execution.graph.len());
        self.events += execution.graph.len() as u64;
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        let wrong = self.wrong(execution);
        if !wrong.is_empty() {
            return self.show(wrong);
        }
        for event in execution.graph.events().iter().filter(|event| event.source != u32::MAX && event.thread.is_some())
        {
            let (launch, at) = World::statement(event.source);
            if let Some(launch) = self.world.launches.get(launch) {
                self.executed.insert((launch.number, at));
            }
        }
        self.count_writes(execution);
        if !self.run.checker.target.promises_threads() {
            self.waits_in_block.note(execution);
        }
        let Some(memories) = last_memories(execution) else {
            self.too_many = true;
            return ControlFlow::Break(());
        };
        for values in memories {
            if self.outcomes.len() >= MAX_OUTCOMES {
                self.too_many = true;
                return ControlFlow::Break(());
            }
            if !self.outcomes.contains_key(&values) {
                let witness = self.witness(execution);
                self.outcomes.insert(values.clone(), (witness, None));
            }
            if self.run.checker.count_orders
                && let Some((_, known)) = self.outcomes.get_mut(&values)
            {
                let found = orders::count(execution, &self.world);
                known.get_or_insert_default().add(&found);
            }
        }
        ControlFlow::Continue(())
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if self.schedule.is_some() {
            return ControlFlow::Continue(());
        }
        let wrong = self.wrong(execution);
        self.show(wrong)
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, has_happened: bool) -> ControlFlow<()> {
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        if self.schedule.is_some() {
            return ControlFlow::Continue(());
        }
        if !has_happened {
            self.raced = !self.wrong(execution).is_empty();
            return if self.raced { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        if self.forbids_races {
            let races = self.run.checker.model.races(execution.graph, execution.analysis);
            if let Some(&accesses) = races.first() {
                return self.show(vec![Violation::Race { witness: self.witness(execution), accesses }]);
            }
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.must_search_in_full(execution) {
            return ControlFlow::Break(());
        }
        let stuck = execution.stuck.clone();
        if let Some(schedule) = &self.schedule
            && !schedule.permits(self.run.checker.progress, execution, &self.world.scheduled())
        {
            return ControlFlow::Continue(());
        }
        let halts = self.schedule.iter().flat_map(Schedule::halts);
        let halted = halts.map(|(launch, block, _)| (launch, block)).collect();
        // A violation before threads are stuck explains more than the fact that they are.
        let mut wrong = self.wrong(execution);
        if wrong.is_empty() || self.run.checker.every_kind {
            wrong.push(Violation::Stuck { witness: self.witness(execution), stuck, halted });
        }
        self.show(wrong)
    }
}
