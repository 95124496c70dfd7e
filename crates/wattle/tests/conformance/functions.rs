//! Functions of floats have the same bits on every device as on one thread of the host, but for the payloads of NaN and
//! for subnormal numbers.
//!
//! Their bounds are tested where they are written (`cargo test -p wattle-math`). `WATTLE_TEST_SAMPLES` says how many
//! operands each function gets; a million in optimized builds otherwise.

use std::sync::LazyLock;

use wattle::prelude::*;

use crate::harness::{Case, Outcome, Stop, is_small};
use crate::points::Format;
use crate::random::Random;

/// How many operands a launch has.
const PER_LAUNCH: usize = 1 << 16;

fn samples() -> usize {
    static SAMPLES: LazyLock<usize> = LazyLock::new(|| {
        let named = std::env::var("WATTLE_TEST_SAMPLES").ok().map(|count| count.parse().expect("a number"));
        named.unwrap_or(match (is_small(), cfg!(debug_assertions)) {
            (true, _) => 100,
            (false, true) => 10_000,
            (false, false) => 1_000_000,
        })
    });
    *SAMPLES
}

/// A kernel over one format.
type Launch<T> = fn(&Queue, &[Buffer<T>; 3], &mut Buffer<T>) -> wattle::Result<()>;

macro_rules! functions {
    ($($name:ident |$x:ident, $y:ident, $z:ident| $value:expr;)+) => {
        mod kernels {
            use wattle::prelude::*;
            $(#[kernel]
            pub fn $name<T: Float>(acc: &Acc, xs: Read<T>, ys: Read<T>, zs: Read<T>, out: PerItem<T>) {
                for (i, item) in acc.items(&mut out) {
                    let ($x, $y, $z) = (xs[i], ys[i], zs[i]);
                    *item = $value;
                }
            })+
        }

        pub const CASES: &[Case] = &[$(
            (concat!(stringify!($name), " of f32"), |device| {
                same(device, stringify!($name), |queue, [x, y, z], out| {
                    queue.launch(FrameSpec::new(16, 32), kernels::$name::<f32>(x, y, z, out))
                })
            }),
            (concat!(stringify!($name), " of f64"), |device| {
                same(device, stringify!($name), |queue, [x, y, z], out| {
                    queue.launch(FrameSpec::new(16, 32), kernels::$name::<f64>(x, y, z, out))
                })
            }),
        )+];
    };
}
functions! {
    add |x, y, _z| x + y;
    sub |x, y, _z| x - y;
    mul |x, y, _z| x * y;
    div |x, y, _z| x / y;
    fma |x, y, z| x.fma(y, z);
    sqrt |x, _y, _z| x.sqrt();
    rsqrt |x, _y, _z| x.rsqrt();
    cbrt |x, _y, _z| x.cbrt();
    exp |x, _y, _z| x.exp();
    exp2 |x, _y, _z| x.exp2();
    exp_m1 |x, _y, _z| x.exp_m1();
    ln |x, _y, _z| x.ln();
    log2 |x, _y, _z| x.log2();
    log10 |x, _y, _z| x.log10();
    ln_1p |x, _y, _z| x.ln_1p();
    sin |x, _y, _z| x.sin();
    cos |x, _y, _z| x.cos();
    tan |x, _y, _z| x.tan();
    asin |x, _y, _z| x.asin();
    acos |x, _y, _z| x.acos();
    atan |x, _y, _z| x.atan();
    sinh |x, _y, _z| x.sinh();
    cosh |x, _y, _z| x.cosh();
    tanh |x, _y, _z| x.tanh();
    asinh |x, _y, _z| x.asinh();
    acosh |x, _y, _z| x.acosh();
    atanh |x, _y, _z| x.atanh();
    pow |x, y, _z| x.pow(y);
    powi |x, y, _z| x.powi(y as i32);
    atan2 |x, y, _z| x.atan2(y);
    hypot |x, y, _z| x.hypot(y);
    fmod |x, y, _z| x % y;
    rem_euclid |x, y, _z| x.rem_euclid(y);
    div_euclid |x, y, _z| x.div_euclid(y);
    recip |x, _y, _z| x.recip();
    fract |x, _y, _z| x.fract();
    signum |x, _y, _z| x.signum();
    copysign |x, y, _z| x.copysign(y);
    to_degrees |x, _y, _z| x.to_degrees();
    to_radians |x, _y, _z| x.to_radians();
    kinds |x, y, z| if x.is_finite() { y } else if y.is_infinite() || z.is_sign_negative() && !z.is_sign_positive() { z } else { x };
    both |x, _y, _z| { let (sin, cos) = x.sin_cos(); sin - cos * cos };
}

/// Operands of all kinds: special values, any bits, and those where functions have something to compute.
fn operand<T: Format>(random: &mut Random) -> T {
    let (low, high) = (T::LEAST.log2(), T::MOST.log2());
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, f64::INFINITY, -f64::INFINITY, f64::NAN, T::LEAST, T::MOST];
    match random.next() % 64 {
        0 => T::of(special[random.next() as usize % special.len()]),
        1..12 => T::any(random.next()),
        12..24 => T::of(random.sized(low, high)),
        24..36 => T::of(random.sized(-20.0, 20.0)),
        36..44 => T::of(random.within(-1.2, 1.2)),
        44..52 => T::of(random.within(-0.72, 0.72) * high),
        52..58 => T::of(random.within(-40.0, 40.0).round()),
        _ => T::of(1.0 + random.sized(-40.0, -1.0)),
    }
}

fn same<T: Format>(device: &Device, name: &str, launch: Launch<T>) -> Outcome {
    if !device.properties().exact_floats {
        let why = "the device does not promise to round to nearest and to keep signed zeros (`shaderRoundingModeRTE…`)";
        return Err(Stop::NotPossible(why.into()));
    }
    let mut random = Random(name.bytes().map(u64::from).sum());
    let mut left = samples();
    while left > 0 {
        let count = left.min(PER_LAUNCH);
        left -= count;
        let operands: [Vec<T>; 3] = [(); 3].map(|()| (0..count).map(|_| operand(&mut random)).collect());
        let on = |device: &Device| -> Result<Vec<T>, Stop> {
            let [x, y, z] = &operands;
            let buffers = [device.from_slice(x)?, device.from_slice(y)?, device.from_slice(z)?];
            let (queue, mut out) = (device.queue()?, device.alloc::<T>(count)?);
            launch(&queue, &buffers, &mut out)?;
            Ok(out.read(&queue)?)
        };
        let found: Vec<f64> = on(device)?.into_iter().map(Into::into).collect();
        for (at, (found, wanted)) in found.into_iter().zip(on(&Device::host_serial())?).enumerate() {
            let wanted: f64 = wanted.into();
            let all = [0, 1, 2].map(|number| -> f64 { operands[number][at].into() });
            if all.iter().any(|x| *x != 0.0 && x.abs() < T::LEAST) {
                continue;
            }
            let tiny = wanted.abs() <= T::LEAST && found.abs() <= T::LEAST;
            let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
            assert!(same || tiny, "{name} of {all:?} is {found:?}, and {wanted:?} on the host");
        }
    }
    Ok(())
}
