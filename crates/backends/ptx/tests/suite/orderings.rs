//! Fences, barriers, and the orders and scopes of atomics, each as the lowering table has it, instruction by instruction.

use wattle_ir::{
    Access, AtomicOp, Const, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Place, Site, Slot, SlotId, Stmt, Type,
};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};
use wattle_ptx::PtxTarget;

const PLACE: Place = Place::Param(ParamId(0));

/// The instructions of those statements that order memory, without operands.
fn ordering(body: Vec<Stmt>, sm: u32) -> Vec<String> {
    let view = ParamKind::View { access: Access::Atomic, element: Type::U32, rank: 1 };
    let mut body = body;
    body.push(Stmt::Assign { slot: SlotId(1), value: ExprId(1) });
    let kernel = Kernel {
        params: vec![Param { name: "data", kind: view, field: None }],
        slots: vec![Slot { ty: Type::U32, name: None }; 2],
        exprs: vec![Expr::Const(Const::of(0u32)), Expr::Slot(SlotId(0))],
        body,
        ..Kernel::new("ordered", Site::caller(), 1)
    };
    wattle_ir::verify(&kernel).expect("well typed");
    let text = crate::tools::module(&kernel, &PtxTarget::new(sm)).body;
    let (_, body) = text.split_once("ret;").expect("threads beyond the launch return first");
    let body = body.split("ret;").next().expect("what stands before the end");
    let kinds = ["ld.relaxed", "ld.acquire", "st.re", "atom.", "red.", "fence.", "membar", "bar."];
    let instructions = body.lines().map(|line| line.trim().trim_end_matches(';'));
    let ordering = instructions.filter(|line| kinds.iter().any(|kind| line.starts_with(kind)));
    let named = ordering.map(|line| {
        let words = line.split_whitespace();
        // The operands of a barrier belong to it.
        words.take(if line.starts_with("bar.") { 2 } else { 1 }).collect::<Vec<_>>().join(" ")
    });
    named.collect()
}

fn fence(order: FenceOrder, scope: Scope) -> Vec<Stmt> {
    vec![Stmt::Fence { order, scope, site: Site::caller() }]
}

#[test]
fn fences() {
    for (sm, [acquire, release]) in [(70, ["acq_rel"; 2]), (89, ["acq_rel"; 2]), (90, ["acquire", "release"])] {
        for (scope, name) in [(Scope::Block, "cta"), (Scope::Device, "gpu"), (Scope::System, "sys")] {
            let found = |order| ordering(fence(order, scope), sm);
            assert_eq!(found(FenceOrder::Acquire), [format!("fence.{acquire}.{name}")], "sm_{sm}");
            assert_eq!(found(FenceOrder::Release), [format!("fence.{release}.{name}")], "sm_{sm}");
            assert_eq!(found(FenceOrder::AcqRel), [format!("fence.acq_rel.{name}")], "sm_{sm}");
            assert_eq!(found(FenceOrder::SeqCst), [format!("fence.sc.{name}")], "sm_{sm}");
        }
    }
}

#[test]
fn the_barrier() {
    for sm in [70, 90] {
        assert_eq!(ordering(vec![Stmt::Barrier { site: Site::caller() }], sm), ["bar.sync 0"]);
    }
}

#[test]
fn atomics() {
    let site = Site::caller();
    let index = || vec![ExprId(0)];
    for (scope, name) in [(Scope::Block, "cta"), (Scope::Device, "gpu"), (Scope::System, "sys")] {
        for (order, word) in [(ReadOrder::Relaxed, "relaxed"), (ReadOrder::Acquire, "acquire")] {
            let load = Stmt::AtomicLoad { dst: SlotId(0), place: PLACE, index: index(), order, scope, site };
            assert_eq!(ordering(vec![load], 90), [format!("ld.{word}.{name}.global.u32")]);
        }
        for (order, word) in [(WriteOrder::Relaxed, "relaxed"), (WriteOrder::Release, "release")] {
            let store = Stmt::AtomicStore { place: PLACE, index: index(), value: ExprId(0), order, scope, site };
            assert_eq!(ordering(vec![store], 90), [format!("st.{word}.{name}.global.u32")]);
        }
        for (order, word) in [
            (UpdateOrder::Relaxed, "relaxed"),
            (UpdateOrder::Acquire, "acquire"),
            (UpdateOrder::Release, "release"),
            (UpdateOrder::AcqRel, "acq_rel"),
        ] {
            let (dst, operand) = (SlotId(0), ExprId(0));
            let op = AtomicOp::Add;
            let update = Stmt::AtomicUpdate { dst, op, place: PLACE, index: index(), operand, order, scope, site };
            assert_eq!(ordering(vec![update], 90), [format!("atom.{word}.{name}.global.add.u32")]);
        }
    }
}
