//! Compares the search that keeps private cells in the states of their threads with the one that has all accesses in its
//! graphs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, case, for_vulkan, show, shrink};
use crate::script::{Op, constant, registers, setup};
use wattle_check::search::{
    Address, End, Execution, PrivateCells, Setup, SharedCells, Spawn, Visitor, keeping, last_values, search,
};
use wattle_memory::{Kind, Label, Model, Placement};

/// The registers of all threads, and the values that can be left in each cell that was written.
type Outcome = (Vec<Vec<u64>>, Vec<(Address, Vec<u64>)>);

/// The outcomes, with what is left in the cells that were written, and their counts.
#[derive(Default, Debug, PartialEq)]
struct Seen {
    outcomes: BTreeMap<Outcome, usize>,
    stuck: usize,
    races: Option<Model>,
    racy: bool,
}

impl Visitor for Seen {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let graph = execution.graph;
        let model = self.races.expect("it is set");
        self.racy |= !model.races(graph, execution.analysis).is_empty();
        let registers = registers(execution).map(|all| all.iter().map(|value| value.unwrap_or(99)).collect()).collect();
        let written = |location| {
            let mut own = graph.events().iter().filter(|event| event.thread.is_some());
            own.any(|event| event.label.kind == Kind::Write && event.location == Some(location))
        };
        let cells = execution.cells.iter().filter(|(_, location)| written(*location));
        let left =
            |&(address, location): &(Address, usize)| (address, last_values(graph, execution.analysis, location));
        let mut memory: Vec<_> = cells.map(left).collect();
        for own in execution.threads.iter().filter_map(|thread| thread.private()) {
            memory.extend(own.cells.iter().map(|(&address, value)| (address, vec![value.expect("all is known")])));
        }
        memory.sort();
        *self.outcomes.entry((registers, memory)).or_default() += 1;
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        self.stuck += 1;
        ControlFlow::Continue(())
    }
}

fn seen(setup: &Setup<'_>, races: Model) -> (End, Seen) {
    let mut seen = Seen { races: Some(races), ..Seen::default() };
    (search(setup, &mut seen).0, seen)
}

/// How often the search began again; an error if the two searches disagree.
fn agree(case: &Case, model: Model, assume_race_free: bool) -> Result<usize, String> {
    let races = if model == Model::Ptx { Model::Portable } else { model };
    let whole = Setup { assume_race_free, ..setup(&case.program, case.places.clone(), model) };
    let (end, all) = seen(&whole, races);
    assert_eq!(end, End::Exhausted);
    let (mut shared, mut again) = (SharedCells::default(), 0);
    loop {
        let cells = PrivateCells::new(whole.memory, shared);
        let mut keeps = Setup { assume_race_free, ..setup(&case.program, case.places.clone(), model) };
        let threads = keeps.threads.into_iter().enumerate();
        keeps.threads =
            threads.map(|(thread, spawn)| Spawn { process: keeping(spawn.process, thread, &cells), ..spawn }).collect();
        keeps.private = Some(&cells);
        let (end, kept) = seen(&keeps, races);
        if let Some(known) = cells.contradicted() {
            (shared, again) = (known, again + 1);
            continue;
        }
        assert_eq!(end, End::Exhausted);
        // If there is a race, the rest is not searched in full.
        let fits = kept == all || (assume_race_free && kept.racy && all.racy);
        return if fits { Ok(again) } else { Err(format!("{model}:\n{}all {all:?}\nkept {kept:?}", show(case))) };
    }
}

/// The same program with accesses of cells that belong to single threads put in.
fn with_own_cells(case: &Case, random: &mut Random) -> Case {
    let mut case = case.clone();
    for (thread, ops) in case.program.iter_mut().enumerate() {
        for _ in 0..1 + random.below(3) {
            let (at, cell) = (random.below(ops.len() as u64 + 1) as usize, 8 + 2 * thread as u64 + random.below(2));
            let register = random.below(8) as usize;
            let value = match random.below(2) {
                0 => constant(1 + random.below(5)),
                _ => crate::script::register(register),
            };
            // Statements that are skipped are counted, so nothing goes in behind such a one.
            if ops.iter().any(|op| matches!(op, Op::SkipUnless { .. })) {
                continue;
            }
            ops.insert(
                at,
                match random.below(2) {
                    0 => Op::Load { to: register, cell, label: Label::plain_read() },
                    _ => Op::Store { cell, value, label: Label::plain_write() },
                },
            );
        }
    }
    case
}

#[test]
fn cells_of_one_thread_take_part_in_no_choice() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000u64);
    let mut random = Random(29);
    let (mut again, mut errors) = (0, Vec::new());
    let models = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust, Model::Sc];
    for number in 0..many {
        let case = with_own_cells(&case(&mut random, 5), &mut random);
        for model in models {
            let case = if model == Model::Vulkan { for_vulkan(&case) } else { case.clone() };
            for assume_race_free in [false, true] {
                match agree(&case, model, assume_race_free) {
                    Ok(times) => again += times,
                    Err(_) => {
                        let least = shrink(&case, |case| agree(case, model, assume_race_free).is_err());
                        let error = agree(&least, model, assume_race_free).unwrap_err();
                        errors.push(format!("program {number}, race-free {assume_race_free}, {error}"));
                    }
                }
            }
        }
        assert!(errors.len() < 3, "{}", errors.join("\n"));
    }
    println!("{many} programs under {} models; {again} searches began again", models.len());
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(again > 0, "some cells turn out to be shared");
}

#[test]
fn a_cell_that_two_threads_touch_is_shared() {
    let store = |cell| Op::Store { cell, value: constant(7), label: Label::plain_write() };
    let load = |cell| Op::Load { to: 0, cell, label: Label::plain_read() };
    let places = || (0..2).map(|block| Placement::new(block, 0)).collect();
    let races = Case { program: vec![vec![store(0)], vec![load(0)]], places: places() };
    assert_eq!(agree(&races, Model::Portable, false), Ok(1));
    let apart = Case { program: vec![vec![store(0), load(2)], vec![store(1), load(1), load(2)]], places: places() };
    assert_eq!(agree(&apart, Model::Portable, false), Ok(0));
}
