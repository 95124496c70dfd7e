//! Methods whose receiver's type is written nowhere: chains, fields, results, patterns, numbers with a trait of the user's.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("chains of methods", of_chains),
    ("methods of fields", of_fields),
    ("methods of what is bound", of_bindings),
    ("methods of traits", of_traits),
    ("methods of impls with parameters", of_impls_with_parameters),
    ("methods of one variable in each other", of_one_variable),
];

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Vector {
    x: f32,
    y: f32,
}

impl Vector {
    #[device_fn]
    fn plus(self, other: Vector) -> Vector {
        Vector { x: self.x + other.x, y: self.y + other.y }
    }

    #[device_fn]
    fn times(self, factor: f32) -> Vector {
        Vector { x: self.x * factor, y: self.y * factor }
    }

    #[device_fn]
    fn inner(&self, other: Vector) -> f32 {
        self.x * other.x + self.y * other.y
    }

    #[device_fn]
    fn turned<const TIMES: u32>(self) -> Vector {
        let mut turned = self;
        for _ in 0..TIMES {
            turned = Vector { x: -turned.y, y: turned.x };
        }
        turned
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Ray {
    origin: Vector,
    direction: Vector,
}

impl Ray {
    #[device_fn]
    fn at(self, t: f32) -> Vector {
        self.origin.plus(self.direction.times(t))
    }

    #[device_fn]
    fn advance(&mut self, t: f32) -> f32 {
        self.origin = self.origin.plus(self.direction.times(t));
        self.origin.inner(self.origin)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Counter {
    count: u32,
}

impl Counter {
    #[device_fn]
    fn step(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    /// A name that views have too.
    #[device_fn]
    fn load(self) -> u32 {
        self.count
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Walk {
    ray: Ray,
    counters: [Counter; 2],
}

#[device_fn]
fn ray(x: f32) -> Ray {
    Ray { origin: Vector { x, y: 1.0 }, direction: Vector { x: 0.0, y: 1.0 } }
}

#[kernel]
fn chain(acc: &Acc, vectors: Read<Vector>, out: Shared<f32>, log: Atomic<u32>) {
    out[0] = vectors[0].plus(vectors[1]).times(2.0).turned::<1>().inner(vectors[0]);
    out[1] = ray(3.0).at(2.0).plus(ray(1.0).at(0.5)).x;
    out[2] = (if vectors[0].x > 0.0 { vectors[1] } else { vectors[0] }).times(4.0).y;
    // Each receiver is worked out once, before the arguments behind it.
    out[3] = vectors[log.fetch_add(0, 1)].plus(vectors[log.fetch_add(0, 1)].times(10.0)).x;
    out[4] = { vectors[1] }
        .plus({
            log.fetch_add(0, 1);
            vectors[0]
        })
        .plus(vectors[0])
        .y;
}

fn of_chains(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let vectors = device.from_slice(&[Vector { x: 1.0, y: 2.0 }, Vector { x: 3.0, y: 5.0 }])?;
    let (out, log) = (device.alloc_zeroed::<f32>(5)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(1, 1), chain(&vectors, &out, &log))?;
    // ((4, 7) · 2) turned is (-14, 8).
    assert_eq!(out.read(&queue)?, [-14.0 + 16.0, 4.0, 20.0, 31.0, 9.0]);
    assert_eq!(log.read(&queue)?, [3]);
    Ok(())
}

#[kernel]
fn fields(acc: &Acc, walks: PerItem<Walk>, given: Read<Walk>, out: Shared<f32>) {
    for (_, walk) in acc.items(&mut walks) {
        let first = walk.counters[0].step() + walk.counters[0].step();
        walk.counters[1].step();
        out[0] = walk.ray.advance(2.0) + first as f32;
        walk.ray.direction = walk.ray.direction.turned::<3>();
        out[1] = walk.ray.origin.inner(walk.ray.direction);
    }
    out[2] = given[0].ray.direction.plus(given[0].ray.origin).y;
    let mut copy = given[0];
    copy.ray.advance(1.0);
    out[3] = copy.ray.origin.y;
}

fn of_fields(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let ray = Ray { origin: Vector { x: 1.0, y: 0.0 }, direction: Vector { x: 0.0, y: 2.0 } };
    let walk = Walk { ray, counters: [Counter { count: 4 }, Counter { count: 8 }] };
    let (mut walks, given) = (device.from_slice(&[walk])?, device.from_slice(&[walk])?);
    let out = device.alloc_zeroed::<f32>(4)?;
    queue.launch(ThreadSpec::new(1, 1), fields(&mut walks, &given, &out))?;
    assert_eq!(out.read(&queue)?, [1.0 + 16.0 + 11.0, 2.0, 2.0, 2.0]);
    let ray = Ray { origin: Vector { x: 1.0, y: 4.0 }, direction: Vector { x: 2.0, y: 0.0 } };
    assert_eq!(walks.read(&queue)?, [Walk { ray, counters: [Counter { count: 6 }, Counter { count: 9 }] }]);
    Ok(())
}

#[device_fn]
fn pair(k: u32) -> (Counter, Vector) {
    (Counter { count: k }, Vector { x: k as f32, y: 0.5 })
}

#[kernel]
fn bindings(acc: &Acc, vectors: Read<Vector>, out: Shared<f32>) {
    let (mut counter, vector) = pair(7);
    out[0] = vector.times(counter.step() as f32).x;
    let Ray { origin, direction: along } = ray(2.0);
    out[1] = origin.plus(along).y;
    let mut sum = vectors[0].times(0.0);
    for vector in [vectors[0], vectors[1]] {
        sum = sum.plus(vector);
    }
    out[2] = sum.inner(sum);
    let sum = sum.plus(sum);
    out[3] = sum.x;
    let later;
    if vectors[0].x > 100.0 {
        later = sum;
    } else {
        later = sum.turned::<2>();
    }
    out[4] = later.x;
    let best = match acc.thread_in_grid() {
        0 => vectors[1].plus(sum),
        _ => vectors[0],
    };
    out[5] = best.times(2.0).y;
    let tile = acc.shared::<Vector, 2>();
    tile[0] = best;
    out[6] = tile[0].plus(best).x;
    let written: Counter = counter;
    out[7] = written.load() as f32;
}

fn of_bindings(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let vectors = device.from_slice(&[Vector { x: 1.0, y: 2.0 }, Vector { x: 3.0, y: 5.0 }])?;
    let out = device.alloc_zeroed::<f32>(8)?;
    queue.launch(ThreadSpec::new(1, 1), bindings(&vectors, &out))?;
    assert_eq!(out.read(&queue)?, [56.0, 2.0, 16.0 + 49.0, 8.0, -8.0, 38.0, 22.0, 8.0]);
    Ok(())
}

/// What numbers and structs have from a trait of the user's.
trait Cubed {
    #[device_fn]
    fn cubed(self) -> f32;
}

impl Cubed for f32 {
    #[device_fn]
    fn cubed(self) -> f32 {
        self * self * self
    }
}

impl Cubed for Vector {
    #[device_fn]
    fn cubed(self) -> f32 {
        self.x.cubed() + self.y.cubed()
    }
}

/// What every float has.
trait Squared {
    #[device_fn]
    fn squared(self) -> Self;
}

impl<T: Float> Squared for T {
    #[device_fn]
    fn squared(self) -> T {
        let more = self * self + T::from_f64(0.5);
        more.max(self)
    }
}

/// What the trait gives to numbers that have it.
trait Doubled: Number {
    #[device_fn]
    fn doubled(self) -> Self {
        self + self
    }
}

impl Doubled for f32 {}
impl Doubled for u32 {}

/// What arrays of every length have.
trait Total {
    #[device_fn]
    fn total(self) -> f32;
}

impl<const N: usize> Total for [f32; N] {
    #[device_fn]
    fn total(self) -> f32 {
        let mut total = 0.0;
        for x in self {
            total += x;
        }
        total * N as f32
    }
}

trait Sided {
    const SIDES: u32;
}

impl Sided for Vector {
    const SIDES: u32 = 2;
}

#[kernel]
fn of_parameters(acc: &Acc, given: Read<f32>, out: Shared<f32>) {
    let more = given[0] + 1.0;
    out[0] = given[0].squared() + more.squared();
    out[1] = more.doubled() + 3u32.doubled() as f32;
    out[2] = [more, 2.0, 3.0].total() + [more].total();
    out[3] = <Vector as Sided>::SIDES as f32 + <f32 as Cubed>::cubed(more);
}

fn of_impls_with_parameters(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (given, out) = (device.from_slice(&[3.0f32])?, device.alloc_zeroed::<f32>(4)?);
    queue.launch(ThreadSpec::new(1, 1), of_parameters(&given, &out))?;
    assert_eq!(out.read(&queue)?, [9.5 + 16.5, 8.0 + 6.0, 27.0 + 4.0, 2.0 + 64.0]);
    Ok(())
}

#[kernel]
fn cubes<C: Cubed + Element>(acc: &Acc, given: Read<C>, vectors: Read<Vector>, out: Shared<f32>) {
    out[0] = vectors[0].plus(vectors[1]).cubed();
    let half = 0.5 * vectors[0].x;
    out[1] = half.cubed() + (half + 1.0).cubed();
    out[2] = given[0].cubed() + { given[0] }.cubed();
}

fn of_traits(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let vectors = device.from_slice(&[Vector { x: 1.0, y: 2.0 }, Vector { x: 3.0, y: 5.0 }])?;
    let numbers = device.from_slice(&[2.0f32])?;
    let out = device.alloc_zeroed::<f32>(3)?;
    queue.launch(ThreadSpec::new(1, 1), cubes(&numbers, &vectors, &out))?;
    assert_eq!(out.read(&queue)?, [64.0 + 343.0, 0.125 + 3.375, 16.0]);
    queue.launch(ThreadSpec::new(1, 1), cubes(&vectors, &vectors, &out))?;
    assert_eq!(out.read(&queue)?[2], 18.0);
    Ok(())
}

/// A trait that one type has twice: which function is meant its trait says.
trait Into2<T> {
    #[device_fn]
    fn into2(self) -> T;
}

impl Into2<f32> for Counter {
    #[device_fn]
    fn into2(self) -> f32 {
        self.count as f32
    }
}

impl Into2<u32> for Counter {
    #[device_fn]
    fn into2(self) -> u32 {
        self.count + 1
    }
}

impl Counter {
    /// A name that is like one of kernels' own, `store`.
    #[device_fn]
    fn score(&self) -> u32 {
        10 * self.count
    }

    #[device_fn]
    fn with(&self, by: u32) -> Counter {
        let copy = *self;
        Counter { count: copy.count + by }
    }

    #[device_fn]
    fn add(&mut self, by: Counter) {
        self.count += by.count;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Two {
    one: Counter,
    other: Counter,
}

/// Two parts of one variable.
#[device_fn]
fn swap(counter: &mut Counter, vector: &mut Vector) {
    counter.count = vector.y as u32;
    vector.x = 1.0;
}

#[device_fn]
fn raised(counter: &mut Counter) -> u32 {
    counter.count *= 2;
    counter.count
}

#[kernel]
fn one_variable(acc: &Acc, given: Read<Counter>, out: Shared<u32>) {
    let mut counter = given[0];
    out[0] = counter.with(counter.score()).with(1).score();
    counter.add(counter.with(3));
    out[1] = counter.count;
    let mut both = [counter, Counter { count: 1 }];
    both[1].add(both[0].with(both[1].score()));
    out[2] = both[1].count;
    let mut walk = Walk { ray: ray(1.0), counters: both };
    swap(&mut walk.counters[0], &mut walk.ray.direction);
    out[5] = walk.counters[0].count;
    // Another part of the variable may change in the arguments.
    let mut two = Two { one: counter, other: Counter { count: 5 } };
    two.one.add(Counter { count: two.other.step() });
    out[9] = two.one.count + 100 * two.other.count + raised(&mut two.one) - 2 * counter.count;
    // What a call is on, and its index, are those from before its arguments.
    let (mut i, mut k, mut c) = (0, 0, Counter { count: 3 });
    let three = [Counter { count: 100 }, Counter { count: 200 }, Counter { count: 300 }];
    out[6] = three[i]
        .with({
            i += 1;
            i
        })
        .count
        + three[i]
            .with({
                i += 1;
                three[i].count
            })
            .count;
    let mut all = three;
    all[k].add(Counter {
        count: {
            k += 2;
            k
        },
    });
    out[7] = all[0].count
        + all[k].count
        + (all[k])
            .with({
                k = 1;
                k
            })
            .count;
    out[8] = Counter { count: c.count }.with(raised(&mut c)).count;
    let mut vector = Vector { x: 2.0, y: 1.0 };
    vector = vector.times(vector.inner(vector));
    out[3] = vector.x as u32;
    out[4] = <Counter as Into2<u32>>::into2(given[0]) + <Counter as Into2<f32>>::into2(given[0]) as u32;
}

fn of_one_variable(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (given, out) = (device.from_slice(&[Counter { count: 2 }])?, device.alloc_zeroed::<u32>(10)?);
    queue.launch(ThreadSpec::new(1, 1), one_variable(&given, &out))?;
    // 2, and with 20 and 1 it is 23; then 2 + 5; then 1 + (7 + 10).
    assert_eq!(out.read(&queue)?, [230, 7, 18, 10, 5, 1, 101 + 500, 102 + 300 + 301, 9, 625]);
    Ok(())
}
