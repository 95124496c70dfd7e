//! Floats of 16 bits; results worked out from the PTX ISA by hand.

use crate::tools::result;

#[track_caller]
fn h(code: &str, inputs: &[u64], expected: u64) {
    assert_eq!(result('h', code, inputs), expected, "{code} of {inputs:x?}");
}

const NAN: u64 = 0x7FFF;

#[test]
fn arithmetic_rounds_to_the_nearest_even() {
    // 2048 + 1, 2048 + 3, and beyond the greatest number.
    h("add.rn.f16 %h9, %h0, %h1;", &[0x6800, 0x3C00], 0x6800);
    h("add.f16 %h9, %h0, %h1;", &[0x6800, 0x4200], 0x6802);
    h("add.rn.f16 %h9, %h0, %h1;", &[0x7BFF, 0x4C00], 0x7C00);
    h("sub.rn.f16 %h9, %h0, %h1;", &[0x3C00, 0x3C01], 0x9400);
    h("mul.rn.f16 %h9, %h0, %h1;", &[0x0400, 0x3800], 0x0200);
    h("mul.rn.f16 %h9, %h0, %h1;", &[0x0001, 0x3800], 0);
    h("sub.rn.f16 %h9, %h0, %h1;", &[0x7C00, 0x7C00], NAN);
    // 256 + 1, of 8 digits.
    h("add.rn.bf16 %h9, %h0, %h1;", &[0x4380, 0x3F80], 0x4380);
    h("mul.rn.bf16 %h9, %h0, %h1;", &[0x7F00, 0x4000], 0x7F80);
    h("sub.rn.bf16 %h9, %h0, %h1;", &[0x3F80, 0x4000], 0xBF80);
}

#[test]
fn a_fused_multiply_add_rounds_once() {
    // 1 + 2^-5 squared is 1 + 2^-4 + 2^-10. 1 + 2^-6 squared is 1 + 2^-5 + 2^-12; with 2^-12 it is the middle of two numbers.
    h("fma.rn.f16 %h9, %h0, %h1, %h2;", &[0x3C20, 0x3C20, 0], 0x3C41);
    h("fma.rn.f16 %h9, %h0, %h1, %h2;", &[0x3C10, 0x3C10, 0x0C00], 0x3C20);
    h("fma.rn.f16 %h9, %h0, %h1, %h2;", &[0x3C10, 0x3C10, 0x0C01], 0x3C21);
    h("fma.rn.f16 %h9, %h0, %h1, %h2;", &[0x7BFF, 0x4000, 0xFBFF], 0x7BFF);
    // 1 + 2^-4 squared is 1 + 2^-3 + 2^-8, the middle of two numbers of 8 digits; the least bit decides.
    h("fma.rn.bf16 %h9, %h0, %h1, %h2;", &[0x3F88, 0x3F88, 0], 0x3F90);
    h("fma.rn.bf16 %h9, %h0, %h1, %h2;", &[0x3F88, 0x3F88, 0x0080], 0x3F91);
    h("fma.rn.bf16 %h9, %h0, %h1, %h2;", &[0x3F88, 0x3F88, 0x8080], 0x3F90);
}

#[test]
fn conversions_round_once() {
    let single = |x: f32| u64::from(x.to_bits());
    let to = |ty: &str, x: f32, expected| {
        h(&format!("mov.b32 %f0, {}; cvt.rn.{ty}.f32 %h9, %f0;", single(x)), &[], expected);
    };
    to("f16", 65_519.996, 0x7BFF);
    to("f16", 65_520.0, 0x7C00);
    to("f16", -1e-8, 0x8000);
    to("f16", 5.960_464_5e-8, 1);
    to("f16", f32::NAN, NAN);
    to("bf16", 1.003_906_3, 0x3F80);
    to("bf16", 1.003_906_4, 0x3F81);
    to("bf16", f32::MAX, 0x7F80);
    h("cvt.f32.f16 %f0, %h0; cvt.rn.bf16.f32 %h9, %f0;", &[0x0001], 0x3380);
    h("xor.b16 %h9, %h0, 32768;", &[0x3C00], 0xBC00);
}

#[test]
fn what_does_not_exist_is_refused() {
    for code in ["div.rn.f16 %h9, %h0, %h1;", "sqrt.rn.f16 %h9, %h0;", "add.relu.f16 %h9, %h0, %h0;"] {
        let refused = std::panic::catch_unwind(|| result('h', code, &[0x3C00]));
        assert!(refused.is_err(), "{code}");
    }
}

#[test]
fn two_halves_of_a_word_are_two_numbers() {
    let w = |code: &str, inputs: &[u64], expected: u64| {
        assert_eq!(result('w', code, inputs), expected, "{code} of {inputs:x?}");
    };
    // 1 and 2; 3 and -0.5.
    let (a, b) = (0x4000_3C00, 0xB800_4200);
    w("add.f16x2 %w9, %w0, %w1;", &[a, b], 0x3E00_4400);
    w("sub.sat.f16x2 %w9, %w0, %w1;", &[a, b], 0x3C00_0000);
    w("fma.rn.f16x2 %w9, %w0, %w1, %w1;", &[a, b], 0xBE00_4600);
    w("fma.rn.relu.f16x2 %w9, %w0, %w1, %w1;", &[a, b], 0x0000_4600);
    w("neg.f16x2 %w9, %w0;", &[b], 0x3800_C200);
    w("min.f16x2 %w9, %w0, %w1;", &[a, b], 0xB800_3C00);
    w("max.NaN.f16x2 %w9, %w0, %w1;", &[0x4000_7E00, b], 0x4000_7FFF);
    w("max.f16x2 %w9, %w0, %w1;", &[0x4000_7E00, b], 0x4000_4200);
    w("set.lt.f16x2.f16x2 %w9, %w0, %w1;", &[a, b], 0x0000_3C00);
    w("set.gt.u32.f16x2 %w9, %w0, %w1;", &[a, b], 0xFFFF_0000);
    // 1 and 2 of 8 digits.
    w("mul.bf16x2 %w9, %w0, %w1;", &[0x4000_3F80, 0x4000_4000], 0x4080_4000);
    w("add.s16x2 %w9, %w0, %w1;", &[0x7FFF_FFFF, 0x0001_0001], 0x8000_0000);
    w("max.u16x2 %w9, %w0, %w1;", &[0x7FFF_FFFF, 0x8000_0001], 0x8000_FFFF);
    w("cvt.rn.f16x2.f32 %w9, 0f40000000, 0f3F800000;", &[], 0x4000_3C00);
    w("cvt.rn.relu.bf16x2.f32 %w9, 0fC0000000, 0f3F800000;", &[], 0x0000_3F80);
}

#[test]
fn halves_become_integers_and_back() {
    h("cvt.rn.f16.s32 %h9, %w0;", &[0xFFFF_FFFD], 0xC200);
    h("cvt.rz.f16.u32 %h9, %w0;", &[2049], 0x6800);
    h("cvt.rp.f16.u32 %h9, %w0;", &[2049], 0x6801);
    h("cvt.rzi.s16.f16 %h9, %h0;", &[0xC380], 0xFFFD);
    h("cvt.rni.f16.f16 %h9, %h0;", &[0x3E00], 0x4000);
    h("min.f16 %h9, %h0, %h1;", &[0x8000, 0], 0x8000);
    h("ex2.approx.f16 %h9, %h0;", &[0x4200], 0x4800);
    h("tanh.approx.bf16 %h9, %h0;", &[0x7F80], 0x3F80);
}
