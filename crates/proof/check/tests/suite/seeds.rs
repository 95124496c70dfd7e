//! Compares the checker with the simulated device: random scenarios, and those in which the two have differed.

use std::time::Duration;

use crate::oracle::campaign::campaign;
use crate::oracle::run::{Judged, Wrong, judge};
use crate::oracle::shrink::shrink;
use crate::oracle::{Case, Cell, Index, Launch, Memory, Step, Test, Value, Who};
use wattle_check::checker::Verdict;
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// The time limit of the checker for a case.
const LIMIT: Duration = Duration::from_secs(5);

/// Judges a few cases; `cargo xtask oracle` judges more.
#[test]
fn what_seeds_show_the_checker_says() {
    let tally = campaign(0..500, LIMIT, &|_| ());
    println!("{tally}");
    for (number, case, difference) in &tally.differ {
        let (small, difference) = shrink(case, difference, LIMIT);
        println!("case {number}: {difference}\n{small}");
    }
    assert!(tally.differ.is_empty(), "{} cases differ", tally.differ.len());
    assert!(tally.unknowns() + tally.endless <= tally.cases / 20, "{tally}");
    // The cases are meaningful: many hold, and every kind of error occurs.
    assert!(tally.holds > tally.cases / 4 && tally.shown > tally.cases / 4, "{tally}");
    let kinds = [Wrong::Race, Wrong::Fault, Wrong::Assertion, Wrong::Unwritten, Wrong::Barrier, Wrong::Stuck];
    assert!(kinds.iter().all(|kind| tally.seen.contains_key(kind)), "{tally}");
}

fn at(memory: Memory, index: u32) -> Cell {
    Cell { memory, index: Index::At(index) }
}

const DATA: Cell = Cell { memory: Memory::Data, index: Index::At(0) };
const FLAG: Cell = Cell { memory: Memory::Flags, index: Index::At(0) };

fn set(value: u32, order: WriteOrder, scope: Scope) -> Step {
    Step::AtomicStore { cell: FLAG, value: Value::Is(value), order, scope }
}

fn get(to: u8, cell: Cell) -> Step {
    Step::AtomicLoad { to, cell, order: ReadOrder::Acquire, scope: Scope::Device }
}

fn is(register: u8, value: u32) -> Test {
    Test::Register { register, equals: true, value }
}

/// Waits until the flag is 1, and runs `failed` whenever it is not.
fn wait(failed: Vec<Step>) -> Step {
    Step::Wait { body: vec![], look: Box::new(get(0, FLAG)), until: is(0, 1), failed }
}

/// Takes a lock, running `failed` whenever another thread holds it, and then releases it.
fn lock(failed: Vec<Step>) -> Vec<Step> {
    let (order, scope) = (UpdateOrder::Acquire, Scope::Device);
    let look = Step::CompareExchange { to: 0, cell: FLAG, expected: 0, desired: Value::Is(1), order, scope };
    let wait = Step::Wait { body: vec![], look: Box::new(look), until: is(0, 0), failed };
    vec![wait, set(0, WriteOrder::Release, scope)]
}

fn role(who: Who, value: u32, then: Vec<Step>) -> Step {
    Step::If { test: Test::Who { who, value }, then, otherwise: vec![] }
}

fn case(blocks: u32, threads: u32, body: Vec<Step>) -> Case {
    Case { unwritten: false, launches: vec![Launch { queue: 0, blocks, threads, lanes: 4, body }] }
}

/// One block publishes a value, another waits for it.
fn publication(failed: Vec<Step>) -> Case {
    let writer = vec![Step::Store { cell: DATA, value: Value::Is(1) }, set(1, WriteOrder::Release, Scope::Device)];
    case(2, 1, vec![role(Who::Block, 0, writer), role(Who::Block, 1, vec![wait(failed)])])
}

/// Asserts that some seed reports this, and that the checker does too.
#[track_caller]
fn both_report(wrong: Wrong, case: &Case) {
    match judge(case, LIMIT) {
        Judged::Agree { verdict: Verdict::Violated, reported, seen, .. } => {
            assert!(reported.contains(&wrong) && seen.contains_key(&wrong), "{reported:?}, {seen:?}\n{case}");
        }
        other => panic!("{other:?}\n{case}"),
    }
}

#[test]
fn a_wait_reads_what_is_not_yet_published() {
    both_report(Wrong::Race, &publication(vec![Step::Load { to: 1, cell: DATA }]));
    // This holds even where the value read is not kept, so that failing iterations leave no trace.
    both_report(Wrong::Race, &publication(vec![Step::Load { to: 0, cell: DATA }]));
}

#[test]
fn a_wait_looks_at_a_flag_that_another_block_initializes_within_its_own() {
    let writer = vec![set(0, WriteOrder::Relaxed, Scope::Block), set(1, WriteOrder::Release, Scope::Device)];
    let body = vec![role(Who::Block, 0, writer), role(Who::Block, 1, vec![wait(vec![])])];
    both_report(Wrong::Race, &case(2, 1, body));
    let mut body = lock(vec![]);
    body.insert(1, set(2, WriteOrder::Relaxed, Scope::Block));
    both_report(Wrong::Race, &case(2, 1, body));
}

#[test]
fn a_wait_asserts_what_holds_later() {
    both_report(Wrong::Assertion, &publication(vec![Step::Assert { test: is(0, 1) }]));
    both_report(Wrong::Assertion, &case(2, 1, lock(vec![Step::Assert { test: is(0, 0) }])));
}

#[test]
fn a_wait_divides_by_what_is_zero_until_then() {
    both_report(Wrong::Fault, &publication(vec![Step::Divide { to: 1, by: 0 }]));
}

#[test]
fn a_wait_is_out_of_bounds_until_then() {
    let cell = Cell { memory: Memory::Data, index: Index::Register(0) };
    let writer = vec![set(3, WriteOrder::Relaxed, Scope::Device), set(1, WriteOrder::Relaxed, Scope::Device)];
    let body = vec![role(Who::Block, 0, writer), role(Who::Block, 1, vec![wait(vec![Step::Load { to: 1, cell }])])];
    both_report(Wrong::Fault, &case(2, 1, body));
}

#[test]
fn a_wait_reads_shared_memory_that_nobody_writes() {
    both_report(Wrong::Unwritten, &publication(vec![Step::Load { to: 1, cell: at(Memory::Tile, 0) }]));
    both_report(Wrong::Unwritten, &publication(vec![get(1, at(Memory::Marks, 0))]));
    both_report(Wrong::Unwritten, &case(2, 1, lock(vec![Step::Load { to: 1, cell: at(Memory::Tile, 0) }])));
}

#[test]
fn a_wait_for_another_launch_fails_too() {
    let launch = |queue, body| Launch { queue, blocks: 1, threads: 1, lanes: 4, body };
    let (writer, test) = (vec![set(1, WriteOrder::Release, Scope::Device)], is(0, 1));
    let launches = vec![launch(0, writer), launch(1, vec![wait(vec![Step::Assert { test }])])];
    both_report(Wrong::Assertion, &Case { unwritten: false, launches });
}

#[test]
fn a_wait_whose_iterations_update_a_word_and_change_nothing_never_ends() {
    let cell = Cell { memory: Memory::Flags, index: Index::At(1) };
    let (order, scope) = (UpdateOrder::Relaxed, Scope::Device);
    let look = Step::Update { to: 1, op: wattle_ir::AtomicOp::Add, cell, value: Value::Is(0), order, scope };
    both_report(Wrong::Stuck, &case(1, 1, vec![wait(vec![look])]));
}

/// All completions of the read of the plain value update the word once more, which the search adds early.
#[test]
fn a_wait_that_updates_a_word_in_vain_races() {
    let (order, scope, cell) = (UpdateOrder::Relaxed, Scope::Device, at(Memory::Flags, 1));
    let update = Step::Update { to: 0, op: wattle_ir::AtomicOp::Add, cell, value: Value::Is(0), order, scope };
    let until = Test::Register { register: 0, equals: false, value: 0 };
    let failed = vec![update, Step::Load { to: 0, cell: DATA }];
    let waits = vec![Step::Wait { body: vec![], look: Box::new(get(0, FLAG)), until, failed }];
    let writes = vec![Step::Store { cell: DATA, value: Value::Is(2) }];
    let launch = |queue, body| Launch { queue, blocks: 1, threads: 1, lanes: 4, body };
    both_report(Wrong::Race, &Case { unwritten: false, launches: vec![launch(0, writes), launch(1, waits)] });
}

#[test]
fn barriers_at_different_places() {
    let branch = |test| Step::If { test, then: vec![Step::Barrier], otherwise: vec![Step::Barrier] };
    let violated = |body| match judge(&case(1, 2, body), LIMIT) {
        Judged::Agree { verdict, seen, .. } => verdict == Verdict::Violated && seen.contains_key(&Wrong::Barrier),
        other => panic!("{other:?}"),
    };
    assert!(violated(vec![branch(Test::Who { who: Who::Thread, value: 0 })]));
    // Which one is passed depends on a race of atomics.
    let (order, scope) = (UpdateOrder::Relaxed, Scope::Device);
    let op = wattle_ir::AtomicOp::Exchange;
    let ticket = Step::Update { to: 0, op, cell: FLAG, value: Value::Is(1), order, scope };
    assert!(violated(vec![ticket, branch(is(0, 0))]));
    // A loop of two barriers against two barriers in a row.
    let then = vec![Step::Repeat { count: 2, body: vec![Step::Barrier] }];
    let otherwise = vec![Step::Barrier, Step::Barrier];
    assert!(violated(vec![Step::If { test: Test::Who { who: Who::Thread, value: 0 }, then, otherwise }]));
}

/// What comes first depends on the interleaving; the checker reports all.
#[test]
fn errors_of_two_kinds() {
    let (wrong, divides) = (vec![Step::Assert { test: is(0, 1) }], vec![Step::Divide { to: 1, by: 0 }]);
    let case = case(2, 1, vec![role(Who::Block, 0, wrong), role(Who::Block, 1, divides)]);
    both_report(Wrong::Assertion, &case);
    both_report(Wrong::Fault, &case);
}

/// An iteration that ends in one way or another as a compare-exchange finds it, and that nothing lets end: beside it others change
/// nothing in vain.
#[test]
fn a_wait_that_compares_and_then_looks_elsewhere_never_ends() {
    let (order, scope) = (UpdateOrder::Acquire, Scope::Device);
    let exchange = |cell, expected, desired| {
        let desired = Value::Is(desired);
        Step::CompareExchange { to: 2, cell, expected, desired, order, scope }
    };
    let look = Box::new(exchange(at(Memory::Flags, 1), 0, 0));
    let until = Test::Register { register: 2, equals: false, value: 0 };
    let wait = Step::Wait { body: vec![], look, until, failed: vec![get(3, FLAG)] };
    for times in 0..3 {
        let body = vec![
            role(Who::Thread, 0, vec![wait.clone()]),
            Step::Repeat { count: times, body: vec![exchange(FLAG, 1, 0)] },
        ];
        both_report(Wrong::Stuck, &case(1, 2, body));
    }
}

/// What one lane brings decides what all get, so that a store behind is certain before another lane's read has its value.
#[test]
fn a_store_at_an_index_that_one_lane_decides_races_with_what_another_has_read() {
    let data = |index| Cell { memory: Memory::Data, index };
    let body = vec![
        role(Who::Thread, 0, vec![Step::Load { to: 2, cell: data(Index::Who(Who::Thread)) }]),
        Step::Warp { to: 2, op: wattle_ir::WarpOp::ReduceAnd, value: 2, operand: 0 },
        Step::Store { cell: data(Index::Register(2)), value: Value::Register(2) },
        Step::Load { to: 3, cell: DATA },
    ];
    both_report(Wrong::Race, &case(1, 2, body));
}

/// A thread waits for ever after a fault, or at a fault: no execution ends, and the fault is reported.
#[test]
fn a_fault_beside_a_wait_that_never_ends() {
    let cell = Cell { memory: Memory::Data, index: Index::Register(2) };
    let fence = Step::Fence { order: FenceOrder::Acquire, scope: Scope::Device };
    let out_of_bounds = vec![
        Step::Store { cell: DATA, value: Value::Is(3) },
        Step::Load { to: 2, cell: DATA },
        Step::Load { to: 1, cell },
        Step::Wait { body: vec![fence], look: Box::new(get(0, FLAG)), until: is(0, 1), failed: vec![] },
    ];
    let unwritten = vec![wait(vec![Step::Load { to: 1, cell: at(Memory::Tile, 0) }])];
    let divides = vec![Step::Load { to: 2, cell: DATA }, wait(vec![Step::Divide { to: 1, by: 3 }])];
    for (wrong, body) in [(Wrong::Fault, out_of_bounds), (Wrong::Unwritten, unwritten), (Wrong::Fault, divides)] {
        both_report(wrong, &case(1, 1, body));
    }
}

/// A read whose value is never used stays open until the end; so does a compare-exchange, which may write.
#[test]
fn a_barrier_that_not_all_reach_after_an_access_that_nobody_needs() {
    let (order, scope) = (UpdateOrder::Acquire, Scope::Device);
    let exchange = Step::CompareExchange { to: 1, cell: FLAG, expected: 0, desired: Value::Is(0), order, scope };
    let half = |access: &Step| role(Who::Thread, 1, vec![access.clone(), Step::Barrier]);
    let after = Step::Load { to: 2, cell: Cell { memory: Memory::Data, index: Index::Who(Who::Thread) } };
    for access in [get(1, FLAG), exchange] {
        for body in [vec![half(&access)], vec![half(&access), after.clone()]] {
            let case = case(1, 2, body);
            let judged = judge(&case, LIMIT);
            let Judged::Agree { verdict: Verdict::Violated, ref seen, .. } = judged else {
                panic!("{judged:?}\n{case}")
            };
            assert!(seen.contains_key(&Wrong::Barrier), "{seen:?}");
        }
    }
}

/// An index that comes from another access is known only after the thread has ended.
#[test]
fn an_index_that_was_read_is_out_of_bounds_at_the_end() {
    let cell = Cell { memory: Memory::Data, index: Index::Register(2) };
    let body = vec![
        Step::Store { cell: DATA, value: Value::Is(3) },
        Step::Load { to: 2, cell: DATA },
        Step::Load { to: 1, cell },
    ];
    both_report(Wrong::Fault, &case(1, 1, body));
}

/// The same programs without the errors must hold.
#[test]
fn a_publication_and_a_lock_hold() {
    let mut locked = lock(vec![]);
    locked.insert(1, Step::Store { cell: DATA, value: Value::Next(0) });
    let fence = Step::Fence { order: FenceOrder::Acquire, scope: Scope::Device };
    for case in [publication(vec![fence]), case(2, 1, locked)] {
        let judged = judge(&case, LIMIT);
        assert!(matches!(judged, Judged::Agree { verdict: Verdict::Holds, outcomes: 1.., .. }), "{judged:?}\n{case}");
    }
}
