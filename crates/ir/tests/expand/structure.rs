//! The kernels that expansion makes: their statements and expressions.

use std::borrow::Cow;

use wattle_ir::{
    Access, AtomicOp, BinaryOp, Const, DivOp, Exact, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param, ParamId,
    ParamKind, Place, Slot, SlotId, Stmt, TernaryOp, Type, UnaryOp, expand, verify,
};
use wattle_memory::{ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::{AT, PLAIN, ROUGH, is_replaced};

/// A kernel that uses what `value` adds to its expressions in all the places where a statement can. Its first
/// expressions: e0 the parameter, e1 the constant 1.
fn everywhere(value: &[Expr]) -> Kernel {
    let mut exprs = vec![Expr::Param(ParamId(0)), Expr::Const(Const::of(1.0f32))];
    exprs.extend(value);
    let mut push = |expr| {
        exprs.push(expr);
        ExprId(exprs.len() as u32 - 1)
    };
    let float = push(Expr::Slot(SlotId(0)));
    let value = ExprId(float.0 - 1);
    let condition = push(Expr::Binary(BinaryOp::Lt, value, float));
    let whole = push(Expr::Cast(Type::U32, value));
    let view =
        |name, access| Param { name, kind: ParamKind::View { access, element: Type::U32, rank: 1 }, field: None };
    let (plain, atomic) = (Place::Param(ParamId(1)), Place::Param(ParamId(2)));
    let (dst, site, scope, order) = (SlotId(1), AT, Scope::Device, UpdateOrder::AcqRel);
    let index = || vec![whole];
    let set = || Stmt::Assign { slot: SlotId(0), value };
    Kernel {
        params: vec![
            Param { name: "x", kind: ParamKind::Scalar(Type::F32), field: None },
            view("plain", Access::Shared),
            view("atomic", Access::Atomic),
        ],
        locals: vec![LocalArray::new(Type::U32, 4)],
        slots: [Type::F32, Type::U32].map(|ty| Slot { ty, name: None }).to_vec(),
        exprs,
        body: vec![
            set(),
            Stmt::Divide { dst, op: DivOp::Rem, left: whole, right: whole, site },
            Stmt::Load { dst, place: plain, index: index(), site },
            Stmt::LoadLanes { dst: LocalId(0), place: plain, index: whole, site },
            Stmt::Store { place: plain, index: index(), value: whole, site },
            Stmt::AtomicLoad { dst, place: atomic, index: index(), order: ReadOrder::Acquire, scope, site },
            Stmt::AtomicStore { place: atomic, index: index(), value: whole, order: WriteOrder::Release, scope, site },
            Stmt::AtomicUpdate {
                dst,
                op: AtomicOp::Add,
                place: atomic,
                index: index(),
                operand: whole,
                order,
                scope,
                site,
            },
            Stmt::CompareExchange {
                dst,
                place: atomic,
                index: index(),
                expected: whole,
                desired: whole,
                order,
                scope,
                site,
            },
            Stmt::If { condition, then: vec![set()], otherwise: vec![set(), Stmt::Barrier { site }] },
            Stmt::Loop { label: Label(0), body: vec![set()], continuing: vec![set()], bounded: true, site },
            Stmt::Block { label: Label(1), body: vec![set(), Stmt::Break(Label(1))] },
            Stmt::Assert { condition, message: "so".into(), site },
            Stmt::Return,
        ],
        ..Kernel::new("everywhere", site, 1)
    }
}

#[test]
fn every_statement_gets_the_new_expressions() {
    let kernel = everywhere(&[Expr::Unary(UnaryOp::Rsqrt, ExprId(0))]);
    let wanted =
        everywhere(&[Expr::Unary(UnaryOp::Sqrt, ExprId(0)), Expr::Binary(BinaryOp::Div, ExprId(1), ExprId(2))]);
    assert_eq!(verify(&kernel), Ok(()));
    let expanded = expand(&kernel, &|_| PLAIN.exact());
    assert_eq!(verify(&expanded), Ok(()));
    assert_eq!(expanded.to_string(), wanted.to_string());
}

#[test]
fn what_the_target_has_stays() {
    let kernel = everywhere(&[Expr::Unary(UnaryOp::Sqrt, ExprId(0))]);
    assert!(matches!(expand(&kernel, &|_| Exact::ALL), Cow::Borrowed(same) if *same == kernel));
    let of_f64 = |ty| if ty == Type::F32 { Exact::ALL } else { ROUGH.exact() };
    assert!(matches!(expand(&kernel, &of_f64), Cow::Borrowed(same) if *same == kernel));
    assert_ne!(expand(&kernel, &|_| ROUGH.exact()).exprs.len(), kernel.exprs.len());
}

#[test]
fn nothing_is_there_twice_or_unused() {
    // One of a function that no statement uses, and two that have much in common.
    let sine = Expr::Unary(UnaryOp::Sin, ExprId(0));
    let one = expand(&everywhere(&[Expr::Unary(UnaryOp::Exp, ExprId(0)), sine]), &|_| ROUGH.exact()).exprs.len();
    let alone = expand(&everywhere(&[sine]), &|_| ROUGH.exact()).exprs.len();
    assert_eq!(one, alone);
    let cosine = Expr::Unary(UnaryOp::Cos, ExprId(0));
    let both = [sine, cosine, Expr::Binary(BinaryOp::Mul, ExprId(2), ExprId(3))];
    let both = expand(&everywhere(&both), &|_| ROUGH.exact()).exprs.len();
    assert!(both < alone + 20, "{both} against {alone}");
    // Functions of functions.
    let nested =
        [sine, Expr::Unary(UnaryOp::Exp, ExprId(2)), Expr::Ternary(TernaryOp::Fma, ExprId(0), ExprId(2), ExprId(3))];
    let nested = expand(&everywhere(&nested), &|_| ROUGH.exact()).into_owned();
    assert_eq!(verify(&nested), Ok(()));
    assert!(!nested.exprs.iter().any(|expr| is_replaced(expr, ROUGH)));
}

#[test]
fn the_division_in_a_division_stays() {
    // x / √x, and its division by itself.
    let quotient = [Expr::Unary(UnaryOp::Sqrt, ExprId(0)), Expr::Binary(BinaryOp::Div, ExprId(0), ExprId(2))];
    let again = Expr::Binary(BinaryOp::Div, ExprId(3), ExprId(2));
    let functions = |value: &[Expr]| {
        let expanded = expand(&everywhere(value), &|_| ROUGH.exact()).into_owned();
        assert_eq!(verify(&expanded), Ok(()));
        let count = |of: fn(&&Expr) -> bool| expanded.exprs.iter().filter(of).count();
        let roots = count(|expr| matches!(expr, Expr::Unary(UnaryOp::Sqrt, _)));
        (roots, count(|expr| matches!(expr, Expr::Binary(BinaryOp::Div, ..))))
    };
    // One division for the root, and one for each divisor.
    assert_eq!(functions(&quotient), (1, 2));
    assert_eq!(functions(&[quotient[0], quotient[1], again]), (1, 2));
}

/// How many branches that only set slots behind the first two stand right before a statement that is none.
fn setups(block: &[Stmt]) -> usize {
    let is_setup = |stmt: &Stmt| match stmt {
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).all(|stmt| match stmt {
            Stmt::Assign { slot, .. } => slot.index() >= 2,
            _ => false,
        }),
        _ => false,
    };
    assert!(!block.last().is_some_and(is_setup), "a setup for nothing");
    let here = block.iter().filter(|stmt| is_setup(stmt)).count();
    let others = block.iter().filter(|stmt| !is_setup(stmt));
    here + others.flat_map(|stmt| stmt.blocks()).map(|block| setups(block)).sum::<usize>()
}

#[test]
fn what_a_function_needs_is_done_before_each_statement_that_uses_it() {
    // What is large for an `f64` is behind a branch; of `f32` nothing is.
    let (wide, narrow) = (Expr::Cast(Type::F64, ExprId(0)), |value| Expr::Cast(Type::F32, ExprId(value)));
    let (sine, cosine) = (|value| Expr::Unary(UnaryOp::Sin, ExprId(value)), Expr::Unary(UnaryOp::Cos, ExprId(2)));
    let product = Expr::Binary(BinaryOp::Mul, ExprId(3), ExprId(4));
    let uses = 16;
    let values = [
        (vec![sine(0)], 0),
        (vec![wide, sine(2), narrow(3)], 1),
        (vec![wide, sine(2), cosine, product, narrow(5)], 1),
        (vec![wide, sine(2), sine(3), narrow(4)], 2),
    ];
    // Each with the setups before a statement, of three slots each: an angle is reduced once for both functions.
    for (value, each) in &values {
        let expanded = expand(&everywhere(value), &|_| PLAIN.exact()).into_owned();
        assert_eq!(verify(&expanded), Ok(()));
        assert_eq!(expanded.slots.len(), 2 + 3 * each, "{value:?}");
        assert_eq!(setups(&expanded.body), uses * each, "{value:?}");
    }
}
