//! Operators of structs, in kernels and on the host, beside those of numbers whose types are written nowhere.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, says};
use crate::vector::Vector;

pub const CASES: &[Case] = &[
    ("operators of structs", of_structs),
    ("operators in functions with type parameters", in_generic_functions),
    ("numbers beside structs with operators", of_numbers),
    ("a field divided by a field that is zero", division_of_fields),
    ("elements of block shared memory", tiles),
];

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    at: Vector,
    weight: f32,
    counts: [u32; 3],
}

const V: [Vector; 2] = [Vector { x: 1.0, y: 2.0 }, Vector { x: 3.0, y: 5.0 }];

#[kernel]
fn structs(acc: &Acc, v: Read<Vector>, bodies: PerItem<Body>, out: Shared<f32>, places: Shared<Vector>) {
    let (a, b) = (v[0], v[1]);
    let c = a + b * 2.0 - 0.5 * a;
    let mut sum = a;
    for k in 0..2 {
        sum += v[k] * 0.25;
        sum = sum - v[k] / 4;
    }
    for (i, body) in acc.items(&mut bodies) {
        body.at += c * (i as f32);
        body.at = -body.at;
        body.at.x += (a - b).length();
    }
    places[0] -= if c.x > 6.0 && (a + b).y > 6.0 { a } else { b };
    let mut pair = [a, b];
    pair[1] += pair[0];
    pair[0] = pair[0] + pair[1];
    places[1] = -pair[0];
    out[0] = a * b + (pair[1] + b).x;
    out[1] = (sum - c) * (a + b);
    out[2] = (b % 7 + a % 7) as f32;
    out[3] = (-(a + b)).y;
}

fn of_structs(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let body = |x| Body { at: Vector { x, y: 2.0 }, weight: 1.0, counts: [1, 2, 3] };
    let (v, mut bodies) = (device.from_slice(&V)?, device.from_slice(&[body(1.0), body(3.0)])?);
    let (out, places) = (device.alloc_zeroed::<f32>(4)?, device.from_slice(&V)?);
    queue.launch(ThreadSpec::new(1, 1), structs(&v, &mut bodies, &out, &places))?;
    // Some of the operators are the host's too.
    let [a, b] = V;
    let c = a + b * 2.0 - 0.5 * a;
    let moved = |at: Vector, i: f32| Vector { x: -(at + c * i).x + 13f32.sqrt(), y: -(at + c * i).y };
    let found: Vec<Vector> = bodies.read(&queue)?.iter().map(|body| body.at).collect();
    assert_eq!(found, [moved(body(1.0).at, 0.0), moved(body(3.0).at, 1.0)]);
    assert_eq!(out.read(&queue)?, [a * b + 7.0, (a - c) * (a + b), 1.0, -7.0]);
    assert_eq!(places.read(&queue)?, [Vector { x: 0.0, y: 0.0 }, -(a + (a + b))]);
    Ok(())
}

/// A bound of the library's, and a struct's operator in the same function.
#[device_fn]
fn scaled<T: Float>(v: Vector, by: T) -> Vector {
    let twice = by + by * 1.0;
    v * (twice as f32)
}

trait Shape: Element {
    #[device_fn]
    fn center(self) -> Vector;
    #[device_fn]
    fn reflected(self) -> Vector {
        -self.center() * 2.0f32
    }
}

impl Shape for Body {
    #[device_fn]
    fn center(self) -> Vector {
        self.at * self.weight
    }
}

#[kernel]
fn generic<T: Float>(acc: &Acc, by: Read<T>, body: Body, out: Shared<Vector>) {
    out[0] = scaled(body.at, by[0]) + body.reflected();
    out[1] = body.at * (T::ONE + by[0] * 0.5) as f32;
}

fn in_generic_functions(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (by, out) = (device.from_slice(&[1.5f32])?, device.alloc_zeroed::<Vector>(2)?);
    let body = Body { at: Vector { x: 1.0, y: -2.0 }, weight: 3.0, counts: [0; 3] };
    queue.launch(ThreadSpec::new(1, 1), generic(&by, body, &out))?;
    assert_eq!(out.read(&queue)?, [body.at * 3.0 + -(body.at * 3.0) * 2.0, body.at * 1.75]);
    Ok(())
}

#[kernel]
fn numbers(acc: &Acc, bodies: Read<Body>, out: Shared<f32>, counts: Shared<u32>) {
    let Body { at, weight, .. } = bodies[0];
    let half = weight / 2.0;
    let mut total = 0.0;
    total += half * at.x - at.y % 1.5;
    total = 1.0 + total - (-half);
    let mut steps = 3;
    for body in 0..bodies.len() {
        let Body { counts, .. } = bodies[body];
        steps += counts[0] * 2 + counts[1] / counts[2];
    }
    let many = if weight > 1.0 { bodies[0].counts[1] + 1 } else { 0 };
    out[0] = total;
    counts[0] = steps - many;
    counts[1] = bodies[0].counts[1] % bodies[0].counts[2] + counts[0] % 7;
}

fn of_numbers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let body = Body { at: V[0], weight: 3.0, counts: [7, 11, 4] };
    let (bodies, out) = (device.from_slice(&[body, body])?, device.alloc_zeroed::<f32>(1)?);
    let counts = device.alloc_zeroed::<u32>(2)?;
    queue.launch(ThreadSpec::new(1, 1), numbers(&bodies, &out, &counts))?;
    assert_eq!(out.read(&queue)?, [1.0 + (1.5 - 0.5) + 1.5]);
    assert_eq!(counts.read(&queue)?, [3 + 2 * (14 + 2) - 12, 3 + 23 % 7]);
    Ok(())
}

const LINE: u32 = line!();
#[kernel]
fn quotient(acc: &Acc, bodies: Read<Body>, out: Shared<u32>) {
    out[0] = bodies[0].counts[0] / bodies[0].counts[1];
}

fn division_of_fields(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let body = Body { at: V[0], weight: 3.0, counts: [7, 0, 4] };
    let (bodies, out) = (device.from_slice(&[body])?, device.alloc_zeroed::<u32>(1)?);
    let error = queue.launch(ThreadSpec::new(1, 1), quotient(&bodies, &out)).and_then(|_| queue.wait()).unwrap_err();
    let place = format!("operators.rs:{}", LINE + 3);
    says(&error, &["division by zero", &place]);
    Ok(())
}

/// Sums by a method: its `+` is a kernel's alone.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pair {
    low: u32,
    high: u32,
}

impl Pair {
    #[device_fn]
    fn plus(self, other: Pair) -> Pair {
        Pair { low: self.low + other.low, high: self.high + other.high }
    }
}

#[device_fn]
impl std::ops::Add for Pair {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
}

#[kernel]
fn sums(acc: &Acc, pairs: Read<Pair>, out: Shared<Pair>) {
    let tile = acc.shared::<Pair, 4>();
    let thread = acc.thread_in_block();
    tile[thread] = pairs[thread];
    acc.sync_block();
    if thread < 2 {
        tile[thread] += tile[thread + 2];
    }
    acc.sync_block();
    if thread == 0 {
        out[0] = tile[0] + tile[1];
    }
}

fn tiles(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let pairs: Vec<Pair> = (1..5).map(|low| Pair { low, high: low * 10 }).collect();
    let (pairs, out) = (device.from_slice(&pairs)?, device.alloc_zeroed::<Pair>(1)?);
    queue.launch(ThreadSpec::new(1, 4), sums(&pairs, &out))?;
    assert_eq!(out.read(&queue)?, [Pair { low: 10, high: 100 }]);
    Ok(())
}
