//! Compares the runs that stand for programs with counters with the search, and with all candidate executions.

mod flags;
mod phases;
mod tickets;
mod vulkan;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, show, shrink};
use crate::script::{Op, Value, constant, register, setup};
use flags::{look, raise, sets_flag};
use vulkan::{coherent, weaken};
use wattle_check::search::{Address, Answers, Counted, End, Execution, Visitor, counted_runs, last_values, search};
use wattle_memory::{Classes, Kind, Label, Level, Model, Placement};

/// The values that are left in the cells that some thread writes.
type Left = Vec<(Address, u64)>;

const MODELS: [Model; 5] = [Model::Portable, Model::Ptx, Model::Rust, Model::Vulkan, Model::Sc];

/// Those under which a search is fast enough for many programs: `sc` has the orders of all writes.
const FAST: [Model; 4] = [Model::Portable, Model::Ptx, Model::Rust, Model::Vulkan];

/// What a search finds.
#[derive(Default, Debug)]
struct All {
    model: Option<Model>,
    left: BTreeSet<Left>,
    races: bool,
    stuck: bool,
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
        let mut all = vec![Vec::new()];
        for &(address, location) in execution.cells.iter().filter(|(_, location)| written(*location)) {
            let values = last_values(graph, execution.analysis, location);
            let with =
                |left: Left| values.iter().map(move |&value| [&left[..], &[(address, value)]].concat()).collect();
            all = all.into_iter().flat_map(|left: Left| -> Vec<Left> { with(left) }).collect();
        }
        self.left.extend(all);
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        self.stuck = true;
        ControlFlow::Continue(())
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.races |= self.model.is_some_and(|model| !model.races(execution.graph, execution.analysis).is_empty());
        ControlFlow::Continue(())
    }
}

fn counted(case: &Case, model: Model, answers: Answers) -> Option<Counted> {
    counted_runs(&setup(&case.program, case.places.clone(), model), answers)
}

/// The number of runs that stand for a program, if some do; an error if the search does not agree with them.
fn agree(case: &Case, model: Model, answers: Answers) -> Result<Option<usize>, String> {
    let wrong = |what: String| Err(format!("{model}, {answers:?}: {what}\n{}", show(case)));
    let Some(counted) = counted(case, model, answers) else { return Ok(None) };
    // Races of PTX are no errors, but mean that a run is not the only one.
    let mut all = All { model: Some(model), ..All::default() };
    let (end, statistics) = search(&setup(&case.program, case.places.clone(), model), &mut all);
    let runs = counted.memories.len();
    let known = |left: Left| -> Left {
        left.into_iter().filter(|(address, _)| !counted.varying.contains_key(address)).collect()
    };
    let is_among = |(address, value): &(Address, u64)| match counted.varying.get(address) {
        Some(Some(values)) => values.contains(value),
        Some(None) | None => true,
    };
    if !all.left.iter().flatten().all(is_among) {
        return wrong(format!("{:?} and not {all:?}", counted.varying));
    }
    let left: BTreeSet<Left> = counted.memories.into_iter().map(known).collect();
    all.left = std::mem::take(&mut all.left).into_iter().map(known).collect();
    // Loops that add come to the bound of the search.
    let fits = if statistics.is_exhaustive() { all.left == left } else { all.left.is_subset(&left) };
    if end != End::Exhausted || all.races || all.stuck || !fits {
        return wrong(format!("{left:?} and not {all:?}, {statistics:?}"));
    }
    let straight = |op: &Op| {
        let is_indexed = matches!(
            op,
            Op::LoadAt { .. } | Op::StoreAt { .. } | Op::SkipUnlessBelow { .. } | Op::Head | Op::Accumulate { .. }
        );
        !is_indexed
            && !matches!(op, Op::Barrier { .. } | Op::AwaitWithin { .. } | Op::AwaitPhase { .. } | Op::Shift { .. })
    };
    let few = crate::brute::random::candidates(&case.program) < 2_000;
    if few
        && case.program.iter().flatten().all(straight)
        && crate::brute::judge(&case.program, &case.places, model).racy
    {
        return wrong("a candidate execution has a race".into());
    }
    Ok(Some(runs))
}

/// The cell of the counter, and of another one.
const COUNTER: u64 = 8;

struct Shape {
    threads: usize,
    together: usize,
    /// Whether what is written deviates now and then from what is right.
    strays: bool,
    /// Whether threads set a flag.
    raises: bool,
}

/// A program whose threads leave something, count themselves, and go on when they are the last or when all have come.
fn case(random: &mut Random) -> Case {
    let threads = 2 + random.below(2) as usize;
    let together = if random.one_in(3) { 2 } else { 1 };
    let shape = Shape { threads, together, strays: random.one_in(2), raises: random.one_in(3) };
    let block = |thread: usize| if thread < together { 0 } else { thread as u32 };
    let places = (0..threads).map(|thread| Placement::new(block(thread), thread as u32)).collect();
    let last = random.one_in(2);
    let rounds = if last || threads - together > 1 || random.one_in(2) { 1 } else { 2 };
    let mut program = vec![Vec::new(); threads];
    for round in 0..rounds {
        for (thread, ops) in program.iter_mut().enumerate() {
            one_round(random, &shape, thread, round, last, ops);
        }
    }
    let mut program = coherent(program);
    if shape.strays && random.one_in(2) {
        weaken(random, &mut program);
    }
    Case { program, places }
}

fn one_round(random: &mut Random, shape: &Shape, thread: usize, round: u64, last: bool, ops: &mut Vec<Op>) {
    let Shape { threads, together, strays, raises } = *shape;
    let stray = |random: &mut Random, n| strays && random.one_in(n);
    // The first thread of block 0 counts for the whole block.
    let counts = !(thread > 0 && thread < together);
    let comers = (threads - together + 1) as u64;
    let reach = if stray(random, 3) { Level::Block } else { Level::Device };
    let barrier = Op::Barrier { members: together as u32, about: Classes::BOTH, level: reach };
    let cell = if round == 0 { thread as u64 } else { 4 + thread as u64 };
    if stray(random, 8) {
        let label = if random.one_in(2) { Label::plain_read() } else { Label::atomic_read(Level::Device) };
        let cell = if random.one_in(2) { COUNTER } else { random.below(4) };
        ops.push(Op::Load { to: 1, cell, label });
    }
    let data = Op::Store { cell, value: constant(1 + thread as u64 + round), label: Label::plain_write() };
    // What is left late is not released.
    let place = if stray(random, 4) { 1 + random.below(2) } else { 0 };
    ops.extend(Some(data.clone()).filter(|_| place == 0));
    if raises && random.one_in(2) {
        ops.extend(raise(random, strays, Level::Device));
    }
    if thread < together && together > 1 && !stray(random, 8) {
        ops.push(barrier.clone());
    }
    ops.extend(Some(data.clone()).filter(|_| place == 1));
    let level = if stray(random, 8) { Level::Block } else { Level::Device };
    let (mut read, mut write) = (Label::atomic_read(level), Label::atomic_write(level));
    let (by_fence, fence) = (random.one_in(2), Label::fence(if stray(random, 8) { Level::Block } else { level }));
    if counts {
        if !stray(random, 6) {
            if by_fence { ops.push(Op::Fence { label: fence.releasing() }) } else { write = write.releasing() }
        }
        ops.extend(Some(data).filter(|_| place == 2));
        let acquires = !stray(random, 6);
        let add_acquires = acquires && !by_fence;
        read = if last && add_acquires { read.acquiring() } else { read };
        let one = if stray(random, 10) { 2 } else { 1 };
        let counter = if stray(random, 12) { COUNTER + 1 } else { COUNTER };
        ops.push(Op::Add { to: 2, cell: counter, value: constant(one), read, write });
        let goal = comers * (1 + round);
        let off = if stray(random, 10) { random.below(3) } else { 0 };
        if !last {
            let load = Label::atomic_read(level);
            let label = if add_acquires { load.acquiring() } else { load };
            let least = goal - off.min(goal);
            let most = if random.one_in(4) { least } else { u64::MAX };
            ops.push(Op::AwaitWithin { cell: counter, least, most, label });
        }
        if acquires && by_fence {
            ops.push(Op::Fence { label: fence.acquiring() });
        }
        if last && !stray(random, 12) {
            let (value, cell) = ((goal - 1).saturating_sub(off), 12 + thread as u64);
            let then = then(random, shape, thread, round);
            let count = then.len();
            ops.push(Op::SkipUnless { register: 2, value, equal: true, count });
            ops.extend(then);
            // Whether a thread is the last one shows in cells of its own, or its place does.
            match random.below(6) {
                0 => ops.push(Op::Store { cell, value: constant(1), label: Label::plain_write() }),
                1 => ops.push(Op::Store { cell, value: register(2), label: Label::plain_write() }),
                _ => {}
            }
            return;
        }
    }
    if !last {
        if thread < together && together > 1 && !stray(random, 8) {
            ops.push(barrier);
        }
        ops.extend(then(random, shape, thread, round));
    }
}

/// What a thread does once all have come: it reads what the others have left, and leaves that in a cell of its own.
fn then(random: &mut Random, shape: &Shape, thread: usize, round: u64) -> Vec<Op> {
    let base = if round == 0 || random.one_in(3) { 0 } else { 4 };
    let other = base + random.below(shape.threads as u64);
    let label = Label::plain_read();
    let mut ops = vec![Op::Load { to: 3, cell: other, label }];
    if random.one_in(2) {
        ops.push(Op::Load { to: 4, cell: base + random.below(shape.threads as u64), label });
    }
    if shape.raises {
        ops.push(look(random, Level::Device));
    }
    let value = Value { constant: 10, registers: vec![3, 4, 7] };
    let cell = if shape.strays && random.one_in(6) { 20 } else { 20 + thread as u64 };
    ops.push(Op::Store { cell, value, label: Label::plain_write() });
    if random.one_in(4) {
        let label = if random.one_in(3) { Label::plain_write() } else { Label::atomic_write(Level::Device) };
        ops.push(Op::Store { cell: COUNTER, value: constant(0), label });
    }
    if random.one_in(4) {
        let (read, write) = (Label::atomic_read(Level::Device), Label::atomic_write(Level::Device));
        ops.push(Op::Add { to: 5, cell: 30, value: constant(1), read, write });
    }
    ops
}

#[test]
fn the_runs_of_programs_with_counters_stand_for_all_executions() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(200u64);
    let mut random = Random(std::env::var("WATTLE_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(6));
    let (mut counted, mut several, mut waiting, mut raised, mut errors) = (0, 0, 0, 0, Vec::new());
    for number in 0..many {
        let case = case(&mut random);
        let waits = case.program.iter().flatten().any(|op| matches!(op, Op::AwaitWithin { .. }));
        let raises = case.program.iter().filter(|ops| sets_flag(ops)).count() > 1;
        for (model, answers) in FAST.into_iter().flat_map(|model| Answers::ALL.map(|answers| (model, answers))) {
            match agree(&case, model, answers) {
                Ok(None) => {}
                Ok(Some(runs)) => {
                    counted += 1;
                    several += u64::from(runs > 1);
                    waiting += u64::from(waits);
                    raised += u64::from(raises);
                }
                Err(_) => {
                    let least = shrink(&case, |case| agree(case, model, answers).is_err());
                    errors.push(format!("program {number}, {}", agree(&least, model, answers).unwrap_err()));
                }
            }
        }
        assert!(errors.len() < 4, "{}", errors.join("\n"));
    }
    println!(
        "{many} programs under four models, {counted} counted, {several} with several runs, {waiting} with waits, {raised} with flags"
    );
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(several > many / 6, "threads are the last: {several}");
    assert!(waiting > many / 6, "threads wait: {waiting}");
    assert!(raised > many / 10, "threads set a flag: {raised}");
}

const D: Level = Level::Device;

fn add(cell: u64) -> Op {
    Op::Add { to: 2, cell, value: constant(1), read: Label::atomic_read(D), write: Label::atomic_write(D) }
}

fn release() -> Op {
    Op::Fence { label: Label::fence(D).releasing() }
}

fn acquire() -> Op {
    Op::Fence { label: Label::fence(D).acquiring() }
}

fn store(cell: u64, value: u64) -> Op {
    Op::Store { cell, value: constant(value), label: Label::plain_write() }
}

fn load(cell: u64) -> Op {
    Op::Load { to: 3, cell, label: Label::plain_read() }
}

fn wait(cell: u64, value: u64) -> Op {
    Op::AwaitWithin { cell, least: value, most: u64::MAX, label: Label::atomic_read(D) }
}

fn apart(program: Vec<Vec<Op>>) -> Case {
    let places = (0..program.len() as u32).map(|block| Placement::new(block, 0)).collect();
    Case { program: coherent(program), places }
}

/// Threads of which the last one reads what all have left, unless it lacks a fence.
fn last(threads: u64, fences: [bool; 2]) -> Case {
    let thread = |thread: u64| {
        let mut ops = vec![store(40 + thread, 1 + thread)];
        ops.extend(Some(release()).filter(|_| fences[0]));
        ops.push(add(COUNTER));
        ops.extend(Some(acquire()).filter(|_| fences[1]));
        ops.push(Op::SkipUnless { register: 2, value: threads - 1, equal: true, count: 2 });
        let value = Value { constant: 100 * thread, registers: vec![3] };
        ops.extend([load(40 + (thread + 1) % threads), Op::Store { cell: 20, value, label: Label::plain_write() }]);
        ops
    };
    apart((0..threads).map(thread).collect())
}

#[test]
fn there_is_one_run_for_each_thread_that_can_be_the_last() {
    for model in MODELS {
        for threads in 2..=4 {
            let case = last(threads, [true, true]);
            assert_eq!(agree(&case, model, Answers::Places), Ok(Some(threads as usize)));
        }
        assert_eq!(
            counted(&last(32, [true, true]), model, Answers::Places).map(|counted| counted.memories.len()),
            Some(32)
        );
        for fences in [[false, true], [true, false], [false, false]] {
            assert!(counted(&last(3, fences), model, Answers::Places).is_none(), "{model}, {fences:?}");
        }
    }
    let unordered = counted(&last(2, [true, true]), Model::Unordered, Answers::Places);
    assert!(unordered.is_none(), "it is not treated");
}

/// CUDA's sample of a reduction by the last block ends so.
#[test]
fn the_last_one_may_set_its_counter_back_plainly_under_ptx() {
    let mut case = last(3, [true, true]);
    for ops in &mut case.program {
        let Some(Op::SkipUnless { count, .. }) = ops.iter_mut().find(|op| matches!(op, Op::SkipUnless { .. })) else {
            panic!("a thread looks whether it is the last");
        };
        *count += 1;
        ops.push(store(COUNTER, 0));
    }
    assert_eq!(agree(&case, Model::Ptx, Answers::Places), Ok(Some(3)));
    for model in MODELS.into_iter().filter(|&model| model != Model::Ptx) {
        assert_eq!(agree(&case, model, Answers::Places), Ok(None), "{model}: it races with the additions");
    }
}

#[test]
fn a_place_that_shows_is_searched() {
    // The place is left in a cell of the thread.
    let shows =
        |thread| vec![add(COUNTER), Op::Store { cell: thread, value: register(2), label: Label::plain_write() }];
    assert!(counted(&apart(vec![shows(0), shows(1), shows(2)]), Model::Portable, Answers::Places).is_none());
    // The second to come does something, and not the last.
    let second = |thread: u64| {
        let when = Op::SkipUnless { register: 2, value: 1, equal: true, count: 1 };
        vec![add(COUNTER), when, store(thread, 1)]
    };
    assert!(counted(&apart(vec![second(0), second(1), second(2)]), Model::Portable, Answers::Places).is_none());
}

#[test]
fn a_value_that_does_not_tell_its_place_is_searched() {
    let by = |value| Op::Add {
        to: 2,
        cell: COUNTER,
        value: constant(value),
        read: Label::atomic_read(D),
        write: Label::atomic_write(D),
    };
    let ops = |value| vec![by(value), wait(COUNTER, 3), acquire()];
    assert!(counted(&apart(vec![ops(1), ops(2)]), Model::Portable, Answers::Nothing).is_none());
    // It starts again at 0.
    let wraps = |value| vec![by(value), wait(COUNTER, 1)];
    assert!(counted(&apart(vec![wraps(1 << 31), wraps(1 << 31)]), Model::Portable, Answers::Nothing).is_none());
}

/// A thread that one counter lets go may add to another one before those that were counted there.
#[test]
fn threads_that_wait_for_two_counters_are_searched() {
    let case = apart(vec![
        vec![store(0, 1), release(), add(COUNTER)],
        vec![add(COUNTER + 1)],
        vec![wait(COUNTER + 1, 1), add(COUNTER)],
        vec![wait(COUNTER, 1), acquire(), load(0)],
    ]);
    for model in MODELS {
        assert!(counted(&case, model, Answers::Nothing).is_none(), "{model}");
    }
}

#[test]
fn a_loop_that_a_later_value_does_not_end_is_searched() {
    let exactly = |value| Op::AwaitWithin { cell: COUNTER, least: value, most: value, label: Label::atomic_read(D) };
    let rounds = |wait: [Op; 2]| {
        let [first, second] = wait;
        vec![add(COUNTER), first, add(COUNTER), second]
    };
    let least = || rounds([wait(COUNTER, 2), wait(COUNTER, 4)]);
    let exact = || rounds([exactly(2), exactly(4)]);
    for model in MODELS {
        assert_eq!(agree(&apart(vec![least(), least()]), model, Answers::Nothing), Ok(Some(1)));
        assert!(counted(&apart(vec![exact(), exact()]), model, Answers::Nothing).is_none(), "{model}");
    }
}

#[test]
fn a_loop_that_ends_before_all_have_come_is_searched() {
    let early = |thread: u64, least| {
        vec![store(thread, 1), release(), add(COUNTER), wait(COUNTER, least), acquire(), load(1 - thread)]
    };
    for model in MODELS {
        assert_eq!(agree(&apart(vec![early(0, 2), early(1, 2)]), model, Answers::Nothing), Ok(Some(1)));
        assert!(counted(&apart(vec![early(0, 1), early(1, 2)]), model, Answers::Nothing).is_none(), "{model}");
    }
}

#[test]
fn a_counter_that_is_set_while_others_wait_is_searched() {
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    let ops = |then: Option<Op>| {
        let add = Op::Add { to: 2, cell: COUNTER, value: constant(1), read, write: write.releasing() };
        let wait = Op::AwaitWithin { cell: COUNTER, least: 2, most: u64::MAX, label: read.acquiring() };
        [add, wait].into_iter().chain(then).collect::<Vec<_>>()
    };
    let set = Op::Store { cell: COUNTER, value: constant(0), label: write };
    let look = Op::Load { to: 1, cell: COUNTER, label: read };
    for model in MODELS {
        assert_eq!(agree(&apart(vec![ops(None), ops(None)]), model, Answers::Nothing), Ok(Some(1)));
        assert!(counted(&apart(vec![ops(Some(set.clone())), ops(None)]), model, Answers::Nothing).is_none());
        assert!(counted(&apart(vec![vec![look.clone()], vec![add(COUNTER)]]), model, Answers::Nothing).is_none());
        assert!(counted(&apart(vec![vec![add(COUNTER)], vec![look.clone()]]), model, Answers::Nothing).is_none());
    }
}

/// Only what comes before the barrier of a block is released by the thread that counts for the block.
#[test]
fn what_a_block_leaves_behind_its_barrier_is_searched() {
    let program = |early: bool, level: Level| {
        let barrier = Op::Barrier { members: 2, about: Classes::BOTH, level };
        let other =
            if early { vec![store(0, 1), barrier.clone()] } else { vec![store(32, 1), barrier.clone(), store(0, 1)] };
        let counts = vec![store(31, 1), barrier.clone(), release(), add(COUNTER)];
        let places = vec![Placement::new(0, 0), Placement::new(0, 1), Placement::new(1, 0)];
        let waits = vec![add(COUNTER), wait(COUNTER, 2), acquire(), load(0)];
        Case { program: coherent(vec![other, counts, waits]), places }
    };
    for model in MODELS {
        assert_eq!(agree(&program(true, D), model, Answers::Nothing), Ok(Some(1)));
        assert!(counted(&program(false, D), model, Answers::Nothing).is_none(), "{model}");
        // Vulkan's chains lead from access to access, and not from a narrow barrier to a wide fence.
        let runs = if model == Model::Vulkan { None } else { Some(1) };
        assert_eq!(agree(&program(true, Level::Block), model, Answers::Nothing), Ok(runs), "{model}");
    }
}
