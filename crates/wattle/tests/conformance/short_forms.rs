//! The short forms of functions are within the bounds that the page of `#[kernel]` states, on every device. Their bits may
//! differ.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, size};

/// A short form of `f32`: what launches it, the truth, its operands, and the bound.
struct Short {
    launch: fn(&Queue, &Buffer<f32>, &mut Buffer<f32>) -> wattle::Result<()>,
    truth: fn(f64) -> f64,
    range: (f64, f64),
    bound: fn(f64, f64) -> f64,
}

const PI: f64 = std::f64::consts::PI;

/// 2^-`n`.
fn two(n: i32) -> f64 {
    2f64.powi(-n)
}

fn of_logarithm(x: f64, truth: f64, n: i32) -> f64 {
    if (0.5..=2.0).contains(&x) { two(21) } else { truth.abs() * two(n) }
}

macro_rules! short_forms {
    ($($name:ident |$x:ident| $value:expr, $truth:expr, $range:expr, |$at:ident, $exact:ident| $bound:expr;)+) => {
        mod kernels {
            use wattle::prelude::*;
            $(#[kernel]
            pub fn $name<T: Float>(acc: &Acc, xs: Read<T>, out: PerItem<T>) {
                for (i, item) in acc.items(&mut out) {
                    let $x = xs[i];
                    *item = $value;
                }
            })+
        }

        pub const CASES: &[Case] = &[
            $((concat!(stringify!($name), " of f32"), |device| within(device, stringify!($name), Short {
                launch: |queue, x, out| queue.launch(FrameSpec::new(16, 32), kernels::$name::<f32>(x, out)),
                truth: $truth,
                range: $range,
                bound: |$at, $exact| $bound,
            })),)+
            $((concat!(stringify!($name), " of f64"), |device| {
                let (queue, x, mut out) = (device.queue()?, device.from_slice(&[0.5f64, 0.75])?, device.alloc::<f64>(2)?);
                queue.launch(FrameSpec::new(1, 2), kernels::$name::<f64>(&x, &mut out))?;
                let truth: fn(f64) -> f64 = $truth;
                for (found, x) in out.read(&queue)?.into_iter().zip([0.5, 0.75]) {
                    assert!((found - truth(x)).abs() < 1e-15 * found.abs() + 1e-15, "{found:e} at {x}");
                }
                Ok(())
            }),)+
        ];
    };
}
short_forms! {
    recip_fast |x| x.recip_fast(), |x| 1.0 / x, (1e-30, 1e30), |_x, truth| 3.0 * truth * two(23);
    sqrt_fast |x| x.sqrt_fast(), f64::sqrt, (1e-30, 1e30), |_x, truth| 5.0 * truth * two(23);
    rsqrt_fast |x| x.rsqrt_fast(), |x| 1.0 / x.sqrt(), (1e-30, 1e30), |_x, truth| 8.0 * truth * two(23);
    exp2_fast |x| x.exp2_fast(), f64::exp2, (-125.9, 127.9), |_x, truth| truth * two(21);
    exp_fast |x| x.exp_fast(), f64::exp, (-87.0, 88.0), |x, truth| truth * (two(21) + x.abs() * two(23));
    log2_fast |x| x.log2_fast(), f64::log2, (1e-37, 1e38), |x, truth| of_logarithm(x, truth, 21);
    ln_fast |x| x.ln_fast(), f64::ln, (1e-37, 1e38), |x, truth| of_logarithm(x, truth, 20);
    log10_fast |x| x.log10_fast(), f64::log10, (1e-37, 1e38), |x, truth| of_logarithm(x, truth, 20);
    sin_fast |x| x.sin_fast(), f64::sin, (-PI, PI), |_x, _truth| two(20);
    cos_fast |x| x.cos_fast(), f64::cos, (-PI, PI), |_x, _truth| two(20);
    tan_fast |x| x.tan_fast(), f64::tan, (-1.0, 1.0), |_x, truth| two(18) * (1.0 + truth.abs());
    tanh_fast |x| x.tanh_fast(), f64::tanh, (-20.0, 20.0), |_x, truth| truth.abs() * two(10);
    div_fast |x| x.recip().div_fast(x), |x| 1.0 / (x * x), (1e-15, 1e15), |_x, truth| 5.0 * truth * two(23);
    pow_fast |x| x.pow_fast(x), |x| x.powf(x), (2.0, 26.0), |x, truth| truth * two(21) * (1.0 + x * x.log2());
}

/// Operands from one number to another, spread evenly, or where both are positive evenly by their sizes; and near 1 or 0.
fn operands((low, high): (f64, f64), count: u32) -> Vec<f32> {
    let both = |n: u32| {
        let at = f64::from(n) / f64::from(count);
        let near = if low > 0.0 { 0.4 + 1.8 * at } else { (at - 0.5) * two(n as i32 % 20) };
        let far = if low > 0.0 { low * (high / low).powf(at) } else { low + (high - low) * at };
        [near, far].map(|x| (x as f32).clamp(low as f32, high as f32))
    };
    (0..=count).flat_map(both).collect()
}

fn within(device: &Device, name: &str, Short { launch, truth, range, bound }: Short) -> Outcome {
    let operands = operands(range, size(device, 100_000, 2_000) as u32);
    let (queue, x, mut out) = (device.queue()?, device.from_slice(&operands)?, device.alloc::<f32>(operands.len())?);
    launch(&queue, &x, &mut out)?;
    for (found, x) in out.read(&queue)?.into_iter().zip(operands) {
        let (found, exact) = (f64::from(found), truth(x.into()));
        let (off, bound) = ((found - exact).abs(), bound(x.into(), exact));
        assert!(
            off <= bound || found == exact,
            "{name}({x:e}) is {found:e}, not {exact:e}: {off:e} off, not {bound:e}"
        );
    }
    Ok(())
}
