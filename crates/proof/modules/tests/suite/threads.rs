//! Threads of modules as state machines: the effect that each instruction leaves to the thread's owner, and values that
//! may be pending.

use std::collections::HashMap;

use wattle_memory::{FenceOrder, Scope, UpdateOrder};
use wattle_modules::code::{Fence, Module, NO_REG, Rmw, Special, Strength};
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Effect, Thread, Value, address, ptx};

/// A kernel with registers of all kinds.
fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 at)\n{{\n.reg .pred %p<5>; .reg .b32 %w<9>;\n\
         .reg .b64 %i<9>; .reg .f32 %f<5>; .shared .align 8 .b8 tile[64];\n{body}\n}}\n"
    );
    ptx::read("k.ptx", &text, ptx::Limits::NONE, &HashMap::new()).unwrap_or_else(|refused| panic!("{refused}"))
}

/// The effect that a kernel of one instruction leaves to its thread's owner, as a text.
fn effect(instruction: &str) -> (Strength, String) {
    let module = module(instruction);
    let kernel = &module.kernels[0];
    match Thread::<u64>::new(kernel).run(kernel, 10) {
        Effect::Load { access, to, .. } => (access.strength, format!("load {} of {}", to.len(), access.bytes)),
        Effect::Store { access, values, .. } => {
            (access.strength, format!("store {} of {}", values.len(), access.bytes))
        }
        Effect::Update { access, how, to, .. } => (access.strength, format!("{how:?} {}", to != NO_REG)),
        Effect::CompareExchange { access, .. } => (access.strength, "cas".to_owned()),
        other => panic!("{instruction}: {other:?}"),
    }
}

#[test]
fn accesses_keep_their_order_and_scope() {
    use Scope::{Block, Device, System};
    use UpdateOrder::{AcqRel, Acquire, Relaxed, Release};
    let strong = |order, scope| Strength::Strong { order, scope };
    for (instruction, strength, what) in [
        ("ld.global.u32 %w0, [%i0];", Strength::Weak, "load 1 of 4"),
        ("ld.weak.global.v4.u32 {%w0,%w1,%w2,%w3}, [%i0];", Strength::Weak, "load 4 of 4"),
        ("ld.volatile.global.u64 %i1, [%i0];", Strength::Volatile, "load 1 of 8"),
        ("ld.relaxed.cta.global.u32 %w0, [%i0];", strong(Relaxed, Block), "load 1 of 4"),
        ("ld.relaxed.cluster.global.u32 %w0, [%i0];", strong(Relaxed, Block), "load 1 of 4"),
        ("ld.acquire.gpu.u32 %w0, [%i0];", strong(Acquire, Device), "load 1 of 4"),
        ("st.global.v2.u64 [%i0], {%i1,%i2};", Strength::Weak, "store 2 of 8"),
        ("st.release.sys.global.u8 [%i0], %w0;", strong(Release, System), "store 1 of 1"),
        ("atom.global.exch.b32 %w0, [%i0], %w1;", strong(Relaxed, Device), "Exchange true"),
        ("atom.global.cta.exch.b32 %w0, [%i0], %w1;", strong(Relaxed, Block), "Exchange true"),
        ("atom.acq_rel.sys.global.add.u64 %i1, [%i0], %i2;", strong(AcqRel, System), "Add true"),
        ("atom.acquire.cta.shared.cas.b32 %w0, [%w1], %w2, %w3;", strong(Acquire, Block), "cas"),
        ("red.release.gpu.global.max.s32 [%i0], %w1;", strong(Release, Device), "MaxSigned false"),
    ] {
        assert_eq!(effect(instruction), (strength, what.to_owned()), "{instruction}");
    }
}

#[test]
fn fences_keep_their_order_and_scope() {
    for (instruction, order, scope) in [
        ("fence.sc.gpu;", FenceOrder::SeqCst, Scope::Device),
        ("fence.acq_rel.cta;", FenceOrder::AcqRel, Scope::Block),
        ("fence.sys;", FenceOrder::AcqRel, Scope::System),
        ("fence.acquire.sys;", FenceOrder::Acquire, Scope::System),
        ("fence.release.cluster;", FenceOrder::Release, Scope::Block),
        ("membar.gl;", FenceOrder::SeqCst, Scope::Device),
    ] {
        let module = module(instruction);
        let kernel = &module.kernels[0];
        let Effect::Fence(fence) = Thread::<u64>::new(kernel).run(kernel, 10) else { panic!("{instruction}") };
        assert_eq!(fence, Fence { order, scope }, "{instruction}");
    }
}

/// A loop that waits for a flag, then adds the value that it finds to a word of shared memory.
const WAIT: &str = "ld.param.u64 %i0, [at];\nmov.u32 %w2, %tid.x;\n$again: ld.acquire.gpu.global.s8 %w0, [%i0+8];\n\
                    setp.eq.s32 %p0, %w0, 0;\n@%p0 bra $again;\nbar.sync 1, 64;\nmov.u64 %i1, tile;\n\
                    cvta.shared.u64 %i1, %i1;\natom.add.u32 %w1, [%i1+4], %w0;\nret;";

#[test]
fn a_thread_stops_where_it_needs_its_owner_and_goes_on_with_the_answer() {
    let module = module(WAIT);
    let kernel = &module.kernels[0];
    let mut thread: Thread = Thread::new(kernel);
    let Effect::Load { access, address, to } = thread.run(kernel, 100) else { panic!("no parameter") };
    assert_eq!(access.place(address), (Space::Param, 0));
    thread.answer(to, Some(access), &[4096]);
    let Effect::Special { which: Special::Thread(0), to } = thread.run(kernel, 100) else { panic!("no %tid") };
    thread.answer(&[to], None, &[7]);
    for found in [0, 0, 0xFE] {
        let Effect::Load { access, address, to } = thread.run(kernel, 100) else { panic!("no flag") };
        assert_eq!(access.place(address), (Space::Global, 4104));
        thread.answer(to, Some(access), &[found]);
    }
    let Effect::Barrier { waits: true, barrier: 1, threads: Some(64), aligned: true } = thread.run(kernel, 100) else {
        panic!("no barrier")
    };
    let Effect::Update { access, address, how: Rmw::Add, operand, .. } = thread.run(kernel, 100) else {
        panic!("no atomic operation")
    };
    assert_eq!((access.space, access.place(address)), (Space::Generic, (Space::Shared, 4)));
    assert_eq!(operand, u64::from(-2i32 as u32), "the flag is a signed byte");
    assert!(matches!(thread.run(kernel, 100), Effect::Exit));
    assert_eq!(kernel.lines[0], 8);
}

#[test]
fn a_pending_value_stops_a_thread_only_where_control_needs_it() {
    let module = module(WAIT);
    let kernel = &module.kernels[0];
    let mut thread: Thread<Deferred> = Thread::new(kernel);
    for value in [Deferred::Known(4096), Deferred::Known(0), Deferred::PENDING] {
        match thread.run(kernel, 100) {
            Effect::Load { access, to, .. } => thread.answer(to, Some(access), &[value]),
            Effect::Special { to, .. } => thread.answer(&[to], None, &[value]),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(thread.run(kernel, 100), Effect::NeedsValue));
    let before = thread.clone();
    assert!(matches!(thread.run(kernel, 100), Effect::NeedsValue) && thread == before, "it stands where it stood");
    assert_eq!(kernel.lines[thread.cursor.at as usize], 12);
}

#[test]
fn what_depends_on_a_pending_value_is_pending_and_nothing_else_is() {
    let module = module(
        "ld.global.u32 %w0, [4096]; add.u32 %w1, %w0, 1; and.b32 %w2, %w0, 0; mov.u32 %w3, 5; setp.lt.u32 %p0, %w0, 9;\n\
         selp.u32 %w4, %w3, %w3, %p0; add.cc.u32 %w5, %w3, %w0; addc.u32 %w6, %w3, %w3; mov.b64 %i1, {%w3, %w0};\n\
         mov.b64 {%w7, %w8}, %i1; st.global.u32 [%i1], %w3;",
    );
    let kernel = &module.kernels[0];
    let mut thread: Thread<Deferred> = Thread::new(kernel);
    let Effect::Load { to, .. } = thread.run(kernel, 100) else { panic!("no load") };
    thread.answer(to, None, &[Deferred::PENDING]);
    let Effect::Store { address, values, .. } = thread.run(kernel, 100) else { panic!("no store") };
    assert_eq!(address, Deferred::PENDING);
    assert_eq!(thread.values(kernel, values).collect::<Vec<_>>(), [Deferred::Known(5)]);
    let known = |name: &str| {
        let register = kernel.registers.iter().position(|register| register == name).expect("it is declared");
        thread.registers[register].known()
    };
    for (name, value) in [("%w1", None), ("%w2", None), ("%w3", Some(5)), ("%w4", None), ("%w6", None), ("%w7", None)] {
        assert_eq!(known(name), value, "{name}");
    }
}

#[test]
fn generic_addresses_say_their_space() {
    for (address, place) in [
        (4096, (Space::Global, 4096)),
        (address::SHARED_WINDOW + 8, (Space::Shared, 8)),
        (address::LOCAL_WINDOW, (Space::Local, 0)),
        (address::CONST_WINDOW + 4, (Space::Const, 4)),
        (address::PARAM_WINDOW, (Space::Param, 0)),
        (address::PARAM_WINDOW + address::WINDOW, (Space::Global, address::PARAM_WINDOW + address::WINDOW)),
    ] {
        assert_eq!(address::generic(address), place);
    }
}
