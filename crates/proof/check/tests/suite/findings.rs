//! Each error that a launch can have, and the same kernel corrected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Build, barrier, fence, request, run, simulator, well};
use wattle_check::simulate::{
    Agent, Argument, Finding, Init, LaunchError, LaunchRequest, MemoryError, Options, Simulator, StopReason, View, Why,
};
use wattle_ir::{Access, BinaryOp, Const, DivOp, Expr, Site, Stmt, Type};
use wattle_machine::{LaunchShape, Program};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

const DEVICE: Scope = Scope::Device;

/// The only finding of a run.
#[track_caller]
fn only(result: Result<(), wattle_check::simulate::Findings>) -> Finding {
    let mut findings = result.unwrap_err().0;
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings.remove(0)
}

#[test]
fn the_first_fault_is_kept_and_the_launch_goes_on() {
    let mut k = Build::new("faulty");
    let out = k.view("out", Access::Shared);
    let (x, thread, zero) = (k.slot(), k.thread(), k.c(0));
    let site = Site::caller();
    let store = Stmt::Store { place: out, index: vec![thread], value: thread, site };
    let divide = Stmt::Divide { dst: x, op: DivOp::Div, left: thread, right: zero, site };
    let program = k.program(vec![store, divide]);
    let (mut simulator, memories) = simulator(1, 1);
    let launch = simulator.launch(request(&program, LaunchShape::linear(1, 6), &memories)).unwrap();
    let finding = only(simulator.finish(launch));
    assert!(matches!(&finding, Finding::Fault { .. }));
    assert_eq!(simulator.read(memories[0], 0..4).unwrap().values, [0, 1, 2, 3]);
}

#[test]
fn faults_are_told_in_words() {
    let mut k = Build::new("outside");
    let out = k.view("out", Access::Shared);
    let body = vec![k.store(out, 4, 1)];
    let finding = only(run(1, &k.program(body), LaunchShape::linear(1, 1)));
    let text = finding.to_string();
    let expected = "index 4 of `out`, which has extent 4: thread 0 of block 0 of kernel `outside` at";
    assert!(text.starts_with(expected), "{text}");

    let mut k = Build::new("asserts");
    let condition = k.expr(Expr::Const(Const::of(false)));
    let program = k.program(vec![Stmt::Assert { condition, message: "x > 0".into(), site: Site::caller() }]);
    let text = only(run(1, &program, LaunchShape::linear(1, 1))).to_string();
    assert!(text.starts_with("assertion failed: x > 0: thread 0 of block 0"), "{text}");
}

#[test]
fn memory_that_nobody_wrote() {
    let mut k = Build::new("reads");
    let (data, count) = (k.view("data", Access::Shared), k.view("count", Access::Atomic));
    let (x, y) = (k.slot(), k.slot());
    let load = k.load(x, data, 2);
    let add = k.add(y, count, 1, UpdateOrder::Relaxed, DEVICE);
    let program = k.program(vec![load, add]);
    let shape = LaunchShape::linear(1, 1);
    let mut simulator = Simulator::new(Options::seeded(1));
    let data = simulator.allocate(Type::U32, 4, Init::Unwritten).unwrap();
    let count = simulator.allocate(Type::U32, 4, Init::Unwritten).unwrap();
    let launch = simulator.launch(request(&program, shape, &[data, count])).unwrap();
    match only(simulator.finish(launch)) {
        Finding::Unwritten { element, shared: false, .. } => {
            assert_eq!((element.place.as_str(), element.index), ("data", vec![2]))
        }
        other => panic!("{other}"),
    }
    simulator.write(data, 2, &[u64::MAX]).unwrap();
    let contents = simulator.read(data, 1..4).unwrap();
    assert_eq!((contents.values, contents.unwritten), (vec![0, 0xffff_ffff, 0], vec![1, 3]));
    // The read-modify-write has written its element; an unwritten one is a separate error.
    let launch = simulator.launch(request(&program, shape, &[data, count])).unwrap();
    simulator.finish(launch).unwrap();
}

#[test]
fn shared_memory_holds_nothing_when_a_block_starts() {
    let reads = |written: bool| {
        let mut k = Build::new("tile");
        let tile = k.shared("tile", 4, false);
        let x = k.slot();
        let mut body = if written { vec![k.store(tile, 1, 5)] } else { vec![] };
        body.push(k.load(x, tile, 1));
        k.program(body)
    };
    let shape = LaunchShape::linear(3, 1);
    well(&reads(true), shape);
    assert!(matches!(only(run(1, &reads(false), shape)), Finding::Unwritten { shared: true, .. }));
}

#[test]
fn a_barrier_that_not_all_reach() {
    let mut k = Build::new("diverges");
    let thread = k.thread();
    let early = k.when(thread, 1, vec![Stmt::Return]);
    let program = k.program(vec![early, barrier()]);
    for seed in 0..20 {
        match only(run(seed, &program, LaunchShape::linear(2, 3))) {
            Finding::BarrierMissed { waiting, barrier, ended, .. } => {
                assert_eq!(ended.position.thread[0], 1);
                assert_ne!(waiting.position.thread[0], 1);
                assert_ne!(barrier.line, 0);
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn different_barriers() {
    let mut k = Build::new("branches");
    let thread = k.thread();
    let condition = k.is(thread, 0);
    let (then, otherwise) = (vec![barrier()], vec![barrier()]);
    let (first, second) = (then[0].site().unwrap(), otherwise[0].site().unwrap());
    let program = k.program(vec![Stmt::If { condition, then, otherwise }]);
    match only(run(1, &program, LaunchShape::linear(1, 4))) {
        Finding::BarrierMismatch { first_site, second_site, .. } => {
            let mut sites = [first_site, second_site];
            sites.sort();
            assert_eq!(sites, [first, second]);
        }
        other => panic!("{other}"),
    }
    let mut k = Build::new("together");
    let x = k.slot();
    let body = vec![k.repeat(5, x, vec![barrier(), barrier()])];
    well(&k.program(body), LaunchShape::linear(3, 4));
}

/// The threads come to one barrier equally often, in different iterations of the loop around it.
#[test]
fn one_barrier_in_different_iterations() {
    let mut k = Build::new("iterations");
    let counter = k.slot();
    let (now, thread) = (k.get(counter), k.thread());
    let condition = k.binary(BinaryOp::Ne, now, thread);
    let inner = vec![Stmt::If { condition, then: vec![barrier()], otherwise: vec![] }];
    let body = vec![k.repeat(3, counter, inner)];
    let program = k.program(body);
    for seed in 0..8 {
        match only(run(seed, &program, LaunchShape::linear(1, 2))) {
            Finding::BarrierMismatch { first_site, second_site, one_statement: true, .. } => {
                assert_eq!(first_site, second_site);
            }
            other => panic!("{other}"),
        }
    }
}

fn waits(value: u32) -> Arc<Program> {
    let mut k = Build::new("waits");
    let flag = k.view("flag", Access::Atomic);
    let who = k.block();
    let set = k.write(flag, 0, 1, WriteOrder::Release, DEVICE);
    let wait = k.wait(flag, 0, value, ReadOrder::Acquire, DEVICE);
    let body = k.parts(who, vec![vec![set], vec![wait]]);
    k.program(body)
}

#[test]
fn a_spin_that_can_never_end() {
    let shape = LaunchShape::linear(2, 1);
    well(&waits(1), shape);
    match only(run(1, &waits(2), shape)) {
        Finding::Stuck { threads, more: 0, not_started: 0, .. } => {
            assert_eq!((threads.len(), threads[0].why), (1, Why::Spinning));
            assert_eq!(threads[0].actor.position.block[0], 1);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_lock_taken_twice_and_a_barrier_behind_it() {
    // Each thread takes the lock by exchange and never releases it; the first one waits at the barrier.
    let mut k = Build::new("locks");
    let lock = k.view("lock", Access::Atomic);
    let (old, label) = (k.slot(), k.label());
    let (index, one) = (vec![k.c(0)], k.c(1));
    let take = Stmt::AtomicUpdate {
        dst: old,
        op: wattle_ir::AtomicOp::Exchange,
        place: lock,
        index,
        operand: one,
        order: UpdateOrder::Acquire,
        scope: Scope::Block,
        site: Site::caller(),
    };
    let got = k.get(old);
    let site = Site::caller();
    let body = vec![take, k.when(got, 0, vec![Stmt::Break(label)])];
    let spin = Stmt::Loop { label, body, continuing: vec![], bounded: false, site };
    let program = k.program(vec![spin, barrier()]);
    for seed in 0..10 {
        match only(run(seed, &program, LaunchShape::linear(1, 12))) {
            Finding::Stuck { threads, more: 4, .. } => {
                assert_eq!(threads.len(), 8);
                assert!(threads.iter().filter(|waiting| waiting.why == Why::Barrier).count() <= 1);
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn blocks_start_in_index_order_and_wait_for_room() {
    // Each block waits for the one before it, which works for blocks that start in index order.
    let chain = |ascending: bool| {
        let mut k = Build::new("chained");
        let flags = k.view("flags", Access::Atomic);
        let (block, one, last) = (k.block(), k.c(1), k.c(63));
        let number = if ascending { block } else { k.binary(BinaryOp::Sub, last, block) };
        let before = k.binary(BinaryOp::Sub, number, one);
        let (slot, label, site) = (k.slot(), k.label(), Site::caller());
        let (order, scope) = (ReadOrder::Acquire, DEVICE);
        let load = Stmt::AtomicLoad { dst: slot, place: flags, index: vec![before], order, scope, site };
        let seen = k.get(slot);
        let body = vec![load, k.when(seen, 1, vec![Stmt::Break(label)])];
        let wait = Stmt::Loop { label, body, continuing: vec![], bounded: false, site };
        let first = k.is(number, 0);
        let wait = Stmt::If { condition: first, then: vec![], otherwise: vec![wait] };
        let (index, order) = (vec![number], WriteOrder::Release);
        let done = Stmt::AtomicStore { place: flags, index, value: one, order, scope, site };
        k.program(vec![wait, done])
    };
    for (ascending, resident) in [(true, 1), (true, 5), (false, 64), (false, 63)] {
        let mut simulator = Simulator::new(Options { resident_threads: resident, ..Options::seeded(7) });
        let flags = simulator.allocate(Type::U32, 64, Init::Zero).unwrap();
        let shape = LaunchShape::linear(64, 1);
        let arguments = vec![Argument::whole(flags, [64, 1, 1, 1])];
        let program = chain(ascending);
        let launch = simulator.launch(LaunchRequest::new(program.clone(), shape, arguments.clone())).unwrap();
        let result = simulator.finish(launch);
        if ascending || resident == 64 {
            result.unwrap();
            continue;
        }
        match only(result) {
            Finding::Stuck { not_started: 1, .. } => {}
            other => panic!("{other}"),
        }
        // A cooperative launch makes all blocks resident at once.
        simulator.write(flags, 0, &[0; 64]).unwrap();
        let request = LaunchRequest { cooperative: true, ..LaunchRequest::new(program, shape, arguments) };
        let launch = simulator.launch(request).unwrap();
        simulator.finish(launch).unwrap();
    }
}

/// A loop that counts for ever: its state never repeats, so the simulator cannot detect that it does not end.
fn counts() -> Arc<Program> {
    let mut k = Build::new("counts");
    let (x, label, site) = (k.slot(), k.label(), Site::caller());
    let (now, one) = (k.get(x), k.c(1));
    let value = k.binary(BinaryOp::Add, now, one);
    k.program(vec![Stmt::Loop {
        label,
        body: vec![Stmt::Assign { slot: x, value }],
        continuing: vec![],
        bounded: false,
        site,
    }])
}

#[test]
fn limits_end_a_launch_and_name_the_lines() {
    let (shape, program) = (LaunchShape::linear(2, 5), counts());
    let stop = Arc::new(AtomicBool::new(false));
    let mut simulator = Simulator::new(Options { stop: Some(stop.clone()), ..Options::seeded(1) });
    let plain = LaunchRequest::new(program, shape, vec![]);
    let deadline = Some(Instant::now() + Duration::from_millis(20));
    let limited = [
        (LaunchRequest { step_limit: Some(10_000), ..plain.clone() }, StopReason::StepLimit(10_000)),
        (LaunchRequest { deadline, ..plain.clone() }, StopReason::Deadline),
        (plain, StopReason::Interrupted),
    ];
    for (request, expected) in limited {
        stop.store(expected == StopReason::Interrupted, Ordering::Relaxed);
        let launch = simulator.launch(request).unwrap();
        match only(simulator.finish(launch)) {
            Finding::Stopped { reason, threads, more: 2, .. } => {
                assert_eq!((reason, threads.len()), (expected, 8));
                assert!(threads.iter().all(|waiting| waiting.site.file.ends_with("findings.rs")));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let mut k = Build::new("takes");
    let data = k.view("data", Access::Shared);
    let body = vec![k.store(data, 0, 1), fence(FenceOrder::AcqRel, DEVICE)];
    let program = k.program(body);
    let mut simulator = Simulator::new(Options::seeded(1));
    let memory = simulator.allocate(Type::U32, 4, Init::Zero).unwrap();
    let floats = simulator.allocate(Type::F32, 4, Init::Zero).unwrap();
    let shape = LaunchShape::linear(1, 1);
    let with = |shape, arguments| LaunchRequest::new(program.clone(), shape, arguments);
    let view = |offset, extent, stride| {
        let (extent, strides) = ([extent, 1, 1, 1], [stride, 0, 0, 0]);
        Argument::View(View { memory: memory.into(), offset, extent, strides })
    };
    assert!(matches!(simulator.launch(with(shape, vec![])), Err(LaunchError::Arguments(_))));
    assert!(simulator.launch(with(shape, vec![view(1, 2, 2)])).is_ok());
    let beyond = simulator.launch(with(shape, vec![view(2, 2, 2)])).unwrap_err();
    assert_eq!(beyond.to_string(), "kernel `takes`, parameter `data`: elements 2..5 are not in an allocation of 4");
    let error = simulator.launch(with(shape, vec![view(u64::MAX, u32::MAX.into(), u32::MAX.into())]));
    assert!(matches!(error, Err(LaunchError::Memory { .. })));
    let error = simulator.launch(with(shape, vec![Argument::whole(floats, [4, 1, 1, 1])]));
    assert!(matches!(error, Err(LaunchError::Element { expected: Type::U32, found: Type::F32, .. })));
    let large = LaunchShape::linear(1 << 11, 1 << 10);
    assert!(matches!(simulator.launch(with(large, vec![view(0, 1, 1)])), Err(LaunchError::TooLarge { .. })));
    let wide = LaunchShape::linear(1, (1 << 12) + 1);
    assert!(matches!(simulator.launch(with(wide, vec![view(0, 1, 1)])), Err(LaunchError::TooLarge { .. })));
    let deep = LaunchShape::threads([1, 2, 1, 1], [1; 4]);
    assert!(matches!(simulator.launch(with(deep, vec![view(0, 1, 1)])), Err(LaunchError::Rank { .. })));
    let two = LaunchRequest { agent: Agent::Host, ..with(LaunchShape::linear(1, 2), vec![view(0, 1, 1)]) };
    assert!(matches!(simulator.launch(two), Err(LaunchError::Host { threads: 2, .. })));
    assert!(matches!(simulator.free(memory), Err(MemoryError::InUse { .. })));
    simulator.finish_all();
    simulator.free(memory).unwrap();
    assert!(matches!(simulator.read(memory, 0..1), Err(MemoryError::Unknown(_))));
    // An empty launch is done at once.
    let memory = simulator.allocate(Type::U32, 4, Init::Zero).unwrap();
    let empty = with(LaunchShape::linear(0, 1), vec![Argument::whole(memory, [4, 1, 1, 1])]);
    let launch = simulator.launch(empty).unwrap();
    assert!(simulator.is_done(launch));
    simulator.finish(launch).unwrap();
}
