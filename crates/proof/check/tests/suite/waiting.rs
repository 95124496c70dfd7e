//! A thread that only waits can be stuck exactly if the place that it reads can be left with another value, or, where accesses
//! may race, has one that nothing which the thread must see comes after.

use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, case, show, shrink};
use crate::script::{Op, constant, setup};
use wattle_check::search::{End, Execution, Visitor, search};
use wattle_memory::{Event, Kind, Label, Level, Model, Placement};

/// Whether some finished execution leaves the cell with another value, and whether some execution is stuck.
struct Left {
    model: Model,
    cell: u64,
    value: u64,
    other: bool,
    stuck: bool,
}

/// Whether a thread elsewhere on the first device, which reads atomically, sees a write in the end. PTX says so of morally
/// strong pairs alone: the write is strong, and of a scope that reaches the thread.
fn is_seen(model: Model, placement: &Placement, write: &Event) -> bool {
    let reaches = match write.label.level {
        Level::System => true,
        Level::Device => placement.device == 0,
        Level::Thread | Level::Subgroup | Level::Block | Level::QueueFamily => false,
    };
    model != Model::Ptx || write.label.atomic && reaches
}

impl Visitor for Left {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let location = execution.cells.iter().find(|(address, _)| address.element == self.cell);
        let Some(&(_, location)) = location else {
            self.other |= self.value != 0;
            return ControlFlow::Continue(());
        };
        let (graph, after) = (execution.graph, &execution.analysis.coherence);
        let of_place = |&write: &usize| {
            let event = graph.event(write);
            event.label.kind == Kind::Write && event.location == Some(location)
        };
        let writes: Vec<usize> = (0..graph.len()).filter(of_place).collect();
        let value = |write: usize| graph.event(write).value;
        // It stays where it reads another value, if no other value that it sees comes after that.
        self.other |= writes.iter().any(|&write| {
            let changes = |&later: &usize| {
                let event = graph.event(later);
                let seen = event.thread.is_some_and(|own| is_seen(self.model, &graph.threads()[own], event));
                after.has(write, later) && seen && value(later) != value(write)
            };
            value(write) != Some(self.value) && !writes.iter().any(changes)
        });
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        self.stuck = true;
        ControlFlow::Continue(())
    }
}

fn left(case: &Case, model: Model, cell: u64, value: u64) -> Left {
    let mut left = Left { model, cell, value, other: false, stuck: false };
    assert_eq!(search(&setup(&case.program, case.places.clone(), model), &mut left).0, End::Exhausted);
    left
}

fn agree(case: &Case, at: usize, model: Model, cell: u64, value: u64) -> bool {
    let wait = Op::Await { cell, value: constant(value), label: Label::atomic_read(Level::System) };
    let mut waiting = case.clone();
    waiting.program.insert(at.min(case.program.len()), vec![wait]);
    waiting.places.insert(at.min(case.program.len()), Placement::new(7, 0));
    left(case, model, cell, value).other == left(&waiting, model, cell, value).stuck
}

#[test]
fn a_thread_that_waits_is_stuck_where_the_value_can_be_another_in_the_end() {
    let mut random = Random(21);
    let programs = std::env::var("WATTLE_TEST_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000);
    let mut wrong = Vec::new();
    for number in 0..programs {
        let case = case(&mut random, 5);
        let (at, cell, value) = (random.below(3) as usize, random.below(2), random.below(4));
        for model in [Model::Portable, Model::Ptx, Model::Rust, Model::Sc] {
            if !agree(&case, at, model, cell, value) {
                let least = shrink(&case, |case| !agree(case, at, model, cell, value));
                wrong.push(format!(
                    "program {number}, {model}, thread {at} waits: c{cell} == {value}\n{}",
                    show(&least)
                ));
            }
        }
        if wrong.len() > 8 {
            break;
        }
    }
    println!("{programs} programs beside a thread that waits, under four models");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
