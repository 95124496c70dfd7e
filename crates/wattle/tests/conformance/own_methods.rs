//! Methods of the user's own types, and functors: values with functions, which a launch gives a kernel.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] =
    &[("methods of structs", of_structs), ("functors", functors), ("traits of numbers", of_numbers)];

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    mass: f32,
    speed: f32,
}

impl Body {
    #[device_fn]
    fn energy(&self, factor: f32) -> f32 {
        factor * self.mass * self.speed * self.speed
    }

    #[device_fn]
    fn scaled(self, factor: f32) -> Self {
        Self { mass: self.mass * factor, ..self }
    }

    #[device_fn]
    fn joined(self, other: Self) -> Self {
        let both = Body { mass: self.mass + other.mass, speed: self.speed };
        both.scaled(1.0)
    }

    /// A name that is another thing elsewhere.
    #[device_fn]
    fn sum(self) -> f32 {
        self.mass + self.speed
    }
}

#[device_fn]
fn total(bodies: [Body; 2], one: Body) -> f32 {
    let mut sum = one.sum();
    for body in bodies {
        sum += body.sum();
    }
    sum
}

#[kernel]
fn methods(acc: &Acc, bodies: Read<Body>, one: Body, out: Shared<f32>, items: PerItem<Body>) {
    out[0] = bodies[0].energy(0.5);
    let body = bodies[1];
    out[1] = body.energy(0.5);
    let joined: Body = body.joined(bodies[0]);
    out[2] = joined.mass;
    out[3] = one.scaled(3.0).mass + Body { mass: 1.0, speed: 2.0 }.sum();
    out[4] = total([body, one], body);
    for (_, item) in acc.items(&mut items) {
        item.mass = item.energy(1.0);
        *item = item.scaled(2.0);
    }
}

fn of_structs(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let bodies = [Body { mass: 1.0, speed: 2.0 }, Body { mass: 3.0, speed: 1.0 }];
    let one = Body { mass: 0.5, speed: 0.25 };
    let (given, out) = (device.from_slice(&bodies)?, device.alloc_zeroed::<f32>(5)?);
    let mut items = device.from_slice(&bodies)?;
    queue.launch(ThreadSpec::new(1, 1), methods(&given, one, &out, &mut items))?;
    assert_eq!(out.read(&queue)?, [2.0, 1.5, 4.0, 1.5 + 3.0, 4.0 + 4.0 + 0.75]);
    assert_eq!(items.read(&queue)?, [Body { mass: 8.0, speed: 2.0 }, Body { mass: 6.0, speed: 1.0 }]);
    Ok(())
}

/// What a kernel does with two numbers, with a state of its own.
trait Op: Element {
    #[device_fn]
    fn apply(self, x: f32, y: f32) -> f32;

    #[device_fn]
    fn load(&self) -> f32;
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Axpy {
    a: f32,
}

impl Op for Axpy {
    #[device_fn]
    fn apply(self, x: f32, y: f32) -> f32 {
        self.a * x + y
    }

    #[device_fn]
    fn load(&self) -> f32 {
        self.a
    }
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Clamp {
    low: f32,
    high: f32,
}

impl Op for Clamp {
    #[device_fn]
    fn apply(self, x: f32, y: f32) -> f32 {
        (x * y).clamp(self.low, self.high)
    }

    #[device_fn]
    fn load(&self) -> f32 {
        self.low
    }
}

#[device_fn]
fn twice<O: Op>(op: O, x: f32) -> f32 {
    op.apply(op.apply(x, x), x)
}

#[kernel]
fn fold<O: Op>(acc: &Acc, op: O, x: Read<f32>, out: Shared<f32>) {
    let mut result = 0.0;
    for i in 0..x.len() {
        result = op.apply(x[i], result);
    }
    out[0] = result;
    out[1] = O::apply(op, 1.0, 2.0);
    out[2] = twice(op, x[0]);
    out[3] = op.load();
}

#[kernel]
fn fold_element<O: Op + Element>(acc: &Acc, op: O, out: Shared<f32>) {
    let op = op;
    out[0] = op.apply(1.0, 2.0);
}

fn functors(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, out) = (device.from_slice(&[1.0f32, 2.0, 3.0])?, device.alloc_zeroed::<f32>(4)?);
    queue.launch(ThreadSpec::new(1, 1), fold(Axpy { a: 2.0 }, &x, &out))?;
    assert_eq!(out.read(&queue)?, [12.0, 4.0, 7.0, 2.0]);
    queue.launch(ThreadSpec::new(1, 1), fold(Clamp { low: 0.5, high: 1.5 }, &x, &out))?;
    assert_eq!(out.read(&queue)?, [1.5, 1.5, 1.0, 0.5]);
    queue.launch(ThreadSpec::new(1, 1), fold_element(Axpy { a: 2.0 }, &out))?;
    assert_eq!(out.read(&queue)?[0], 4.0);
    Ok(())
}

/// A function for numbers.
trait Activation {
    #[device_fn]
    fn relu(self) -> Self;
}

impl Activation for f32 {
    #[device_fn]
    fn relu(self) -> f32 {
        self.max(0.0)
    }
}

#[device_fn]
fn relu_of_sum<T: Float + Activation>(x: T, y: T) -> T {
    let sum: T = x + y;
    sum.relu()
}

#[kernel]
fn activate<T: Float + Activation>(acc: &Acc, x: Read<T>, out: Shared<T>) {
    out[0] = x[0].relu();
    out[1] = relu_of_sum(x[0], x[1]);
    out[2] = x[0].abs();
}

fn of_numbers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, out) = (device.from_slice(&[-1.0f32, 3.0])?, device.alloc_zeroed::<f32>(3)?);
    queue.launch(ThreadSpec::new(1, 1), activate(&x, &out))?;
    assert_eq!(out.read(&queue)?, [0.0, 2.0, 1.0]);
    Ok(())
}
