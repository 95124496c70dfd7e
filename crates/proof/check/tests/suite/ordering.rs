//! Which fences, atomics and barriers order plain accesses, and which do not.

use std::sync::Arc;

use crate::common::{Build, barrier, fence, race, races, request, run, simulator, well};
use wattle_check::simulate::{Agent, LaunchRequest};
use wattle_ir::{Access, BinaryOp, Stmt};
use wattle_machine::{LaunchShape, Program};
use wattle_memory::FenceOrder::{Acquire, Release, SeqCst};
use wattle_memory::Scope::{Block, Device, System};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// A launch of two blocks of one thread.
const BLOCKS: fn() -> LaunchShape = || LaunchShape::linear(2, 1);
/// A launch of two threads in one block.
const THREADS: fn() -> LaunchShape = || LaunchShape::linear(1, 2);

/// The parts of a publication; an absent fence is `None`.
struct Publication {
    release: Option<(FenceOrder, Scope)>,
    write: (WriteOrder, Scope),
    read: (ReadOrder, Scope),
    acquire: Option<(FenceOrder, Scope)>,
}

/// Relaxed device-scope atomics between two fences.
const FENCED: Publication = Publication {
    release: Some((Release, Device)),
    write: (WriteOrder::Relaxed, Device),
    read: (ReadOrder::Relaxed, Device),
    acquire: Some((Acquire, Device)),
};

/// `data = 42; [fence]; flag = 1 || while flag != 1 {}; [fence]; assert data == 42`, by two blocks or two threads.
fn publication(of: Publication, blocks: bool) -> Arc<Program> {
    let mut k = Build::new("publication");
    let (data, flag) = (k.view("data", Access::Shared), k.view("flag", Access::Atomic));
    let x = k.slot();
    let who = if blocks { k.block() } else { k.thread() };
    let mut writer = vec![k.store(data, 0, 42)];
    writer.extend(of.release.map(|(order, scope)| fence(order, scope)));
    writer.push(k.write(flag, 0, 1, of.write.0, of.write.1));
    let mut reader = vec![k.wait(flag, 0, 1, of.read.0, of.read.1)];
    reader.extend(of.acquire.map(|(order, scope)| fence(order, scope)));
    reader.push(k.load(x, data, 0));
    let value = k.get(x);
    let condition = k.is(value, 42);
    reader.push(Stmt::Assert { condition, message: "data == 42".into(), site: wattle_ir::Site::caller() });
    let body = k.parts(who, vec![writer, reader]);
    k.program(body)
}

#[test]
fn device_fences_order_two_blocks() {
    well(&publication(FENCED, true), BLOCKS());
}

#[test]
fn block_fences_do_not_order_two_blocks() {
    let of = Publication { release: Some((Release, Block)), acquire: Some((Acquire, Block)), ..FENCED };
    let race = races(&publication(of, true), BLOCKS());
    assert_eq!(race.element.place, "data");
    assert!(race.first.write && !race.second.write);
    assert_ne!(race.first.site.line, race.second.site.line);
}

#[test]
fn each_scope_that_is_too_narrow_is_a_race() {
    let narrow = [
        Publication { release: Some((Release, Block)), ..FENCED },
        Publication { acquire: Some((Acquire, Block)), ..FENCED },
        Publication { write: (WriteOrder::Relaxed, Block), ..FENCED },
        Publication { read: (ReadOrder::Relaxed, Block), ..FENCED },
        Publication { release: None, ..FENCED },
        Publication { acquire: None, ..FENCED },
        Publication { release: Some((Acquire, Device)), ..FENCED },
        Publication { acquire: Some((Release, Device)), ..FENCED },
        Publication { release: None, acquire: None, ..FENCED },
    ];
    for of in narrow {
        races(&publication(of, true), BLOCKS());
    }
}

#[test]
fn block_fences_order_the_threads_of_a_block() {
    let of = || Publication {
        release: Some((Release, Block)),
        write: (WriteOrder::Relaxed, Block),
        read: (ReadOrder::Relaxed, Block),
        acquire: Some((Acquire, Block)),
    };
    well(&publication(of(), false), THREADS());
    races(&publication(Publication { acquire: None, ..of() }, false), THREADS());
    races(&publication(of(), true), BLOCKS());
}

#[test]
fn release_and_acquire_atomics_need_no_fences() {
    let of = || Publication {
        release: None,
        write: (WriteOrder::Release, Device),
        read: (ReadOrder::Acquire, Device),
        acquire: None,
    };
    well(&publication(of(), true), BLOCKS());
    well(&publication(of(), false), THREADS());
    well(&publication(Publication { acquire: Some((Acquire, Device)), read: FENCED.read, ..of() }, true), BLOCKS());
    races(&publication(Publication { read: (ReadOrder::Relaxed, Device), ..of() }, true), BLOCKS());
    races(&publication(Publication { write: (WriteOrder::Release, Block), ..of() }, true), BLOCKS());
}

#[test]
fn a_plain_flag_is_a_race() {
    let mut k = Build::new("plain_flag");
    let flag = k.view("flag", Access::Shared);
    let x = k.slot();
    let who = k.block();
    let parts = vec![vec![k.store(flag, 0, 1)], vec![k.load(x, flag, 0)]];
    let body = k.parts(who, parts);
    let race = races(&k.program(body), BLOCKS());
    let text = wattle_check::simulate::Finding::Race(Box::new(race)).to_string();
    assert!(text.contains("data race on `flag` at index 0") && text.contains("thread 0 of block 1"), "{text}");
}

/// Each thread writes its element of shared memory, and reads its neighbour's.
fn neighbours(between: Option<Stmt>) -> Arc<Program> {
    let mut k = Build::new("neighbours");
    let tile = k.shared("tile", 32, false);
    let x = k.slot();
    let (thread, one, bound) = (k.thread(), k.c(1), k.c(31));
    let next = k.binary(BinaryOp::Add, thread, one);
    let next = k.binary(BinaryOp::And, next, bound);
    let site = wattle_ir::Site::caller();
    let mut body = vec![Stmt::Store { place: tile, index: vec![thread], value: thread, site }];
    body.extend(between);
    body.push(Stmt::Load { dst: x, place: tile, index: vec![next], site: wattle_ir::Site::caller() });
    k.program(body)
}

#[test]
fn a_barrier_orders_shared_memory_and_a_fence_does_not() {
    let shape = LaunchShape::linear(3, 32);
    well(&neighbours(Some(barrier())), shape);
    for seed in 0..10 {
        let findings = run(seed, &neighbours(Some(fence(SeqCst, Block))), shape).unwrap_err();
        let race = |finding: &wattle_check::simulate::Finding| matches!(finding, wattle_check::simulate::Finding::Race(race) if race.element.place == "tile");
        assert!(findings.0.iter().any(race), "{findings}");
    }
}

/// `x = 1; fence; if y == 0 { critical = 1 } || y = 1; fence; if x == 0 { critical = 2 }`: the accesses to `critical`
/// never both happen if the fences are sequentially consistent; and `handed` is written before the first fence and read
/// after the second one by the thread that sees `x == 1`.
fn store_buffering(order: FenceOrder, scope: Scope) -> Arc<Program> {
    let mut k = Build::new("store_buffering");
    let (flags, handed) = (k.view("flags", Access::Atomic), k.view("handed", Access::Shared));
    let (a, b, c) = (k.slot(), k.slot(), k.slot());
    let who = k.block();
    let relaxed = WriteOrder::Relaxed;
    let first = vec![
        k.store(handed, 0, 7),
        fence(order, scope),
        k.write(flags, 0, 1, relaxed, Device),
        k.read(a, flags, 1, ReadOrder::Relaxed, Device),
    ];
    let mut second = vec![
        k.write(flags, 1, 1, relaxed, Device),
        k.read(b, flags, 0, ReadOrder::Relaxed, Device),
        fence(order, scope),
    ];
    let (seen, load) = (k.get(b), k.load(c, handed, 0));
    let then = k.when(seen, 1, vec![load]);
    second.push(then);
    let body = k.parts(who, vec![first, second]);
    k.program(body)
}

#[test]
fn sequentially_consistent_fences_are_release_and_acquire_fences() {
    well(&store_buffering(SeqCst, Device), BLOCKS());
    let found = (0..40).filter(|&seed| race(run(seed, &store_buffering(SeqCst, Block), BLOCKS())).is_some()).count();
    assert!(found > 3, "{found}");
}

/// Dekker's entry: each thread announces itself, passes a fence, and enters if the other has not announced itself.
fn dekker(order: FenceOrder, scope: Scope) -> Arc<Program> {
    let mut k = Build::new("dekker");
    let (wants, critical) = (k.view("wants", Access::Atomic), k.view("critical", Access::Shared));
    let who = k.block();
    let parts = (0..2)
        .map(|me| {
            let seen = k.slot();
            let mut part = vec![
                k.write(wants, me, 1, WriteOrder::Relaxed, Device),
                fence(order, scope),
                k.read(seen, wants, 1 - me, ReadOrder::Relaxed, Device),
            ];
            let (seen, enter) = (k.get(seen), k.store(critical, 0, me));
            part.push(k.when(seen, 0, vec![enter]));
            part
        })
        .collect();
    let body = k.parts(who, parts);
    k.program(body)
}

#[test]
fn at_most_one_enters_behind_sequentially_consistent_fences() {
    // In an interleaving at most one enters whatever the fence, so there is no race.
    well(&dekker(SeqCst, Device), BLOCKS());
}

/// Two fences pass on what precedes the first, without any atomic: the later fence's thread knows the earlier one's
/// past.
fn fences_alone(order: FenceOrder, scopes: [Scope; 2]) -> Arc<Program> {
    let mut k = Build::new("fences_alone");
    let (data, done) = (k.view("data", Access::Shared), k.view("done", Access::Atomic));
    let (x, seen) = (k.slot(), k.slot());
    let who = k.block();
    // `done` is read at block scope, so it orders nothing; it only shows that the first fence was passed.
    let first = vec![k.store(data, 0, 1), fence(order, scopes[0]), k.write(done, 0, 1, WriteOrder::Relaxed, System)];
    let mut second = vec![k.read(seen, done, 0, ReadOrder::Relaxed, System), fence(order, scopes[1])];
    let (seen, load) = (k.get(seen), k.load(x, data, 0));
    second.push(k.when(seen, 1, vec![load]));
    let body = k.parts(who, vec![first, second]);
    k.program(body)
}

#[test]
fn sequentially_consistent_fences_synchronize_when_their_scopes_include_each_other() {
    well(&fences_alone(SeqCst, [Device, Device]), BLOCKS());
    for scopes in [[Block, Device], [Device, Block]] {
        let found = (0..40).filter(|&seed| race(run(seed, &fences_alone(SeqCst, scopes), BLOCKS())).is_some());
        assert!(found.count() > 3);
    }
}

/// A passes a value to B within a block, B passes it to C in another block; C reads what A wrote.
fn chain_of_scopes(last: Scope) -> Arc<Program> {
    let mut k = Build::new("chain_of_scopes");
    let (data, flags) = (k.view("data", Access::Shared), k.view("flags", Access::Atomic));
    let x = k.slot();
    let (block, thread, two) = (k.block(), k.thread(), k.c(2));
    let first = k.binary(BinaryOp::Mul, block, two);
    let who = k.binary(BinaryOp::Add, first, thread);
    let parts = vec![
        vec![k.store(data, 0, 1), k.write(flags, 0, 1, WriteOrder::Release, Block)],
        vec![k.wait(flags, 0, 1, ReadOrder::Acquire, Block), k.write(flags, 1, 1, WriteOrder::Release, last)],
        vec![k.wait(flags, 1, 1, ReadOrder::Acquire, last), k.load(x, data, 0)],
    ];
    let body = k.parts(who, parts);
    k.program(body)
}

#[test]
fn causality_is_cumulative_across_scopes() {
    let shape = LaunchShape::linear(2, 2);
    well(&chain_of_scopes(Device), shape);
    well(&chain_of_scopes(System), shape);
    races(&chain_of_scopes(Block), shape);
}

/// A thread that publishes and one that waits and reads: two launches on the same memory.
fn ends(scope: Scope) -> (Arc<Program>, Arc<Program>) {
    let mut k = Build::new("publisher");
    let (data, flag) = (k.view("data", Access::Shared), k.view("flag", Access::Atomic));
    let body = vec![k.store(data, 0, 9), k.write(flag, 0, 1, WriteOrder::Release, scope)];
    let publisher = k.program(body);
    let mut k = Build::new("subscriber");
    let (data, flag) = (k.view("data", Access::Shared), k.view("flag", Access::Atomic));
    let x = k.slot();
    let body = vec![k.wait(flag, 0, 1, ReadOrder::Acquire, scope), k.load(x, data, 0)];
    (publisher, k.program(body))
}

#[test]
fn the_host_and_another_device_are_outside_the_device() {
    for (agent, scope, racy) in [
        (Agent::Host, System, false),
        (Agent::Host, Device, true),
        (Agent::Device(0), Device, false),
        (Agent::Device(0), Block, true),
        (Agent::Device(1), System, false),
        (Agent::Device(1), Device, true),
    ] {
        for seed in 0..20 {
            let (publisher, subscriber) = ends(scope);
            let (mut simulator, memories) = simulator(seed, 2);
            let shape = LaunchShape::linear(1, 1);
            let reader = simulator.launch(request(&subscriber, shape, &memories)).unwrap();
            let host = LaunchRequest { agent, ..request(&publisher, shape, &memories) };
            let writer = simulator.launch(host).unwrap();
            let results = [simulator.finish(reader), simulator.finish(writer)];
            assert_eq!(results[0].is_err(), racy, "{agent:?} {scope}: {results:?}");
        }
    }
}

/// A publishes in `flag` with a release, B changes it by a read-modify-write or a store, C acquires what B wrote.
fn chain(link: fn(&mut Build, wattle_ir::Place) -> Stmt) -> Arc<Program> {
    let mut k = Build::new("chain");
    let (data, flag) = (k.view("data", Access::Shared), k.view("flag", Access::Atomic));
    let x = k.slot();
    let who = k.block();
    let link = link(&mut k, flag);
    let parts = vec![
        vec![k.store(data, 0, 1), k.write(flag, 0, 1, WriteOrder::Release, Device)],
        vec![k.wait(flag, 0, 1, ReadOrder::Relaxed, Device), link],
        vec![k.wait(flag, 0, 2, ReadOrder::Acquire, Device), k.load(x, data, 0)],
    ];
    let body = k.parts(who, parts);
    k.program(body)
}

#[test]
fn a_read_modify_write_extends_a_release_and_a_store_breaks_it() {
    let shape = LaunchShape::linear(3, 1);
    well(
        &chain(|k, flag| {
            let dst = k.slot();
            k.add(dst, flag, 0, UpdateOrder::Relaxed, Device)
        }),
        shape,
    );
    races(&chain(|k, flag| k.write(flag, 0, 2, WriteOrder::Relaxed, Device)), shape);
    races(
        &chain(|k, flag| {
            let dst = k.slot();
            k.add(dst, flag, 0, UpdateOrder::Relaxed, Block)
        }),
        shape,
    );
}

#[test]
fn a_later_store_of_the_releasing_thread_is_no_extension() {
    let mut k = Build::new("same_thread");
    let (data, flag) = (k.view("data", Access::Shared), k.view("flag", Access::Atomic));
    let x = k.slot();
    let who = k.block();
    let parts = vec![
        vec![
            k.store(data, 0, 1),
            k.write(flag, 0, 1, WriteOrder::Release, Device),
            k.write(flag, 0, 2, WriteOrder::Relaxed, Device),
        ],
        vec![k.wait(flag, 0, 2, ReadOrder::Acquire, Device), k.load(x, data, 0)],
    ];
    let body = k.parts(who, parts);
    races(&k.program(body), BLOCKS());
}

#[test]
fn a_failed_compare_exchange_is_a_read_only() {
    let exchange = |order| {
        let mut k = Build::new("failed");
        let (data, flag) = (k.view("data", Access::Shared), k.view("flag", Access::Atomic));
        let (x, y, who) = (k.slot(), k.slot(), k.block());
        let (index, nine) = (vec![k.c(1)], k.c(9));
        let site = wattle_ir::Site::caller();
        let fail = Stmt::CompareExchange {
            dst: y,
            place: flag,
            index,
            expected: nine,
            desired: nine,
            order,
            scope: Device,
            site,
        };
        let parts = vec![
            // The failed exchange would release if it were a write.
            vec![k.store(data, 0, 1), fail, k.write(flag, 0, 1, WriteOrder::Relaxed, Device)],
            vec![
                k.wait(flag, 0, 1, ReadOrder::Relaxed, Device),
                k.read(y, flag, 1, ReadOrder::Acquire, Device),
                k.load(x, data, 0),
            ],
        ];
        let body = k.parts(who, parts);
        k.program(body)
    };
    races(&exchange(UpdateOrder::AcqRel), BLOCKS());
}

#[test]
fn atomics_that_are_not_morally_strong_race_with_each_other() {
    let add = |scope| {
        let mut k = Build::new("add");
        let count = k.view("count", Access::Atomic);
        let dst = k.slot();
        let body = vec![k.add(dst, count, 0, UpdateOrder::Relaxed, scope)];
        k.program(body)
    };
    well(&add(Device), LaunchShape::linear(4, 8));
    well(&add(Block), LaunchShape::linear(1, 8));
    let race = races(&add(Block), LaunchShape::linear(4, 8));
    assert_eq!((race.first.scope, race.second.scope), (Some(Block), Some(Block)));
}

#[test]
fn launches_one_after_the_other_are_ordered() {
    let mut k = Build::new("plain");
    let data = k.view("data", Access::Shared);
    let x = k.slot();
    let body = vec![k.store(data, 0, 1), k.load(x, data, 0)];
    let program = k.program(body);
    let shape = LaunchShape::linear(1, 1);
    let (mut simulator, memories) = simulator(3, 1);
    for _ in 0..3 {
        let launch = simulator.launch(request(&program, shape, &memories)).unwrap();
        simulator.finish(launch).unwrap();
    }
    // Two launches at a time race, whether or not one of them is done when the other begins to run.
    let two = [0; 2].map(|_| simulator.launch(request(&program, shape, &memories)).unwrap());
    assert!(two.map(|launch| simulator.finish(launch).is_err()).contains(&true));

    // A third launch that starts after the first ended is ordered after it, although the second is still in flight.
    let waiter = ends(Device).1;
    let others = [0; 2].map(|_| simulator.allocate(wattle_ir::Type::U32, 4, wattle_check::simulate::Init::Zero));
    let others = others.map(Result::unwrap);
    let waiting = simulator.launch(request(&waiter, shape, &others)).unwrap();
    for _ in 0..2 {
        let launch = simulator.launch(request(&program, shape, &memories)).unwrap();
        simulator.finish(launch).unwrap();
    }
    simulator.write(others[1], 0, &[1]).unwrap();
    simulator.finish(waiting).unwrap();
}
