//! The thread's own arrays: registers, choices among registers, or local memory; and loads of several lanes at once.

use wattle_ir::{
    Access, BinaryOp, Const, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param, ParamId, ParamKind, Place, Site,
    Slot, SlotId, Stmt, Type,
};
use wattle_ptx::PtxTarget;

/// Loads lanes into an array of `len`, reads it in a loop that counts to `to`, and stores the last element read.
fn kernel(ty: Type, len: u32, to: Expr) -> Kernel {
    let site = Site::caller();
    let (view, local) = (Place::Param(ParamId(0)), Place::Local(LocalId(0)));
    let (zero, counter, value, next, test) = (ExprId(0), ExprId(3), ExprId(4), ExprId(5), ExprId(6));
    let label = Label(0);
    let leaves = Stmt::If { condition: test, then: vec![], otherwise: vec![Stmt::Break(label)] };
    let load = Stmt::Load { dst: SlotId(1), place: local, index: vec![counter], site };
    let step = Stmt::Assign { slot: SlotId(0), value: next };
    Kernel {
        params: vec![
            Param { name: "data", kind: ParamKind::View { access: Access::Shared, element: ty, rank: 1 }, field: None },
            Param { name: "to", kind: ParamKind::Scalar(Type::U32), field: None },
        ],
        locals: vec![LocalArray::new(ty, len)],
        slots: vec![Slot { ty: Type::U32, name: None }, Slot { ty, name: None }],
        exprs: vec![
            Expr::Const(Const::of(0u32)),
            Expr::Const(Const::of(1u32)),
            to,
            Expr::Slot(SlotId(0)),
            Expr::Slot(SlotId(1)),
            Expr::Binary(BinaryOp::Add, counter, ExprId(1)),
            Expr::Binary(BinaryOp::Lt, counter, ExprId(2)),
        ],
        body: vec![
            Stmt::LoadLanes { dst: LocalId(0), place: view, index: zero, site },
            Stmt::Assign { slot: SlotId(0), value: zero },
            Stmt::Loop { label, body: vec![leaves, load], continuing: vec![step], bounded: true, site },
            Stmt::Store { place: view, index: vec![counter], value, site },
        ],
        ..Kernel::new(format!("lanes_{ty}_{len}"), site, 1)
    }
}

#[test]
fn arrays_are_registers_where_that_can_be() {
    let ptxas = crate::tools::assembler();
    for ty in Type::ELEMENTS {
        for len in [1, 2, 4, 8, 16, 37] {
            for (to, in_memory) in [(Expr::Const(Const::of(len)), false), (Expr::Param(ParamId(1)), len > 8)] {
                let kernel = kernel(ty, len, to);
                wattle_ir::verify(&kernel).expect("well typed");
                let module = crate::tools::module(&kernel, &PtxTarget::new(80));
                assert_eq!(module.body.contains(".local "), in_memory, "{}", module.body);
                // Four elements at most, and sixteen bytes.
                let group = (16 / ty.size() as u32).min(4);
                let vectors = module.body.matches(&format!("ld.weak.global.v{group}.")).count() as u32;
                assert_eq!(vectors, if len.is_multiple_of(group) { len / group } else { 0 }, "{}", module.body);
                if let Some(ptxas) = &ptxas {
                    let (said, _) = crate::tools::assemble(ptxas, &module.text(), 80);
                    let complaints = crate::tools::complaints(&said, |_| in_memory);
                    assert!(complaints.is_empty(), "{complaints:#?}\n{}", module.body);
                }
            }
        }
    }
}

/// A count that the loop's end is beyond the array of is a fault in each turn beyond, and not code for a register that
/// does not exist.
#[test]
fn unrolled_indices_are_checked() {
    let module = crate::tools::module(&kernel(Type::U32, 4, Expr::Const(Const::of(6u32))), &PtxTarget::new(80));
    assert!(!module.body.contains(".local "));
    let kinds: Vec<_> = module.sites.iter().map(|site| &site.fault).collect();
    let local = Place::Local(LocalId(0));
    let faults =
        kinds.iter().filter(|fault| matches!(fault, wattle_ptx::Fault::OutOfBounds { place, .. } if *place == local));
    assert_eq!(faults.count(), 1, "one line, told once: {kinds:?}");
}

/// An array of constants is constant memory of the module, or global memory if it is too long for that, and nobody writes
/// to it.
#[test]
fn constants_are_constant_memory() {
    let ptxas = crate::tools::assembler();
    for ty in Type::ELEMENTS {
        for (len, space) in [(1, "const"), (37, "const"), (70_000, "global")] {
            let mut kernel = kernel(ty, 4, Expr::Param(ParamId(1)));
            let raw = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ty.bits());
            let constants = (0..len).map(raw).collect();
            kernel.locals[0] = LocalArray { element: ty, len: len as u32, constants: Some(constants) };
            kernel.body.remove(0);
            wattle_ir::verify(&kernel).expect("well typed");
            let module = crate::tools::module(&kernel, &PtxTarget::new(80));
            let declared = format!(".{space} .align 16 .b{} wattle_lanes_{ty}_4_constants_0[{len}]", ty.bits());
            assert!(module.body.contains(&declared), "`{declared}` is not in\n{}", &module.body[..300]);
            assert!(module.body.contains(&format!("ld.{space}.")) && !module.body.contains(".local "));
            if let Some(ptxas) = &ptxas {
                let (said, _) = crate::tools::assemble(ptxas, &module.text(), 80);
                let complaints = crate::tools::complaints(&said, |_| false);
                assert!(complaints.is_empty(), "{complaints:#?}");
            }
        }
    }
}
