//! Compares what is found where plain stores of one value by the lanes of a warp are no race with all executions: the final memory, the
//! values read, and whether others race.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, show};
use crate::script::{Op, constant, setup};
use wattle_check::search::{
    Address, Execution, Lanes, Setup, Updates, Visitor, Wrong, last_values, search, single_run,
};
use wattle_memory::{Classes, Kind, Label, Level, Model, Placement};

/// Of three threads of a block the last one is of a warp of its own.
const LANES: Lanes = Lanes(2);

#[derive(Default, PartialEq, Debug)]
struct Seen {
    left: BTreeSet<Vec<(Address, u64)>>,
    reads: BTreeSet<Vec<(Option<usize>, u64)>>,
    races: bool,
}

impl Visitor for Seen {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let graph = execution.graph;
        let races = Model::Ptx.races(graph, execution.analysis);
        self.races |= races.into_iter().any(|race| !LANES.are_same(graph, race));
        let mut ends = vec![Vec::new()];
        for &(address, location) in &execution.cells {
            let is_written = |event: &wattle_memory::Event| {
                event.thread.is_some() && event.label.kind == Kind::Write && event.location == Some(location)
            };
            if graph.events().iter().any(is_written) {
                let values: BTreeSet<u64> = last_values(graph, execution.analysis, location).into_iter().collect();
                let with = |end: Vec<(Address, u64)>| -> Vec<Vec<(Address, u64)>> {
                    values.iter().map(|&value| [&end[..], &[(address, value)]].concat()).collect()
                };
                ends = ends.into_iter().flat_map(with).collect();
            }
        }
        self.left.extend(ends);
        let mut reads: Vec<(Option<usize>, usize, u64)> = Vec::new();
        for (id, event) in graph.events().iter().enumerate() {
            if let (Kind::Read, Some(value)) = (event.label.kind, event.value) {
                reads.push((event.thread, id, value));
            }
        }
        reads.sort_unstable();
        self.reads.insert(reads.into_iter().map(|(thread, _, value)| (thread, value)).collect());
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        panic!("nobody waits for ever: all threads of the block come to its barriers");
    }
}

/// Threads of a block between barriers, and perhaps one of another block. In each phase all do the same, but for some.
fn case(random: &mut Random) -> Case {
    let threads = 2 + random.below(2) as usize;
    let (stranger, whole) = (random.one_in(3), !random.one_in(4));
    let mut program = vec![Vec::new(); threads];
    let class = |cell| if cell == 0 && !whole { Classes::BUFFER } else { Classes::BLOCK };
    let plain = |value, cell| Op::Store { cell, value: constant(value), label: Label::plain_write().of(class(cell)) };
    let load = |cell, to| Op::Load { to, cell, label: Label::plain_read().of(class(cell)) };
    for phase in 0..1 + random.below(3) {
        let (stores, cell, value) = (!random.one_in(3), random.below(2), 1 + random.below(2));
        for (thread, ops) in program.iter_mut().enumerate() {
            let own = if random.one_in(6) { 1 + random.below(2) } else { value };
            let place = if random.one_in(6) { random.below(2) } else { cell };
            let op = if stores != random.one_in(8) { plain(own, place) } else { load(place, phase as usize) };
            // Some do it by another statement, and some not at all.
            let nothing = || Op::Fence { label: Label::fence(Level::Thread) };
            ops.extend(match random.below(12) {
                0 => [nothing(), nothing()],
                1 => [nothing(), op],
                _ => [op, nothing()],
            });
            let in_block = !(stranger && thread == threads - 1);
            if in_block {
                let members = (threads - usize::from(stranger)) as u32;
                ops.push(Op::Barrier { members, about: Classes::BOTH, level: Level::Block });
            }
        }
    }
    let place = |thread: usize| Placement::new(u32::from(stranger && thread == threads - 1), thread as u32);
    Case { program, places: (0..threads).map(place).collect() }
}

fn seen(case: &Case, assume_race_free: bool) -> Seen {
    let mut seen = Seen::default();
    let setup =
        Setup { same_stores: Some(LANES), assume_race_free, ..setup(&case.program, case.places.clone(), Model::Ptx) };
    search(&setup, &mut seen);
    seen
}

#[test]
fn they_are_no_race_and_leave_one_value() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(25_000u64);
    let mut random = Random(41);
    let (mut alike, mut races, mut free) = (0, 0, 0);
    for number in 0..many {
        let case = case(&mut random);
        let told = || format!("program {number}\n{}", show(&case));
        let all = seen(&case, false);
        let assumed = seen(&case, true);
        assert_eq!(assumed.races, all.races, "{}", told());
        if !all.races {
            assert_eq!(assumed, all, "{}", told());
        }
        let setup = Setup { same_stores: Some(LANES), ..setup(&case.program, case.places.clone(), Model::Ptx) };
        match single_run(&setup, Updates::Conflict) {
            Ok(run) => {
                assert!(!all.races, "a single run, and a race: {}", told());
                assert_eq!(all.left, BTreeSet::from([run.memory]), "{}", told());
                assert_eq!(all.reads.len(), 1, "{}", told());
                (alike, free) = (alike + u64::from(!run.alike.is_empty()), free + 1);
            }
            Err(Some(wrong)) => {
                assert!(matches!(wrong.wrong, Wrong::Race(..)) && all.races, "{}", told());
                races += 1;
            }
            // A short run that ends at a race leaves it to the search.
            Err(None) => {
                assert!(all.races, "no single run, and no race: {}", told());
                races += 1;
            }
        }
    }
    println!("{many} programs: {free} without a race, {alike} of them with stores of one value, {races} with one");
    assert!(alike > many / 20 && races > many / 10, "{alike} {races}");
}
