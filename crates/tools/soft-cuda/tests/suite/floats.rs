//! Floating-point instructions, comparisons and conversions; results worked out from the PTX ISA by hand.

use crate::tools::result;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn bits(values: &[f32]) -> Vec<u64> {
    values.iter().map(|value| u64::from(value.to_bits())).collect()
}

fn wide(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[track_caller]
fn f(code: &str, inputs: &[f32], expected: f32) {
    let found = result('f', code, &bits(inputs)) as u32;
    assert_eq!(found, expected.to_bits(), "{code} of {inputs:?}: {} for {expected}", f32::from_bits(found));
}

#[track_caller]
fn d(code: &str, inputs: &[f64], expected: f64) {
    let found = result('d', code, &wide(inputs));
    assert_eq!(found, expected.to_bits(), "{code} of {inputs:?}: {} for {expected}", f64::from_bits(found));
}

#[test]
fn arithmetic_rounds_to_the_nearest_even() {
    f("add.rn.f32 %f9, %f0, %f1;", &[16_777_216.0, 1.0], 16_777_216.0);
    f("add.f32 %f9, %f0, %f1;", &[16_777_216.0, 3.0], 16_777_220.0);
    f("sub.rn.f32 %f9, %f0, %f1;", &[1.0, 3.5], -2.5);
    f("mul.rn.f32 %f9, %f0, %f1;", &[0.1, 3.0], 0.3);
    f("div.rn.f32 %f9, %f0, %f1;", &[1.0, 3.0], 0.333_333_34);
    f("div.rn.f32 %f9, %f0, %f1;", &[1.0, -0.0], -INF);
    f("fma.rn.f32 %f9, %f0, %f1, %f2;", &[1.000_000_1, 1.000_000_1, -1.000_000_2], 1.421_085_5e-14);
    f("sqrt.rn.f32 %f9, %f0;", &[3.0], 1.732_050_8);
    f("rcp.rn.f32 %f9, %f0;", &[4.0], 0.25);
    d("add.rn.f64 %d9, %d0, %d1;", &[1.0, 1e-17], 1.0);
    d("sub.f64 %d9, %d0, %d1;", &[1.0, 0.25], 0.75);
    d("mul.rn.f64 %d9, %d0, %d1;", &[0.1, 0.1], 0.010_000_000_000_000_002);
    d("div.rn.f64 %d9, %d0, %d1;", &[1.0, 3.0], 0.333_333_333_333_333_3);
    d("fma.rn.f64 %d9, %d0, %d1, %d2;", &[2.0, 3.0, 4.0], 10.0);
    d("sqrt.rn.f64 %d9, %d0;", &[2.0], std::f64::consts::SQRT_2);
    d("rcp.rn.f64 %d9, %d0;", &[8.0], 0.125);
    d("mad.rn.f64 %d9, %d0, %d1, 0d3FF0000000000000;", &[2.0, 3.0], 7.0);
}

#[test]
fn nan_of_32_bits_is_canonical() {
    let canonical = f32::from_bits(0x7FFF_FFFF);
    f("add.rn.f32 %f9, %f0, %f1;", &[INF, -INF], canonical);
    f("mul.f32 %f9, %f0, %f1;", &[f32::from_bits(0xFFC0_0001), 1.0], canonical);
    f("sqrt.rn.f32 %f9, %f0;", &[-1.0], canonical);
    f("min.f32 %f9, %f0, %f1;", &[NAN, NAN], canonical);
}

#[test]
fn least_and_greatest_prefer_numbers_and_order_zeros() {
    f("min.f32 %f9, %f0, %f1;", &[NAN, 2.0], 2.0);
    f("max.f32 %f9, %f0, %f1;", &[-3.0, NAN], -3.0);
    f("min.f32 %f9, %f0, %f1;", &[0.0, -0.0], -0.0);
    f("max.f32 %f9, %f0, %f1;", &[-0.0, 0.0], 0.0);
    f("max.NaN.f32 %f9, %f0, %f1;", &[-3.0, NAN], f32::from_bits(0x7FFF_FFFF));
    d("min.f64 %d9, %d0, %d1;", &[-0.0, 0.0], -0.0);
    d("max.f64 %d9, %d0, %d1;", &[f64::NAN, 4.0], 4.0);
}

#[test]
fn modes_flush_and_saturate() {
    let tiny = f32::from_bits(1);
    f("add.f32 %f9, %f0, %f1;", &[tiny, tiny], f32::from_bits(2));
    f("add.ftz.f32 %f9, %f0, %f1;", &[-tiny, -tiny], -0.0);
    f("mul.ftz.f32 %f9, %f0, %f1;", &[f32::MIN_POSITIVE, 0.5], 0.0);
    f("add.sat.f32 %f9, %f0, %f1;", &[0.75, 0.75], 1.0);
    f("mul.sat.f32 %f9, %f0, %f1;", &[-2.0, 3.0], 0.0);
    f("add.sat.f32 %f9, %f0, %f1;", &[INF, -INF], 0.0);
    f("fma.rn.sat.f32 %f9, %f0, %f1, %f2;", &[2.0, 2.0, 0.0], 1.0);
}

#[test]
fn signs_change_alone() {
    f("neg.f32 %f9, %f0;", &[0.0], -0.0);
    f("abs.f32 %f9, %f0;", &[-INF], INF);
    f("copysign.f32 %f9, %f0, %f1;", &[-1.0, 5.0], -5.0);
    d("neg.f64 %d9, %d0;", &[1.5], -1.5);
    d("abs.f64 %d9, %d0;", &[-0.0], 0.0);
}

#[track_caller]
fn compares(ty: char, name: &str, expected: [u64; 4]) {
    // Less, equal, greater, unordered.
    for ((a, b), expected) in [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (f64::NAN, 2.0)].into_iter().zip(expected) {
        let inputs = if ty == 'f' { bits(&[a as f32, b as f32]) } else { wide(&[a, b]) };
        let size = if ty == 'f' { 32 } else { 64 };
        let code = format!("setp.{name}.f{size} %p9, %{ty}0, %{ty}1;");
        assert_eq!(result('p', &code, &inputs), expected, "{code} of {a} and {b}");
    }
}

#[test]
fn ordered_comparisons_are_false_with_nan_and_unordered_ones_true() {
    for ty in ['f', 'd'] {
        compares(ty, "eq", [0, 1, 0, 0]);
        compares(ty, "ne", [1, 0, 1, 0]);
        compares(ty, "lt", [1, 0, 0, 0]);
        compares(ty, "le", [1, 1, 0, 0]);
        compares(ty, "gt", [0, 0, 1, 0]);
        compares(ty, "ge", [0, 1, 1, 0]);
        compares(ty, "equ", [0, 1, 0, 1]);
        compares(ty, "neu", [1, 0, 1, 1]);
        compares(ty, "ltu", [1, 0, 0, 1]);
        compares(ty, "leu", [1, 1, 0, 1]);
        compares(ty, "gtu", [0, 0, 1, 1]);
        compares(ty, "geu", [0, 1, 1, 1]);
        compares(ty, "num", [1, 1, 1, 0]);
        compares(ty, "nan", [0, 0, 0, 1]);
    }
}

#[test]
fn integers_compare_with_and_without_sign() {
    let p = |code: &str, inputs: &[u64]| result('p', code, inputs);
    assert_eq!(p("setp.lt.s32 %p9, %w0, %w1;", &[0xFFFF_FFFF, 1]), 1);
    assert_eq!(p("setp.lt.u32 %p9, %w0, %w1;", &[0xFFFF_FFFF, 1]), 0);
    assert_eq!(p("setp.lo.u32 %p9, %w0, %w1;", &[1, 2]), 1);
    assert_eq!(p("setp.hs.u32 %p9, %w0, %w1;", &[1, 2]), 0);
    assert_eq!(p("setp.ge.s64 %p9, %i0, %i1;", &[u64::MAX, 0]), 0);
    assert_eq!(p("setp.gt.u64 %p9, %i0, %i1;", &[u64::MAX, 0]), 1);
    assert_eq!(p("setp.le.s16 %p9, %h0, %h1;", &[0x8000, 0x7FFF]), 1);
    assert_eq!(p("setp.eq.b32 %p9, %w0, 5;", &[5]), 1);
    assert_eq!(p("setp.ge.u32 %p9, 0, %w0;", &[1]), 0);
}

#[test]
fn comparisons_join_predicates_and_give_both_answers() {
    for (a, c, and, or, xor) in [(1u64, 0u64, 0, 1, 1), (1, 1, 1, 1, 0), (9, 1, 0, 1, 1), (9, 0, 0, 0, 0)] {
        let set = "setp.ne.u32 %p0, %w1, 0;";
        let p = |join: &str| result('p', &format!("{set} setp.lt.{join}.u32 %p9, %w0, 5, %p0;"), &[a, c]);
        assert_eq!((p("and"), p("or"), p("xor")), (and, or, xor), "{a} {c}");
        let not = result('p', &format!("{set} setp.lt.and.u32 %p9, %w0, 5, !%p0;"), &[a, c]);
        assert_eq!(not, u64::from(a < 5 && c == 0));
        // The second destination gets the negated comparison, combined with the predicate.
        let second = result('p', &format!("{set} setp.lt.and.u32 %p1|%p9, %w0, 5, %p0;"), &[a, c]);
        assert_eq!(second, u64::from(a >= 5 && c != 0));
    }
    assert_eq!(result('p', "setp.lt.u32 %p1|%p9, %w0, 5;", &[7]), 1);
}

#[test]
fn selection_follows_the_predicate() {
    let set = "setp.ne.u32 %p0, %w0, 0;";
    assert_eq!(result('w', &format!("{set} selp.b32 %w9, 7, 8, %p0;"), &[1]), 7);
    assert_eq!(result('w', &format!("{set} selp.u32 %w9, 7, 8, %p0;"), &[0]), 8);
    assert_eq!(result('i', &format!("{set} selp.b64 %i9, -1, 8, %p0;"), &[1]), u64::MAX);
    assert_eq!(result('f', &format!("{set} selp.f32 %f9, 0f3F800000, 0f00000000, %p0;"), &[1]), 0x3F80_0000);
}

#[test]
fn classes_of_floats_are_told() {
    let p = |kind: &str, value: f32| result('p', &format!("testp.{kind}.f32 %p9, %f0;"), &bits(&[value]));
    assert_eq!([p("finite", 1.0), p("finite", INF), p("finite", NAN)], [1, 0, 0]);
    assert_eq!([p("infinite", -INF), p("number", INF), p("notanumber", NAN)], [1, 1, 1]);
    assert_eq!([p("normal", 1.0), p("normal", 0.0), p("subnormal", f32::from_bits(1))], [1, 0, 1]);
}

#[track_caller]
fn to(letter: char, code: &str, value: f32, expected: u64) {
    assert_eq!(result(letter, code, &bits(&[value])), expected, "{code} of {value}");
}

#[track_caller]
fn to64(letter: char, code: &str, value: f64, expected: u64) {
    assert_eq!(result(letter, code, &wide(&[value])), expected, "{code} of {value}");
}

#[test]
fn floats_become_integers_within_the_range() {
    to('w', "cvt.rzi.s32.f32 %w9, %f0;", -2.9, -2i32 as u32 as u64);
    to('w', "cvt.rni.s32.f32 %w9, %f0;", 2.5, 2);
    to('w', "cvt.rni.s32.f32 %w9, %f0;", 3.5, 4);
    to('w', "cvt.rmi.s32.f32 %w9, %f0;", -2.1, -3i32 as u32 as u64);
    to('w', "cvt.rpi.s32.f32 %w9, %f0;", 2.1, 3);
    to('w', "cvt.rzi.u32.f32 %w9, %f0;", -5.0, 0);
    to('w', "cvt.rzi.u32.f32 %w9, %f0;", 1e20, 0xFFFF_FFFF);
    to('w', "cvt.rzi.s32.f32 %w9, %f0;", -INF, 0x8000_0000);
    to('i', "cvt.rzi.s64.f32 %i9, %f0;", 1e30, i64::MAX as u64);
    to64('w', "cvt.rzi.s32.f64 %w9, %d0;", 2147483647.9, 0x7FFF_FFFF);
    to64('i', "cvt.rzi.u64.f64 %i9, %d0;", 1e300, u64::MAX);
    to64('i', "cvt.rni.s64.f64 %i9, %d0;", -0.5, 0);
    // A conversion to 8 bits in a wider register is clamped, then sign-extended.
    to('w', "cvt.rzi.s8.f32 %w9, %f0;", -1000.0, 0xFFFF_FF80);
    to('w', "cvt.rzi.u8.f32 %w9, %f0;", 1000.0, 255);
}

#[test]
fn nan_becomes_zero_or_the_topmost_bit() {
    to('w', "cvt.rzi.s32.f32 %w9, %f0;", NAN, 0);
    to('w', "cvt.rzi.u32.f32 %w9, %f0;", NAN, 0);
    to('i', "cvt.rzi.s64.f32 %i9, %f0;", NAN, 1 << 63);
    to('i', "cvt.rzi.u64.f32 %i9, %f0;", NAN, 1 << 63);
    to64('w', "cvt.rzi.s32.f64 %w9, %d0;", f64::NAN, 1 << 31);
    to64('w', "cvt.rzi.u32.f64 %w9, %d0;", f64::NAN, 1 << 31);
}

#[test]
fn integers_become_floats_rounded() {
    let f = |code: &str, value: u64| f32::from_bits(result('f', code, &[value]) as u32);
    let d = |code: &str, value: u64| f64::from_bits(result('d', code, &[value]));
    assert_eq!(f("cvt.rn.f32.u32 %f9, %w0;", 0xFFFF_FFFF), 4294967296.0);
    assert_eq!(f("cvt.rn.f32.s32 %f9, %w0;", 0xFFFF_FFFF), -1.0);
    assert_eq!(f("cvt.rn.f32.s32 %f9, %w0;", 16_777_217), 16_777_216.0);
    assert_eq!(f("cvt.rn.f32.u64 %f9, %i0;", u64::MAX), 18446744073709551616.0);
    assert_eq!(f("cvt.rn.f32.s8 %f9, %w0;", 0x1FF), -1.0);
    assert_eq!(d("cvt.rn.f64.s64 %d9, %i0;", u64::MAX), -1.0);
    assert_eq!(d("cvt.rn.f64.u64 %d9, %i0;", (1 << 53) + 1), 9007199254740992.0);
}

#[test]
fn floats_become_floats() {
    d("mov.f64 %d9, %d0;", &[2.5], 2.5);
    to64('f', "cvt.rn.f32.f64 %f9, %d0;", 0.1, u64::from(0.1f32.to_bits()));
    to64('f', "cvt.rn.f32.f64 %f9, %d0;", 1e300, u64::from(INF.to_bits()));
    to('d', "cvt.f64.f32 %d9, %f0;", 0.1, f64::from(0.1f32).to_bits());
    f("cvt.rni.f32.f32 %f9, %f0;", &[-2.5], -2.0);
    f("cvt.rmi.f32.f32 %f9, %f0;", &[-0.5], -1.0);
    f("cvt.rpi.f32.f32 %f9, %f0;", &[-0.5], -0.0);
    f("cvt.sat.f32.f32 %f9, %f0;", &[7.0], 1.0);
    d("cvt.rzi.f64.f64 %d9, %d0;", &[-7.9], -7.0);
    d("cvt.rmi.f64.f64 %d9, %d0;", &[7.9], 7.0);
}

#[test]
fn integers_become_integers_by_their_source() {
    let w = |code: &str, value: u64| result('w', code, &[value]);
    let i = |code: &str, value: u64| result('i', code, &[value]);
    assert_eq!(w("cvt.s32.s8 %w9, %w0;", 0x1234_5680), 0xFFFF_FF80);
    assert_eq!(w("cvt.u32.u8 %w9, %w0;", 0x1234_5680), 0x80);
    assert_eq!(w("cvt.s32.s16 %w9, %w0;", 0x8000), 0xFFFF_8000);
    assert_eq!(w("cvt.u32.u64 %w9, %i0;", 0x1_2345_6789), 0x2345_6789);
    assert_eq!(i("cvt.s64.s32 %i9, %w0;", 0x8000_0000), 0xFFFF_FFFF_8000_0000);
    assert_eq!(i("cvt.u64.u32 %i9, %w0;", 0x8000_0000), 0x8000_0000);
    assert_eq!(i("cvt.u64.s32 %i9, %w0;", 0x8000_0000), 0xFFFF_FFFF_8000_0000);
    assert_eq!(w("cvt.sat.s8.s32 %w9, %w0;", 300), 127);
    assert_eq!(w("cvt.sat.u8.s32 %w9, %w0;", 0xFFFF_FFFF), 0);
    // A narrow destination in a wide register is extended by the destination's type.
    assert_eq!(w("cvt.s8.u32 %w9, %w0;", 0xFF), 0xFFFF_FFFF);
    assert_eq!(w("cvt.u16.s32 %w9, %w0;", 0xFFFF_FFFF), 0xFFFF);
}

#[test]
fn approximations_are_close() {
    let near = |code: &str, value: f32, expected: f32| {
        let found = f32::from_bits(result('f', code, &bits(&[value])) as u32);
        assert!((found - expected).abs() <= expected.abs() * 1e-5 + 1e-6, "{code}: {found} for {expected}");
    };
    near("sin.approx.f32 %f9, %f0;", 1.0, 0.841_471);
    near("cos.approx.ftz.f32 %f9, %f0;", 1.0, 0.540_302_3);
    near("ex2.approx.f32 %f9, %f0;", 3.0, 8.0);
    near("lg2.approx.f32 %f9, %f0;", 8.0, 3.0);
    near("rsqrt.approx.f32 %f9, %f0;", 4.0, 0.5);
    near("tanh.approx.f32 %f9, %f0;", 0.5, 0.462_117_2);
    near("rcp.approx.f32 %f9, %f0;", 3.0, 0.333_333_3);
    near("sqrt.approx.f32 %f9, %f0;", 9.0, 3.0);
    near("div.full.f32 %f9, %f0, 0f40000000;", 3.0, 1.5);
}
