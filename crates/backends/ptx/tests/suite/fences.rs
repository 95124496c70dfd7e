//! What the machine does for each fence of each scope on sm_90, as the assembler of one version makes it.

use std::process::Command;

use wattle_ir::{
    Access, Const, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Place, Site, Slot, SlotId, Stmt, Type,
};
use wattle_memory::{FenceOrder, Scope};
use wattle_ptx::PtxTarget;

/// The version of the assembler whose code is written down here.
const PINNED: &str = "release 12.9,";

/// A kernel of a load, a fence, a load and a store.
fn kernel(order: FenceOrder, scope: Scope) -> Kernel {
    let (site, place) = (Site::caller(), Place::Param(ParamId(0)));
    let load = |slot, index| Stmt::Load { dst: SlotId(slot), place, index: vec![ExprId(index)], site };
    let store = |slot: u32, index| Stmt::Store { place, index: vec![ExprId(index)], value: ExprId(4 + slot), site };
    let constant = |value: u32| Expr::Const(Const::of(value));
    let view = ParamKind::View { access: Access::Shared, element: Type::U32, rank: 1 };
    Kernel {
        params: vec![Param { name: "data", kind: view, field: None }],
        slots: vec![Slot { ty: Type::U32, name: None }; 2],
        exprs: (0..4).map(constant).chain([Expr::Slot(SlotId(0)), Expr::Slot(SlotId(1))]).collect(),
        body: vec![load(0, 0), Stmt::Fence { order, scope, site }, load(1, 1), store(0, 2), store(1, 3)],
        ..Kernel::new("fenced", site, 1)
    }
}

#[test]
fn each_fence_is_exactly_what_it_needs() {
    let (Some(ptxas), Some(nvdisasm)) = (crate::tools::assembler(), crate::tools::disassembler()) else { return };
    let version = Command::new(&ptxas).arg("--version").output().expect("ptxas runs").stdout;
    if !String::from_utf8_lossy(&version).contains(PINNED) {
        test_skips::skipped(format!("ptxas is not of {PINNED}"));
        return;
    }
    let ordering = |order, scope| {
        let module = crate::tools::module(&kernel(order, scope), &PtxTarget::new(90));
        let (_, code) = crate::tools::assemble(&ptxas, &module.text(), 90);
        let text = crate::tools::disassemble(&nvdisasm, &code);
        let instructions = text.lines().filter_map(|line| {
            let instruction = line.split_once("*/")?.1.trim().trim_end_matches(';').trim();
            let name = instruction.split_whitespace().next()?.to_owned();
            ["MEMBAR", "CCTL", "ERRBAR", "CGAERRBAR"].iter().any(|kind| name.starts_with(kind)).then_some(name)
        });
        instructions.collect::<Vec<_>>()
    };
    use FenceOrder::{AcqRel, Acquire, Release, SeqCst};
    use Scope::{Block, Device, System};
    let invalidates: &[&str] = &["CCTL.IVALL"];
    let expected: [(FenceOrder, Scope, &[&str]); 12] = [
        (Acquire, Block, &[]),
        (Release, Block, &["MEMBAR.ALL.CTA"]),
        (AcqRel, Block, &["MEMBAR.ALL.CTA"]),
        (SeqCst, Block, &["MEMBAR.SC.CTA"]),
        (Acquire, Device, invalidates),
        (Acquire, System, invalidates),
        (Release, Device, &["MEMBAR.ALL.GPU", "ERRBAR", "CGAERRBAR"]),
        (Release, System, &["MEMBAR.ALL.SYS", "ERRBAR", "CGAERRBAR"]),
        (AcqRel, Device, &["MEMBAR.ALL.GPU", "ERRBAR", "CGAERRBAR", "CCTL.IVALL"]),
        (AcqRel, System, &["MEMBAR.ALL.SYS", "ERRBAR", "CGAERRBAR", "CCTL.IVALL"]),
        (SeqCst, Device, &["MEMBAR.SC.GPU", "ERRBAR", "CGAERRBAR", "CCTL.IVALL"]),
        (SeqCst, System, &["MEMBAR.SC.SYS", "ERRBAR", "CGAERRBAR", "CCTL.IVALL"]),
    ];
    for (order, scope, instructions) in expected {
        assert_eq!(ordering(order, scope), instructions, "{order:?} {scope:?}");
    }
}
