//! A thread that only waits can be stuck exactly if the place that it reads can be left with another value.

use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, case, show, shrink};
use crate::script::{Op, constant, setup};
use wattle_check::search::{End, Execution, Visitor, last_values, search};
use wattle_memory::{Label, Level, Model, Placement};

/// Whether some finished execution leaves the cell with another value, and whether some execution is stuck.
struct Left {
    cell: u64,
    value: u64,
    other: bool,
    stuck: bool,
}

impl Visitor for Left {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let location = execution.cells.iter().find(|(address, _)| address.element == self.cell);
        self.other |= match location {
            Some(&(_, location)) => {
                last_values(execution.graph, execution.analysis, location).iter().any(|&left| left != self.value)
            }
            None => self.value != 0,
        };
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        self.stuck = true;
        ControlFlow::Continue(())
    }
}

fn left(case: &Case, model: Model, cell: u64, value: u64) -> Left {
    let mut left = Left { cell, value, other: false, stuck: false };
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
