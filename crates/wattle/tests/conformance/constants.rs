//! Constants: arrays of them that are indexed, and literals in kernels that are generic over the type of their numbers.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, Stop, has_driver, refused_unless_lacking, says};

pub const CASES: &[Case] = &[
    ("arrays of constants", arrays_of_constants),
    ("an index beyond an array of constants", beyond_constants),
    ("literals in generic kernels", literals),
    ("literals that a branch or a neighbour decides", decided),
    ("constants converted to every type of floats", converted),
    ("constants converted to integers", converted_to_integers),
];

/// Squares, and one that is no multiple of 4 elements.
const TABLE: [u32; 37] = {
    let mut table = [0; 37];
    let mut i = 0;
    while i < 37 {
        table[i] = (i * i) as u32;
        i += 1;
    }
    table
};
const WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
const MATRIX: [[i32; 3]; 5] = [[1, -2, 3], [4, 5, 6], [7, 8, 9], [-10, 11, 12], [13, 14, i32::MIN]];

trait Polynomial {
    const COEFFICIENTS: [u32; 6];
}
impl Polynomial for u32 {
    const COEFFICIENTS: [u32; 6] = [1, 2, 3, 4, 5, 6];
}

#[device_fn]
fn total<const N: usize>(of: [u32; N], at: u32) -> u32 {
    let mut sum = of[at];
    for i in 0..of.len() {
        sum += of[i];
    }
    sum
}

#[kernel]
fn constants(acc: &Acc, n: u32, x: Read<f32>, out: Shared<u32>, smooth: Shared<f32>) {
    const LEN: usize = 5;
    const STEP: u32 = 2;
    const LOCAL: [u32; LEN] = [7, 8, 9, 10, 200];
    out[0] = TABLE[n] + TABLE[36] + TABLE.len();
    out[1] = MATRIX[n % 5][n % 3] as u32;
    out[2] = total(TABLE, 2) + total([1, 2, 3], n % 3);
    let mut copy = TABLE;
    copy[3] += 100;
    out[3] = copy[3] * 1000 + TABLE[3];
    let alias = TABLE;
    out[4] = alias[n % 37];
    let mut sum = 0;
    for i in (0..LEN as u32).step_by(STEP) {
        const ODD: u32 = 1;
        sum += LOCAL[i] + ODD;
    }
    out[5] = sum;
    out[6] = u32::COEFFICIENTS[n % 6];
    let row = MATRIX[n % 5];
    out[7] = (row[0] + row[1] * 10) as u32;
    for i in acc.indices(THREADS_IN_GRID, 0..x.len() - 2) {
        let mut sum = 0.0;
        for k in 0..WEIGHTS.len() {
            sum += WEIGHTS[k] * x[i + k];
        }
        smooth[i] = sum;
    }
}

fn arrays_of_constants(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let values: Vec<f32> = (0..20).map(|i| (i * i % 7) as f32).collect();
    let x = device.from_slice(&values)?;
    for n in [0, 1, 2, 7, 36] {
        let (out, smooth) = (device.alloc_zeroed::<u32>(8)?, device.alloc_zeroed::<f32>(18)?);
        queue.launch(FrameSpec::new(1, 1), constants(n, &x, &out, &smooth))?;
        let row = MATRIX[n as usize % 5];
        let expected = [
            n * n + 36 * 36 + 37,
            row[n as usize % 3] as u32,
            4 + TABLE.iter().sum::<u32>() + 6 + n % 3 + 1,
            109 * 1000 + 9,
            n * n,
            7 + 9 + 200 + 3,
            n % 6 + 1,
            (row[0] + row[1] * 10) as u32,
        ];
        assert_eq!(out.read(&queue)?, expected, "for {n}");
        let expected = values.windows(3).map(|x| 0.25 * x[0] + 0.5 * x[1] + 0.25 * x[2]);
        assert_eq!(smooth.read(&queue)?, expected.collect::<Vec<_>>());
    }
    Ok(())
}

#[kernel]
fn reads_constants(acc: &Acc, n: u32, out: Shared<u32>) {
    out[0] = 1;
    out[1] = TABLE[n] + 3;
}

fn beyond_constants(device: &Device) -> Outcome {
    for n in [37, 38, u32::MAX] {
        let queue = device.queue()?;
        let out = device.alloc_zeroed::<u32>(2)?;
        let error = refused_unless_lacking(device, queue.launch(ThreadSpec::new(1, 1), reads_constants(n, &out)))?;
        says(&error, &[&format!("index {n} of `an array of the kernel`, which has extent 37"), "constants.rs"]);
        assert_eq!(out.read(&device.queue()?)?, [1, 3]);
    }
    Ok(())
}

#[device_fn]
fn mixed<T: Float>(x: T, y: T, at: T) -> T {
    if at < 0.0 {
        return 0.1;
    }
    x * (1.0 - at) + y * at
}

#[kernel]
fn generic<T: Float>(acc: &Acc, x: Read<T>, y: PerItem<T>, s: f32) {
    for (i, y) in acc.items(&mut y) {
        *y = match i {
            0 => x[i] * 0.1 + 1e-3,
            1 => 1.0 / 3.0 * x[i],
            2 => x[i].max(0.7).fma(2.0, -0.3),
            3 => mixed(x[i], 4.0, 0.2) + mixed(x[i], *y, -1.0),
            4 => {
                let third: T = 1.0 / 3.0;
                third + 0.5 as T
            }
            5 => {
                if x[i] > 4.5 {
                    0.3 * (2.0 * s + s * 3.0) as T
                } else {
                    -0.1
                }
            }
            _ => {
                *y = 0.6;
                *y -= 0.2;
                *y
            }
        };
    }
}

fn literals(device: &Device) -> Outcome {
    let queue = device.queue()?;
    macro_rules! check {
        ($t:ty) => {{
            let x: [$t; 7] = [1.0, 2.0, 0.3, 4.0, 5.0, 6.0, 7.0];
            let (from, mut to) = (device.from_slice(&x)?, device.alloc_zeroed::<$t>(7)?);
            queue.launch(FrameSpec::new(2, 1), generic(&from, &mut to, 0.2f32))?;
            let expected: [$t; 7] = [
                x[0] * 0.1 + 1e-3,
                1.0 / 3.0 * x[1],
                <$t>::mul_add(0.7, 2.0, -0.3),
                x[3] * (1.0 - 0.2) + 4.0 * 0.2 + 0.1,
                1.0 / 3.0 + 0.5,
                0.3 * (2.0f32 * 0.2 + 0.2 * 3.0) as $t,
                0.6 - 0.2,
            ];
            assert_eq!(to.read(&queue)?, expected);
        }};
    }
    check!(f32);
    let doubles = || -> Outcome {
        check!(f64);
        Ok(())
    };
    match doubles() {
        // What f32 needs, all devices have; f64 some lack.
        Err(Stop::Lacks(_)) if has_driver(device) => Ok(()),
        outcome => outcome,
    }
}

#[device_fn]
fn halves<T: Float>(x: T) -> (T, T) {
    if x > 2.0 {
        return (x, 0.25);
    }
    (0.5, x)
}

#[kernel]
fn decides<T: Float + Element>(acc: &Acc, x: T, s: f32, n: u32, y: Shared<T>) {
    let branch = if n > 2 { x } else { 1.5 };
    let chosen = match n {
        0 => 0.25,
        1 => branch,
        _ => -2.0,
    };
    let nested = if x > 0.5 {
        1.0
    } else if x > 0.25 {
        chosen
    } else {
        0.5
    };
    let matched = if let (0, x) = (n, x) { x } else { 3.5 };
    let row = [chosen, 0.0, 1.25];
    let same: [T; 2] = [0.5; 2];
    let (a, b) = if x < 0.0 { (x, 0.125) } else { (1.0, x) };
    let (c, d) = halves(x);
    // Each part by itself: the second ones are literals alone.
    let (place, half) = match n {
        0 => (n, 0.5),
        _ => (1, 0.25),
    };
    y[place] = (half * s) as T;
    // Nothing but literals: it is f64 or f32, as in Rust.
    let alone = if n > 1 { 2.0 } else { 4.0 };
    y[0] = branch + chosen;
    y[1] = nested + matched;
    y[2] = row[1] + row[2] + same[1];
    y[3] = a * 2.0 + b;
    y[4] = c + d * d;
    y[5] = alone as f32 as T;
    y[6] = T::MAX.min(x).max(T::MIN) + T::ZERO;
    y[7] = if T::INFINITY > T::MAX && T::NEG_INFINITY < T::MIN && T::NAN != T::NAN {
        T::ONE + T::EPSILON
    } else {
        T::MIN_POSITIVE
    };
}

#[kernel]
fn ends<T: Int>(acc: &Acc, y: Shared<T>) {
    y[0] = T::MIN;
    y[1] = T::MAX;
    y[2] = T::ONE - T::ZERO;
}

fn decided(device: &Device) -> Outcome {
    let queue = device.queue()?;
    macro_rules! check {
        ($t:ty, $to:expr) => {{
            let to = $to;
            for (x, n) in [(0.375, 0), (-1.0, 1), (3.0, 3)] {
                let y = device.alloc_zeroed::<$t>(8)?;
                queue.launch(ThreadSpec::new(1, 1), decides(to(x), 2.0, n, &y))?;
                let branch = if n > 2 { x } else { 1.5 };
                let chosen = [0.25, branch, -2.0][n.min(2) as usize];
                let nested = if x > 0.5 { 1.0 } else { if x > 0.25 { chosen } else { 0.5 } };
                let (a, b) = if x < 0.0 { (x, 0.125) } else { (1.0, x) };
                let (c, d) = if x > 2.0 { (x, 0.25) } else { (0.5, x) };
                let expected = [
                    branch + chosen,
                    nested + if n == 0 { x } else { 3.5 },
                    1.75,
                    a * 2.0 + b,
                    c + d * d,
                    if n > 1 { 2.0 } else { 4.0 },
                    x,
                ];
                let y = y.read(&queue)?;
                assert_eq!(y[..7], expected.map(to), "x = {x}, n = {n}");
                assert_eq!(y[7], to(1.0) + <$t>::EPSILON);
            }
        }};
    }
    check!(f32, |x: f64| x as f32);
    let whole = device.alloc_zeroed::<i32>(3)?;
    queue.launch(ThreadSpec::new(1, 1), ends(&whole))?;
    assert_eq!(whole.read(&queue)?, [i32::MIN, i32::MAX, 1]);
    let others = || -> Outcome {
        check!(f64, |x: f64| x);
        check!(f16, f16::from_f64);
        let whole = device.alloc_zeroed::<u8>(3)?;
        queue.launch(ThreadSpec::new(1, 1), ends(&whole))?;
        assert_eq!(whole.read(&queue)?, [0, 255, 1]);
        Ok(())
    };
    match others() {
        Err(Stop::Lacks(_)) if has_driver(device) => Ok(()),
        outcome => outcome,
    }
}

const PI: f64 = std::f64::consts::PI;
const COUNT: u32 = 12;
const LENGTH: usize = 37;
const SIGNED: i64 = -7;
const THIRD: f16 = f16::from_bits(0x3555);

trait Shape {
    const SIDES: u32;
}
struct Square;
impl Shape for Square {
    const SIDES: u32 = 4;
}

#[kernel]
fn converts<T: Float, S: Shape, const N: usize, const M: u32>(acc: &Acc, y: Shared<T>) {
    const SMALL: f64 = 1e-3;
    y[0] = PI as T;
    y[1] = T::from_f64(PI);
    y[2] = std::f32::consts::E as T;
    y[3] = f32::INFINITY as T;
    y[4] = SMALL as T;
    y[5] = COUNT as T;
    y[6] = LENGTH as T;
    y[7] = SIGNED as T;
    y[8] = S::SIDES as T;
    y[9] = N as T;
    y[10] = M as T;
    y[11] = THIRD as T;
    y[12] = T::ONE * PI as T;
}

fn converted(device: &Device) -> Outcome {
    let queue = device.queue()?;
    macro_rules! check {
        ($t:ty, $of:expr, $third:expr) => {{
            let y = device.alloc_zeroed::<$t>(13)?;
            queue.launch(ThreadSpec::new(1, 1), converts::<$t, Square, 5, 6>(&y))?;
            let e = f64::from(std::f32::consts::E);
            let numbers = [PI, PI, e, f64::INFINITY, 1e-3, 12.0, 37.0, -7.0, 4.0, 5.0, 6.0, $third, PI];
            let of: fn(f64) -> $t = $of;
            assert_eq!(y.read(&queue)?, numbers.map(of));
        }};
    }
    let third = THIRD.to_f64();
    check!(f32, |x| x as f32, third);
    check!(f16, f16::from_f64, third);
    check!(bf16, bf16::from_f64, third);
    let doubles = || -> Outcome {
        check!(f64, |x| x, third);
        Ok(())
    };
    match doubles() {
        Err(Stop::Lacks(_)) if has_driver(device) => Ok(()),
        outcome => outcome,
    }
}

/// An enumeration, which rustc alone converts.
#[derive(Clone, Copy)]
#[allow(clippy::upper_case_acronyms, reason = "a variant that is named as constants are")]
enum Mode {
    #[allow(dead_code, reason = "the other one has a number then")]
    Slow,
    FAST = 9,
}
const MODE: Mode = Mode::FAST;

#[kernel]
fn converts_to_integers<T: Number, const N: usize>(acc: &Acc, x: Shared<u32>, y: Shared<T>) {
    x[0] = N as u32 + LENGTH as u32;
    x[1] = Mode::FAST as u32 + MODE as u32;
    x[2] = T::ONE as u32 + THIRD as u32 + f16::MAX as u32;
    x[3] = usize::BITS as u8 as u32 + SIGNED as u32;
    y[0] = (Mode::FAST as u32) as T;
    y[1] = SIGNED as T;
    y[2] = PI as T;
}

fn converted_to_integers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, y) = (device.alloc_zeroed::<u32>(4)?, device.alloc_zeroed::<i32>(3)?);
    queue.launch(ThreadSpec::new(1, 1), converts_to_integers::<i32, 5>(&x, &y))?;
    assert_eq!(x.read(&queue)?, [42, 18, 65505, (usize::BITS as u8 as u32).wrapping_add(SIGNED as u32)]);
    assert_eq!(y.read(&queue)?, [9, -7, 3]);
    Ok(())
}
