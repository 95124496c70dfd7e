//! Loads, stores, atomic operations, moves, barriers, spaces.

use crate::tools::{Session, result};

const ALL32: u64 = 0xFFFF_FFFF;

fn run(body: &str, block: u32, words: &[u64]) -> Vec<u64> {
    Session::new().run(body, 1, block, words).unwrap_or_else(|fault| panic!("{fault:?}: {body}"))
}

#[test]
fn loads_extend_to_the_register() {
    assert_eq!(result('w', "ld.global.s8 %w9, [%io];", &[0x80]), 0xFFFF_FF80);
    assert_eq!(result('w', "ld.global.u8 %w9, [%io];", &[0x80]), 0x80);
    assert_eq!(result('i', "ld.global.s16 %i9, [%io];", &[0x8000]), 0xFFFF_FFFF_FFFF_8000);
    assert_eq!(result('i', "ld.global.s32 %i9, [%io+4];", &[0x8000_0000_0000_0000]), 0xFFFF_FFFF_8000_0000);
    assert_eq!(result('w', "ld.global.b16 %h9, [%io]; cvt.u32.u16 %w9, %h9;", &[0xABCD]), 0xABCD);
    assert_eq!(result('w', "ld.volatile.global.u32 %w9, [%io];", &[7]), 7);
    assert_eq!(result('w', "ld.global.nc.u32 %w9, [%io];", &[8]), 8);
    assert_eq!(result('w', "ld.acquire.gpu.global.u32 %w9, [%io];", &[9]), 9);
    assert_eq!(result('w', "ld.relaxed.sys.u32 %w9, [%io];", &[10]), 10);
}

#[test]
fn narrow_stores_leave_their_neighbours() {
    let all = u64::MAX;
    assert_eq!(run("st.global.u8 [%io+1], 0; ret;", 1, &[all]), [0xFFFF_FFFF_FFFF_00FF]);
    assert_eq!(run("mov.b32 %w0, 0x12345; st.global.u16 [%io+6], %w0;", 1, &[all]), [0x2345_FFFF_FFFF_FFFF]);
    assert_eq!(run("st.release.sys.global.b32 [%io+4], 1;", 1, &[all]), [0x1_FFFF_FFFF]);
    assert_eq!(run("st.volatile.global.u64 [%io], -2;", 1, &[0]), [u64::MAX - 1]);
}

#[test]
fn vectors_are_several_items() {
    let body = "ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%io]; st.global.v4.b32 [%io+16], {%w3, %w2, %w1, %w0};
                ld.global.v2.f64 {%d0, %d1}, [%io]; st.global.v2.f64 [%io+32], {%d1, %d0};";
    let words = run(body, 1, &[0x0000_0002_0000_0001, 0x0000_0004_0000_0003, 0, 0, 0, 0]);
    let expected = [0x0000_0003_0000_0004, 0x0000_0001_0000_0002, 0x0000_0004_0000_0003, 0x0000_0002_0000_0001];
    assert_eq!(words[2..], expected);
    let body = "ld.global.nc.v2.u8 {%w0, %w1}, [%io]; shl.b32 %w1, %w1, 8; or.b32 %w0, %w0, %w1;
                st.global.u32 [%io+8], %w0;";
    assert_eq!(run(body, 1, &[0xBBAA, 0])[1], 0xBBAA);
}

#[test]
fn registers_are_packed_and_unpacked() {
    assert_eq!(result('i', "mov.b64 %i9, {%w0, %w1};", &[1, 2]), 0x2_0000_0001);
    assert_eq!(result('w', "mov.b64 {%w8, %w9}, %i0;", &[0x7_0000_0005]), 7);
    assert_eq!(result('w', "mov.b64 {%w9, _}, %i0;", &[0x7_0000_0005]), 5);
    assert_eq!(result('w', "mov.b32 %w9, {%h0, %h1};", &[0xAAAA, 0xBBBB]), 0xBBBB_AAAA);
    assert_eq!(result('f', "mov.b32 %f9, %w0;", &[0x3F80_0000]), 0x3F80_0000);
}

/// Checks an atomic operation: the old value that it returns, and the new value in memory.
#[track_caller]
fn atomic(space: &str, op: &str, old: u64, a: u64, new: u64) {
    let (letter, size) = if op.ends_with("64") { ('i', 64) } else { ('w', 32) };
    let (outer, at) = if space == "shared" { (".shared .align 8 .b8 cell[8];---", "cell") } else { ("", "%io+16") };
    let body = format!(
        "{outer} ld.global.b{size} %{letter}0, [%io]; ld.global.b{size} %{letter}1, [%io+8];
         st.{space}.b{size} [{at}], %{letter}0; atom.{space}.{op} %{letter}2, [{at}], %{letter}1;
         ld.{space}.b{size} %{letter}3, [{at}];
         st.global.b{size} [%io+24], %{letter}2; st.global.b{size} [%io+32], %{letter}3;"
    )
    .replace(
        &format!("%{letter}1;"),
        &if op.ends_with("f32") {
            "%f1;".to_owned()
        } else if op.ends_with("f64") {
            "%d1;".to_owned()
        } else {
            format!("%{letter}1;")
        },
    );
    let body = match op {
        _ if op.ends_with("f32") => body
            .replace("ld.global.b32 %w1", "ld.global.f32 %f1")
            .replace(&format!("atom.{space}.{op} %w2"), &format!("atom.{space}.{op} %f2"))
            .replace("[%io+24], %w2", "[%io+24], %f2"),
        _ if op.ends_with("f64") => body
            .replace("ld.global.b64 %i1", "ld.global.f64 %d1")
            .replace(&format!("atom.{space}.{op} %i2"), &format!("atom.{space}.{op} %d2"))
            .replace("[%io+24], %i2", "[%io+24], %d2"),
        _ => body,
    };
    let words = run(&body, 1, &[old, a, 0, 0, 0]);
    assert_eq!((words[3], words[4]), (old, new), "{space} {op} of {old:#x} and {a:#x}");
}

#[test]
fn atomic_operations_give_the_old_value_and_leave_the_new_one() {
    for space in ["global", "shared"] {
        atomic(space, "exch.b32", 1, 2, 2);
        atomic(space, "exch.b64", 1, 1 << 40, 1 << 40);
        atomic(space, "add.u32", ALL32, 2, 1);
        atomic(space, "add.s32", 1, ALL32, 0);
        atomic(space, "add.u64", u64::MAX, 2, 1);
        atomic(space, "and.b32", 0xFF, 0xF0F, 0x0F);
        atomic(space, "or.b64", 1, 1 << 63, 1 << 63 | 1);
        atomic(space, "xor.b32", 0xFF, 0x0F, 0xF0);
        atomic(space, "min.u32", ALL32, 5, 5);
        atomic(space, "min.s32", ALL32, 5, ALL32);
        atomic(space, "max.u32", ALL32, 5, ALL32);
        atomic(space, "max.s32", ALL32, 5, 5);
        atomic(space, "min.s64", u64::MAX, 5, u64::MAX);
        atomic(space, "max.u64", 4, u64::MAX, u64::MAX);
        // inc: 0 if the old value has reached the operand; dec: the operand if it was 0 or beyond it.
        atomic(space, "inc.u32", 3, 5, 4);
        atomic(space, "inc.u32", 5, 5, 0);
        atomic(space, "inc.u32", 9, 5, 0);
        atomic(space, "dec.u32", 3, 5, 2);
        atomic(space, "dec.u32", 0, 5, 5);
        atomic(space, "dec.u32", 9, 5, 5);
        atomic(space, "add.f32", 1.5f32.to_bits().into(), 2.25f32.to_bits().into(), 3.75f32.to_bits().into());
        atomic(space, "add.f64", 1.5f64.to_bits(), 2.25f64.to_bits(), 3.75f64.to_bits());
    }
    // Subnormal numbers are flushed in global memory and kept in shared memory.
    atomic("global", "add.f32", 1, 1, 0);
    atomic("shared", "add.f32", 1, 1, 2);
}

#[test]
fn compare_and_swap_needs_the_expected_value() {
    let body = "atom.acq_rel.sys.global.cas.b32 %w0, [%io], 5, 6; atom.relaxed.gpu.global.cas.b32 %w1, [%io+8], 5, 6;
                atom.acquire.cta.cas.b64 %i0, [%io+16], 1, -1; st.global.u32 [%io+24], %w0; st.global.u32 [%io+32], %w1;";
    assert_eq!(run(body, 1, &[5, 4, 1, 0, 0]), [6, 4, u64::MAX, 5, 4]);
}

#[test]
fn reductions_of_many_threads_lose_nothing() {
    let body = "red.relaxed.gpu.global.add.u32 [%io], 1; red.release.gpu.global.add.u64 [%io+8], 3;
                mov.u32 %w0, %tid.x; red.global.max.u32 [%io+16], %w0; red.global.add.f32 [%io+24], 0f3F800000;";
    let words = Session::new().run(body, 50, 64, &[0, 0, 0, 0]).expect("it runs");
    assert_eq!(words, [3200, 9600, 63, 3200f32.to_bits().into()]);
}

#[test]
fn threads_know_where_they_are() {
    let body = "mov.u32 %w0, %ctaid.x; mov.u32 %w1, %ntid.x; mov.u32 %w2, %tid.x; mad.lo.u32 %w3, %w0, %w1, %w2;
                mad.wide.u32 %i0, %w3, 8, %io; mov.u32 %w4, %nctaid.x; mov.u32 %w5, %laneid; mov.u32 %w6, %warpid;
                shl.b32 %w4, %w4, 16; shl.b32 %w6, %w6, 8; or.b32 %w4, %w4, %w5; or.b32 %w4, %w4, %w6;
                cvt.u64.u32 %i1, %w4; st.global.u64 [%i0], %i1;";
    let words = Session::new().run(body, 3, 40, &[0; 120]).expect("it runs");
    for (at, word) in words.iter().enumerate() {
        let thread = at as u64 % 40;
        assert_eq!(*word, (3 << 16) | ((thread / 32) << 8) | (thread % 32));
    }
}

#[test]
fn shared_memory_is_a_block_s_and_barriers_order_it() {
    // Each thread reads what its neighbour wrote before the barrier.
    let body = ".shared .align 4 .b8 tile[256];---
                mov.u32 %w0, %tid.x; mov.u32 %w1, tile; mad.lo.u32 %w2, %w0, 4, %w1; mov.u32 %w3, %ctaid.x;
                mad.lo.u32 %w4, %w3, 1000, %w0; st.shared.u32 [%w2], %w4; bar.sync 0;
                xor.b32 %w5, %w0, 63; mad.lo.u32 %w6, %w5, 4, %w1; ld.shared.u32 %w7, [%w6];
                mad.lo.u32 %w8, %w3, 64, %w0; mad.wide.u32 %i0, %w8, 8, %io; cvt.u64.u32 %i1, %w7;
                st.global.u64 [%i0], %i1;";
    let words = Session::new().run(body, 2, 64, &[0; 128]).expect("it runs");
    for (at, word) in words.iter().enumerate() {
        assert_eq!(*word, (at as u64 / 64) * 1000 + ((at as u64 % 64) ^ 63));
    }
}

#[test]
fn threads_that_have_ended_are_not_waited_for() {
    let body = "mov.u32 %w0, %tid.x; setp.lt.u32 %p0, %w0, 40; @%p0 ret; bar.sync 0; red.global.add.u32 [%io], 1;";
    assert_eq!(run(body, 64, &[0]), [24]);
}

#[test]
fn a_barrier_may_wait_for_some() {
    // Threads 0..32 arrive, 32..64 wait for 64 of them; 64.. go by.
    let body = "mov.u32 %w0, %tid.x; setp.lt.u32 %p0, %w0, 32; setp.ge.u32 %p1, %w0, 64; @%p1 ret;
                @%p0 st.global.u32 [%io], 7; @%p0 bar.arrive 1, 64; @%p0 ret;
                bar.sync 1, 64; ld.global.u32 %w1, [%io]; setp.eq.u32 %p2, %w1, 7; @%p2 red.global.add.u32 [%io+8], 1;";
    assert_eq!(run(body, 96, &[0, 0]), [7, 32]);
}

/// PTX ISA 8.8, 9.7.13.1: a warp's arrival counts for all of its lanes, of which some have ended.
#[test]
fn arrivals_are_counted_by_warps() {
    let some = "mov.u32 %w0, %tid.x; and.b32 %w1, %w0, 31; setp.lt.u32 %p0, %w1, 30; @%p0 ret;
                bar.sync 1, 64; red.global.add.u32 [%io], 1;";
    // The lanes of two warps that are left, and of four warps, two by two.
    assert_eq!(run(some, 64, &[0]), [4]);
    assert_eq!(run(some, 128, &[0]), [8]);
    // 32 warps of two lanes each would be 64 threads: the first warp is alone.
    let alone = Session::new();
    assert!(alone.run(some, 1, 96, &[0]).is_err(), "the third warp has nobody to wait for it");
}

#[test]
fn local_memory_is_a_thread_s() {
    let body =
        ".reg .b64 %l; .local .align 8 .b8 own[16]; mov.u32 %w0, %tid.x; mov.u64 %l, own; st.local.u32 [%l+4], %w0;
                bar.sync 0; ld.local.u32 %w1, [own+4]; cvta.local.u64 %l, %l; ld.u32 %w2, [%l+4];
                add.u32 %w3, %w1, %w2; mad.wide.u32 %i0, %w0, 8, %io; cvt.u64.u32 %i1, %w3; st.global.u64 [%i0], %i1;";
    let words = run(body, 8, &[0; 8]);
    assert_eq!(words, [0, 2, 4, 6, 8, 10, 12, 14]);
}

#[test]
fn generic_addresses_tell_the_space() {
    let body = ".shared .align 4 .b8 cell[4];---
                cvta.shared.u64 %i0, cell; st.u32 [%i0], 5; ld.shared.u32 %w0, [cell]; st.global.u32 [%io], %w0;
                isspacep.shared %p0, %i0; selp.b32 %w1, 1, 0, %p0; st.global.u32 [%io+8], %w1;
                isspacep.global %p0, %io; selp.b32 %w1, 1, 0, %p0; st.u32 [%io+16], %w1;
                cvta.to.shared.u64 %i1, %i0; ld.shared.u32 %w2, [%i1]; st.global.u32 [%io+24], %w2;";
    assert_eq!(run(body, 1, &[0; 4]), [5, 1, 1, 5]);
}

#[test]
fn variables_of_a_module_have_their_values() {
    let body = ".global .align 4 .u32 table[4] = {10, 20, -30}; .const .f64 half = 0.5; .global .u64 counter = 7;---
                ld.global.s32 %i0, [table+8]; st.global.u64 [%io], %i0; ld.global.u32 %w0, [table+12];
                st.global.u32 [%io+8], %w0; ld.const.f64 %d0, [half]; st.global.f64 [%io+16], %d0;
                mov.u64 %i1, counter; atom.global.add.u64 %i2, [%i1], 1; st.global.u64 [%io+24], %i2;";
    assert_eq!(run(body, 1, &[1, 1, 1, 1]), [-30i64 as u64, 0, 0.5f64.to_bits(), 7]);
}

#[test]
fn predicates_guard_any_instruction() {
    let body = "mov.u32 %w0, %tid.x; and.b32 %w1, %w0, 1; setp.eq.u32 %p0, %w1, 1; mov.b32 %w2, 0;
                @%p0 mov.b32 %w2, 5; @!%p0 add.u32 %w2, %w2, 9; @%p0 bra $odd; add.u32 %w2, %w2, 100;
                $odd: mad.wide.u32 %i0, %w0, 8, %io; cvt.u64.u32 %i1, %w2; st.global.u64 [%i0], %i1;";
    assert_eq!(run(body, 4, &[0; 4]), [109, 5, 109, 5]);
}

#[test]
fn loops_count() {
    let body =
        "mov.b32 %w0, 0; mov.b32 %w1, 0; $top: setp.ge.u32 %p0, %w0, 10; @%p0 bra.uni $end; add.u32 %w1, %w1, %w0;
                add.u32 %w0, %w0, 1; bra $top; $end: st.global.u32 [%io], %w1; exit;";
    assert_eq!(run(body, 1, &[0]), [45]);
}

#[test]
fn fences_and_sleeps_are_carried_out() {
    let body = "fence.acq_rel.gpu; fence.sc.sys; fence.acquire.cta; fence.release.sys; membar.gl; nanosleep.u32 10;
                bar.warp.sync 1; st.global.u32 [%io], 3;";
    assert_eq!(run(body, 1, &[0]), [3]);
}

#[test]
fn copies_and_barriers_that_gather() {
    let session = Session::new();
    // Each of 64 threads copies 8 bytes, the last ones 4 of them, and counts those of even numbers.
    let body = "\
        .shared .align 8 .b8 tile[512]; .reg .u32 %t, %n, %m; .reg .u64 %a, %v; .reg .pred %even, %p;
        mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 8, %io; mov.u32 %m, tile; mad.lo.u32 %m, %t, 8, %m;
        setp.lt.u32 %p, %t, 60; selp.u32 %n, 8, 4, %p;
        cp.async.ca.shared.global [%m], [%a], 8, %n; cp.async.wait_all;
        and.b32 %n, %t, 1; setp.eq.u32 %even, %n, 0; bar.red.popc.u32 %n, 0, !%even;
        ld.shared.u64 %v, [%m]; cvt.u64.u32 %a, %n; add.u64 %v, %v, %a;
        mad.wide.u32 %a, %t, 8, %io; st.global.u64 [%a], %v;";
    let words: Vec<u64> = (0..64).map(|at| at << 32 | at).collect();
    let found = session.run(body, 1, 64, &words).expect("it ends");
    let expected: Vec<u64> = (0..64).map(|at| if at < 60 { at << 32 | (at + 32) } else { at + 32 }).collect();
    assert_eq!(found, expected);
}
