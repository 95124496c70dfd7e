//! What each operator becomes, for each type: the instructions' names, reviewed by hand. Nothing here can run them.

use wattle_ir::{
    BinaryOp, DivOp, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Site, Slot, SlotId, Stmt, TernaryOp, Type,
    UnaryOp,
};
use wattle_ptx::PtxTarget;

const X: ExprId = ExprId(0);
const Y: ExprId = ExprId(1);
const RESULT: ExprId = ExprId(2);

/// A kernel of two scalars that leaves something in a slot.
fn kernel(types: [Type; 2], result: Type, exprs: &[Expr], stmt: Stmt) -> Kernel {
    let scalar = |name, ty| Param { name, kind: ParamKind::Scalar(ty), field: None };
    let operands = [Expr::Param(ParamId(0)), Expr::Param(ParamId(1))];
    Kernel {
        params: vec![scalar("x", types[0]), scalar("y", types[1])],
        slots: vec![Slot { ty: result, name: None }],
        exprs: operands.into_iter().chain(exprs.iter().copied()).collect(),
        body: vec![stmt],
        ..Kernel::new("operator", Site::caller(), 1)
    }
}

/// The instructions between the test of the gate and the thread's end, without their operands.
fn instructions(kernel: &Kernel) -> String {
    wattle_ir::verify(kernel).expect("well typed");
    let text = crate::tools::module(kernel, &PtxTarget::new(80)).body;
    let body = text.split_once("ret;").map_or("", |(_, body)| body);
    let body = body.split("    ret;").next().unwrap_or_default();
    let names = body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let names = names.map(|line| {
        let guarded = if line.starts_with('@') { "@p " } else { "" };
        let line = line.split_once(' ').filter(|_| line.starts_with('@')).map_or(line, |(_, rest)| rest);
        format!("{guarded}{}", line.split_whitespace().next().unwrap_or_default().trim_end_matches([';']))
    });
    names.filter(|name| !name.starts_with("$L")).collect::<Vec<_>>().join("; ")
}

fn computed(types: [Type; 2], result: Type, expr: Expr) -> String {
    instructions(&kernel(types, result, &[expr], Stmt::Assign { slot: SlotId(0), value: RESULT }))
}

fn all_types() -> impl Iterator<Item = Type> {
    std::iter::once(Type::Bool).chain(Type::ELEMENTS)
}

#[test]
fn unary() {
    let mut table = String::new();
    // The others are replaced before code is made of them.
    for &op in UnaryOp::ALL.iter().filter(|op| !op.is_function()) {
        for ty in all_types() {
            let Some(result) = op.result(ty) else { continue };
            table += &format!("{} {ty}: {}\n", op.name(), computed([ty, ty], result, Expr::Unary(op, X)));
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn binary() {
    use BinaryOp::*;
    let mut table = String::new();
    for &op in BinaryOp::ALL.iter().filter(|op| !op.is_function()) {
        for ty in all_types() {
            let right = if matches!(op, Shl | Shr) { Type::U32 } else { ty };
            let Some(result) = op.result(ty, right) else { continue };
            let line = computed([ty, right], result, Expr::Binary(op, X, Y));
            table += &format!("{ty} {} {right}: {line}\n", op.name());
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn ternary() {
    let mut table = String::new();
    for &op in TernaryOp::ALL {
        for ty in all_types() {
            let Some(result) = op.result(ty, ty, ty) else { continue };
            table += &format!("{} {ty}: {}\n", op.name(), computed([ty, ty], result, Expr::Ternary(op, X, Y, X)));
        }
    }
    for ty in all_types() {
        table += &format!("select {ty}: {}\n", computed([Type::Bool, ty], ty, Expr::Select(X, Y, Y)));
    }
    insta::assert_snapshot!(table);
}

#[test]
fn casts_and_bits() {
    let mut table = String::new();
    for from in all_types() {
        for to in Type::ELEMENTS {
            table += &format!("{from} as {to}: {}\n", computed([from, from], to, Expr::Cast(to, X)));
        }
    }
    for from in Type::ELEMENTS {
        for to in Type::ELEMENTS.into_iter().filter(|to| to.size() == from.size()) {
            table += &format!("bits of {from} as {to}: {}\n", computed([from, from], to, Expr::Bits(to, X)));
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn divisions() {
    let mut table = String::new();
    for op in [DivOp::Div, DivOp::Rem] {
        for ty in Type::ELEMENTS.into_iter().filter(|ty| ty.is_int()) {
            let stmt = Stmt::Divide { dst: SlotId(0), op, left: X, right: Y, site: Site::caller() };
            let line = instructions(&kernel([ty, ty], ty, &[], stmt));
            // What follows is the report of a fault.
            let line = line.split_once("; setp.eq.u32; @p ret").map_or(line.as_str(), |(line, _)| line);
            table += &format!("{op:?} {ty}: {line}\n");
        }
    }
    insta::assert_snapshot!(table);
}
