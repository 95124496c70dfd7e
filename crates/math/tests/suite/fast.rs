//! The short forms of functions are within the bounds that the tables of operations state.

use wattle_math as math;

/// A short form: its name, itself, the truth, its operands, and the bound.
type Short = (&'static str, fn(f32) -> f32, fn(f64) -> f64, (f64, f64), fn(f64, f64) -> f64);

const PI: f64 = std::f64::consts::PI;

/// 2^-`n`.
fn two(n: i32) -> f64 {
    2f64.powi(-n)
}

/// The bound of the logarithms: of the operand, and of the true value.
fn of_logarithm(x: f64, truth: f64, n: i32) -> f64 {
    if (0.5..=2.0).contains(&x) { two(21) } else { truth.abs() * two(n) }
}

const FUNCTIONS: &[Short] = &[
    ("recip_fast", math::recip_fast, |x| 1.0 / x, (1e-30, 1e30), |_, truth| 3.0 * truth.abs() * two(23)),
    ("sqrt_fast", math::sqrt_fast, f64::sqrt, (1e-30, 1e30), |_, truth| 5.0 * truth * two(23)),
    ("rsqrt_fast", math::rsqrt_fast, |x| 1.0 / x.sqrt(), (1e-30, 1e30), |_, truth| 8.0 * truth * two(23)),
    ("exp2_fast", math::exp2_fast, f64::exp2, (-125.9, 127.9), |_, truth| truth * two(21)),
    ("exp_fast", math::exp_fast, f64::exp, (-87.0, 88.0), |x, truth| truth * (two(21) + x.abs() * two(23))),
    ("log2_fast", math::log2_fast, f64::log2, (1e-37, 1e38), |x, truth| of_logarithm(x, truth, 21)),
    ("ln_fast", math::ln_fast, f64::ln, (1e-37, 1e38), |x, truth| of_logarithm(x, truth, 20)),
    ("log10_fast", math::log10_fast, f64::log10, (1e-37, 1e38), |x, truth| of_logarithm(x, truth, 20)),
    ("sin_fast", math::sin_fast, f64::sin, (-PI, PI), |_, _| two(20)),
    ("cos_fast", math::cos_fast, f64::cos, (-PI, PI), |_, _| two(20)),
    ("tan_fast", math::tan_fast, f64::tan, (-1.0, 1.0), |_, truth| two(18) * (1.0 + truth.abs())),
    ("tanh_fast", math::tanh_fast, f64::tanh, (-20.0, 20.0), |_, truth| truth.abs() * two(10)),
];

/// Operands from one number to another: spread evenly, or where both are positive evenly by their sizes, and also near 1
/// and 0.
fn operands((low, high): (f64, f64)) -> impl Iterator<Item = f32> {
    let count = 200_000;
    (0..=count).flat_map(move |n| {
        let at = f64::from(n) / f64::from(count);
        let near = if low > 0.0 { 0.4 + 1.8 * at } else { (at - 0.5) * two(n % 20) };
        let far = if low > 0.0 { low * (high / low).powf(at) } else { low + (high - low) * at };
        [near, far].map(|x| (x as f32).clamp(low as f32, high as f32))
    })
}

#[test]
fn short_forms_are_within_their_bounds() {
    for &(name, short, truth, range, bound) in FUNCTIONS {
        let mut worst = 0.0f64;
        for x in operands(range) {
            let (found, exact) = (f64::from(short(x)), truth(x.into()));
            let ratio = (found - exact).abs() / bound(x.into(), exact).max(1e-300);
            assert!(ratio <= 1.0 || found == exact, "{name}({x:e}) is {found:e}, not {exact:e}: {ratio} of the bound");
            worst = worst.max(if found == exact { 0.0 } else { ratio });
        }
        println!("{name}: {worst:.3} of the bound");
    }
}

#[test]
fn short_forms_at_the_edges() {
    assert_eq!(math::exp2_fast(1000.0f32), f32::INFINITY);
    assert_eq!(math::exp_fast(-1000.0f32), 0.0);
    assert_eq!(math::log2_fast(0.0f32), f32::NEG_INFINITY);
    assert_eq!(math::ln_fast(f32::INFINITY), f32::INFINITY);
    assert_eq!(math::tanh_fast(f32::NEG_INFINITY), -1.0);
    assert_eq!(math::recip_fast(-0.0f32), f32::NEG_INFINITY);
    for of in [math::ln_fast, math::exp_fast, math::sin_fast, math::tanh_fast, math::rsqrt_fast] {
        assert!(of(f32::NAN).is_nan());
    }
    assert!(math::log2_fast(-1.0f32).is_nan());
}

/// Those of `f64` are the functions themselves.
#[test]
fn doubles_have_no_short_forms() {
    for x in [0.1, 0.7, 3.3, 12.5f64] {
        assert_eq!(math::exp_fast(x), math::exp(x));
        assert_eq!(math::log2_fast(x), math::log2(x));
        assert_eq!(math::sin_fast(x), math::sin(x));
        assert_eq!(math::rsqrt_fast(x), math::rsqrt(x));
        assert_eq!(math::pow_fast(x, 2.5), math::pow(x, 2.5));
    }
}
