//! Atomic minimum, maximum and compare-exchange of floats.

use wattle::ir::{Scalar as _, Type, eval};
use wattle::pairs::{fetch_add_bf16x2, fetch_add_f16x2};
use wattle::prelude::*;

use crate::harness::{Case, Outcome, size};

pub const CASES: &[Case] = &[
    ("the least and the greatest of f32", extremes::<f32>),
    ("the least and the greatest of f64", extremes::<f64>),
    ("in block shared memory", shared),
    ("zeros and NaN, f32", special::<f32>),
    ("zeros and NaN, f64", special::<f64>),
    ("a compare-exchange compares bits", bits),
    ("a sum beside a maximum", beside),
    ("a loop of compare-exchanges", product),
    ("sums of pairs of halves", pairs),
];

/// The number of this type.
fn of<T: Float>(value: f64) -> T {
    T::from_raw(eval::cast(Type::F64, T::TYPE, value.to_raw()))
}

#[kernel]
fn least_and_greatest<T: Float + AtomicScalar>(acc: &Acc, x: Read<T>, y: Atomic<T>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        y.fetch_min(0, x[i]);
        y.fetch_max_with(1, x[i], Scope::Device, Order::AcqRel);
    }
}

fn extremes<T: Float + AtomicScalar>(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let n = size(device, 10_000, 300);
    let value = |i: usize| of(((i * 7919 + 17) % n) as f64 / 4.0 - 20.0);
    let x = device.from_slice(&(0..n).map(value).collect::<Vec<_>>())?;
    let y = device.from_slice(&[of(1e30), of(-1e30)])?;
    queue.launch(FrameSpec::cover(n, 64), least_and_greatest(&x, &y))?;
    let all = || (0..n).map(value);
    let fold = |first: f64, pick: fn(T, T) -> T| all().fold(of(first), pick);
    let expected = [fold(1e30, |a, b| if b < a { b } else { a }), fold(-1e30, |a, b| if b > a { b } else { a })];
    assert!(y.read(&queue)? == expected);
    Ok(())
}

#[kernel]
fn greatest_of_block(acc: &Acc, x: Read<f32>, y: Atomic<f32>) {
    let greatest = acc.shared_atomic::<f32, 1>();
    let i = acc.thread_in_grid();
    if acc.thread_in_block() == 0 {
        greatest.store(0, f32::NEG_INFINITY);
    }
    acc.sync_block();
    greatest.fetch_max(0, x[i]);
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        y.fetch_max(0, greatest.load(0));
    }
}

fn shared(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&(0..64).map(|i| ((i * 37) % 64) as f32 - 100.0).collect::<Vec<_>>())?;
    let y = device.from_slice(&[f32::NEG_INFINITY])?;
    queue.launch(ThreadSpec::new(4, 16), greatest_of_block(&x, &y))?;
    assert_eq!(y.read(&queue)?, [-37.0]);
    Ok(())
}

#[kernel]
fn one_each<T: Float + AtomicScalar>(
    acc: &Acc,
    x: Read<T>,
    least: Atomic<T>,
    greatest: Atomic<T>,
    mut old: PerItem<T>,
) {
    for (i, old) in acc.items(&mut old) {
        *old = least.fetch_min(i, x[i]);
        greatest.fetch_max(i, x[i]);
    }
}

fn special<T: Float + AtomicScalar>(device: &Device) -> Outcome {
    if !device.properties().exact_floats {
        return crate::harness::not_possible("it promises nothing of zeros and NaN");
    }
    let queue = device.queue()?;
    let all = |values: [f64; 6]| device.from_slice(&values.map(of::<T>));
    let nan = f64::NAN;
    let before = [0.0, -0.0, 0.0, nan, 1.0, nan];
    let (least, greatest, mut old) = (all(before)?, all(before)?, all([7.0; 6])?);
    let x = all([-0.0, 0.0, 0.0, 2.0, nan, nan])?;
    queue.launch(ThreadSpec::new(6, 1), one_each(&x, &least, &greatest, &mut old))?;
    let text = |all: Vec<T>| all.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ");
    assert_eq!(text(least.read(&queue)?), "-0.0 -0.0 0.0 2.0 1.0 NaN");
    assert_eq!(text(greatest.read(&queue)?), "0.0 0.0 0.0 2.0 1.0 NaN");
    assert_eq!(text(old.read(&queue)?), "0.0 -0.0 0.0 NaN 1.0 NaN");
    Ok(())
}

#[kernel]
fn exchanges(acc: &Acc, x: Atomic<f32>, y: Shared<f32>) {
    y[0] = x.compare_exchange(0, -0.0, 5.0);
    y[1] = x.compare_exchange_with(0, 0.0, 6.0, Scope::Device, Order::AcqRel);
    y[2] = x.compare_exchange(0, 6.0, 7.5);
}

fn bits(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, y) = (device.from_slice(&[0.0f32])?, device.alloc_zeroed::<f32>(3)?);
    queue.launch(ThreadSpec::new(1, 1), exchanges(&x, &y))?;
    assert_eq!(x.read(&queue)?, [7.5]);
    assert_eq!(y.read(&queue)?, [0.0, 0.0, 6.0]);
    Ok(())
}

#[kernel]
fn sum_and_maximum(acc: &Acc, x: Atomic<f32>, n: u32) {
    for i in acc.indices(THREADS_IN_GRID, 0..n) {
        x.fetch_add(0, 0.5);
        x.fetch_max(1, i as f32);
    }
}

fn beside(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.alloc_zeroed::<f32>(2)?;
    queue.launch(FrameSpec::cover(200usize, 32), sum_and_maximum(&x, 200))?;
    assert_eq!(x.read(&queue)?, [100.0, 199.0]);
    Ok(())
}

#[kernel]
fn multiplies(acc: &Acc, x: Atomic<f64>, factor: f64) {
    let mut seen = x.load(0);
    loop {
        let found = x.compare_exchange(0, seen, seen * factor);
        if found == seen {
            break;
        }
        seen = found;
    }
}

fn product(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[3.0f64])?;
    queue.launch(ThreadSpec::new(5, 1), multiplies(&x, 2.0))?;
    assert_eq!(x.read(&queue)?, [96.0]);
    Ok(())
}

/// Each thread adds to one of eight words, and notes that it has found a pair that no sums of pairs leave.
#[kernel]
fn add_pairs(acc: &Acc, halves: Atomic<u32>, brains: Atomic<u32>, torn: Atomic<u32>) {
    let word = acc.thread_in_grid() % 8;
    let old = fetch_add_f16x2(halves, word, [0.25 as f16, -0.5 as f16]);
    if old[1] != -(old[0] + old[0]) {
        torn.fetch_add(0, 1);
    }
    fetch_add_bf16x2(brains, word, [1.0 as bf16, 0.5 as bf16]);
}

fn pairs(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let words = |count| device.alloc_zeroed::<u32>(count);
    let (halves, brains, torn) = (words(8)?, words(8)?, words(1)?);
    let each = size(device, 64, 4) as u32;
    queue.launch(ThreadSpec::new(8, each as usize), add_pairs(&halves, &brains, &torn))?;
    let half =
        |low: f64, high: f64| u32::from(f16::from_f64(low).to_bits()) | u32::from(f16::from_f64(high).to_bits()) << 16;
    let brain = |low: f64, high: f64| {
        u32::from(bf16::from_f64(low).to_bits()) | u32::from(bf16::from_f64(high).to_bits()) << 16
    };
    let each = f64::from(each);
    assert_eq!(halves.read(&queue)?, [half(each * 0.25, each * -0.5); 8]);
    assert_eq!(brains.read(&queue)?, [brain(each, each * 0.5); 8]);
    assert_eq!(torn.read(&queue)?, [0]);
    Ok(())
}
