//! Integer instructions; results worked out from the PTX ISA by hand.

use crate::tools::result;

#[track_caller]
fn w(code: &str, inputs: &[u64], expected: u32) {
    assert_eq!(result('w', code, inputs), u64::from(expected), "{code} of {inputs:x?}");
}

#[track_caller]
fn i(code: &str, inputs: &[u64], expected: u64) {
    assert_eq!(result('i', code, inputs), expected, "{code} of {inputs:x?}");
}

#[track_caller]
fn h(code: &str, inputs: &[u64], expected: u16) {
    assert_eq!(result('h', code, inputs), u64::from(expected), "{code} of {inputs:x?}");
}

const MIN32: u64 = 0x8000_0000;
const ALL32: u64 = 0xFFFF_FFFF;

#[test]
fn sums_and_differences_wrap() {
    w("add.u32 %w9, %w0, %w1;", &[ALL32, 2], 1);
    w("add.s32 %w9, %w0, 1;", &[0x7FFF_FFFF], 0x8000_0000);
    i("add.u64 %i9, %i0, %i1;", &[u64::MAX, 3], 2);
    i("add.s64 %i9, %i0, -1;", &[0], u64::MAX);
    h("add.u16 %h9, %h0, %h1;", &[0xFFFF, 2], 1);
    w("sub.u32 %w9, %w0, %w1;", &[0, 1], 0xFFFF_FFFF);
    i("sub.s64 %i9, 5, %i0;", &[7], -2i64 as u64);
}

#[test]
fn saturating_sums_stay_at_the_ends() {
    w("add.sat.s32 %w9, %w0, %w1;", &[0x7FFF_FFFF, 1], 0x7FFF_FFFF);
    w("sub.sat.s32 %w9, %w0, %w1;", &[MIN32, 1], 0x8000_0000);
    w("add.sat.s32 %w9, %w0, %w1;", &[5, ALL32], 4);
}

#[test]
fn carries_go_from_word_to_word() {
    // 0x1_FFFFFFFF + 0x1 = 0x2_00000000, in halves.
    w("add.cc.u32 %w8, %w0, %w1; addc.u32 %w9, %w2, %w3;", &[ALL32, 1, 1, 0], 2);
    w("add.cc.u32 %w8, %w0, %w1; addc.u32 %w9, %w2, %w3;", &[1, 1, 1, 0], 1);
    // 0x1_00000000 - 1 = 0x0_FFFFFFFF: a borrow.
    w("sub.cc.u32 %w8, %w0, %w1; subc.u32 %w9, %w2, %w3;", &[0, 1, 1, 0], 0);
    i("add.cc.u64 %i8, %i0, %i1; addc.u64 %i9, 0, 0;", &[u64::MAX, 1], 1);
    // An addc without .cc leaves the flag as it was.
    w("add.cc.u32 %w7, %w0, %w1; addc.u32 %w8, 0, 0; addc.u32 %w9, 0, 0;", &[ALL32, 1], 1);
}

#[test]
fn products_have_halves_and_a_whole() {
    w("mul.lo.u32 %w9, %w0, %w1;", &[0x1_0001, 0x1_0001], 0x0002_0001);
    w("mul.hi.u32 %w9, %w0, %w1;", &[ALL32, ALL32], 0xFFFF_FFFE);
    w("mul.hi.s32 %w9, %w0, %w1;", &[ALL32, 5], 0xFFFF_FFFF);
    i("mul.wide.u32 %i9, %w0, %w1;", &[ALL32, 2], 0x1_FFFF_FFFE);
    i("mul.wide.s32 %i9, %w0, %w1;", &[ALL32, 2], -2i64 as u64);
    w("mul.wide.s16 %w9, %h0, %h1;", &[0xFFFF, 3], -3i32 as u32);
    w("mul.wide.u16 %w9, %h0, %h1;", &[0xFFFF, 3], 0x2_FFFD);
    i("mul.hi.u64 %i9, %i0, %i1;", &[u64::MAX, u64::MAX], u64::MAX - 1);
    i("mul.hi.s64 %i9, %i0, %i1;", &[u64::MAX, 2], u64::MAX);
    i("mul.lo.s64 %i9, %i0, %i1;", &[u64::MAX, 7], -7i64 as u64);
    i("mad.wide.u32 %i9, %w0, 4, %i1;", &[ALL32, 8], 0x4_0000_0004);
    i("mad.wide.s32 %i9, %w0, 4, %i1;", &[ALL32, 8], 4);
    w("mad.lo.u32 %w9, %w0, %w1, %w2;", &[3, 5, ALL32], 14);
    w("mad.hi.u32 %w9, %w0, %w1, %w2;", &[MIN32, 4, 1], 3);
    i("mad.lo.u64 %i9, %i0, %i1, %i2;", &[3, 5, 7], 22);
}

#[test]
fn quotients_go_towards_zero() {
    w("div.s32 %w9, %w0, %w1;", &[-7i32 as u32 as u64, 2], -3i32 as u32);
    w("rem.s32 %w9, %w0, %w1;", &[-7i32 as u32 as u64, 2], -1i32 as u32);
    w("rem.s32 %w9, %w0, %w1;", &[7, -2i32 as u32 as u64], 1);
    w("div.u32 %w9, %w0, %w1;", &[ALL32, 2], 0x7FFF_FFFF);
    i("div.u64 %i9, %i0, %i1;", &[u64::MAX, 10], 1844674407370955161);
    i("rem.u64 %i9, %i0, %i1;", &[u64::MAX, 10], 5);
    i("div.s64 %i9, %i0, %i1;", &[-9i64 as u64, 4], -2i64 as u64);
    i("rem.s64 %i9, %i0, %i1;", &[-9i64 as u64, 4], -1i64 as u64);
    h("div.s16 %h9, %h0, %h1;", &[0xFFF9, 2], 0xFFFD);
}

#[test]
fn least_and_greatest_heed_the_sign() {
    w("min.u32 %w9, %w0, %w1;", &[ALL32, 1], 1);
    w("min.s32 %w9, %w0, %w1;", &[ALL32, 1], 0xFFFF_FFFF);
    w("max.u32 %w9, %w0, %w1;", &[ALL32, 1], 0xFFFF_FFFF);
    w("max.s32 %w9, %w0, %w1;", &[ALL32, 1], 1);
    i("min.s64 %i9, %i0, %i1;", &[u64::MAX, 1], u64::MAX);
    i("max.u64 %i9, %i0, %i1;", &[u64::MAX, 1], u64::MAX);
    h("max.s16 %h9, %h0, %h1;", &[0x8000, 3], 3);
}

#[test]
fn negation_and_magnitude_wrap_at_the_least_value() {
    w("neg.s32 %w9, %w0;", &[5], -5i32 as u32);
    w("neg.s32 %w9, %w0;", &[MIN32], 0x8000_0000);
    w("abs.s32 %w9, %w0;", &[-5i32 as u32 as u64], 5);
    w("abs.s32 %w9, %w0;", &[MIN32], 0x8000_0000);
    i("neg.s64 %i9, %i0;", &[1], u64::MAX);
    i("abs.s64 %i9, %i0;", &[u64::MAX], 1);
    h("neg.s16 %h9, %h0;", &[1], 0xFFFF);
}

#[test]
fn logic_works_on_bits_and_predicates() {
    w("and.b32 %w9, %w0, 0xFF;", &[0x1234], 0x34);
    w("or.b32 %w9, %w0, %w1;", &[0xF0, 0x0F], 0xFF);
    i("xor.b64 %i9, %i0, -1;", &[0], u64::MAX);
    w("not.b32 %w9, %w0;", &[0], 0xFFFF_FFFF);
    i("not.b64 %i9, %i0;", &[1], u64::MAX - 1);
    h("not.b16 %h9, %h0;", &[0x00FF], 0xFF00);
    w("cnot.b32 %w9, %w0;", &[0], 1);
    w("cnot.b32 %w9, %w0;", &[7], 0);
    for (a, b, and, or, xor) in [(0, 0, 0, 0, 0), (0, 1, 0, 1, 1), (1, 1, 1, 1, 0)] {
        let set = "setp.ne.u32 %p0, %w0, 0; setp.ne.u32 %p1, %w1, 0;";
        assert_eq!(result('p', &format!("{set} and.pred %p9, %p0, %p1;"), &[a, b]), and);
        assert_eq!(result('p', &format!("{set} or.pred %p9, %p0, %p1;"), &[a, b]), or);
        assert_eq!(result('p', &format!("{set} xor.pred %p9, %p0, %p1;"), &[a, b]), xor);
        assert_eq!(result('p', &format!("{set} not.pred %p9, %p0;"), &[a, b]), 1 - a);
        assert_eq!(result('p', &format!("{set} mov.pred %p9, %p1;"), &[a, b]), b);
    }
}

#[test]
fn shifts_clamp_at_the_width() {
    w("shl.b32 %w9, %w0, %w1;", &[1, 31], 0x8000_0000);
    w("shl.b32 %w9, %w0, %w1;", &[1, 32], 0);
    w("shl.b32 %w9, %w0, %w1;", &[1, ALL32], 0);
    w("shr.u32 %w9, %w0, %w1;", &[MIN32, 31], 1);
    w("shr.u32 %w9, %w0, %w1;", &[MIN32, 40], 0);
    w("shr.s32 %w9, %w0, %w1;", &[MIN32, 4], 0xF800_0000);
    w("shr.s32 %w9, %w0, %w1;", &[MIN32, 32], 0xFFFF_FFFF);
    w("shr.s32 %w9, %w0, %w1;", &[0x7FFF_FFFF, 99], 0);
    i("shl.b64 %i9, %i0, %w1;", &[1, 63], 1 << 63);
    i("shl.b64 %i9, %i0, %w1;", &[1, 64], 0);
    i("shr.u64 %i9, %i0, %w1;", &[u64::MAX, 60], 15);
    i("shr.s64 %i9, %i0, %w1;", &[1 << 63, 100], u64::MAX);
    h("shl.b16 %h9, %h0, %w1;", &[0xFFFF, 12], 0xF000);
    h("shr.s16 %h9, %h0, %w1;", &[0x8000, 3], 0xF000);
    h("shr.u16 %h9, %h0, 16;", &[0x8000], 0);
}

#[test]
fn bits_are_counted_and_found() {
    w("popc.b32 %w9, %w0;", &[0xF0F0], 8);
    w("popc.b64 %w9, %i0;", &[u64::MAX], 64);
    w("clz.b32 %w9, %w0;", &[0], 32);
    w("clz.b32 %w9, %w0;", &[1], 31);
    w("clz.b64 %w9, %i0;", &[1], 63);
    w("clz.b64 %w9, %i0;", &[0], 64);
    w("brev.b32 %w9, %w0;", &[1], 0x8000_0000);
    i("brev.b64 %i9, %i0;", &[0b11], 3 << 62);
    w("bfind.u32 %w9, %w0;", &[0x10], 4);
    w("bfind.u32 %w9, %w0;", &[0], 0xFFFF_FFFF);
    w("bfind.s32 %w9, %w0;", &[0xFFFF_FFF0], 3);
    w("bfind.s64 %w9, %i0;", &[u64::MAX], 0xFFFF_FFFF);
    w("bfind.u64 %w9, %i0;", &[1 << 40], 40);
}

#[test]
fn fields_are_taken_and_put() {
    w("bfe.u32 %w9, %w0, %w1, %w2;", &[0xABCD_1234, 8, 8], 0x12);
    w("bfe.s32 %w9, %w0, %w1, %w2;", &[0x0000_8000, 8, 8], 0xFFFF_FF80);
    // Beyond the topmost bit: the sign, or zeros.
    w("bfe.s32 %w9, %w0, 28, 8;", &[MIN32], 0xFFFF_FFF8);
    w("bfe.u32 %w9, %w0, 28, 8;", &[MIN32], 0x8);
    w("bfe.s32 %w9, %w0, 3, 0;", &[ALL32], 0);
    i("bfe.u64 %i9, %i0, 60, 4;", &[0xF << 60], 0xF);
    i("bfe.s64 %i9, %i0, 60, 4;", &[0xF << 60], u64::MAX);
    w("bfi.b32 %w9, %w0, %w1, 4, 8;", &[0xAB, 0xF000_000F], 0xF000_0ABF);
    w("bfi.b32 %w9, %w0, %w1, 28, 8;", &[0xFF, 0], 0xF000_0000);
    i("bfi.b64 %i9, %i0, %i1, 32, 8;", &[0xFF, 0], 0xFF << 32);
}
