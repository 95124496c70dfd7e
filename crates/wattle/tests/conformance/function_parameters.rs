//! Functions as parameters of kernels and of device functions, and kernels that are generic over a trait.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use wattle::__private::{BothBodies, DeviceBodies, Parameters, draft_host};
use wattle::DeviceKind;
use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("a device function by name", by_name),
    ("closures", closures),
    ("functions that are passed on", passed_on),
    ("closures around functions", around),
    ("an answer that nobody gave", forged),
    ("functions of types and traits", traits),
    ("functions of views, arrays and tuples", of_views),
    ("a block's reduction by any function", of_blocks),
    ("functions of `impl` blocks that a macro writes", from_macros),
];

/// Folds all elements in one thread.
#[kernel]
fn reduce<T: Number, F: DeviceFn<(T, T), Output = T>>(acc: &Acc, x: Read<T>, out: Shared<T>, start: T, f: F) {
    if acc.thread_in_grid() == 0 {
        let mut result = start;
        for i in 0..x.len() {
            result = f(result, x[i]);
        }
        out[0] = result;
    }
}

#[kernel]
fn map<T: Number, U: Element>(acc: &Acc, x: Read<T>, out: PerItem<U>, f: impl DeviceFn<(T,), Output = U>) {
    for (i, out) in acc.items(&mut out) {
        *out = f(x[i]);
    }
}

#[device_fn]
fn add<T: Number>(a: T, b: T) -> T {
    a + b
}

#[device_fn]
fn larger(a: f32, b: f32) -> f32 {
    if a > b {
        return a;
    }
    b
}

mod halves {
    use wattle::prelude::*;

    /// Half of it, rounded down.
    #[device_fn]
    pub fn half(x: u32) -> u32 {
        x / 2
    }
}

fn by_name(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[1.0f32, 5.0, 3.0])?;
    let out = device.alloc_zeroed::<f32>(1)?;
    for _ in 0..2 {
        // Instances of one kernel in turns: each is built and kept by itself.
        queue.launch(ThreadSpec::new(1, 1), reduce(&x, &out, 0.0, add))?;
        assert_eq!(out.read(&queue)?, [9.0]);
        queue.launch(ThreadSpec::new(1, 1), reduce(&x, &out, 0.0, larger))?;
        assert_eq!(out.read(&queue)?, [5.0]);
    }
    let (n, total) = (device.from_slice(&[1u32, 5, 3])?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(1, 1), reduce(&n, &total, 10, add))?;
    assert_eq!(total.read(&queue)?, [19]);
    let mut out = device.alloc_zeroed::<u32>(3)?;
    queue.launch(FrameSpec::cover(3, 2), map(&n, &mut out, halves::half))?;
    assert_eq!(out.read(&queue)?, [0, 2, 1]);
    Ok(())
}

const BIAS: f32 = 0.25;

fn closures(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[1.0f32, -5.0, 3.0])?;
    let out = device.alloc_zeroed::<f32>(1)?;
    queue.launch(ThreadSpec::new(1, 1), reduce(&x, &out, 100.0, device_closure!(|a, b| a.min(b))))?;
    assert_eq!(out.read(&queue)?, [-5.0]);
    let sum_of_squares = device_closure!(|a: f32, b: f32| a + b * b);
    for _ in 0..2 {
        queue.launch(ThreadSpec::new(1, 1), reduce(&x, &out, BIAS, sum_of_squares))?;
        assert_eq!(out.read(&queue)?, [35.25]);
    }
    let mut steps = device.alloc_zeroed::<u32>(3)?;
    let collatz = device_closure!(|mut n: u32| -> u32 {
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 0 { halves::half(n) } else { 3 * n + 1 };
            steps += 1;
            if steps > 1000 {
                return 0;
            }
        }
        steps
    });
    let n = device.from_slice(&[1u32, 6, 27])?;
    queue.launch(FrameSpec::cover(3, 2), map(&n, &mut steps, collatz))?;
    assert_eq!(steps.read(&queue)?, [0, 8, 111]);
    let mut signs = device.alloc_zeroed::<i32>(3)?;
    let sign = device_closure!(|x| match x {
        _ if x < BIAS => -1,
        _ => 1,
    });
    queue.launch(FrameSpec::cover(3, 2), map(&x, &mut signs, sign))?;
    assert_eq!(signs.read(&queue)?, [1, -1, 1]);
    Ok(())
}

/// `f(f(x))`
#[device_fn]
fn twice<T: Number, F: DeviceFn<(T,), Output = T>>(f: F, x: T) -> T {
    f(f(x))
}

/// Newton's method.
#[device_fn]
fn root(f: impl DeviceFn<(f32,), Output = f32>, slope: impl DeviceFn<(f32,), Output = f32>, guess: f32) -> f32 {
    let mut x = guess;
    for _ in 0..20 {
        x -= f(x) / slope(x);
    }
    x
}

#[kernel]
fn passes_on<F: DeviceFn<(u32,), Output = u32>>(acc: &Acc, out: Shared<u32>, roots: Shared<f32>, f: F) {
    if acc.thread_in_grid() == 0 {
        out[0] = twice(f, 40);
        out[1] = twice(halves::half, 40);
        out[2] = twice(|x| x * 3 + 1, 1);
        out[3] = twice(device_closure!(|x| twice(|y| y * y, x)), 2);
        out[4] = twice::<u32, F>(f, out[1]);
        roots[0] = root(|x| x * x - 2.0, |x| x * 2.0, 1.0);
    }
}

fn passed_on(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (out, roots) = (device.alloc_zeroed::<u32>(5)?, device.alloc_zeroed::<f32>(1)?);
    queue.launch(ThreadSpec::new(1, 1), passes_on(&out, &roots, device_closure!(|x| x - 1)))?;
    assert_eq!(out.read(&queue)?, [38, 10, 13, 65536, 8]);
    assert!((roots.read(&queue)?[0] - 2f32.sqrt()).abs() < 1e-6);
    Ok(())
}

/// What a user writes around a device function is run where the kernel is built, by the thread that launches it: the threads
/// of the launch have small stacks, and who waits in one waits for ever.
fn around(device: &Device) -> Outcome {
    static ASKED_ELSEWHERE: AtomicU32 = AtomicU32::new(0);
    // The times that this thread is asked; `None` of other threads.
    thread_local!(static ASKED: Cell<Option<u32>> = const { Cell::new(None) });
    ASKED.set(Some(0));
    let queue = device.queue()?;
    let n = device.from_slice(&[1u32, 6, 27])?;
    let mut out = device.alloc_zeroed::<u32>(3)?;
    let closure = device_closure!(|x: u32| x + 1);
    let counted = move |question| {
        match ASKED.get() {
            Some(times) => ASKED.set(Some(times + 1)),
            None => _ = ASKED_ELSEWHERE.fetch_add(1, Ordering::Relaxed),
        }
        closure(question)
    };
    let mut launch = || -> Outcome {
        queue.launch(FrameSpec::cover(3, 2), map(&n, &mut out, counted))?;
        assert_eq!(out.read(&queue)?, [2, 7, 28]);
        Ok(())
    };
    launch()?;
    let while_built = ASKED.get();
    launch()?;
    if device.properties().kind == DeviceKind::Host {
        assert_eq!(ASKED.get(), while_built);
    }
    assert_eq!(ASKED_ELSEWHERE.load(Ordering::Relaxed), 0);
    Ok(())
}

/// A type can be named that has bodies of a user's, but no value of it can be made in safe code: a function that never
/// returns the one that it promises ends where the kernel is built, and nothing of the bodies is run.
fn forged(device: &Device) -> Outcome {
    static RUN: AtomicU32 = AtomicU32::new(0);
    fn forge<P: Fn(Parameters<(u32,)>) -> BothBodies<(u32,), u32>>(
        _: P,
    ) -> impl Fn(Parameters<(u32,)>) -> DeviceBodies<(u32,), u32, P> + Copy {
        |_| panic!("no such answer")
    }
    let function = forge(|question| {
        let host = draft_host(question, |_, (x,)| {
            RUN.fetch_add(1, Ordering::Relaxed);
            (x, ())
        });
        host.build(|_, (x,)| x)
    });
    let queue = device.queue()?;
    let n = device.from_slice(&[1u32, 6, 27])?;
    let mut out = device.alloc_zeroed::<u32>(3)?;
    for _ in 0..2 {
        let launch = || queue.launch(FrameSpec::cover(3, 2), map(&n, &mut out, function));
        assert!(catch_unwind(AssertUnwindSafe(launch)).is_err());
    }
    assert_eq!(RUN.load(Ordering::Relaxed), 0);
    Ok(())
}

/// A body with a surface.
trait Shape {
    /// The number of its sides.
    const SIDES: u32;
    /// The area at this size.
    #[device_fn]
    fn area(size: f32) -> f32;
    /// Twice the area.
    #[device_fn]
    fn doubled(size: f32) -> f32 {
        Self::area(size) + Self::area(size)
    }
}

struct Sphere;
struct Cube<const FACES: u32>;

impl Shape for Sphere {
    const SIDES: u32 = 1;
    #[device_fn]
    fn area(radius: f32) -> f32 {
        12.0 * radius * radius
    }
}

impl<const FACES: u32> Shape for Cube<FACES> {
    const SIDES: u32 = FACES;
    #[device_fn]
    fn area(size: f32) -> f32 {
        if size < 0.0 {
            return 0.0;
        }
        FACES as f32 * size * size
    }
    #[device_fn]
    fn doubled(size: f32) -> f32 {
        Self::area(size) * 2.0 + 1.0
    }
}

impl Sphere {
    #[device_fn]
    fn volume<T: Float>(radius: T) -> T {
        radius * radius * radius * 4.0
    }
}

#[kernel]
fn measure<S: Shape>(acc: &Acc, sizes: Read<f32>, areas: PerItem<f32>) {
    for (i, area) in acc.items(&mut areas) {
        *area = S::area(sizes[i])
            + twice(S::area, 0.5)
            + S::doubled(1.0)
            + S::SIDES as f32
            + Sphere::volume::<f32>(sizes[i]);
    }
}

fn traits(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let sizes = device.from_slice(&[1.0f32, 2.0])?;
    let mut areas = device.alloc_zeroed::<f32>(2)?;
    queue.launch(FrameSpec::cover(2, 1), measure::<Sphere>(&sizes, &mut areas))?;
    assert_eq!(areas.read(&queue)?, [12.0 + 108.0 + 24.0 + 1.0 + 4.0, 48.0 + 108.0 + 24.0 + 1.0 + 32.0]);
    queue.launch(FrameSpec::cover(2, 1), measure::<Cube<6>>(&sizes, &mut areas))?;
    assert_eq!(areas.read(&queue)?, [6.0 + 13.5 + 13.0 + 6.0 + 4.0, 24.0 + 13.5 + 13.0 + 6.0 + 32.0]);
    let mut out = device.alloc_zeroed::<f32>(2)?;
    queue.launch(FrameSpec::cover(2, 1), map(&sizes, &mut out, Cube::<2>::area))?;
    assert_eq!(out.read(&queue)?, [2.0, 8.0]);
    queue.launch(FrameSpec::cover(2, 1), map(&sizes, &mut out, <Sphere as Shape>::doubled))?;
    assert_eq!(out.read(&queue)?, [24.0, 96.0]);
    Ok(())
}

/// What a thread works out of its neighbourhood.
#[kernel]
fn stencil(
    acc: &Acc,
    x: Read<f32>,
    out: PerItem<f32>,
    f: impl DeviceFn<(Read<f32>, u32, [f32; 3]), Output = (f32, u32)>,
) {
    for (i, out) in acc.items(&mut out) {
        let (value, count) = f(x, i, [0.25, 0.5, 0.25]);
        *out = value * count as f32;
    }
}

fn of_views(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[4.0f32, 8.0, 12.0, 16.0])?;
    let mut out = device.alloc_zeroed::<f32>(4)?;
    let blur = device_closure!(|x, i, weights| {
        let mut sum = 0.0;
        let mut count = 0;
        for d in 0..3 {
            if i + d > 0 && i + d <= x.len() {
                sum += weights[d] * x[i + d - 1];
                count += 1;
            }
        }
        (sum, count)
    });
    queue.launch(FrameSpec::cover(4, 2), stencil(&x, &mut out, blur))?;
    assert_eq!(out.read(&queue)?, [8.0, 24.0, 36.0, 22.0]);
    Ok(())
}

/// Reduces the elements of each block in shared memory, as programs do it everywhere.
#[kernel]
fn block_reduce<T: Number, F: DeviceFn<(T, T), Output = T>>(acc: &Acc, x: Read<T>, out: Shared<T>, neutral: T, f: F) {
    let tile = acc.shared::<T, 8>();
    let thread = acc.thread_in_block();
    let at = acc.thread_in_grid();
    tile[thread] = if at < x.len() { x[at] } else { neutral };
    acc.sync_block();
    let mut half = acc.threads_in_block() / 2;
    while half > 0 {
        if thread < half {
            tile[thread] = f(tile[thread], tile[thread + half]);
        }
        acc.sync_block();
        half /= 2;
    }
    if thread == 0 {
        out[acc.block_in_grid()] = tile[0];
    }
}

fn of_blocks(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&(1..=13).collect::<Vec<i32>>())?;
    let out = device.alloc_zeroed::<i32>(2)?;
    queue.launch(ThreadSpec::new(2, 8), block_reduce(&x, &out, 0, add))?;
    assert_eq!(out.read(&queue)?, [36, 55]);
    queue.launch(ThreadSpec::new(2, 8), block_reduce(&x, &out, i32::MAX, device_closure!(|a, b| a.min(b))))?;
    assert_eq!(out.read(&queue)?, [1, 9]);
    queue.launch(ThreadSpec::new(2, 8), block_reduce(&x, &out, 1, device_closure!(|a, b| a * b)))?;
    assert_eq!(out.read(&queue)?, [40320, 154_440]);
    Ok(())
}

/// What an operator is.
trait Operator {
    #[device_fn]
    fn apply(a: u32, b: u32) -> u32;
}

macro_rules! operators {
    ($($name:ident $a:ident $b:ident $value:expr;)+) => {$(
        struct $name;
        impl Operator for $name {
            #[device_fn(associated)]
            fn apply($a: u32, $b: u32) -> u32 {
                $value
            }
        }
    )+};
}
operators! {
    Sum a b a + b;
    Largest a b a.max(b);
}

#[kernel]
fn pairs<O: Operator>(acc: &Acc, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..out.len()) {
        out[i] = O::apply(out[i], 3);
    }
}

fn from_macros(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.from_slice(&[1u32, 5])?;
    queue.launch(FrameSpec::cover(2, 1), pairs::<Largest>(&out))?;
    queue.launch(FrameSpec::cover(2, 1), pairs::<Sum>(&out))?;
    assert_eq!(out.read(&queue)?, [6, 8]);
    Ok(())
}
