//! Arithmetic that is exact.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, Stop};
use crate::points::{self, Format};
use crate::random::Random;

pub const CASES: &[Case] = &[
    ("whole numbers of f32", whole::<f32>),
    ("whole numbers of f64", whole::<f64>),
    ("the lesser and greater f32", extremes::<f32>),
    ("the lesser and greater f64", extremes::<f64>),
    ("constants of which one is the lesser", constants),
    ("high halves of products of u32", high_halves::<u32>),
    ("high halves of products of u64", high_halves::<u64>),
    ("integers of u8", integers::<u8>),
    ("integers of i16", integers::<i16>),
    ("integers of u32", integers::<u32>),
    ("integers of i32", integers::<i32>),
    ("integers of u64", integers::<u64>),
    ("integers of i64", integers::<i64>),
    ("words of u32", words::<u32>),
    ("words of u64", words::<u64>),
    ("angles that change, of f32", changing::<f32>),
    ("angles that change, of f64", changing::<f64>),
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

        /// The function of this name for each of the operands.
        fn apply<T: Format>(device: &Device, name: &str, operands: &[[T; 3]]) -> Result<Vec<T>, Stop> {
            let column = |at: usize| device.from_slice(&operands.iter().map(|all| all[at]).collect::<Vec<T>>());
            let (x, y, z) = (column(0)?, column(1)?, column(2)?);
            let (queue, mut out) = (device.queue()?, device.alloc::<T>(operands.len())?);
            let spec = FrameSpec::new(16, 32);
            match name {
                $(stringify!($name) => queue.launch(spec, $name(&x, &y, &z, &mut out))?,)+
                _ => panic!("no kernel for {name}"),
            }
            Ok(out.read(&queue)?)
        }
    };
}
kernels! {
    floor |x, _y, _z| x.floor();
    ceil |x, _y, _z| x.ceil();
    round |x, _y, _z| x.round();
    round_ties_even |x, _y, _z| x.round_ties_even();
    trunc |x, _y, _z| x.trunc();
    abs |x, _y, _z| x.abs();
    neg |x, _y, _z| -x;
    bits |x, _y, _z| T::from_bits(x.to_bits());
    min |x, y, _z| x.min(y);
    max |x, y, _z| x.max(y);
    clamp |x, y, z| x.clamp(y, z);
    is_nan |x, y, z| if x.is_nan() { y } else { z };
}

/// A kernel's name, and what the host has for it.
type Exact<const N: usize> = (&'static str, fn([f64; N]) -> f64);

fn whole<T: Format>(device: &Device) -> Outcome {
    let operands = points::exact::<T>();
    let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    let functions: [Exact<1>; 8] = [
        ("floor", |[x]| x.floor()),
        ("ceil", |[x]| x.ceil()),
        ("round", |[x]| x.round()),
        ("round_ties_even", |[x]| x.round_ties_even()),
        ("trunc", |[x]| x.trunc()),
        ("abs", |[x]| x.abs()),
        ("neg", |[x]| -x),
        ("bits", |[x]| x),
    ];
    for (name, host) in functions {
        for (found, [x, ..]) in apply(device, name, &operands)?.into_iter().zip(&operands) {
            let (found, x): (f64, f64) = (found.into(), (*x).into());
            assert!(same(found, host([x])), "{name}({x:e}) is {found:e}, not {:e}", host([x]));
        }
    }
    for (found, [x, y, z]) in apply(device, "is_nan", &operands)?.into_iter().zip(&operands) {
        let (found, x, y, z): (f64, f64, f64, f64) = (found.into(), (*x).into(), (*y).into(), (*z).into());
        assert!(same(found, if x.is_nan() { y } else { z }), "{x:e} is or is not a NaN");
    }
    Ok(())
}

/// The lesser of two numbers by their order, in which -0 is before +0; the other one where one is a NaN.
fn lesser(x: f64, y: f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (false, true) => x,
        (false, false) => {
            if x.total_cmp(&y).is_lt() {
                x
            } else {
                y
            }
        }
    }
}

fn greater(x: f64, y: f64) -> f64 {
    -lesser(-x, -y)
}

fn extremes<T: Format>(device: &Device) -> Outcome {
    let values = [0.0, 1.0, 1.5, 2.0, f64::INFINITY, f64::NAN, T::LEAST, T::MOST].map(T::of);
    let values: Vec<T> = values.iter().flat_map(|&x| [x, T::of(-x.into())]).collect();
    let pairs = values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y)));
    let operands: Vec<[T; 3]> = pairs.flat_map(|(x, y)| [-1.0, -0.0, 0.0].map(|z| [x, y, T::of(z)])).collect();
    let functions: [Exact<3>; 3] = [
        ("min", |[x, y, _]| lesser(x, y)),
        ("max", |[x, y, _]| greater(x, y)),
        ("clamp", |[x, y, z]| lesser(greater(x, y), z)),
    ];
    for (name, wanted) in functions {
        for (found, all) in apply(device, name, &operands)?.into_iter().zip(&operands) {
            let [x, y, z] = all.map(Into::into);
            let (found, wanted): (f64, f64) = (found.into(), wanted([x, y, z]));
            let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
            assert!(same, "{name} of {x:?}, {y:?}, {z:?} is {found:?}, not {wanted:?}");
        }
    }
    Ok(())
}

#[kernel]
fn high<T: Word>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: PerItem<T>) {
    for (i, item) in acc.items(&mut out) {
        *item = xs[i].mul_hi(ys[i]);
    }
}

/// Every sum of halves with and without its carries.
fn high_halves<T: Word + TryFrom<u128, Error: std::fmt::Debug>>(device: &Device) -> Outcome
where
    u128: From<T>,
{
    let width = 8 * size_of::<T>() as u32;
    let (all, half) = (u128::MAX >> (128 - width), width / 2);
    let mut random = Random(width.into());
    let edges =
        [0, 1, 2, (1 << half) - 1, 1 << half, (1 << half) + 1, 1 << (width - 1), all - 1, all, (all << half) & all];
    let random = (0..40).map(|_| (0..4).fold(0, |number, _| (number << 16) | random.below(1 << 16) as u128) & all);
    let values: Vec<u128> = edges.into_iter().chain(random).collect();
    let pairs: Vec<(u128, u128)> = values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y))).collect();
    let column = |of: fn(&(u128, u128)) -> u128| {
        device.from_slice(&pairs.iter().map(|pair| T::try_from(of(pair)).expect("it fits")).collect::<Vec<T>>())
    };
    let (x, y) = (column(|pair| pair.0)?, column(|pair| pair.1)?);
    let (queue, mut out) = (device.queue()?, device.alloc::<T>(pairs.len())?);
    queue.launch(FrameSpec::new(16, 32), high(&x, &y, &mut out))?;
    for (found, (x, y)) in out.read(&queue)?.into_iter().zip(&pairs) {
        assert_eq!(u128::from(found), (x * y) >> width, "the high half of {x:#x} * {y:#x}");
    }
    Ok(())
}

/// What the functions of integers leave, one after another.
const INTEGERS: usize = 7;

#[kernel]
fn of_integers<T: Int>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: Shared<T>) {
    for i in acc.indices(THREADS_IN_GRID, 0..xs.extent()) {
        let (x, y) = (xs[i], ys[i]);
        let at = i * 7;
        out[at] = x.rotate_left(y as u32);
        out[at + 1] = x.rotate_right(y as u32);
        out[at + 2] = x.reverse_bits();
        out[at + 3] = x.swap_bytes();
        out[at + 4] = x.saturating_add(y);
        out[at + 5] = x.saturating_sub(y);
        out[at + 6] = x.ilog2() as T;
    }
}

#[kernel]
fn of_words<T: Word>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: Shared<T>) {
    for i in acc.indices(THREADS_IN_GRID, 0..xs.extent()) {
        let (x, y) = (xs[i], ys[i]);
        let at = i * 7;
        out[at] = x.isqrt();
        out[at + 1] = x.saturating_mul(y);
        out[at + 2] = x.abs_diff(y);
        out[at + 3] = x.mul_hi(y);
    }
}

/// The edges of a type, squares and what is next to them, and numbers of any size.
fn edges_of<T: Int>() -> Vec<(T, T)> {
    let mut random = Random(T::TYPE.bits().into());
    let mut values: Vec<T> = (0..T::TYPE.bits())
        .flat_map(|bit| [0, 1, u64::MAX].map(|more| (1u64 << bit).wrapping_add(more)))
        .map(T::from_raw)
        .collect();
    // One less than a square whose root in single precision is too large.
    values.push(T::from_raw(1_334_893_410 * 1_334_893_410 - 1));
    for _ in 0..100 {
        let any = (0..4).fold(0u64, |number, _| (number << 16) | random.below(1 << 16) as u64) >> random.below(64);
        let root = any & 0xffff_ffff;
        values.extend([any, !any, root * root, (root * root).wrapping_sub(1)].map(T::from_raw));
    }
    let shifted = (0..values.len()).map(|at| values[(at * 7 + 3) % values.len()]);
    values.iter().copied().zip(shifted).collect()
}

/// The launch of a kernel over two operands.
type OnPairs<T> = fn(&Queue, &[Buffer<T>; 2], &Buffer<T>) -> wattle::Result<()>;

/// What a device gives is what one thread of the host does, where the functions are the standard library's.
fn on_edges<T: Int>(device: &Device, launch: OnPairs<T>) -> Outcome {
    let pairs = edges_of::<T>();
    let on = |device: &Device| -> Result<Vec<T>, Stop> {
        let column = |of: fn(&(T, T)) -> T| device.from_slice(&pairs.iter().map(of).collect::<Vec<T>>());
        let (operands, out) =
            ([column(|pair| pair.0)?, column(|pair| pair.1)?], device.alloc_zeroed::<T>(INTEGERS * pairs.len())?);
        let queue = device.queue()?;
        launch(&queue, &operands, &out)?;
        Ok(out.read(&queue)?)
    };
    for (at, (found, wanted)) in on(device)?.into_iter().zip(on(&Device::host_serial())?).enumerate() {
        assert!(found == wanted, "function {} of {:?} is {found}, not {wanted}", at % INTEGERS, pairs[at / INTEGERS]);
    }
    Ok(())
}

fn integers<T: Int>(device: &Device) -> Outcome {
    on_edges::<T>(device, |queue, [x, y], out| queue.launch(FrameSpec::new(4, 32), of_integers(x, y, out)))
}

fn words<T: Word>(device: &Device) -> Outcome {
    on_edges::<T>(device, |queue, [x, y], out| queue.launch(FrameSpec::new(4, 32), of_words(x, y, out)))
}

#[kernel]
fn of_constants(acc: &Acc, out: Shared<u32>) {
    let lesser = (0.0f32).min(-0.0f32);
    let greater = (-0.0f32).max(0.0f32);
    out[0] = lesser.to_bits();
    out[acc.linear_threads_in_grid()] = greater.to_bits();
}

/// Expressions that are known while a kernel is built follow the same rule.
fn constants(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, 1), of_constants(&out))?;
    assert_eq!(out.read(&queue)?, [1 << 31, 0]);
    Ok(())
}

#[kernel]
fn turning<T: Float>(acc: &Acc, xs: Read<T>, by: T, turns: u32, out: Shared<T>) {
    let item = acc.linear_thread_in_grid();
    let mut x = xs[item];
    let mut turn = 0;
    // The sine is asked for in a condition, in an index, and in what is stored; the angle is another one each time.
    while x.sin() < T::ONE + T::ONE && turn < turns {
        let sure = (x.cos() * T::ZERO) as u32;
        out[2 * (item * turns + turn) + sure] = x.sin();
        out[2 * (item * turns + turn) + 1] = x.cos();
        x = x * by;
        turn += 1;
    }
}

/// Each time it is the sine of the angle as it is.
fn changing<T: Format>(device: &Device) -> Outcome {
    let turns = 5;
    let starts = [1.25, -0.8, 3e3, -7e7, 1e7, 1e12].map(T::of);
    let on = |device: &Device| {
        let (queue, xs) = (device.queue()?, device.from_slice(&starts)?);
        let out = device.alloc::<T>(2 * starts.len() * turns as usize)?;
        queue.launch(ThreadSpec::new(starts.len() as u32, 1), turning(&xs, T::of(512.0), turns, &out))?;
        out.read(&queue)
    };
    let near = |x: T, y: f64| (x.into() - y).abs() < 1e-6;
    let angles = starts.iter().flat_map(|&x| (0..turns).map(move |turn| x.into() * 512f64.powi(turn as i32)));
    for (angle, found) in angles.zip(on(device)?.chunks(2)) {
        assert!(near(found[0], angle.sin()) && near(found[1], angle.cos()), "{angle}: {found:?}");
    }
    Ok(())
}
