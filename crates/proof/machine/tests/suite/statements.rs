//! Each statement by itself: the thread's request, and the effect of the answer.

use std::sync::Arc;

use wattle_ir::{
    Access, AtomicOp, Const, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param, ParamId, ParamKind, Place,
    SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type,
};
use wattle_machine::{
    Argument, Environment, EnvironmentError, Fault, LaunchShape, Location, MAX_LOCAL_ELEMENTS, Position, Program,
    Request, Thread,
};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

const PLAIN: Place = Place::Param(ParamId(0));
const ATOMIC: Place = Place::Param(ParamId(1));
const SHARED: Place = Place::Shared(SharedId(0));
const DST: SlotId = SlotId(0);

fn site(line: u32) -> Site {
    Site { file: "kernel.rs", line, column: 5 }
}

/// A kernel with a plain 3 × 4 view, an atomic view of 5, a shared array sized at launch, an array of 3 lanes and two
/// slots; expression `n` is the constant `n` up to 9, 10 is the slot, 11 is true, 12 is false.
fn kernel(body: Vec<Stmt>) -> Kernel {
    let view = |access, rank| ParamKind::View { access, element: Type::U32, rank };
    let mut exprs: Vec<Expr> = (0..10u32).map(|value| Expr::Const(Const::of(value))).collect();
    exprs.extend([Expr::Slot(DST), Expr::Const(Const::of(true)), Expr::Const(Const::of(false))]);
    Kernel {
        params: vec![
            Param { name: "plain", kind: view(Access::Shared, 2), field: None },
            Param { name: "atomic", kind: view(Access::Atomic, 1), field: None },
        ],
        shared: vec![SharedArray {
            name: "tile",
            element: Type::U32,
            len: SharedLen::AtLaunch,
            atomic: false,
            site: site(1),
            field: None,
        }],
        locals: vec![LocalArray::new(Type::U32, 3)],
        slots: vec![Slot { ty: Type::U32, name: Some("x") }],
        exprs,
        body,
        ..Kernel::new("test", site(1), 1)
    }
}

fn environment() -> Environment {
    Environment {
        shape: LaunchShape::linear(2, 8),
        arguments: vec![Argument::whole(0u64, [3, 4, 1, 1]), Argument::whole(0u64, [5, 1, 1, 1])],
        shared_len: 6,
    }
}

struct Run {
    program: Program,
    thread: Thread,
}

impl Run {
    fn new(body: Vec<Stmt>) -> Run {
        let program = Program::compile(Arc::new(kernel(body))).unwrap();
        let thread = Thread::new(&program, Position::default());
        Run { program, thread }
    }

    fn next(&mut self) -> Request {
        self.thread.run(&self.program, &environment(), &mut 1000)
    }

    fn slot(&self) -> u64 {
        self.thread.slots(&self.program)[0]
    }
}

fn at(place: Place, index: &[u32], line: u32) -> Location {
    let mut all = [0; 4];
    all[..index.len()].copy_from_slice(index);
    Location { place, element: Type::U32, rank: index.len(), index: all.map(u64::from), site: site(line) }
}

fn ids<const N: usize>(ids: [u32; N]) -> Vec<ExprId> {
    ids.map(ExprId).to_vec()
}

#[test]
fn plain_loads_and_stores() {
    let mut run = Run::new(vec![
        Stmt::Load { dst: DST, place: PLAIN, index: ids([2, 3]), site: site(7) },
        Stmt::Store { place: SHARED, index: ids([5]), value: ExprId(10), site: site(8) },
    ]);
    assert_eq!(run.next(), Request::Load(at(PLAIN, &[2, 3], 7)));
    assert_eq!(run.thread.site(&run.program), site(7));
    run.thread.answer(42);
    assert_eq!(run.next(), Request::Store { location: at(SHARED, &[5], 8), value: 42 });
    assert_eq!(run.next(), Request::Done);
    assert_eq!(run.next(), Request::Done);
    assert_eq!(run.slot(), 42);
}

#[test]
fn lanes() {
    let lanes = |index| Stmt::LoadLanes { dst: LocalId(0), place: SHARED, index: ExprId(index), site: site(7) };
    let mut run = Run::new(vec![lanes(3), lanes(4)]);
    assert_eq!(run.next(), Request::LoadLanes { location: at(SHARED, &[3], 7), lanes: 3 });
    run.thread.answer_lanes(&[7, 8, 9]);
    assert_eq!(run.thread.local(&run.program, LocalId(0)), [7, 8, 9]);
    let (index, extent) = (vec![4], vec![6]);
    let fault = Fault::OutOfBounds { place: SHARED, index, lanes: 3, extent, site: site(7) };
    assert_eq!(run.next(), Request::Fault(fault.clone()));
    assert_eq!(run.thread.local(&run.program, LocalId(0)), [0, 0, 0]);
    assert_eq!(fault.describe(run.program.kernel()).to_string(), "index 6 of `tile`, which has extent 6");
}

#[test]
fn atomics() {
    let (scope, site_) = (Scope::Device, site(9));
    let mut run = Run::new(vec![
        Stmt::AtomicLoad {
            dst: DST,
            place: ATOMIC,
            index: ids([4]),
            order: ReadOrder::Acquire,
            scope: Scope::System,
            site: site_,
        },
        Stmt::AtomicStore {
            place: ATOMIC,
            index: ids([0]),
            value: ExprId(10),
            order: WriteOrder::Release,
            scope,
            site: site_,
        },
        Stmt::AtomicUpdate {
            dst: DST,
            op: AtomicOp::Max,
            place: ATOMIC,
            index: ids([1]),
            operand: ExprId(6),
            order: UpdateOrder::AcqRel,
            scope,
            site: site_,
        },
        Stmt::CompareExchange {
            dst: DST,
            place: ATOMIC,
            index: ids([2]),
            expected: ExprId(1),
            desired: ExprId(10),
            order: UpdateOrder::Relaxed,
            scope: Scope::Block,
            site: site_,
        },
    ]);
    let location = |index| at(ATOMIC, &[index], 9);
    let expected = Request::AtomicLoad { location: location(4), order: ReadOrder::Acquire, scope: Scope::System };
    assert_eq!(run.next(), expected);
    run.thread.answer(17);
    let expected = Request::AtomicStore { location: location(0), value: 17, order: WriteOrder::Release, scope };
    assert_eq!(run.next(), expected);
    assert_eq!(
        run.next(),
        Request::AtomicUpdate {
            location: location(1),
            op: AtomicOp::Max,
            operand: 6,
            order: UpdateOrder::AcqRel,
            scope
        }
    );
    run.thread.answer(18);
    assert_eq!(
        run.next(),
        Request::CompareExchange {
            location: location(2),
            expected: 1,
            desired: 18,
            order: UpdateOrder::Relaxed,
            scope: Scope::Block
        }
    );
    run.thread.answer(1);
    assert_eq!(run.next(), Request::Done);
    assert_eq!(run.slot(), 1);
}

#[test]
fn fences_barriers_and_faults() {
    let mut run = Run::new(vec![
        Stmt::Fence { order: FenceOrder::SeqCst, scope: Scope::System, site: site(3) },
        Stmt::Barrier { site: site(4) },
        Stmt::Assert { condition: ExprId(11), message: "it holds".into(), site: site(5) },
        Stmt::Assert { condition: ExprId(12), message: "it does not".into(), site: site(6) },
        Stmt::Assign { slot: DST, value: ExprId(5) },
        Stmt::Divide { dst: DST, op: wattle_ir::DivOp::Rem, left: ExprId(7), right: ExprId(0), site: site(7) },
        Stmt::Return,
        Stmt::Barrier { site: site(8) },
    ]);
    assert_eq!(run.next(), Request::Fence { order: FenceOrder::SeqCst, scope: Scope::System, site: site(3) });
    assert_eq!(run.next(), Request::Barrier { iterations: vec![], site: site(4) });
    let message = "it does not".into();
    assert_eq!(run.next(), Request::Fault(Fault::Assertion { message, site: site(6) }));
    assert_eq!(run.next(), Request::Fault(Fault::DivisionByZero { site: site(7) }));
    assert_eq!(run.slot(), 0);
    assert_eq!(run.next(), Request::Done);
}

#[test]
fn an_access_out_of_bounds_is_skipped() {
    let mut run = Run::new(vec![
        Stmt::Assign { slot: DST, value: ExprId(5) },
        Stmt::Load { dst: DST, place: PLAIN, index: ids([2, 4]), site: site(7) },
        Stmt::Store { place: PLAIN, index: ids([3, 0]), value: ExprId(1), site: site(8) },
        Stmt::Load { dst: DST, place: Place::Local(LocalId(0)), index: ids([3]), site: site(9) },
    ]);
    let out = |place, index: &[u64], extent: &[u64], line| {
        let (index, extent) = (index.to_vec(), extent.to_vec());
        Request::Fault(Fault::OutOfBounds { place, index, lanes: 1, extent, site: site(line) })
    };
    assert_eq!(run.next(), out(PLAIN, &[2, 4], &[3, 4], 7));
    assert_eq!(run.slot(), 0);
    assert_eq!(run.next(), out(PLAIN, &[3, 0], &[3, 4], 8));
    assert_eq!(run.next(), out(Place::Local(LocalId(0)), &[3], &[3], 9));
    assert_eq!(run.next(), Request::Done);
}

#[test]
fn a_loop_without_a_bound_tells_of_its_back_edge() {
    let spin = |bounded| {
        let body = vec![Stmt::Load { dst: DST, place: SHARED, index: ids([0]), site: site(12) }];
        Run::new(vec![Stmt::Loop { label: Label(3), body, continuing: vec![], bounded, site: site(11) }])
    };
    let mut run = spin(false);
    let load = Request::Load(at(SHARED, &[0], 12));
    let mut states = Vec::new();
    for _ in 0..2 {
        assert_eq!(run.next(), load);
        run.thread.answer(5);
        assert_eq!(run.next(), Request::BackEdge { label: Label(3), site: site(11) });
        assert_eq!(run.thread.site(&run.program), site(11));
        states.push(run.thread.clone());
    }
    assert_eq!(states[0], states[1]);
    assert_eq!(run.next(), load);
    run.thread.answer(6);
    run.next();
    assert_ne!(states[0], run.thread);

    let mut run = spin(true);
    assert_eq!((run.next(), run.next()), (load.clone(), load));
}

#[test]
fn a_bounded_loop_without_requests_runs_out_of_fuel() {
    let body = vec![Stmt::Assign { slot: DST, value: ExprId(10) }];
    let program = Program::compile(Arc::new(kernel(vec![Stmt::Loop {
        label: Label(0),
        body,
        continuing: vec![],
        bounded: true,
        site: site(2),
    }])))
    .unwrap();
    let mut thread = Thread::new(&program, Position::default());
    let mut fuel = 100;
    assert_eq!(thread.run(&program, &environment(), &mut fuel), Request::OutOfFuel);
    assert_eq!(fuel, 0);
}

#[test]
fn shared_expressions_take_time_in_their_number_not_in_their_paths() {
    let mut kernel = kernel(vec![]);
    for _ in 0..10_000 {
        let last = ExprId(kernel.exprs.len() as u32 - 1);
        let last = if last.0 == 12 { ExprId(1) } else { last };
        kernel.exprs.push(Expr::Binary(wattle_ir::BinaryOp::Add, last, last));
    }
    kernel.body = vec![Stmt::Assign { slot: DST, value: ExprId(12 + 31) }];
    let last = ExprId(kernel.exprs.len() as u32 - 1);
    kernel.body.push(Stmt::Store { place: SHARED, index: ids([0]), value: last, site: site(2) });
    let program = Program::compile(Arc::new(kernel)).unwrap();
    let mut thread = Thread::new(&program, Position::default());
    let request = thread.run(&program, &environment(), &mut 1000);
    assert_eq!(request, Request::Store { location: at(SHARED, &[0], 2), value: 0 });
    assert_eq!(thread.slots(&program), [1 << 31]);
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(Program::compile(Arc::new(kernel(vec![Stmt::Break(Label(0))]))).is_err());
    let mut large = kernel(vec![]);
    large.locals = vec![LocalArray::new(Type::U8, u32::MAX); 3];
    let error = Program::compile(Arc::new(large)).unwrap_err().to_string();
    assert!(error.contains(&MAX_LOCAL_ELEMENTS.to_string()), "{error}");

    let mut environment = environment();
    environment.arguments[1] = Argument::Scalar(0);
    let error = environment.check(&kernel(vec![])).unwrap_err();
    assert_eq!(error.to_string(), "kernel `test`: parameter `atomic` takes a view, and was given a value");
    environment.arguments.pop();
    assert!(matches!(environment.check(&kernel(vec![])), Err(EnvironmentError::Count { expected: 2, found: 1, .. })));
}

/// An array of constants is no memory of a thread's, and its values are known at once.
#[test]
fn constants_are_read_without_a_request() {
    let constants = LocalId(1);
    let place = Place::Local(constants);
    let mut kernel = kernel(vec![
        Stmt::Load { dst: DST, place, index: vec![ExprId(3)], site: site(9) },
        Stmt::LoadLanes { dst: LocalId(0), place, index: ExprId(1), site: site(10) },
        Stmt::Load { dst: DST, place, index: vec![ExprId(4)], site: site(11) },
    ]);
    kernel.locals.push(LocalArray { element: Type::U32, len: 4, constants: Some(vec![7, 8, 9, 10]) });
    let program = Program::compile(Arc::new(kernel)).unwrap();
    let mut thread = Thread::new(&program, Position::default());
    let request = thread.run(&program, &environment(), &mut 1000);
    let Request::Fault(Fault::OutOfBounds { place: at, index, extent, .. }) = request else { panic!("{request:?}") };
    assert_eq!((at, index, extent), (place, vec![4], vec![4]));
    assert_eq!((thread.slots(&program), thread.local(&program, LocalId(0))), (&[0u64][..], &[8, 9, 10][..]));
    assert!(thread.local(&program, constants).is_empty());
}
