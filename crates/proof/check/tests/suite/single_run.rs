//! Compares the single run of programs that have one execution with the search, and with all candidate executions.

mod cases;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, show, shrink};
use crate::script::{Op, constant, setup};
use cases::{case, case_of_fences, case_of_groups, case_of_messages};
use wattle_check::search::{
    Address, Execution, SingleRun, Spawn, Statistics, Updates, Visitor, Wrong, WrongRun, last_values, search,
    single_run,
};
use wattle_memory::{Classes, Kind, Label, Level, Model, Placement};

/// The values that are left in the cells that some thread writes.
type Left = Vec<(Address, u64)>;
/// The values of the reads of each thread.
type Reads = Vec<Vec<u64>>;

#[derive(Default)]
struct All {
    model: Option<Model>,
    left: BTreeSet<Left>,
    reads: BTreeSet<Reads>,
    races: bool,
    stuck: bool,
}

fn reads_of(graph: &wattle_memory::Graph, threads: usize) -> Reads {
    let mut reads = vec![Vec::new(); threads];
    for event in graph.events().iter().filter(|event| event.label.kind == Kind::Read) {
        if let (Some(thread), Some(value)) = (event.thread, event.value) {
            reads[thread].push(value);
        }
    }
    reads
}

impl Visitor for All {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let graph = execution.graph;
        self.races |= self.model.is_some_and(|model| !model.races(graph, execution.analysis).is_empty());
        let written = |location: usize| {
            let here =
                |event: &wattle_memory::Event| event.label.kind == Kind::Write && event.location == Some(location);
            graph.events().iter().any(|event| event.thread.is_some() && here(event))
        };
        let cells = execution.cells.iter().filter(|(_, location)| written(*location));
        let mut all = vec![Vec::new()];
        for &(address, location) in cells {
            let values = last_values(graph, execution.analysis, location);
            let with =
                |left: Left| values.iter().map(move |&value| [&left[..], &[(address, value)]].concat()).collect();
            all = all.into_iter().flat_map(|left: Left| -> Vec<Left> { with(left) }).collect();
        }
        self.left.extend(all);
        self.reads.insert(reads_of(graph, execution.threads.len()));
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        self.stuck = true;
        ControlFlow::Continue(())
    }
}

fn all(case: &Case, model: Model) -> (All, Statistics) {
    let races = if model == Model::Ptx { Model::Portable } else { model };
    let mut all = All { model: Some(races), ..All::default() };
    let (_, statistics) = search(&setup(&case.program, case.places.clone(), model), &mut all);
    (all, statistics)
}

fn alone(case: &Case, model: Model, updates: Updates) -> Option<SingleRun> {
    single_run(&setup(&case.program, case.places.clone(), model), updates).ok()
}

/// Whether a program has a single run; an error if the search does not agree with it.
fn agree(case: &Case, model: Model) -> Result<bool, String> {
    let wrong = |what: String| Err(format!("{model}: {what}\n{}", show(case)));
    let threads = case.program.len();
    let accesses = case.program.iter().flatten();
    let is_plain = |op: &Op| match op {
        Op::Load { label, .. } | Op::Store { label, .. } => !label.atomic,
        Op::Barrier { .. } | Op::Shuffle { .. } => true,
        _ => false,
    };
    let plain = accesses.clone().all(is_plain);
    let Some(single) = alone(case, model, Updates::Conflict) else {
        let races = !matches!(model, Model::Sc | Model::Unordered);
        if plain && races {
            let (all, _) = all(case, model);
            if !all.races && !all.stuck {
                return wrong("no single run was found, and nothing races".into());
            }
        }
        let Some(single) = alone(case, model, Updates::Commute) else { return Ok(false) };
        let (all, _) = all(case, model);
        return match all.left.first() {
            Some(left) if all.left.len() == 1 && *left == single.memory && !all.races && !all.stuck => Ok(true),
            _ => wrong(format!("{:?} and not {:?}, races {}", single.memory, all.left, all.races)),
        };
    };
    let (all, statistics) = all(case, model);
    let graph = single.graph.as_ref().ok_or("the graph of a small run is kept")?;
    let reads = BTreeSet::from([reads_of(&graph.0, threads)]);
    let left = BTreeSet::from([single.memory.clone()]);
    if statistics.complete != 1 || all.races || all.stuck || all.left != left || all.reads != reads {
        let found =
            format!("{left:?} {reads:?}; all: {:?} {:?} {statistics:?} races {}", all.left, all.reads, all.races);
        return wrong(found);
    }
    if !case.program.iter().flatten().any(|op| matches!(op, Op::Barrier { .. } | Op::Shuffle { .. })) {
        let naive = crate::brute::judge(&case.program, &case.places, model);
        if naive.count() != 1 || naive.racy {
            return wrong(format!("there are {} candidate executions, races {}", naive.count(), naive.racy));
        }
    }
    Ok(true)
}

#[test]
fn groups_of_a_block_are_ordered_by_their_own_barriers() {
    let mut random = Random(19);
    let mut single = 0;
    for _ in 0..2_000 {
        let case = case_of_groups(&mut random);
        for model in [Model::Portable, Model::Vulkan] {
            single += u64::from(agree(&case, model).unwrap_or_else(|error| panic!("{error}")));
            ends_at_race(&case, model).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    assert!(single > 400, "a tenth of the programs has a single run: {single}");
}

#[test]
fn fences_around_barriers_order_what_those_do_not() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(8_000u64);
    let mut random = Random(23);
    let (mut single, mut ends, mut needed) = (0, 0, 0);
    for _ in 0..many {
        let case = case_of_fences(&mut random);
        for model in [Model::Vulkan, Model::Portable] {
            let is_single = agree(&case, model).unwrap_or_else(|error| panic!("{error}"));
            let is_race = ends_at_race(&case, model).unwrap_or_else(|error| panic!("{error}"));
            if model == Model::Vulkan {
                (single, ends) = (single + u64::from(is_single), ends + u64::from(is_race));
                let mut without = case.clone();
                without.program.iter_mut().for_each(|ops| ops.retain(|op| !matches!(op, Op::Fence { .. })));
                needed += u64::from(is_single && alone(&without, model, Updates::Conflict).is_none());
            }
        }
    }
    println!("{many} programs, {single} with a single run, {needed} of these by their fences, {ends} end at a race");
    assert!(needed > many / 100 && ends > many / 10, "{single} {needed} {ends}");
}

#[test]
fn what_atomic_accesses_order_is_no_race() {
    let mut random = Random(29);
    let (mut ends, mut free) = (0, 0);
    for _ in 0..300 {
        let case = case_of_messages(&mut random);
        for model in [Model::Portable, Model::Vulkan, Model::Rust] {
            let is_race = ends_at_race(&case, model).unwrap_or_else(|error| panic!("{error}"));
            ends += u64::from(is_race);
            free += u64::from(!is_race && !all(&case, model).0.races);
        }
    }
    println!("{ends} end at a race, {free} have none");
    assert!(ends > 50 && free > 300, "{ends} {free}");
}

#[test]
fn a_single_run_is_the_only_execution() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(2_000u64);
    let mut random = Random(13);
    let (mut single, mut errors) = (0, Vec::new());
    for number in 0..many {
        let case = case(&mut random, 8);
        for model in Model::ALL {
            match agree(&case, model) {
                Ok(is_single) => single += u64::from(is_single),
                Err(_) => {
                    let least = shrink(&case, |case| agree(case, model).is_err());
                    errors.push(format!("program {number}, {}", agree(&least, model).unwrap_err()));
                }
            }
        }
        assert!(errors.len() < 4, "{}", errors.join("\n"));
    }
    println!("{many} programs under each model, {single} of these with a single run");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(single > many, "a sixth of the programs has a single run: {single}");
}

/// Two launches, one after the other, of two threads each in blocks of their own.
fn launches(after: bool) -> Option<SingleRun> {
    let store = |cell| Op::Store { cell, value: constant(7), label: Label::plain_write() };
    let load = |cell| Op::Load { to: 0, cell, label: Label::plain_read() };
    let program = vec![vec![store(0)], vec![store(1)], vec![load(1), store(2)], vec![load(0), load(1)]];
    let places = (0..4).map(|block| Placement::new(block, 0)).collect();
    let mut setup = setup(&program, places, Model::Vulkan);
    for (thread, spawn) in setup.threads.iter_mut().enumerate() {
        let Spawn { after: earlier, .. } = spawn;
        *earlier = if after && thread > 1 { [0, 1].into() } else { [].into() };
    }
    single_run(&setup, Updates::Conflict).ok()
}

/// Whether the single run of a program that is too long to be shown ends at a race; an error if no execution races.
fn ends_at_race(case: &Case, model: Model) -> Result<bool, String> {
    let mut long = case.program.clone();
    for (ops, cell) in long.iter_mut().zip(90..) {
        let own = Op::Store { cell, value: constant(1), label: Label::plain_write().of(Classes::BUFFER) };
        ops.splice(0..0, std::iter::repeat_n(own, 140));
    }
    let setup = setup(&long, case.places.clone(), model);
    let mut ends = false;
    for updates in [Updates::Conflict, Updates::Commute, Updates::OneOfSeveral] {
        let race = match single_run(&setup, updates) {
            Err(Some(race)) => race,
            Err(None) => continue,
            Ok(_) if updates == Updates::OneOfSeveral => {
                // Nothing was unordered.
                assert!(alone(case, model, Updates::Conflict).is_some(), "{model}: one of several\n{}", show(case));
                continue;
            }
            Ok(_) => continue,
        };
        let (all, _) = all(case, model);
        // Where threads wait for ever, no execution is complete.
        if !all.races && !all.stuck {
            return Err(format!("{model}: no race {race:?}\n{}", show(case)));
        }
        ends = true;
    }
    Ok(ends)
}

#[test]
fn a_run_ends_only_at_races() {
    let mut random = Random(17);
    let mut found = Model::ALL.map(|model| (model, 0));
    for _ in 0..1_000 {
        let case = case(&mut random, 8);
        for (model, found) in &mut found {
            let ends = ends_at_race(&case, *model).unwrap_or_else(|error| panic!("{error}"));
            *found += usize::from(ends);
        }
    }
    for (model, found) in found {
        assert_eq!(found > 100, model.has_races(), "{model}: {found} of 1000");
    }
}

#[test]
fn the_last_reader_that_writes_then_races_with_the_others() {
    let store = |cell, value| Op::Store { cell, value: constant(value), label: Label::plain_write() };
    let load = Op::Load { to: 0, cell: 0, label: Label::plain_read() };
    // Long enough that the two accesses are shown without the others.
    let mut last = vec![store(90, 1); 600];
    last.extend([load.clone(), store(0, 1)]);
    let program = vec![vec![store(0, 7)], vec![load.clone()], vec![load], last];
    let places = (0..4).map(|thread| Placement::new(0, thread)).collect();
    let mut setup = setup(&program, places, Model::Portable);
    setup.threads[1..].iter_mut().for_each(|later| later.after = [0].into());
    let race = single_run(&setup, Updates::Conflict).expect_err("two accesses race").expect("the race is shown");
    let WrongRun { graph, wrong: Wrong::Race(read, write), .. } = *race else { panic!("it is a race") };
    let shown = [read, write].map(|event| (graph.event(event).thread, graph.event(event).value));
    assert_eq!(shown, [(Some(2), Some(7)), (Some(3), Some(1))]);
}

#[test]
fn a_launch_comes_before_the_next_one() {
    let single = launches(true).expect("the launches are ordered");
    assert_eq!(
        single.memory.iter().map(|&(address, value)| (address.element, value)).collect::<Vec<_>>(),
        [(0, 7), (1, 7), (2, 7)]
    );
    assert!(launches(false).is_none(), "two launches at the same time race");
}

#[test]
fn a_result_that_is_looked_at_is_no_reason_for_one_order() {
    let (read, write) = (Label::atomic_read(Level::Device), Label::atomic_write(Level::Device));
    let add = || Op::Add { to: 0, cell: 0, value: constant(1), read, write };
    let look = Op::SkipUnless { register: 0, value: 1, equal: true, count: 0 };
    let places = || (0..2).map(|block| Placement::new(block, 0)).collect();
    let blind = vec![vec![add()], vec![add()]];
    assert!(single_run(&setup(&blind, places(), Model::Portable), Updates::Commute).is_ok());
    assert!(single_run(&setup(&blind, places(), Model::Portable), Updates::Conflict).is_err());
    let looks = vec![vec![add(), look], vec![add()]];
    assert!(single_run(&setup(&looks, places(), Model::Portable), Updates::Commute).is_err());
    // Scopes that do not reach the other thread.
    let (read, write) = (Label::atomic_read(Level::Block), Label::atomic_write(Level::Block));
    let narrow = || vec![Op::Add { to: 0, cell: 0, value: constant(1), read, write }];
    let apart = vec![narrow(), narrow()];
    assert!(single_run(&setup(&apart, places(), Model::Portable), Updates::Commute).is_err());
}

#[test]
fn a_thread_that_waits_for_ever_has_no_single_run() {
    let program = vec![vec![Op::Await { cell: 0, value: constant(1), label: Label::plain_read() }]];
    let setup = setup(&program, vec![Placement::new(0, 0)], Model::Portable);
    assert!(single_run(&setup, Updates::Conflict).is_err());
}
