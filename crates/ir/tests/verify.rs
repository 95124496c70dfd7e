//! The verifier refuses ill-typed kernels, and says where.

use wattle_ir::builder::{self, Builder, Variable};
use wattle_ir::{
    Access, BinaryOp, Builtin, Const, ElementLayout, Expr, ExprId, Field, Kernel, Label, LocalArray, LocalId, Param,
    ParamId, ParamKind, Place, SharedArray, SharedLen, Site, Slot, SlotId, Stmt, TernaryOp, Type, UnaryOp, verify,
};
use wattle_memory::{Order, ReadOrder, Scope};

const AT: Site = Site { file: "kernel.rs", line: 1, column: 1 };
const LINE: Site = Site { file: "kernel.rs", line: 7, column: 5 };

/// A kernel with a scalar, one view of each access, a shared array of each kind, an array of its own, and three slots.
fn kernel() -> Kernel {
    let view =
        |name, access| Param { name, kind: ParamKind::View { access, element: Type::U32, rank: 1 }, field: None };
    let shared = |name, atomic| SharedArray {
        name,
        element: Type::U32,
        len: SharedLen::Static(4),
        atomic,
        site: AT,
        field: None,
    };
    Kernel {
        params: vec![
            Param { name: "x", kind: ParamKind::Scalar(Type::F32), field: None },
            view("read", Access::Read),
            view("shared", Access::Shared),
            view("atomic", Access::Atomic),
        ],
        shared: vec![shared("tile", false), shared("counts", true)],
        locals: vec![LocalArray::new(Type::U32, 4)],
        slots: [Type::U32, Type::F32, Type::Bool].map(|ty| Slot { ty, name: None }).to_vec(),
        // e0: a u32, e1: an f32, e2: a bool
        exprs: vec![Expr::Const(Const::of(1u32)), Expr::Const(Const::of(1.0f32)), Expr::Const(Const::of(true))],
        ..Kernel::new("wrong", AT, 1)
    }
}

fn refused(what: &str, change: impl FnOnce(&mut Kernel)) {
    let mut wrong = kernel();
    change(&mut wrong);
    let error = verify(&wrong).expect_err(what).to_string();
    assert!(error.contains(what), "{error:?} does not say {what:?}");
    assert!(error.contains("kernel `wrong`") && error.contains("kernel.rs:"), "{error:?} has no place");
}

const U32: ExprId = ExprId(0);
const F32: ExprId = ExprId(1);
const BOOL: ExprId = ExprId(2);
const READ: Place = Place::Param(ParamId(1));
const SHARED: Place = Place::Param(ParamId(2));
const ATOMIC: Place = Place::Param(ParamId(3));

#[test]
fn the_kernel_itself_is_accepted() {
    assert_eq!(verify(&kernel()), Ok(()));
}

#[test]
fn expressions() {
    let pushed = |expr| move |kernel: &mut Kernel| kernel.exprs.push(expr);
    refused("`+` does not apply to u32 and f32", pushed(Expr::Binary(BinaryOp::Add, U32, F32)));
    refused("`<` does not apply to bool and bool", pushed(Expr::Binary(BinaryOp::Lt, BOOL, BOOL)));
    refused("`<<` does not apply to u32 and f32", pushed(Expr::Binary(BinaryOp::Shl, U32, F32)));
    refused("`-` does not apply to u32", pushed(Expr::Unary(UnaryOp::Neg, U32)));
    refused("`sqrt` does not apply to u32", pushed(Expr::Unary(UnaryOp::Sqrt, U32)));
    refused("before it is defined", pushed(Expr::Unary(UnaryOp::Not, ExprId(3))));
    refused("`fma` does not apply to u32, u32 and u32", pushed(Expr::Ternary(TernaryOp::Fma, U32, U32, U32)));
    refused("bool was expected", pushed(Expr::Select(U32, U32, U32)));
    refused("u32 was expected", pushed(Expr::Select(BOOL, U32, F32)));
    refused("cast of u32 to bool", pushed(Expr::Cast(Type::Bool, U32)));
    refused("the bits of u32 as f64", pushed(Expr::Bits(Type::F64, U32)));
    refused("is a view, used as a value", pushed(Expr::Param(ParamId(1))));
    refused("is a value, used as a view", pushed(Expr::Extent(Place::Param(ParamId(0)), 0)));
    refused("has no dimension 1", pushed(Expr::Extent(READ, 1)));
    refused("the launch has 1 dimensions", pushed(Expr::Builtin(Builtin::GridExtent, 1)));
    refused("there is no slot", pushed(Expr::Slot(SlotId(9))));
    refused("bits beyond its type", pushed(Expr::Const(Const { ty: Type::U8, raw: 256 })));
}

#[test]
fn statements() {
    let does = |stmt| move |kernel: &mut Kernel| kernel.body.push(stmt);
    let index = vec![U32];
    refused("slot s0 has type u32, and gets a f32", does(Stmt::Assign { slot: SlotId(0), value: F32 }));
    refused("which is read-only", does(Stmt::Store { place: READ, index: index.clone(), value: U32, site: LINE }));
    refused(
        "a plain access to `atomic`, which is atomic memory",
        does(Stmt::Load { dst: SlotId(0), place: ATOMIC, index: index.clone(), site: LINE }),
    );
    refused(
        "an atomic access to `shared`, which is plain memory",
        does(Stmt::AtomicLoad {
            dst: SlotId(0),
            place: SHARED,
            index: index.clone(),
            order: ReadOrder::Relaxed,
            scope: Scope::Device,
            site: LINE,
        }),
    );
    refused(
        "2 indices for `shared`",
        does(Stmt::Load { dst: SlotId(0), place: SHARED, index: vec![U32; 2], site: LINE }),
    );
    refused(
        "u32 or u64 was expected",
        does(Stmt::Load { dst: SlotId(0), place: SHARED, index: vec![F32], site: LINE }),
    );
    refused("slot s1 has type f32", does(Stmt::Load { dst: SlotId(1), place: SHARED, index, site: LINE }));
    refused("bool was expected", does(Stmt::If { condition: U32, then: vec![], otherwise: vec![] }));
    refused("which does not enclose it", does(Stmt::Break(Label(0))));
    refused("which is no loop around it", does(Stmt::Block { label: Label(0), body: vec![Stmt::Continue(Label(0))] }));
    let block = Stmt::Block { label: Label(0), body: vec![] };
    refused("defined twice", move |kernel| kernel.body.extend([block.clone(), block]));
}

#[test]
fn declarations() {
    refused("rank 5", |kernel| kernel.rank = 5);
    refused("a view of bool", |kernel| {
        kernel.params[1].kind = ParamKind::View { access: Access::Read, element: Type::Bool, rank: 1 };
    });
    refused("no atomic operations on u16", |kernel| {
        kernel.params[3].kind = ParamKind::View { access: Access::Atomic, element: Type::U16, rank: 1 };
    });
    refused("at most one", |kernel| kernel.shared.iter_mut().for_each(|array| array.len = SharedLen::AtLaunch));
}

#[test]
fn the_place_is_the_last_line_that_was_passed() {
    let mut wrong = kernel();
    wrong.body.push(Stmt::Barrier { site: LINE });
    wrong.body.push(Stmt::Assign { slot: SlotId(0), value: F32 });
    assert_eq!(verify(&wrong).expect_err("ill-typed").at, LINE);
}

#[test]
fn a_constant_condition_is_decided_when_the_kernel_is_built() {
    let builder = Builder::new("k", AT, 1);
    let acc = builder::Acc::<1>::new(&builder);
    builder.if_begin(builder.lit(false));
    acc.mem_fence(Scope::Device, Order::Release);
    builder.if_else();
    acc.sync_block();
    builder.if_end();
    let kernel = builder.finish().expect("well typed");
    assert!(matches!(kernel.body[..], [Stmt::Barrier { .. }]), "{:?}", kernel.body);
}

#[test]
fn a_let_keeps_the_value_that_a_variable_had() {
    let builder = Builder::new("k", AT, 1);
    let variable = builder.variable(builder.lit(1u32), "variable");
    let held = builder.bind(variable.get(), "held");
    variable.set(builder.lit(2));
    let sum = builder.variable(builder.add(held, variable.get()), "sum");
    let _ = sum.get();
    let kernel = builder.finish().expect("well typed");
    let names: Vec<_> = kernel.slots.iter().filter_map(|slot| slot.name).collect();
    assert_eq!(names, ["variable", "held", "sum"]);
}

#[test]
fn functions_that_call_each_other_without_end_are_refused() {
    fn forever(builder: &Builder) {
        if builder.call_begin("forever") {
            forever(builder);
            builder.call_end();
        }
    }
    let builder = Builder::new("k", AT, 1);
    forever(&builder);
    let error = builder.finish().expect_err("endless").to_string();
    assert!(error.contains("`forever`") && error.contains("write the recursion as a loop"), "{error}");
}

#[test]
fn constants() {
    let constant = |kernel: &mut Kernel, constants: Vec<u64>| {
        kernel.locals.push(LocalArray { element: Type::U32, len: 3, constants: Some(constants) });
    };
    let place = Place::Local(LocalId(1));
    refused("array a1 of 3 elements has 2 constants", |kernel| constant(kernel, vec![1, 2]));
    refused("a write to `an array of the kernel`, which is read-only", |kernel| {
        constant(kernel, vec![1, 2, 3]);
        kernel.body = vec![Stmt::Store { place, index: vec![U32], value: U32, site: LINE }];
    });
    refused("a write to `an array of the kernel`, which is read-only", |kernel| {
        constant(kernel, vec![1, 2, 3]);
        kernel.body =
            vec![Stmt::LoadLanes { dst: LocalId(1), place: Place::Local(LocalId(0)), index: U32, site: LINE }];
    });
}

#[test]
fn lanes_of_one_field() {
    let layout = ElementLayout::array(&ElementLayout::number(Type::U32), 2);
    let lanes = |place| Stmt::LoadLanes { dst: LocalId(0), place, index: U32, site: LINE };
    refused("lanes of `pairs`, which is one field of its elements", |kernel| {
        let first = ParamId(kernel.params.len() as u32);
        let kind = ParamKind::View { access: Access::Shared, element: Type::U32, rank: 1 };
        let param = |number| Param { name: "pairs", kind, field: Field::of(first, &layout, number) };
        kernel.params.extend((0..2).map(param));
        kernel.body = vec![lanes(Place::Param(first))];
    });
}
