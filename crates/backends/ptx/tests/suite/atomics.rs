//! What each atomic operation becomes: one instruction with its order and scope, a reduction where nothing reads the
//! old value and it does not acquire, and a loop between fences where there is none.

use wattle_ir::{
    Access, AtomicOp, Const, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Place, Site, Slot, SlotId, Stmt, Type,
};
use wattle_memory::{ReadOrder, Scope, UpdateOrder, WriteOrder};
use wattle_ptx::PtxTarget;

const OPS: [AtomicOp; 10] = [
    AtomicOp::Exchange,
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::Inc,
    AtomicOp::Dec,
];
const ATOMIC: [Type; 6] = [Type::U32, Type::I32, Type::U64, Type::I64, Type::F32, Type::F64];
const ORDERS: [UpdateOrder; 4] =
    [UpdateOrder::Relaxed, UpdateOrder::Acquire, UpdateOrder::Release, UpdateOrder::AcqRel];
const PLACE: Place = Place::Param(ParamId(0));

/// A kernel of a view of `ty` and a scalar; where `read`, something reads the slot.
fn kernel(name: &str, ty: Type, read: bool, body: Vec<Stmt>) -> Kernel {
    let view = ParamKind::View { access: Access::Atomic, element: ty, rank: 1 };
    let mut exprs = vec![Expr::Const(Const::of(0u32)), Expr::Param(ParamId(1))];
    let mut body = body;
    if read {
        exprs.push(Expr::Slot(SlotId(0)));
        body.push(Stmt::Assign { slot: SlotId(1), value: ExprId(2) });
    }
    Kernel {
        params: vec![
            Param { name: "data", kind: view, field: None },
            Param { name: "x", kind: ParamKind::Scalar(ty), field: None },
        ],
        slots: vec![Slot { ty, name: None }; 2],
        exprs,
        body,
        ..Kernel::new(name, Site::caller(), 1)
    }
}

fn update(op: AtomicOp, order: UpdateOrder, scope: Scope) -> Stmt {
    let (index, operand, site) = (vec![ExprId(0)], ExprId(1), Site::caller());
    Stmt::AtomicUpdate { dst: SlotId(0), op, place: PLACE, index, operand, order, scope, site }
}

/// The instructions that touch memory or order it, without operands, up to the report of faults.
fn touching(kernel: &Kernel, sm: u32) -> String {
    wattle_ir::verify(kernel).expect("well typed");
    let text = crate::tools::module(kernel, &PtxTarget::new(sm)).body;
    let body = text.split_once("ret;").map_or("", |(_, body)| body);
    let body = body.split("ret;").next().unwrap_or_default();
    let names = body.lines().filter_map(|line| line.split_whitespace().next());
    let names = names.map(|name| name.trim_end_matches(';'));
    let kinds = ["ld.", "st.", "atom.", "red.", "fence.", "neg."];
    names.filter(|name| kinds.iter().any(|kind| name.starts_with(kind))).collect::<Vec<_>>().join("; ")
}

#[test]
fn operations_and_types() {
    let mut table = String::new();
    for op in OPS {
        for ty in ATOMIC.into_iter().filter(|ty| op.applies_to(*ty)) {
            let unread = touching(&kernel("k", ty, false, vec![update(op, UpdateOrder::Relaxed, Scope::Device)]), 90);
            let read = touching(&kernel("k", ty, true, vec![update(op, UpdateOrder::AcqRel, Scope::System)]), 90);
            table += &format!("{} {ty}: {unread} | {read}\n", op.name());
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn orders_and_scopes() {
    let mut table = String::new();
    let (site, index) = (Site::caller(), vec![ExprId(0)]);
    for scope in Scope::ALL {
        for order in [ReadOrder::Relaxed, ReadOrder::Acquire] {
            let stmt = Stmt::AtomicLoad { dst: SlotId(0), place: PLACE, index: index.clone(), order, scope, site };
            table +=
                &format!("load {order:?} {scope:?}: {}\n", touching(&kernel("k", Type::F32, true, vec![stmt]), 80));
        }
        for order in [WriteOrder::Relaxed, WriteOrder::Release] {
            let stmt = Stmt::AtomicStore { place: PLACE, index: index.clone(), value: ExprId(1), order, scope, site };
            table +=
                &format!("store {order:?} {scope:?}: {}\n", touching(&kernel("k", Type::I64, true, vec![stmt]), 80));
        }
        for order in ORDERS {
            let stmt = Stmt::CompareExchange {
                dst: SlotId(0),
                place: PLACE,
                index: index.clone(),
                expected: ExprId(1),
                desired: ExprId(1),
                order,
                scope,
                site,
            };
            let exchange = touching(&kernel("k", Type::I32, false, vec![stmt]), 80);
            let add = touching(&kernel("k", Type::U32, false, vec![update(AtomicOp::Add, order, scope)]), 80);
            let inc = touching(&kernel("k", Type::U64, false, vec![update(AtomicOp::Inc, order, scope)]), 80);
            table += &format!("{order:?} {scope:?}: {exchange} | {add} | {inc}\n");
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn all_assemble() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    for sm in [70, 80, 90, 120] {
        let mut modules = Vec::new();
        for (number, op) in OPS.into_iter().enumerate() {
            for ty in ATOMIC.into_iter().filter(|ty| op.applies_to(*ty)) {
                for read in [false, true] {
                    let orders = ORDERS.into_iter().flat_map(|order| Scope::ALL.map(|scope| update(op, order, scope)));
                    let kernel = kernel(&format!("atomic_{number}_{ty}_{read}"), ty, read, orders.collect());
                    modules.push(crate::tools::module(&kernel, &PtxTarget::new(sm)));
                }
            }
        }
        let (said, _) = crate::tools::assemble(&ptxas, &crate::tools::together(&modules), sm);
        let complaints = crate::tools::complaints(&said, |_| false);
        assert!(complaints.is_empty(), "sm_{sm}: {complaints:#?}");
    }
}
