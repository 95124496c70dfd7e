//! The heads of loops without a bound: the words that a thread keeps there, and whether a state repeats.

use crate::common::{Build, DATA, FLAGS, Run, SLOTS, again, forever, leave, local, site};
use wattle_ir::builder::{Atomic, Builder, Shared, Variable, get, set};
use wattle_ir::{Access, AtomicOp, DivOp, Label, LocalId, Site, SlotId, Stmt};
use wattle_machine::Deferred::{Known, Pending};
use wattle_machine::{Deferred, Environment, LaunchShape, Position, Program, Request, Thread, Value};
use wattle_memory::{Scope, UpdateOrder};

/// A kernel as the macro builds it, over plain data and flags.
fn built(body: impl for<'b> FnOnce(&'b Builder, Shared<'b, u32>, Atomic<'b, u32>)) -> Run {
    let builder = Builder::new("test", Site::caller(), 1);
    let data = Shared::new(&builder, builder.view::<u32>("data", Access::Shared, 1));
    let flags = Atomic::new(&builder, builder.view::<u32>("flags", Access::Atomic, 1));
    body(&builder, data, flags);
    Run::new(builder.finish().unwrap())
}

/// The kernel `let mut n = 0; while flags[0] != 1 { n += 1; data[1] = data[0]; } data[2] = n`, with the counter if
/// `counts`.
fn spin(counts: bool) -> Run {
    built(|b, data, flags| {
        let n = b.variable(b.lit(0u32), "n");
        let handle = b.loop_begin(false);
        b.while_condition(&handle, b.ne(flags.load(b.lit(0)), b.lit(1)));
        if counts {
            n.set(b.add(n.get(), b.lit(1)));
        }
        set(&data, b.lit(1), get(&data, b.lit(0)));
        b.loop_end(handle);
        set(&data, b.lit(2), n.get());
    })
}

#[test]
fn a_spinning_thread_is_the_same_after_each_iteration() {
    let mut run = spin(false);
    assert!(matches!(run.next(), Request::LoopHead { .. }));
    let entered = run.clone();
    // The value that an iteration loads is dead at its end, and so is whether it was chosen.
    for (flag, value) in [(0, Known(5)), (2, Known(6)), (0, Pending)] {
        run.answer(Known(flag));
        run.answer(value);
        assert_eq!(run.stored(), value);
        assert!(matches!(run.next(), Request::BackEdge { .. }));
        assert_eq!(run.thread, entered.thread);
        assert!(!run.thread.any_pending());
    }
    run.answer(Pending);
    assert_eq!(run.next(), Request::NeedsValue);
    assert_ne!(run.thread, entered.thread);
    run.thread = entered.thread;
    run.answer(Known(1));
    assert_eq!(run.stored(), Known(0));
    assert_eq!(run.next(), Request::Done);
}

#[test]
fn a_thread_that_counts_is_another_after_each_iteration() {
    let mut run = spin(true);
    run.next();
    let mut states = vec![run.thread.clone()];
    for _ in 0..3 {
        run.answer(Known(0));
        run.answer(Pending);
        run.stored();
        run.next();
        assert!(!states.contains(&run.thread));
        states.push(run.thread.clone());
    }
    run.answer(Known(1));
    assert_eq!(run.stored(), Known(3));
}

#[test]
fn with_words_a_loop_has_no_head_and_its_steps_are_those_of_its_statements() {
    let mut build = Build::default();
    let body = vec![build.set(0, 1), forever(0, vec![build.count(0), leave(0)], vec![])];
    let run = build.run(body);
    let environment = Environment { shape: LaunchShape::linear(1, 1), arguments: vec![], shared_len: 0 };
    fn steps<V: Value>(program: &Program, environment: &Environment) -> (u32, u64) {
        let (mut thread, mut fuel) = (Thread::<V>::start(program, Position::default()), 100);
        let mut heads = 0;
        while thread.run(program, environment, &mut fuel) != Request::Done {
            heads += 1;
        }
        (heads, 100 - fuel)
    }
    // The steps are the two statements, the jump and the end.
    assert_eq!(steps::<u64>(&run.program, &environment), (0, 4));
    assert_eq!(steps::<Deferred>(&run.program, &environment), (1, 4));
}

#[test]
fn a_live_word_can_be_pending_at_the_head() {
    let mut build = Build::default();
    let body = vec![
        build.load(0, DATA, 0),
        build.load(1, DATA, 0),
        forever(0, vec![build.flag(2, 0), build.when(2, vec![leave(0)])], vec![]),
        build.read(0),
    ];
    for (live, dead, pending) in [(Pending, Known(1), true), (Known(1), Pending, false)] {
        let mut run = build.clone().run(body.clone());
        run.answer(live);
        run.answer(dead);
        run.head(0);
        assert_eq!(run.thread.any_pending(), pending);
    }
}

/// The live slots at the entry of a loop, and the live arrays, numbered after the slots. Flags are 1.
fn live(mut build: Build, label: u32, body: Vec<Stmt>) -> Vec<u32> {
    let mut all: Vec<Stmt> = (0..SLOTS).map(|slot| build.set(slot, 1)).collect();
    let one = build.c(1u32);
    all.extend(
        [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)].map(|(array, index)| build.store(local(array), index, one)),
    );
    all.extend(body);
    let mut run = build.run(all);
    loop {
        match run.next() {
            Request::LoopHead { label: found, .. } if found == Label(label) => break,
            Request::Done => panic!("the loop is not entered"),
            _ => run.thread.answer(Known(1)),
        }
    }
    let slots = run.thread.slots(&run.program).iter().map(|&value| vec![value]);
    let arrays = [0, 1].map(|array| run.thread.local(&run.program, LocalId(array)).to_vec());
    let mut live = Vec::new();
    for (number, words) in (0..).zip(slots.chain(arrays)) {
        // All dead words are 0; here no other word is.
        let zeros = words.iter().filter(|&&word| word == Known(0)).count();
        assert!(zeros == 0 || zeros == words.len());
        if zeros == 0 {
            live.push(number);
        }
    }
    live
}

/// Builds `slot = flags[0]; if slot != 0 { then }`.
fn ask(build: &mut Build, slot: u32, then: Vec<Stmt>) -> [Stmt; 2] {
    [build.flag(slot, 0), build.when(slot, then)]
}

#[test]
fn what_lives_in_nested_loops() {
    let mut build = Build::default();
    let b = &mut build;
    let mut inner = ask(b, 1, vec![leave(1)]).to_vec();
    inner.push(b.read(2));
    let mut outer = vec![b.set(0, 1), forever(1, inner, vec![]), b.read(0)];
    outer.extend(ask(b, 3, vec![leave(0)]));
    outer.push(b.read(4));
    let body = vec![forever(0, outer, vec![]), b.read(5), b.set(6, 1), b.read(6)];
    assert_eq!(live(build.clone(), 0, body.clone()), [2, 4, 5]);
    assert_eq!(live(build, 1, body), [0, 2, 4, 5]);
}

#[test]
fn what_lives_past_a_loop_with_a_bound() {
    let mut build = Build::default();
    let b = &mut build;
    // The first slot is read only in the next iteration.
    let mut body = vec![b.read(0), forever(1, ask(b, 1, vec![leave(1)]).to_vec(), vec![])];
    body.extend(ask(b, 2, vec![leave(0)]));
    let rounds = Stmt::Loop { label: Label(0), body, continuing: vec![b.set(3, 1)], bounded: true, site: site() };
    assert_eq!(live(build, 1, vec![rounds]), [0]);
}

#[test]
fn what_lives_past_breaks() {
    let mut build = Build::default();
    let b = &mut build;
    // Each exit sets the slot that is read after it.
    let then = vec![b.set(1, 1), leave(0)];
    let mut body = ask(b, 0, then).to_vec();
    body.extend(ask(b, 0, vec![leave(2)]));
    body.extend([b.set(3, 1), b.read(3)]);
    let block = vec![forever(0, body, vec![]), b.read(1), b.read(4)];
    let body = vec![Stmt::Block { label: Label(2), body: block }, b.read(5)];
    assert_eq!(live(build, 0, body), [4, 5]);
}

#[test]
fn what_lives_past_continues_and_returns() {
    for sets_on_each_way in [true, false] {
        let mut build = Build::default();
        let b = &mut build;
        let then = vec![b.set(1, 1), again(0)];
        let mut body = ask(b, 0, then).to_vec();
        let otherwise = if sets_on_each_way { vec![b.set(1, 2)] } else { vec![] };
        // A thread that returns here reads nothing more.
        body.push(Stmt::If { condition: b.c(false), then: vec![Stmt::Return], otherwise });
        let continuing = vec![b.read(1), b.read(3), b.set(3, 1)];
        // No path leads past the loop.
        let body = vec![forever(0, body, continuing), b.read(4)];
        let expected: &[u32] = if sets_on_each_way { &[3] } else { &[1, 3] };
        assert_eq!(live(build, 0, body), expected);
    }
}

#[test]
fn an_array_lives_as_a_whole() {
    let read = |b: &mut Build| vec![b.load(0, local(0), 3), b.read(0)];
    let leaving = |b: &mut Build, body: Vec<Stmt>| {
        let ask = ask(b, 1, vec![leave(0)]);
        vec![forever(0, body.into_iter().chain(ask).collect(), vec![])]
    };
    // A store of one element keeps the others live.
    let mut build = Build::default();
    let one = build.c(1u32);
    let mut body = vec![build.store(local(0), 3, one)];
    body.extend(read(&mut build));
    let body = leaving(&mut build, body);
    assert_eq!(live(build, 0, body), [SLOTS]);

    // A load of lanes sets the whole array; its source is read before.
    for (from, expected) in [(DATA, &[][..]), (local(0), &[SLOTS]), (local(1), &[SLOTS + 1])] {
        let mut build = Build::default();
        let index = build.c(0u32);
        let lanes = Stmt::LoadLanes { dst: LocalId(1), place: from, index, site: site() };
        let body = vec![lanes, build.load(0, local(1), 0), build.read(0)];
        let body = leaving(&mut build, body);
        assert_eq!(live(build, 0, body), expected);
    }

    // An array that is only written is dead.
    let mut build = Build::default();
    let one = build.c(1u32);
    let body = vec![build.store(local(0), 0, one)];
    let body = leaving(&mut build, body);
    assert_eq!(live(build, 0, body), [0u32; 0]);
}

#[test]
fn every_operand_is_read() {
    let mut build = Build::default();
    let [s0, s1, s2, s3, s4, s5] = [0, 1, 2, 3, 4, 5].map(|slot| build.slot(slot));
    let (scope, dst, place) = (Scope::Device, SlotId(7), FLAGS);
    let order = UpdateOrder::Relaxed;
    let body = vec![
        Stmt::CompareExchange { dst, place, index: vec![s0], expected: s1, desired: s2, order, scope, site: site() },
        Stmt::AtomicUpdate { dst, op: AtomicOp::Add, place, index: vec![s0], operand: s3, order, scope, site: site() },
        Stmt::Divide { dst, op: DivOp::Rem, left: s4, right: s5, site: site() },
        build.when(6, vec![leave(0)]),
    ];
    assert_eq!(live(build, 0, vec![forever(0, body, vec![])]), [0, 1, 2, 3, 4, 5, 6]);
}
