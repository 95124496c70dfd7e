//! The search finds as many executions as counts worked out by hand say.

use crate::script::*;
use wattle_check::search::{AccessTarget, Action, Address, Dependencies, Process, Setup, Spawn, search};
use wattle_memory::{Label, Level, Model, Placement};

const D: Level = Level::Device;

fn load(to: usize, cell: u64) -> Op {
    Op::Load { to, cell, label: Label::atomic_read(D) }
}

fn store(cell: u64, value: Value) -> Op {
    Op::Store { cell, value, label: Label::atomic_write(D) }
}

fn acquire(to: usize, cell: u64) -> Op {
    Op::Load { to, cell, label: Label::atomic_read(D).acquiring() }
}

fn release(cell: u64, value: u64) -> Op {
    Op::Store { cell, value: constant(value), label: Label::atomic_write(D).releasing() }
}

fn add(to: usize, cell: u64) -> Op {
    Op::Add { to, cell, value: constant(1), read: Label::atomic_read(D), write: Label::atomic_write(D) }
}

fn sc_fence() -> Op {
    Op::Fence { label: Label::fence(D).sequentially_consistent() }
}

const WEAK: [Model; 4] = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust];

fn counts(program: Program, models: &[Model], expected: u64) {
    for &model in models {
        let (_, statistics) = run(&program, model);
        assert_eq!(statistics.complete, expected, "{model}: {statistics:?}\n{program:#?}");
    }
}

#[test]
fn message_passing_has_three_executions() {
    let program = vec![vec![store(0, constant(1)), release(1, 1)], vec![acquire(0, 1), load(1, 0)]];
    counts(program, &[Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust, Model::Sc], 3);
}

#[test]
fn relaxed_message_passing_has_four() {
    counts(vec![vec![store(0, constant(1)), store(1, constant(1))], vec![load(0, 1), load(1, 0)]], &WEAK, 4);
}

#[test]
fn store_buffering_has_four_and_fences_leave_three() {
    let plain = |fence: bool| {
        let thread = |own, other| {
            let mut ops = vec![store(own, constant(1))];
            ops.extend(fence.then(sc_fence));
            ops.push(load(0, other));
            ops
        };
        vec![thread(0, 1), thread(1, 0)]
    };
    counts(plain(false), &WEAK, 4);
    counts(plain(false), &[Model::Unordered], 4);
    counts(plain(false), &[Model::Sc], 3);
    counts(plain(true), &[Model::Portable, Model::Ptx, Model::Rust, Model::Unordered], 3);
}

#[test]
fn independent_reads_of_independent_writes_have_sixteen() {
    let readers = [vec![load(0, 0), load(1, 1)], vec![load(0, 1), load(1, 0)]];
    let mut program = vec![vec![store(0, constant(1))], vec![store(1, constant(1))]];
    program.extend(readers);
    counts(program.clone(), &WEAK, 16);
    counts(program, &[Model::Sc], 15);
}

#[test]
fn load_buffering_has_four_and_three_with_dependencies() {
    counts(vec![vec![load(0, 0), store(1, constant(1))], vec![load(0, 1), store(0, constant(1))]], &WEAK, 4);
    // Each place only ever holds 0, so neither store depends on the value read.
    let copies = vec![vec![load(0, 0), store(1, register(0))], vec![load(0, 1), store(0, register(0))]];
    counts(copies.clone(), &WEAK, 4);
    for model in WEAK {
        let places = (0..2).map(|block| wattle_memory::Placement::new(block, 0)).collect();
        let as_written = Setup { dependencies: Dependencies::AsWritten, ..setup(&copies, places, model) };
        assert_eq!(search(&as_written, &mut Found::default()).1.complete, 3, "{model}");
    }
    let plus = |from| Value { constant: 1, registers: vec![from] };
    counts(vec![vec![load(0, 0), store(1, plus(0))], vec![load(0, 1), store(0, plus(0))]], &WEAK, 3);
    let control = |cell, other| vec![load(0, cell), Op::Require { register: 0, value: 1 }, store(other, constant(1))];
    counts(vec![control(0, 1), control(1, 0)], &WEAK, 1);
}

#[test]
fn two_writes_of_one_place_have_two_orders() {
    counts(vec![vec![store(0, constant(1))], vec![store(0, constant(2))]], &WEAK, 2);
}

#[test]
fn counters_and_ticket_locks_have_as_many_as_orders_of_their_threads() {
    for (threads, expected) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        counts(vec![vec![add(0, 0)]; threads], &WEAK, expected);
        let ticket = vec![
            add(0, 0),
            Op::Await { cell: 1, value: register(0), label: Label::atomic_read(D).acquiring() },
            Op::Load { to: 1, cell: 2, label: Label::plain_read() },
            Op::Store { cell: 2, value: Value { constant: 1, registers: vec![1] }, label: Label::plain_write() },
            Op::Store {
                cell: 1,
                value: Value { constant: 1, registers: vec![0] },
                label: Label::atomic_write(D).releasing(),
            },
        ];
        for model in [Model::Portable, Model::Ptx, Model::Rust, Model::Sc] {
            let (found, statistics) = run(&vec![ticket.clone(); threads], model);
            assert_eq!(statistics.complete, expected, "{model} {threads} {statistics:?}");
            assert!(statistics.abandoned <= 3 * expected, "{model} {threads} {statistics:?}");
            assert_eq!((found.races, found.stuck.len()), (0, 0), "{model} {threads}");
        }
    }
}

#[test]
fn a_test_and_set_lock_has_as_many_as_orders() {
    let lock = vec![
        Op::Lock { cell: 0, read: Label::atomic_read(D).acquiring(), write: Label::atomic_write(D) },
        Op::Load { to: 1, cell: 2, label: Label::plain_read() },
        Op::Store { cell: 2, value: Value { constant: 1, registers: vec![1] }, label: Label::plain_write() },
        release(0, 0),
    ];
    for (threads, expected) in [(2, 2), (3, 6)] {
        let (found, statistics) = run(&vec![lock.clone(); threads], Model::Portable);
        assert_eq!((statistics.complete, found.races), (expected, 0), "{statistics:?}");
        assert_eq!(found.stuck.len(), 0);
    }
}

#[test]
fn a_wait_for_nobody_is_stuck() {
    let wait = |value| Op::Await { cell: 0, value: constant(value), label: Label::atomic_read(D) };
    let (found, statistics) = run(&vec![vec![wait(2)], vec![store(0, constant(1))]], Model::Portable);
    assert_eq!((statistics.complete, found.stuck.as_slice()), (0, &[vec![0]][..]), "{statistics:?}");
    let (found, statistics) = run(&vec![vec![wait(1)], vec![store(0, constant(1))]], Model::Portable);
    assert_eq!((statistics.complete, found.stuck.len()), (1, 0), "{statistics:?}");
    let (found, statistics) =
        run(&vec![vec![wait(1)], vec![store(0, constant(1)), store(0, constant(2))]], Model::Portable);
    assert_eq!((statistics.complete, found.stuck.as_slice()), (1, &[vec![0]][..]), "{statistics:?}");
}

/// A process of another kind than a script: it writes the number that is its world to cell 0.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Writer {
    done: bool,
}

impl Process for Writer {
    type World = u64;

    fn next(&mut self, number: &u64) -> Action {
        if std::mem::replace(&mut self.done, true) {
            return Action::Done;
        }
        let target = AccessTarget { address: Address { memory: 0, element: 0 }, bytes: 4, reference: 0 };
        Action::Write { target: Some(target), value: Some(*number), label: Label::atomic_write(D), source: 0 }
    }

    fn answer(&mut self, _: &u64, _: Option<u64>) {
        unreachable!("it reads nothing")
    }

    fn ways(&self, _: &u64) -> Option<Vec<Writer>> {
        None
    }

    fn any_pending(&self) -> bool {
        false
    }

    fn may_write(&self, _: &u64, _: Address) -> bool {
        !self.done
    }
}

#[test]
fn threads_of_two_kinds_run_in_one_search() {
    let (program, number) = (vec![vec![load(0, 0)]], 7);
    let writer = Spawn { placement: Placement::new(1, 0), process: Writer { done: false }, after: [].into() };
    let setup = setup(&program, vec![Placement::new(0, 0)], Model::Portable).with_threads(&number, vec![writer]);
    let mut found = Found::default();
    search(&setup, &mut found);
    let mut read: Vec<u64> = found.outcomes.iter().map(|registers| registers[0][0]).collect();
    read.sort_unstable();
    assert_eq!(read, [0, 7]);
}
