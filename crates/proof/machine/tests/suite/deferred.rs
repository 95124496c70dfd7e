//! A thread that runs past loads whose value is not chosen yet.

use crate::common::{Build, DATA, FLAGS, MATRIX, Run, at, local, site, somewhere};
use wattle_ir::{AtomicOp, BinaryOp, Builtin, DivOp, Expr, ExprId, LocalId, SlotId, Stmt, TernaryOp, Type, UnaryOp};
use wattle_machine::Deferred::{Known, Pending};
use wattle_machine::{Deferred, Fault, Request};
use wattle_memory::{Scope, UpdateOrder, WriteOrder};

#[test]
fn a_thread_runs_past_a_load() {
    let mut build = Build::default();
    let body = vec![build.load(0, DATA, 0), build.count(0), build.read(0), build.flag(1, 2), build.read(1)];
    let mut run = build.run(body);
    assert_eq!(run.next(), Request::Load(at(DATA, &[0])));
    let mut kept = run.clone();
    run.thread.answer(Pending);
    assert!(run.thread.any_pending() && !kept.thread.any_pending());
    assert_eq!(run.next(), Request::Store { location: at(DATA, &[7]), value: Pending });
    run.answer(Known(5));
    assert_eq!(run.next(), Request::Store { location: at(DATA, &[7]), value: Known(5) });
    assert_eq!(run.next(), Request::Done);

    kept.thread.answer(Known(41));
    assert_eq!(kept.stored(), Known(42));
}

#[test]
fn a_value_is_pending_where_any_operand_is() {
    let mut build = Build::default();
    let (x, one, yes) = (build.slot(0), build.c(1u32), build.c(true));
    let float = build.expr(Expr::Bits(Type::F32, x));
    let half = build.c(0.5f32);
    let wide = build.expr(Expr::Cast(Type::U64, x));
    let choice = build.binary(BinaryOp::Ne, x, one);
    let mut fma = |x, y, z| {
        let sum = build.expr(Expr::Ternary(TernaryOp::Fma, x, y, z));
        build.expr(Expr::Bits(Type::U32, sum))
    };
    let fmas = [fma(float, half, half), fma(half, float, half), fma(half, half, float), fma(half, half, half)];
    let pending = [
        x,
        build.expr(Expr::Unary(UnaryOp::Not, x)),
        build.binary(BinaryOp::Add, x, one),
        build.binary(BinaryOp::Add, one, x),
        // Dependencies follow the source, whatever the values.
        build.binary(BinaryOp::Xor, x, x),
        build.expr(Expr::Cast(Type::U32, wide)),
        fmas[0],
        fmas[1],
        fmas[2],
        build.expr(Expr::Select(choice, one, one)),
        build.expr(Expr::Select(yes, x, one)),
        build.expr(Expr::Select(yes, one, x)),
    ];
    let known = [
        one,
        fmas[3],
        build.slot(1),
        build.binary(BinaryOp::Add, one, one),
        build.expr(Expr::Select(yes, one, one)),
        build.expr(Expr::Builtin(Builtin::BlockExtent, 0)),
        build.expr(Expr::Extent(DATA, 0)),
    ];
    let mut body = vec![build.load(0, DATA, 0)];
    body.extend(pending.into_iter().chain(known).map(|value| build.store(DATA, 1, value)));
    let mut run = build.run(body);
    run.next();
    let mut kept = run.clone();
    run.thread.answer(Pending);
    kept.thread.answer(Known(3));
    let stored: Vec<Deferred> = pending.iter().chain(&known).map(|_| run.stored()).collect();
    assert!(stored[..pending.len()].iter().all(|&value| value == Pending), "{stored:?}");
    assert!(stored[pending.len()..].iter().all(|&value| value != Pending), "{stored:?}");
    let expected = [3, !3 & 0xffff_ffff, 4, 4, 0, 3].map(Known);
    assert_eq!(expected.map(|_| kept.stored()), expected);
}

#[test]
fn all_that_goes_to_memory_can_be_pending() {
    let mut build = Build::default();
    let (order, scope) = (UpdateOrder::Relaxed, Scope::Device);
    let (x, one) = (build.slot(0), build.c(1u32));
    let (dst, place, index) = (SlotId(1), FLAGS, vec![one]);
    let body = vec![
        build.load(0, DATA, 0),
        Stmt::AtomicStore { place, index: index.clone(), value: x, order: WriteOrder::Relaxed, scope, site: site() },
        Stmt::AtomicUpdate {
            dst,
            op: AtomicOp::Add,
            place,
            index: index.clone(),
            operand: x,
            order,
            scope,
            site: site(),
        },
        Stmt::CompareExchange { dst, place, index, expected: x, desired: one, order, scope, site: site() },
    ];
    let mut run = build.run(body);
    run.answer(Pending);
    let location = at(FLAGS, &[1]);
    let order_ = WriteOrder::Relaxed;
    assert_eq!(run.next(), Request::AtomicStore { location, value: Pending, order: order_, scope });
    assert_eq!(run.next(), Request::AtomicUpdate { location, op: AtomicOp::Add, operand: Pending, order, scope });
    run.thread.answer(Pending);
    let (expected, desired) = (Pending, Known(1));
    assert_eq!(run.next(), Request::CompareExchange { location, expected, desired, order, scope });
}

#[test]
fn an_index_can_be_pending() {
    let mut build = Build::default();
    let (x, nine) = (build.slot(0), build.c(9u32));
    let body = vec![
        build.load(0, DATA, 0),
        Stmt::Store { place: DATA, index: vec![x], value: nine, site: site() },
        // Whether 9 is out of bounds is reported once the whole index is known.
        Stmt::Load { dst: SlotId(1), place: MATRIX, index: vec![nine, x], site: site() },
        Stmt::LoadLanes { dst: LocalId(1), place: DATA, index: x, site: site() },
    ];
    let mut run = build.run(body);
    run.next();
    let mut kept = run.clone();
    run.thread.answer(Pending);
    assert_eq!(run.next(), Request::Store { location: somewhere(DATA, 1), value: Known(9) });
    assert_eq!(run.next(), Request::Load(somewhere(MATRIX, 2)));
    assert_eq!(run.next(), Request::LoadLanes { location: somewhere(DATA, 1), lanes: 2 });
    run.thread.answer_lanes(&[Known(1), Pending]);
    assert_eq!(run.thread.local(&run.program, LocalId(1)), [Known(1), Pending]);
    assert_eq!(run.next(), Request::Done);

    kept.thread.answer(Known(8));
    let out = |request| matches!(request, Request::Fault(Fault::OutOfBounds { .. }));
    assert!(out(kept.next()) && out(kept.next()) && out(kept.next()));
}

/// The thread loads, and the statement needs the value: the thread stays there until it is run again from the load.
#[track_caller]
fn needs_the_value(build: Build, body: Vec<Stmt>) -> Run {
    let mut run = build.run(body);
    run.next();
    let mut kept = run.clone();
    run.thread.answer(Pending);
    assert_eq!(run.next(), Request::NeedsValue);
    let blocked = run.thread.clone();
    assert_eq!(run.next(), Request::NeedsValue);
    assert_eq!(run.thread, blocked);
    kept.thread.answer(Known(1));
    kept
}

#[test]
fn a_branch_needs_its_condition() {
    let mut build = Build::default();
    let (load, then) = (build.load(0, DATA, 0), vec![build.read(0)]);
    let body = vec![load, build.when(0, then)];
    let mut run = needs_the_value(build, body);
    assert_eq!(run.stored(), Known(1));
    assert_eq!(run.next(), Request::Done);
}

#[test]
fn an_assertion_needs_its_condition() {
    let mut build = Build::default();
    let (x, one) = (build.slot(0), build.c(1u32));
    let condition = build.binary(BinaryOp::Eq, x, one);
    let body = vec![build.load(0, DATA, 0), Stmt::Assert { condition, message: "one".into(), site: site() }];
    assert_eq!(needs_the_value(build, body).next(), Request::Done);
}

fn divide(build: &mut Build, left: ExprId, right: ExprId) -> Vec<Stmt> {
    let divide = Stmt::Divide { dst: SlotId(1), op: DivOp::Div, left, right, site: site() };
    vec![build.load(0, DATA, 0), divide, build.read(1)]
}

#[test]
fn a_division_needs_its_divisor_alone() {
    let mut build = Build::default();
    let (x, six) = (build.slot(0), build.c(6u32));
    let body = divide(&mut build, six, x);
    assert_eq!(needs_the_value(build, body).stored(), Known(6));

    let mut build = Build::default();
    let (x, six) = (build.slot(0), build.c(6u32));
    let body = divide(&mut build, x, six);
    let mut run = build.run(body);
    run.answer(Pending);
    assert_eq!(run.stored(), Pending);

    let mut build = Build::default();
    let (x, zero) = (build.slot(0), build.c(0u32));
    let body = divide(&mut build, x, zero);
    let mut run = build.run(body);
    run.answer(Pending);
    assert_eq!(run.next(), Request::Fault(Fault::DivisionByZero { site: site() }));
    assert_eq!(run.stored(), Known(0));
}

#[test]
fn an_array_of_the_threads_own_needs_its_index_and_holds_any_value() {
    for number in 0..3 {
        let mut build = Build::default();
        let index = build.slot(0);
        let statement = match number {
            0 => Stmt::Load { dst: SlotId(1), place: local(0), index: vec![index], site: site() },
            1 => Stmt::Store { place: local(0), index: vec![index], value: index, site: site() },
            _ => Stmt::LoadLanes { dst: LocalId(1), place: local(0), index, site: site() },
        };
        let body = vec![build.load(0, DATA, 0), statement];
        assert_eq!(needs_the_value(build, body).next(), Request::Done);
    }

    let mut build = Build::default();
    let (x, one) = (build.slot(0), build.c(1u32));
    let lanes = Stmt::LoadLanes { dst: LocalId(1), place: local(0), index: one, site: site() };
    let body = vec![
        build.load(0, DATA, 0),
        build.store(local(0), 2, x),
        lanes,
        build.load(1, local(1), 1),
        build.read(1),
        build.load(1, local(1), 0),
        build.read(1),
    ];
    let mut run = build.run(body);
    run.answer(Pending);
    assert_eq!((run.stored(), run.stored()), (Pending, Known(0)));
}
