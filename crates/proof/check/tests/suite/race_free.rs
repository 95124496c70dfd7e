//! Compares the search that assumes programs to be free of data races with the one that does not.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, case, for_vulkan, show, shrink};
use crate::script::{Op, constant, registers, setup};
use wattle_check::search::{End, Execution, Visitor, search};
use wattle_memory::{Label, Level, Model, Placement};

/// The outcomes with their counts, and whether any graph has a race.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    outcomes: BTreeMap<Vec<Vec<u64>>, usize>,
    stuck: std::collections::BTreeSet<Vec<usize>>,
    races: Option<Model>,
    racy: bool,
}

impl Seen {
    fn look(&mut self, execution: &Execution<'_>) {
        let model = self.races.expect("it is set");
        self.racy |= !model.races(execution.graph, execution.analysis).is_empty();
    }
}

impl Visitor for Seen {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.look(execution);
        let outcome =
            registers(execution).map(|registers| registers.iter().map(|value| value.unwrap_or(99)).collect()).collect();
        *self.outcomes.entry(outcome).or_default() += 1;
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.look(execution);
        self.stuck.insert(execution.stuck.iter().map(|stuck| stuck.thread).collect());
        ControlFlow::Continue(())
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, _has_happened: bool) -> ControlFlow<()> {
        self.look(execution);
        ControlFlow::Continue(())
    }
}

fn seen(case: &Case, model: Model, assume_race_free: bool) -> Seen {
    let mut setup = setup(&case.program, case.places.clone(), model);
    setup.assume_race_free = assume_race_free;
    let races = if model == Model::Ptx { Model::Portable } else { model };
    let mut seen = Seen { races: Some(races), ..Seen::default() };
    assert_eq!(search(&setup, &mut seen).0, End::Exhausted);
    seen
}

/// Whether the program is free of races; an error if the two searches disagree.
fn agree(case: &Case, model: Model) -> Result<bool, String> {
    let (all, pruned) = (seen(case, model, false), seen(case, model, true));
    let fits = if all.racy { pruned.racy } else { all == pruned };
    let told = || format!("{model}:\n{}full {all:?}\npruned {pruned:?}", show(case));
    if fits { Ok(!all.racy) } else { Err(told()) }
}

/// Replaces some loads by waits for a value, since the pruning is made for loops.
fn waiting(case: &Case, random: &mut Random) -> Case {
    let mut case = case.clone();
    for op in case.program.iter_mut().flatten() {
        if let Op::Load { cell, label, .. } = op
            && label.atomic
            && random.one_in(6)
        {
            *op = Op::Await { cell: *cell, value: constant(1 + random.below(3)), label: *label };
        }
    }
    case
}

/// A program whose plain cells are guarded by values that its threads read: such programs can be free of races.
fn guarded(random: &mut Random, accesses: u64) -> Case {
    let mut case = case(random, accesses);
    for ops in &mut case.program {
        let mut guarded = Vec::new();
        for op in ops.drain(..) {
            let plain = match &op {
                Op::Load { label, .. } | Op::Store { label, .. } => !label.atomic,
                _ => false,
            };
            let last = guarded.iter().rev().find_map(crate::brute::random::read_register);
            if let Some(register) = last.filter(|_| plain && !random.one_in(4)) {
                guarded.push(Op::Require { register, value: random.below(4) });
            }
            guarded.push(op);
        }
        *ops = guarded;
    }
    case
}

/// The same program with sequentially consistent fences between many of its accesses.
fn fenced(case: &Case, random: &mut Random) -> Case {
    let fence = Op::Fence { label: Label::fence(Level::Device).sequentially_consistent() };
    let mut case = case.clone();
    for ops in &mut case.program {
        let mut all = Vec::new();
        for op in ops.drain(..) {
            if matches!(op, Op::Load { .. }) && random.one_in(2) {
                all.push(fence.clone());
            }
            all.push(if let Op::Fence { .. } = op { fence.clone() } else { op });
        }
        *ops = all;
    }
    case
}

const MODELS: [Model; 4] = [Model::Portable, Model::Rust, Model::Ptx, Model::Vulkan];

fn compare(seed: u64, programs: u64, accesses: u64, change: fn(&Case, &mut Random) -> Case) {
    let mut random = Random(seed);
    let (mut free, mut errors) = (0, Vec::new());
    for number in 0..programs {
        let case = guarded(&mut random, accesses);
        let case = if random.one_in(2) { waiting(&case, &mut random) } else { case };
        let case = change(&case, &mut random);
        for model in MODELS {
            let case = if model == Model::Vulkan { for_vulkan(&case) } else { case.clone() };
            match agree(&case, model) {
                Ok(is_free) => free += usize::from(is_free),
                Err(_) => {
                    let least = shrink(&case, |case| agree(case, model).is_err());
                    errors.push(format!("program {number}, {}", agree(&least, model).unwrap_err()));
                }
            }
        }
        if errors.len() > 4 {
            break;
        }
    }
    println!("{programs} programs of up to {accesses} accesses under four models, {free} of them free of races");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The number of programs: `WATTLE_TEST_MANY`, if it is set.
fn many(usual: u64) -> u64 {
    std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
fn taking_programs_to_be_free_of_races_loses_nothing() {
    compare(3, many(4_000), 8, |case, _| case.clone());
}

#[test]
fn nor_does_it_where_fences_are_sequentially_consistent() {
    compare(5, many(5_000), 7, fenced);
}

const D: Level = Level::Device;

fn load(to: usize, cell: u64) -> Op {
    Op::Load { to, cell, label: Label::atomic_read(D) }
}

fn store(cell: u64) -> Op {
    Op::Store { cell, value: constant(1), label: Label::atomic_write(D) }
}

fn both(program: crate::script::Program, models: &[Model]) {
    let places = (0..program.len() as u32).map(|block| Placement::new(block, 0)).collect();
    let case = Case { program, places };
    for &model in models {
        let case = if model == Model::Vulkan { for_vulkan(&case) } else { case.clone() };
        assert_eq!(agree(&case, model), Ok(true));
    }
}

#[test]
fn an_order_of_fences_that_is_forced_later_orders_a_plain_read() {
    let fence = || Op::Fence { label: Label::fence(D).sequentially_consistent() };
    let plain_store = Op::Store { cell: 0, value: constant(1), label: Label::plain_write() };
    let plain_load = Op::Load { to: 1, cell: 0, label: Label::plain_read() };
    let first = vec![plain_store, fence(), load(0, 1), Op::Require { register: 0, value: 0 }, store(2)];
    let second = vec![store(1), fence(), load(0, 2), Op::Require { register: 0, value: 1 }, plain_load];
    both(vec![first, second], &[Model::Portable, Model::Ptx]);
}

/// What comes before a fence that may come to stand before another one is not there yet: its thread's read is open.
#[test]
fn an_order_of_fences_orders_what_another_thread_hands_on() {
    let fence = || Op::Fence { label: Label::fence(D).sequentially_consistent() };
    let plain_store = Op::Store { cell: 0, value: constant(1), label: Label::plain_write() };
    let release = Op::Store { cell: 3, value: constant(1), label: Label::atomic_write(D).releasing() };
    let acquire = Op::Load { to: 0, cell: 3, label: Label::atomic_read(D).acquiring() };
    let require = |value| Op::Require { register: 0, value };
    let plain_load = Op::Load { to: 1, cell: 0, label: Label::plain_read() };
    let mut program = vec![
        vec![store(1), fence(), load(0, 2), require(1), plain_load],
        vec![acquire, require(1), fence(), load(0, 1), require(0), store(2)],
        vec![plain_store, release],
    ];
    for _ in 0..3 {
        both(program.clone(), &[Model::Portable, Model::Ptx]);
        program.rotate_left(1);
    }
    program.reverse();
    both(program, &[Model::Portable, Model::Ptx]);
}

/// That store buffering cannot leave both reads at the initial value is not seen before the fences are ordered.
#[test]
fn a_race_is_found_where_fences_forbid_to_read_nothing() {
    let fence = || Op::Fence { label: Label::fence(D).sequentially_consistent() };
    let thread = |own, other| {
        let store = Op::Store { cell: own, value: constant(1), label: Label::plain_write() };
        vec![store, fence(), Op::Load { to: 0, cell: other, label: Label::plain_read() }]
    };
    let places = (0..2).map(|block| Placement::new(block, 0)).collect();
    let case = Case { program: vec![thread(0, 1), thread(1, 0)], places };
    for model in [Model::Portable, Model::Ptx, Model::Rust] {
        assert_eq!(agree(&case, model), Ok(false));
    }
}

/// Two exchanges pass a release on, in either order.
#[test]
fn two_exchanges_hand_a_release_on() {
    let plain_store = Op::Store { cell: 0, value: constant(1), label: Label::plain_write() };
    let release = Op::Store { cell: 1, value: constant(1), label: Label::atomic_write(D).releasing() };
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    let exchange = |value| Op::Exchange { to: 1, cell: 1, value: constant(value), read, write };
    let hand = |value| vec![load(0, 1), Op::Require { register: 0, value: 1 }, exchange(value)];
    let acquire = Op::Load { to: 0, cell: 1, label: Label::atomic_read(D).acquiring() };
    let plain_load = Op::Load { to: 1, cell: 0, label: Label::plain_read() };
    let mut program = vec![
        vec![acquire, Op::Require { register: 0, value: 2 }, plain_load],
        hand(2),
        hand(3),
        vec![plain_store, release],
    ];
    both(program.clone(), &MODELS);
    program.reverse();
    both(program, &MODELS);
}

#[test]
fn an_exchange_whose_read_is_open_hands_a_release_on() {
    let plain_store = Op::Store { cell: 0, value: constant(1), label: Label::plain_write() };
    let release = Op::Store { cell: 1, value: constant(1), label: Label::atomic_write(D).releasing() };
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    let exchange = Op::Exchange { to: 1, cell: 1, value: constant(2), read, write };
    let acquire = Op::Load { to: 0, cell: 1, label: Label::atomic_read(D).acquiring() };
    let plain_load = Op::Load { to: 1, cell: 0, label: Label::plain_read() };
    let program = vec![
        vec![plain_store, release],
        vec![load(0, 1), Op::Require { register: 0, value: 1 }, exchange],
        vec![acquire, Op::Require { register: 0, value: 2 }, plain_load],
    ];
    both(program, &MODELS);
}
