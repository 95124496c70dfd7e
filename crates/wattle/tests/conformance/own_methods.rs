//! Methods of the user's own types, and functors: values with functions, which a launch gives a kernel.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("methods of structs", of_structs),
    ("functors", functors),
    ("traits of numbers", of_numbers),
    ("methods that change", that_change),
];

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

/// Random numbers: each draw changes the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
struct Rng {
    state: u32,
    drawn: u32,
}

impl Rng {
    #[device_fn]
    fn new(seed: u32) -> Self {
        Rng { state: seed * 2 + 1, drawn: 0 }
    }

    #[device_fn]
    fn draw(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.drawn += 1;
        self.state
    }

    #[device_fn]
    fn below(&mut self, n: u32) -> u32 {
        if n == 0 {
            return self.drawn;
        }
        while self.state % 3 != 0 {
            if self.draw() & 1 == 0 {
                return n;
            }
        }
        self.draw() % n
    }

    #[device_fn]
    fn skip(&mut self, by: u32, ones: &mut u32, last: &mut [u32; 2]) {
        for _ in 0..by {
            *ones += self.draw() & 1;
            last[1] = last[0];
            last[0] = self.state;
        }
    }

    /// What it is given comes back as it was, whatever the method does to `self`.
    #[device_fn]
    fn passed(&mut self, x: u32) -> u32 {
        self.state += 1;
        x
    }

    #[device_fn]
    fn ahead(mut self) -> Self {
        self.draw();
        self
    }

    #[device_fn]
    fn swap(&mut self, other: &mut Self) {
        (*self, *other) = (*other, *self);
    }
}

trait Source: Element {
    #[device_fn]
    fn next(&mut self) -> u32;
}

impl Source for Rng {
    #[device_fn]
    fn next(&mut self) -> u32 {
        self.draw()
    }
}

#[device_fn]
fn two<S: Source>(source: &mut S) -> u32 {
    source.next() + 2 * source.next()
}

#[kernel]
fn draw<S: Source>(acc: &Acc, given: S, out: Shared<u32>) {
    let mut source = given;
    out[0] = source.next();
    out[1] = two::<S>(&mut source) ^ source.next();
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair {
    first: Rng,
    second: Rng,
}

#[kernel]
fn changing(acc: &Acc, out: Shared<u32>, rngs: PerItem<Rng>) {
    let mut rng = Rng::new(7);
    out[0] = rng.draw();
    out[1] = rng.draw() - rng.draw();
    let (mut ones, mut last) = (0u32, [0u32; 2]);
    rng.skip(5, &mut ones, &mut last);
    out[2] = ones + last[0] - last[1];
    out[3] = rng.below(10);
    out[4] = rng.passed(rng.state);
    out[5] = Rng::draw(&mut rng) + rng.drawn;
    let next: Rng = rng.ahead();
    out[6] = next.state - rng.state;
    let mut all = [Rng::new(1), Rng::new(2)];
    for i in 0..4u32 {
        all[i & 1].draw();
    }
    let [mut a, mut b] = all;
    Rng::swap(&mut a, &mut b);
    out[7] = 3 * a.state + b.state;
    let mut pair = Pair { first: a, second: b };
    Rng::swap(&mut pair.first, &mut pair.second);
    out[8] = pair.first.state - b.state;
    for (_, item) in acc.items(&mut rngs) {
        item.draw();
        item.skip(2, &mut ones, &mut last);
        Rng::draw(item);
    }
    out[9] = ones + last[0];
    out[10] = rng.below(out[0] & 15) + rng.below(0);
}

impl Rng {
    /// As `draw` is written above, by itself.
    fn expected(&mut self) -> u32 {
        let mut x = self.state;
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        (self.state, self.drawn) = (x, self.drawn + 1);
        x
    }

    fn expected_below(&mut self, n: u32) -> u32 {
        loop {
            match (n, self.state.is_multiple_of(3)) {
                (0, _) => return self.drawn,
                (_, true) => return self.expected() % n,
                (_, false) if self.expected().is_multiple_of(2) => return n,
                (_, false) => {}
            }
        }
    }
}

fn that_change(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(11)?;
    let mut rngs = device.from_slice(&[Rng { state: 3, drawn: 0 }, Rng { state: 9, drawn: 1 }])?;
    queue.launch(ThreadSpec::new(1, 1), changing(&out, &mut rngs))?;
    let (mut rng, mut want) = (Rng { state: 15, drawn: 0 }, [0u32; 11]);
    want[0] = rng.expected();
    want[1] = rng.expected().wrapping_sub(rng.expected());
    let drawn: Vec<u32> = (0..5).map(|_| rng.expected()).collect();
    let mut ones = drawn.iter().map(|x| x & 1).sum::<u32>();
    want[2] = ones.wrapping_add(drawn[4]).wrapping_sub(drawn[3]);
    want[3] = rng.expected_below(10);
    want[4] = rng.state;
    rng.state += 1;
    want[5] = rng.expected().wrapping_add(rng.drawn);
    want[6] = rng.clone().expected().wrapping_sub(rng.state);
    let (mut a, mut b) = (Rng { state: 3, drawn: 0 }, Rng { state: 5, drawn: 0 });
    for rng in [&mut a, &mut b] {
        rng.expected();
        rng.expected();
    }
    want[7] = b.state.wrapping_mul(3).wrapping_add(a.state);
    want[8] = 0;
    let mut items = [Rng { state: 3, drawn: 0 }, Rng { state: 9, drawn: 1 }];
    let mut last = 0;
    for item in &mut items {
        item.expected();
        for _ in 0..2 {
            last = item.expected();
            ones += last & 1;
        }
        item.expected();
    }
    want[9] = ones.wrapping_add(last);
    want[10] = rng.expected_below(want[0] & 15);
    want[10] = want[10].wrapping_add(rng.drawn);
    assert_eq!(out.read(&queue)?, want);
    assert_eq!(rngs.read(&queue)?, items);

    queue.launch(ThreadSpec::new(1, 1), draw(Rng { state: 15, drawn: 0 }, &out))?;
    let mut rng = Rng { state: 15, drawn: 0 };
    assert_eq!(out.read(&queue)?[0], rng.expected());
    let two = rng.expected().wrapping_add(rng.expected().wrapping_mul(2));
    assert_eq!(out.read(&queue)?[1], two ^ rng.expected());
    Ok(())
}
