//! Floats of 16 bits: each operation rounds once, against exact arithmetic in integers.

use wattle::prelude::*;

use crate::exact::{Exact, Format};
use crate::harness::{Case, Outcome, Stop, is_small};
use crate::random::Random;

pub const CASES: &[Case] = &[
    ("f16 to other types", from_half::<f16>),
    ("bf16 to other types", from_half::<bf16>),
    ("other types to f16", to_half::<f16>),
    ("other types to bf16", to_half::<bf16>),
    ("f16 with one operand", unary::<f16>),
    ("bf16 with one operand", unary::<bf16>),
    ("f16 with two operands", binary::<f16>),
    ("bf16 with two operands", binary::<bf16>),
    ("fused multiply-add of f16", fused::<f16>),
    ("fused multiply-add of bf16", fused::<bf16>),
    ("comparisons of f16", compared::<f16>),
    ("comparisons of bf16", compared::<bf16>),
    ("functions of f16", functions::<f16>),
    ("functions of bf16", functions::<bf16>),
    ("literals and constants of f16", constants),
    ("f16 everywhere in a kernel", everywhere::<f16>),
    ("bf16 everywhere in a kernel", everywhere::<bf16>),
];

macro_rules! kernels {
    ($($name:ident |$x:ident, $y:ident, $z:ident| $value:expr;)+) => {
        $(#[kernel]
        fn $name<T: Float>(acc: &Acc, xs: Read<T>, ys: Read<T>, zs: Read<T>, out: PerItem<T>) {
            for (i, item) in acc.items(&mut out) {
                let ($x, $y, $z) = (xs[i], ys[i], zs[i]);
                *item = $value;
            }
        })+

        /// The bits of the function of this name, for each of the operands' bits.
        fn apply<T: Format>(device: &Device, name: &str, operands: &[[u16; 3]]) -> Result<Vec<u16>, Stop> {
            let column = |at: usize| {
                device.from_slice(&operands.iter().map(|all| T::of_bits(all[at])).collect::<Vec<T>>())
            };
            let (x, y, z) = (column(0)?, column(1)?, column(2)?);
            let (queue, mut out) = (device.queue()?, device.alloc::<T>(operands.len())?);
            let spec = FrameSpec::new(16, 32);
            match name {
                $(stringify!($name) => queue.launch(spec, $name(&x, &y, &z, &mut out))?,)+
                _ => panic!("no kernel for {name}"),
            }
            Ok(out.read(&queue)?.into_iter().map(T::bits).collect())
        }
    };
}
kernels! {
    neg |x, _y, _z| -x;
    abs |x, _y, _z| x.abs();
    sqrt |x, _y, _z| x.sqrt();
    floor |x, _y, _z| x.floor();
    round |x, _y, _z| x.round();
    recip |x, _y, _z| x.recip();
    bits |x, _y, _z| T::from_bits(x.to_bits());
    is_nan |x, y, z| if x.is_nan() { y } else { z };
    add |x, y, _z| x + y;
    sub |x, y, _z| x - y;
    mul |x, y, _z| x * y;
    div |x, y, _z| x / y;
    min |x, y, _z| x.min(y);
    max |x, y, _z| x.max(y);
    copysign |x, y, _z| x.copysign(y);
    fma |x, y, z| x.fma(y, z);
    exp |x, _y, _z| x.exp();
    sin |x, _y, _z| x.sin();
    to_degrees |x, _y, _z| x.to_degrees();
    to_radians |x, _y, _z| x.to_radians();
    literal |x, _y, _z| x * 0.1 + 2.5;
}

#[kernel]
fn converted<T: Number, U: Number>(acc: &Acc, xs: Read<T>, out: PerItem<U>) {
    for (i, item) in acc.items(&mut out) {
        *item = xs[i] as U;
    }
}

fn convert<T: Number, U: Number>(device: &Device, values: &[T]) -> Result<Vec<U>, Stop> {
    let (queue, x, mut out) = (device.queue()?, device.from_slice(values)?, device.alloc::<U>(values.len())?);
    queue.launch(FrameSpec::new(16, 32), converted(&x, &mut out))?;
    Ok(out.read(&queue)?)
}

/// All bits, or evenly spread ones. Subnormal numbers are left out where they are not promised.
fn all<T: Format>() -> Vec<u16> {
    let step = if is_small() { 37 } else { 1 };
    (0..=u16::MAX).step_by(step).filter(|&bits| T::is_promised(bits)).collect()
}

/// What both are, or that both are no numbers.
fn agree<T: Format>(found: u16, expected: u16) -> bool {
    found == expected || (T::is_no_number(found) && T::is_no_number(expected)) || !T::is_promised(expected)
}

fn check<T: Format>(name: &str, operands: &[[u16; 3]], found: &[u16], expected: impl Fn([u16; 3]) -> u16) -> Outcome {
    for (&operands, &found) in operands.iter().zip(found) {
        let expected = expected(operands);
        if !agree::<T>(found, expected) {
            let text = format!("{name} of {operands:04x?} is {found:#06x}, and not {expected:#06x}");
            return Err(Stop::Failure(text));
        }
    }
    Ok(())
}

fn from_half<T: Format>(device: &Device) -> Outcome {
    let all = all::<T>();
    let values: Vec<T> = all.iter().map(|&bits| T::of_bits(bits)).collect();
    let (single, signed, byte) =
        (convert::<T, f32>(device, &values)?, convert::<T, i32>(device, &values)?, convert::<T, u8>(device, &values)?);
    for (((&bits, single), signed), byte) in all.iter().zip(single).zip(signed).zip(byte) {
        let value = T::value(bits);
        assert!(f64::from(single) == value || single.is_nan() && value.is_nan(), "{bits:#06x} as f32: {single}");
        assert!(value != 0.0 || single.is_sign_negative() == (bits >= 0x8000), "{bits:#06x} as f32: {single}");
        assert_eq!((signed, byte), (value as i32, value as u8), "{bits:#06x}");
    }
    let (double, long) = (convert::<T, f64>(device, &values)?, convert::<T, u64>(device, &values)?);
    for ((&bits, double), long) in all.iter().zip(double).zip(long) {
        let value = T::value(bits);
        assert!(double == value || double.is_nan() && value.is_nan(), "{bits:#06x} as f64: {double}");
        assert_eq!(long, value as u64, "{bits:#06x}");
    }
    Ok(())
}

/// Doubles at, just below and just above each number and each middle between two.
fn around<T: Format>() -> Vec<f64> {
    let step = if is_small() { 101 } else { 3 };
    let sizes = (0..T::INFINITE).step_by(step).chain(T::INFINITE - 2..T::INFINITE);
    let points = sizes.flat_map(|bits| {
        let (low, high) = (T::value(bits), T::value_or_beyond(bits + 1));
        [low, low / 2.0 + high / 2.0]
    });
    let near = points.flat_map(|x| [x, x.next_up(), x.next_down(), -x, -x.next_up()]);
    near.chain([f64::INFINITY, f64::NAN, 1e300, -1e-300]).collect()
}

fn to_half<T: Format>(device: &Device) -> Outcome {
    fn all_of<T: Format, S: Number>(device: &Device, values: &[S], exact: impl Fn(S) -> Exact) -> Outcome {
        for (&value, found) in values.iter().zip(convert::<S, T>(device, values)?) {
            let (found, expected) = (found.bits(), exact(value).nearest::<T>());
            assert!(agree::<T>(found, expected), "{value} is {found:#06x}, and not {expected:#06x}");
        }
        Ok(())
    }
    let doubles = around::<T>();
    let mut singles: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
    singles.extend(doubles.iter().flat_map(|&x| [(x as f32).next_up(), (x as f32).next_down()]));
    singles.retain(|x| !x.is_subnormal());
    all_of::<T, f32>(device, &singles, |x| Exact::of_double(x.into()))?;
    let mut random = Random(3);
    let sized = |random: &mut Random| random.next() >> (random.next() % 64);
    let mut integers: Vec<u64> = (0..if is_small() { 200 } else { 4000 }).map(|_| sized(&mut random)).collect();
    // Middles, and what is one off.
    integers.extend((8..60).flat_map(|at| [1 << at | 1 << (at - 8), 3 << (at - 8) | 1 << at].map(|x: u64| x)));
    integers.extend((12..60).flat_map(|at| [1 << at | 1 << (at - 11), 3 << (at - 11) | 1 << at].map(|x: u64| x)));
    let near: Vec<u64> = integers.iter().flat_map(|&x| [x.wrapping_sub(1), x, x.wrapping_add(1), !x]).collect();
    let of = |x: i128| Exact::of_integer(x);
    all_of::<T, u32>(device, &near.iter().map(|&x| x as u32).collect::<Vec<_>>(), |x| of(x.into()))?;
    all_of::<T, i32>(device, &near.iter().map(|&x| x as i32).collect::<Vec<_>>(), |x| of(x.into()))?;
    all_of::<T, i16>(device, &near.iter().map(|&x| x as i16).collect::<Vec<_>>(), |x| of(x.into()))?;
    all_of::<T, u64>(device, &near, |x| of(x.into()))?;
    all_of::<T, i64>(device, &near.iter().map(|&x| x as i64).collect::<Vec<_>>(), |x| of(x.into()))?;
    all_of::<T, f64>(device, &doubles, Exact::of_double)
}

fn unary<T: Format>(device: &Device) -> Outcome {
    let operands: Vec<[u16; 3]> = all::<T>().into_iter().map(|bits| [bits, T::ONE_BITS, 0]).collect();
    let run = |name: &str, expected: &dyn Fn([u16; 3]) -> u16| {
        check::<T>(name, &operands, &apply::<T>(device, name, &operands)?, expected)
    };
    run("neg", &|[x, ..]| x ^ 0x8000)?;
    run("abs", &|[x, ..]| x & 0x7fff)?;
    run("bits", &|[x, ..]| x)?;
    run("is_nan", &|[x, y, z]| if T::is_no_number(x) { y } else { z })?;
    run("sqrt", &|[x, ..]| Exact::of::<T>(x).root().nearest::<T>())?;
    run("recip", &|[x, y, _]| Exact::of::<T>(y).quotient(Exact::of::<T>(x)).nearest::<T>())?;
    // Whole numbers are numbers of the format, and the bits of a zero are what the double has.
    let whole = |of: fn(f64) -> f64| move |[x, ..]: [u16; 3]| Exact::of_double(of(T::value(x))).nearest::<T>();
    run("floor", &whole(f64::floor))?;
    run("round", &whole(f64::round))
}

/// Pairs of all that is special, and random ones: of any size, and of sizes near to each other.
fn pairs<T: Format>() -> Vec<[u16; 3]> {
    let special: Vec<u16> = [0, 1, 2, 0x3ff, 0x400, T::ONE_BITS - 1, T::ONE_BITS, T::ONE_BITS + 1, 0x4000, 0x4200]
        .into_iter()
        .chain([T::INFINITE - 2, T::INFINITE - 1, T::INFINITE, T::INFINITE + 1, 0x7fff])
        .flat_map(|bits| [bits, bits | 0x8000])
        .filter(|&bits| T::is_promised(bits))
        .collect();
    let mut pairs: Vec<[u16; 3]> = special.iter().flat_map(|&x| special.iter().map(move |&y| [x, y, 0])).collect();
    let mut random = Random(7);
    for _ in 0..if is_small() { 500 } else { 20_000 } {
        let bits = random.next();
        let [x, y] = [bits as u16, (bits >> 16) as u16];
        let near = x.wrapping_add((y % 0x2000).wrapping_sub(0x1000)) ^ (y & 0x8000);
        pairs.extend([[x, y, 0], [x, near, 0]].into_iter().filter(|all| all.iter().all(|&x| T::is_promised(x))));
    }
    pairs
}

fn binary<T: Format>(device: &Device) -> Outcome {
    let operands = pairs::<T>();
    let run = |name: &str, expected: &dyn Fn(Exact, Exact) -> Exact| {
        let expected = |[x, y, _]: [u16; 3]| expected(Exact::of::<T>(x), Exact::of::<T>(y)).nearest::<T>();
        check::<T>(name, &operands, &apply::<T>(device, name, &operands)?, expected)
    };
    run("add", &|x, y| x.sum(y))?;
    run("sub", &|x, y| x.sum(y.negated()))?;
    run("mul", &|x, y| x.product(y))?;
    run("div", &|x, y| x.quotient(y))?;
    let bits = |name: &str, expected: &dyn Fn([u16; 3]) -> u16| {
        check::<T>(name, &operands, &apply::<T>(device, name, &operands)?, expected)
    };
    bits("copysign", &|[x, y, _]| (x & 0x7fff) | (y & 0x8000))?;
    // The order of numbers, -0 below +0; a NaN gives way.
    let at = |x: u16| if x & 0x8000 == 0 { i32::from(x) } else { -i32::from(x & 0x7fff) - 1 };
    let chosen = |[x, y, _]: [u16; 3], is_first: bool| match (T::is_no_number(x), T::is_no_number(y)) {
        (true, _) => y,
        (_, true) => x,
        _ => {
            if is_first {
                x
            } else {
                y
            }
        }
    };
    bits("min", &|all| chosen(all, at(all[0]) < at(all[1])))?;
    bits("max", &|all| chosen(all, at(all[0]) > at(all[1])))
}

/// Products whose sum with the third operand is next to the middle of two numbers, by less than `f32` can hold.
fn traps<T: Format>() -> Vec<[u16; 3]> {
    let mut random = Random(11);
    let mut all = Vec::new();
    while all.len() < if is_small() { 300 } else { 6_000 } {
        let bits = random.next();
        let [x, y, z] = [bits as u16, (bits >> 16) as u16, (bits >> 32) as u16];
        let [small, more] = [(bits >> 48) as u16 % 0x0400, random.next() as u16 % 0x0800];
        // Any three; a great addend with a product near to half of its last place, and the other way round.
        let near_one = |x: u16| (T::ONE_BITS & !0xff) + (x & 0x1ff);
        let half_place = T::ONE_BITS - (((T::DIGITS) as u16) << (T::DIGITS - 1)) + (small & 3);
        all.push([x, y, z]);
        all.push([near_one(x), half_place, near_one(y) ^ (z & 0x8000)]);
        all.push([near_one(x), near_one(y), (small ^ (z & 0x8000)) | 0x0400]);
        all.push([near_one(x), near_one(y), near_one(z) | 0x8000]);
        all.push([x, y, (x ^ y) & 0x8000 ^ 0x8000 | (more + 0x1000)]);
        // Products of odd numbers, many of which are the middle of two, and an addend that `f32` loses beside them.
        let odd = |x: u16| Exact::of_integer(i128::from((x % 64) | 1)).nearest::<T>();
        all.push([odd(x), odd(y), (small % 0x200 + (1 << (T::DIGITS - 1))) | z & 0x8000]);
        // Products beyond the range, of which much is taken off.
        all.push([T::INFINITE - 1 - (small & 0x7f), 0x4000, (T::INFINITE - 1) | 0x8000]);
    }
    all.retain(|all| all.iter().all(|&x| T::is_promised(x)));
    all
}

fn fused<T: Format>(device: &Device) -> Outcome {
    let mut operands = traps::<T>();
    operands.extend(pairs::<T>().iter().step_by(5).flat_map(|&[x, y, _]| [[x, y, 0x8000], [x, T::ONE_BITS, y]]));
    // 1 + 2^-24 by 1 less a bit: the middle of two numbers, and a bit that 24 digits do not hold.
    let found = apply::<T>(device, "fma", &operands)?;
    check::<T>("fma", &operands, &found, |[x, y, z]| {
        Exact::of::<T>(x).product(Exact::of::<T>(y)).sum(Exact::of::<T>(z)).nearest::<T>()
    })
}

#[kernel]
fn compare<T: Float>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: PerItem<u32>) {
    for (i, item) in acc.items(&mut out) {
        let (x, y) = (xs[i], ys[i]);
        let less = (x < y) as u32 | ((x <= y) as u32) << 1;
        let greater = ((x > y) as u32) << 2 | ((x >= y) as u32) << 3;
        *item = less | greater | ((x == y) as u32) << 4 | ((x != y) as u32) << 5;
    }
}

fn compared<T: Format>(device: &Device) -> Outcome {
    let pairs = pairs::<T>();
    let column = |at: usize| device.from_slice(&pairs.iter().map(|all| T::of_bits(all[at])).collect::<Vec<T>>());
    let (queue, x, y, mut out) = (device.queue()?, column(0)?, column(1)?, device.alloc::<u32>(pairs.len())?);
    queue.launch(FrameSpec::new(16, 32), compare(&x, &y, &mut out))?;
    for (&[x, y, _], found) in pairs.iter().zip(out.read(&queue)?) {
        let (a, b) = (T::value(x), T::value(y));
        let all = [a < b, a <= b, a > b, a >= b, a == b, a != b];
        let expected = all.iter().enumerate().fold(0, |bits, (at, &holds)| bits | u32::from(holds) << at);
        assert_eq!(found, expected, "{x:#06x} and {y:#06x}");
    }
    Ok(())
}

/// The functions are those of `f32`, rounded once more: within 0.501 ulp.
fn functions<T: Format>(device: &Device) -> Outcome {
    let operands: Vec<[u16; 3]> = all::<T>().into_iter().map(|bits| [bits, 0, 0]).collect();
    type Function = (&'static str, fn(f64) -> f64);
    let functions: [Function; 4] =
        [("exp", f64::exp), ("sin", f64::sin), ("to_degrees", f64::to_degrees), ("to_radians", f64::to_radians)];
    for (name, of) in functions {
        let found = apply::<T>(device, name, &operands)?;
        for (&[x, ..], found) in operands.iter().zip(found) {
            let (value, expected) = (T::value(found), of(T::value(x)));
            let nearest = Exact::of_double(expected).nearest::<T>();
            if agree::<T>(found, nearest) {
                continue;
            }
            let place = (T::value_or_beyond((nearest & 0x7fff) + 1) - T::value(nearest & 0x7fff)).abs();
            assert!((value - expected).abs() <= 0.501 * place, "{name} of {x:#06x} is {value}, and not {expected}");
        }
    }
    let few: Vec<_> = operands.iter().copied().step_by(7).collect();
    let found = apply::<T>(device, "literal", &few)?;
    let literal = |x: f64| Exact::of_double(x).nearest::<T>();
    check::<T>("literal", &few, &found, |[x, ..]| {
        let product = Exact::of::<T>(x).product(Exact::of::<T>(literal(0.1))).nearest::<T>();
        Exact::of::<T>(product).sum(Exact::of_double(2.5)).nearest::<T>()
    })
}

/// Rust's own operators are no part of it: the crate `half` has them too, and rounds otherwise on some machines.
#[kernel]
fn concrete(acc: &Acc, xs: Read<f16>, out: PerItem<f16>) {
    const THIRD: f16 = f16::from_f32_const(1.0 / 3.0);
    for (i, item) in acc.items(&mut out) {
        let mut x = xs[i] * THIRD + 0.25 as f16;
        x -= -x;
        x *= THIRD;
        *item = if x > f16::ONE { x.min(f16::MAX) } else { -x };
    }
}

fn constants(device: &Device) -> Outcome {
    let xs: Vec<f16> = (0..100).map(|x| f16::from_f32(x as f32)).collect();
    let (queue, x, mut out) = (device.queue()?, device.from_slice(&xs)?, device.alloc::<f16>(xs.len())?);
    queue.launch(FrameSpec::new(4, 32), concrete(&x, &mut out))?;
    let third = Exact::of_double(f64::from(1.0f32 / 3.0)).nearest::<f16>();
    let rounded = |x: Exact| Exact::of::<f16>(x.nearest::<f16>());
    for (&x, found) in xs.iter().zip(out.read(&queue)?) {
        let x = rounded(Exact::of::<f16>(x.to_bits()).product(Exact::of::<f16>(third)));
        let x = rounded(x.sum(Exact::of_double(0.25)));
        let x = rounded(rounded(x.sum(x)).product(Exact::of::<f16>(third))).nearest::<f16>();
        let expected = if f16::value(x) > 1.0 { x } else { x ^ 0x8000 };
        assert_eq!(found.to_bits(), expected);
    }
    Ok(())
}

const WEIGHTS: [f16; 4] = [f16::from_f32_const(0.5), f16::from_f32_const(1.5), f16::NEG_ONE, f16::EPSILON];

#[device_fn]
fn twice<T: Float>(x: T) -> T {
    x + x
}

/// Scalars, constants, arrays, block memory, lanes, conditions and loops.
#[kernel]
fn mixed<T: Float>(acc: &Acc<1>, xs: Read<T>, factor: T, limit: bf16, out: Shared<T>) {
    let tile = acc.shared::<T, 64>();
    let thread = acc.thread_in_block();
    let at = acc.thread_in_grid();
    tile[thread] = xs[at] * factor;
    acc.sync_block();
    let [a, b, c, d] = xs.lanes::<4>(0);
    let mut own = [T::ZERO; 4];
    let mut sum = twice(a + b + (c + d));
    for i in 0..4 {
        own[i] = WEIGHTS[i] as T;
        sum = if sum < limit as T { sum + own[i] } else { sum };
    }
    out[at] = tile[acc.threads_in_block() - 1 - thread] + sum;
}

fn everywhere<T: Format>(device: &Device) -> Outcome {
    let n = 8u32;
    let values: Vec<T> = (0..n).map(|i| T::cast_from(i as f32 * 0.5)).collect();
    let (queue, x, out) = (device.queue()?, device.from_slice(&values)?, device.alloc_zeroed::<T>(n as usize)?);
    let spec =
        if device.properties().max_threads_per_block >= 4 { ThreadSpec::new(2, 4) } else { ThreadSpec::new(8, 1) };
    let (factor, limit) = (T::cast_from(0.25f32), bf16::from_f32(100.0));
    queue.launch(spec, mixed(&x, factor, limit, &out))?;
    let threads = if device.properties().max_threads_per_block >= 4 { 4 } else { 1 };
    let one = T::cast_from(0.0f32 + 0.5 + (1.0 + 1.5));
    let mut sum = T::value(one.bits()) * 2.0;
    for weight in [0.5, 1.5, -1.0, f16::EPSILON.to_f64()] {
        sum = T::value(Exact::of_double(sum + weight).nearest::<T>());
    }
    for (at, found) in out.read(&queue)?.into_iter().enumerate() {
        let other = at / threads * threads + threads - 1 - at % threads;
        let expected = Exact::of_double(other as f64 * 0.5 * 0.25 + sum).nearest::<T>();
        assert_eq!(found.bits(), expected, "at {at}");
    }
    Ok(())
}
