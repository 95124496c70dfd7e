//! Compares the single run of programs that have one execution with the search, and with all candidate executions.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, show, shrink};
use crate::script::{Op, Value, constant, setup};
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

/// A program whose threads in block 0 meet at barriers, with half of its accesses plain, and mostly to cells that no
/// other thread touches before the next barrier.
fn case(random: &mut Random, accesses: u64) -> Case {
    let threads = 2 + random.below(2) as usize;
    let together = if random.one_in(4) { threads - 1 } else { threads };
    let place = |thread: usize| match thread < together {
        true => Placement::new(0, thread as u32),
        false => Placement::new(1, 0),
    };
    let places = (0..threads).map(place).collect();
    let barriers = if together > 1 { random.below(3) } else { 0 };
    let cells = 2 + random.below(3);
    let shuffles = together > 1 && random.one_in(3);
    let (shift, plain_only, atomics) = (random.below(4), random.one_in(2), random.below(4));
    let mut program = vec![Vec::new(); threads];
    for phase in 0..=barriers {
        let about = random.pick(&[Classes::BOTH, Classes::BOTH, Classes::BLOCK, Classes::BUFFER, Classes::NONE]);
        for (thread, ops) in program.iter_mut().enumerate() {
            for _ in 0..random.below(1 + accesses / threads as u64 / (1 + barriers)) + 1 {
                let near = (thread as u64 + phase * shift) % cells;
                let cell = if random.one_in(6) { random.below(cells) } else { near };
                let atomic = !plain_only && random.below(4) < atomics;
                ops.push(op(random, ops.len(), cell, atomic));
            }
            // What a thread stores behind a shuffle is what another one has read.
            if shuffles && thread < together {
                let (register, from) = (random.below(8) as usize, random.below(together as u64));
                ops.push(Op::Shuffle { to: 7, register, from, members: together as u32 });
                let near = (thread as u64 + phase * shift) % cells;
                let class = if near.is_multiple_of(2) { Classes::BUFFER } else { Classes::BLOCK };
                let value = Value { constant: 1, registers: vec![7] };
                ops.push(Op::Store { cell: near, value, label: Label::plain_write().of(class) });
            }
            if phase < barriers && thread < together {
                ops.push(Op::Barrier { members: together as u32, about });
            }
        }
    }
    Case { program, places }
}

/// A program of three threads of a block, of which two meet at barriers of their own, as the lanes of a warp do; each mostly
/// touches one cell of two between those.
fn case_of_groups(random: &mut Random) -> Case {
    let mut program = vec![Vec::new(); 3];
    let (first, meetings, atomics) = (random.below(2), 1 + random.below(3), random.one_in(2));
    for meeting in 0..meetings {
        let (count, of_all) = (1 + random.below(3), random.one_in(3));
        for (thread, ops) in program.iter_mut().enumerate() {
            for _ in 0..count {
                let usual = if thread == 2 { 2 } else { (first + thread as u64 + meeting) % 2 };
                let cell = if random.one_in(8) { random.below(3) } else { usual };
                let atomic = atomics && random.one_in(3);
                ops.push(op(random, ops.len(), cell, atomic));
            }
            // Threads meet where they have come equally far.
            ops.push(match (of_all, thread) {
                (true, _) => Op::Barrier { members: 3, about: Classes::BOTH },
                (false, 2) => Op::Fence { label: Label::fence(Level::Thread) },
                (false, _) => Op::Barrier { members: 2, about: Classes::BOTH },
            });
        }
    }
    Case { program, places: (0..3).map(|thread| Placement::new(0, thread)).collect() }
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

/// What becomes of the fences behind a barrier.
#[derive(Clone, Copy, PartialEq)]
enum Acquire {
    All,
    Nobody,
    /// All but one thread.
    NotOne,
    /// One thread does so behind its accesses.
    OneLate,
    /// One thread neither does so nor accesses anything.
    OneIdle,
    /// Each thread, or not.
    Some,
}

/// A program of threads of a block that release before its barriers and acquire behind them, by fences of some storage classes,
/// or forget to; each mostly touches a cell that another one has touched before the last barrier.
fn case_of_fences(random: &mut Random) -> Case {
    let threads = 2 + random.below(2) as usize;
    let mut program = vec![Vec::new(); threads];
    let careful = !random.one_in(3);
    for phase in 0..2 + random.below(3) {
        let about = random.pick(&[Classes::BOTH, Classes::BLOCK, Classes::BUFFER, Classes::NONE]);
        let semantics = random.pick(&[Classes::BOTH, Classes::BOTH, Classes::BUFFER, Classes::BLOCK]);
        let level = random.pick(&[Level::Block, Level::Device, Level::Device, Level::Subgroup]);
        let acquire = match careful {
            true => random.pick(&[
                Acquire::All,
                Acquire::All,
                Acquire::Nobody,
                Acquire::NotOne,
                Acquire::OneLate,
                Acquire::OneIdle,
            ]),
            false => Acquire::Some,
        };
        let one = random.below(threads as u64) as usize;
        for (thread, ops) in program.iter_mut().enumerate() {
            let mut fence = |label: Label| {
                let own = if careful || random.one_in(2) { semantics } else { Classes::BUFFER };
                let makes_available = label.release && (careful || !random.one_in(8));
                Op::Fence { label: Label { semantics: own, makes_available, ..label } }
            };
            let (release, behind) = (fence(Label::fence(level).releasing()), fence(Label::fence(level).acquiring()));
            if phase > 0 {
                ops.extend((careful || !random.one_in(4)).then_some(release));
                ops.push(Op::Barrier { members: threads as u32, about });
            }
            let early = match acquire {
                Acquire::All => true,
                Acquire::Nobody => false,
                Acquire::NotOne | Acquire::OneLate | Acquire::OneIdle => thread != one,
                Acquire::Some => !random.one_in(4),
            };
            ops.extend((phase > 0 && early).then(|| behind.clone()));
            for _ in 0..1 + random.below(2) {
                let near = (thread as u64 + phase) % threads as u64;
                let cell = if random.one_in(8) { random.below(threads as u64) } else { near };
                if acquire != Acquire::OneIdle || thread != one {
                    ops.push(op(random, ops.len(), cell, false));
                }
            }
            ops.extend((phase > 0 && acquire == Acquire::OneLate && thread == one).then_some(behind));
        }
    }
    let apart = random.one_in(2);
    let place = |thread: u32| Placement { subgroup: if apart { thread } else { 0 }, ..Placement::new(0, thread) };
    Case { program, places: (0..threads as u32).map(place).collect() }
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

/// A program in which a thread writes plainly, and another one accesses the same cell if it finds that an atomic flag is set. Fences,
/// atomic accesses that release and acquire, and barriers of the two blocks, or of a group of one block, may stand between, as many
/// as order the two or fewer.
fn case_of_messages(random: &mut Random) -> Case {
    let apart = random.one_in(2);
    let level = Level::Device;
    let (mut read, mut write) = (Label::atomic_read(level), Label::atomic_write(level));
    (read.coherent, write.coherent) = (true, true);
    let barrier = || Op::Barrier { members: 2, about: Classes::BOTH };
    // The writer and its neighbour.
    let mut writer = vec![Op::Store { cell: 0, value: constant(7), label: Label::plain_write() }];
    let mut neighbour = Vec::new();
    let released = random.below(4);
    match released {
        0 => writer.push(Op::Fence { label: Label::fence(level).releasing() }),
        1 => {
            writer.push(barrier());
            neighbour.push(barrier());
        }
        2 => write = write.releasing(),
        _ => {}
    }
    let by_neighbour = released == 1 && random.one_in(2);
    let flag = match random.one_in(2) {
        true => Op::Store { cell: 4, value: constant(1), label: write },
        false => Op::Add {
            to: 1,
            cell: 4,
            value: constant(1),
            read: Label { coherent: true, ..Label::atomic_read(level) },
            write,
        },
    };
    if by_neighbour {
        neighbour.push(flag)
    } else {
        writer.push(flag)
    }
    // The reader and its neighbour.
    let acquired = random.below(if apart { 4 } else { 3 });
    let (mut reader, mut other) = (Vec::new(), Vec::new());
    if acquired == 2 {
        read = read.acquiring();
    }
    let flagged = random.below(2);
    reader.push(Op::Load { to: 0, cell: 4, label: read });
    if acquired == 3 {
        reader.push(barrier());
        other.push(barrier());
    }
    let access = match random.one_in(2) {
        true => Op::Load { to: 2, cell: 0, label: Label::plain_read() },
        false => Op::Store { cell: 0, value: constant(2), label: Label::plain_write() },
    };
    let fence = (acquired == 0).then(|| Op::Fence { label: Label::fence(level).acquiring() });
    let behind: Vec<Op> = fence.into_iter().chain([access]).collect();
    if flagged == 1 || random.one_in(2) {
        reader.push(Op::SkipUnless { register: 0, value: 1, equal: true, count: behind.len() });
    }
    reader.extend(behind);
    let (program, places) = match apart {
        true => (vec![writer, neighbour, reader, other], [(0, 0), (0, 1), (1, 0), (1, 1)].to_vec()),
        false => (vec![writer, neighbour, reader], [(0, 0), (0, 1), (0, 2)].to_vec()),
    };
    Case { program, places: places.into_iter().map(|(block, thread)| Placement::new(block, thread)).collect() }
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

fn op(random: &mut Random, at: usize, cell: u64, atomic: bool) -> Op {
    let (to, value) = (at % 8, constant(1 + random.below(9)));
    // A cell is in one storage class.
    let class = if cell.is_multiple_of(2) { Classes::BUFFER } else { Classes::BLOCK };
    if !atomic {
        return match random.below(2) {
            0 => Op::Load { to, cell, label: Label::plain_read().of(class) },
            _ => Op::Store { cell, value, label: Label::plain_write().of(class) },
        };
    }
    let level = random.pick(&[Level::Block, Level::Device, Level::Device]);
    let (mut read, mut write) = (Label::atomic_read(level).of(class), Label::atomic_write(level).of(class));
    (read.coherent, write.coherent) = (true, true);
    if random.one_in(4) {
        (read, write) = (read.acquiring(), write.releasing());
    }
    let cell = 4 + cell;
    match random.below(8) {
        0 => Op::Load { to, cell, label: read },
        1 => Op::Store { cell, value, label: write },
        2 => Op::Exchange { to, cell, value, read, write },
        3 => Op::Fence { label: Label::fence(level).acquiring().releasing() },
        _ => Op::Add { to, cell, value, read, write },
    }
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
