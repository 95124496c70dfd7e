//! Fences, barriers, and the orders and scopes of atomics, each with the scope and the memory semantics that the lowering
//! table gives it, as numbers (SPIR-V 1.6, 3.2.25 "Memory Semantics" and 3.2.27 "Scope").

use std::collections::HashMap;

use wattle_ir::{
    Access, AtomicOp, Const, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Place, Site, Slot, SlotId, Stmt, Type,
};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};
use wattle_spirv::{Features, build, disassemble};

const PLACE: Place = Place::Param(ParamId(0));

const WORKGROUP: u32 = 2;
const DEVICE: u32 = 1;

/// The storage classes of buffers and of block shared memory: UniformMemory, WorkgroupMemory.
const MEMORY: u32 = 0x40 | 0x100;
const AVAILABLE: u32 = 0x2000;
const VISIBLE: u32 = 0x4000;
const ACQUIRE: u32 = 0x2 | MEMORY | VISIBLE;
const RELEASE: u32 = 0x4 | MEMORY | AVAILABLE;
const BOTH: u32 = 0x8 | MEMORY | AVAILABLE | VISIBLE;

/// The instructions of those statements that order memory: the name, and the numbers among the operands.
fn ordering(body: Vec<Stmt>) -> Vec<String> {
    let view = ParamKind::View { access: Access::Atomic, element: Type::U32, rank: 1 };
    let mut body = body;
    body.push(Stmt::Assign { slot: SlotId(1), value: ExprId(1) });
    let kernel = Kernel {
        params: vec![Param { name: "data", kind: view, field: None }],
        slots: vec![Slot { ty: Type::U32, name: None }; 2],
        exprs: vec![Expr::Const(Const::of(7u32)), Expr::Slot(SlotId(0))],
        body,
        ..Kernel::new("ordered", Site::caller(), 1)
    };
    wattle_ir::verify(&kernel).expect("well typed");
    let module = build(&kernel, &Features::least()).expect("nothing is lacking");
    let text = disassemble(&module.words).expect("a module");
    let mut constants = HashMap::new();
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(" = OpConstant %u32 ") {
            constants.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let code = line.split_once(" = ").map_or(line, |(_, code)| code);
        let kinds = ["OpMemoryBarrier", "OpControlBarrier", "OpAtomic"];
        if kinds.iter().any(|kind| code.starts_with(kind)) {
            let mut words = code.split_whitespace();
            let name = words.next().expect("an instruction").to_owned();
            let numbers = words.filter_map(|word| constants.get(word).cloned());
            found.push([name].into_iter().chain(numbers).collect::<Vec<_>>().join(" "));
        }
    }
    // The first atomic load is the look at the launch's stop word.
    found.remove(0);
    found
}

fn fence(order: FenceOrder, scope: Scope) -> Vec<Stmt> {
    vec![Stmt::Fence { order, scope, site: Site::caller() }]
}

#[test]
fn fences() {
    for (scope, number) in [(Scope::Block, WORKGROUP), (Scope::Device, DEVICE)] {
        for (order, semantics) in
            [(FenceOrder::Acquire, ACQUIRE), (FenceOrder::Release, RELEASE), (FenceOrder::AcqRel, BOTH)]
        {
            assert_eq!(ordering(fence(order, scope)), [format!("OpMemoryBarrier {number} {semantics}")]);
        }
        let barrier = format!("OpMemoryBarrier {number} {BOTH}");
        let update = format!("OpAtomicIAdd {DEVICE} {BOTH} 1");
        assert_eq!(ordering(fence(FenceOrder::SeqCst, scope)), [barrier.clone(), update, barrier]);
    }
}

#[test]
fn block_scope_is_the_device_s_in_a_kernel_that_uses_wider_scopes() {
    let both = [fence(FenceOrder::Acquire, Scope::Block), fence(FenceOrder::Release, Scope::Device)].concat();
    let [acquire, release] = [ACQUIRE, RELEASE].map(|semantics| format!("OpMemoryBarrier {DEVICE} {semantics}"));
    assert_eq!(ordering(both), [acquire, release]);
    let barrier = Stmt::Barrier { site: Site::caller() };
    let wide = [fence(FenceOrder::Release, Scope::Device), vec![barrier.clone()]].concat();
    assert_eq!(ordering(wide)[1], format!("OpControlBarrier {WORKGROUP} {DEVICE} {BOTH}"));
    assert_eq!(ordering(vec![barrier]), [format!("OpControlBarrier {WORKGROUP} {WORKGROUP} {BOTH}")]);
}

#[test]
fn there_is_no_system_scope() {
    let body = fence(FenceOrder::Release, Scope::System);
    let kernel = Kernel { body, ..Kernel::new("far", Site::caller(), 1) };
    let error = build(&kernel, &Features::least()).unwrap_err().to_string();
    assert!(error.contains("kernel `far` uses Scope::System at"), "{error}");
}

#[test]
fn atomics() {
    let site = Site::caller();
    let index = || vec![ExprId(0)];
    for (scope, number) in [(Scope::Block, WORKGROUP), (Scope::Device, DEVICE)] {
        for (order, semantics) in [(ReadOrder::Relaxed, 0), (ReadOrder::Acquire, ACQUIRE)] {
            let load = Stmt::AtomicLoad { dst: SlotId(0), place: PLACE, index: index(), order, scope, site };
            assert_eq!(ordering(vec![load])[0], format!("OpAtomicLoad {number} {semantics}"));
        }
        for (order, semantics) in [(WriteOrder::Relaxed, 0), (WriteOrder::Release, RELEASE)] {
            let store = Stmt::AtomicStore { place: PLACE, index: index(), value: ExprId(0), order, scope, site };
            assert_eq!(ordering(vec![store])[0], format!("OpAtomicStore {number} {semantics} 7"));
        }
        for (order, semantics) in [
            (UpdateOrder::Relaxed, 0),
            (UpdateOrder::Acquire, ACQUIRE),
            (UpdateOrder::Release, RELEASE),
            (UpdateOrder::AcqRel, BOTH),
        ] {
            let (dst, operand, op) = (SlotId(0), ExprId(0), AtomicOp::Add);
            let update = Stmt::AtomicUpdate { dst, op, place: PLACE, index: index(), operand, order, scope, site };
            assert_eq!(ordering(vec![update])[0], format!("OpAtomicIAdd {number} {semantics} 7"));
        }
    }
}
