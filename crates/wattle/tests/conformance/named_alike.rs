//! Methods of the user's types that have names of the library's methods, or of ones of Rust's that kernels have not.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("methods named as those of numbers", of_numbers),
    ("methods named as others", of_others),
    ("and as those of warps", of_warps),
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
    fn max(self, other: Vector) -> Vector {
        Vector { x: self.x.max(other.x), y: self.y.max(other.y) }
    }

    #[device_fn]
    fn abs(self) -> Vector {
        let (x, y) = (self.x, self.y);
        Vector { x: x.abs(), y: y.abs() }
    }

    /// Not within bounds of its own type, as a number is.
    #[device_fn]
    fn clamp(self, low: f32, high: f32) -> Vector {
        Vector { x: self.x.clamp(low, high), y: self.y.max(low).min(high) }
    }

    #[device_fn]
    fn pow(&mut self, n: u32) -> u32 {
        self.x = self.x.powi(n as i32);
        n.pow(2)
    }

    #[device_fn]
    fn len(self) -> f32 {
        self.x * self.x + self.y * self.y
    }

    #[device_fn]
    fn checked_add(self, other: u32) -> u32 {
        (self.x as u32).checked_add(other)
    }
}

type Real = f32;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Bounds {
    low: Vector,
    high: Vector,
    weight: Real,
    count: u32,
}

#[device_fn]
fn real(x: Real) -> Real {
    x.max(1.5)
}

#[kernel]
fn of_numbers_kernel(acc: &Acc, vectors: Read<Vector>, bounds: Read<Bounds>, out: Shared<f32>) {
    let (first, second) = (vectors[0], vectors[1]);
    out[0] = first.max(second).x;
    out[1] = first.plus(second).max(first).abs().y;
    out[2] = bounds[0].low.abs().max(bounds[0].high).plus(first).x;
    // Numbers have theirs beside it, whether it shows that they are numbers or not.
    out[3] = bounds[0].weight.max(2.0) + (first.x * 2.0).max(7.0) + real(0.5);
    let weight = bounds[0].weight;
    out[4] = weight.max(first.x).abs() + weight.clamp(0.25, 0.75);
    out[5] = bounds[0].count.pow(3).max(9) as f32 + weight.pow(2.0);
    out[6] = first.plus(second).clamp(0.5, 2.0).plus(first).y;
    let mut changed = first.plus(second);
    out[7] = changed.pow(2) as f32 + changed.x;
    let written: Vector = second;
    out[8] = written.len() + written.max(first).y;
    out[9] = bounds[0].high.checked_add(bounds[0].count.checked_add(1)) as f32;
    let array = [first, second];
    out[10] = array.len() as f32 + array[1].max(array[0]).x;
}

fn of_numbers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (first, second) = (Vector { x: 1.0, y: -2.0 }, Vector { x: 3.0, y: -5.0 });
    let bounds = Bounds { low: Vector { x: -8.0, y: 0.0 }, high: Vector { x: 4.0, y: 1.0 }, weight: 0.5, count: 2 };
    let (vectors, bounds) = (device.from_slice(&[first, second])?, device.from_slice(&[bounds])?);
    let out = device.alloc_zeroed::<f32>(11)?;
    queue.launch(ThreadSpec::new(1, 1), of_numbers_kernel(&vectors, &bounds, &out))?;
    assert_eq!(
        out.read(&queue)?,
        [3.0, 2.0, 9.0, 2.0 + 7.0 + 1.5, 1.5, 9.0 + 0.25, -1.5, 4.0 + 16.0, 34.0 - 2.0, 7.0, 5.0]
    );
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Bits {
    word: u32,
}

impl Bits {
    #[device_fn]
    fn with(self, bit: u32) -> Bits {
        Bits { word: self.word | 1 << bit }
    }

    #[device_fn]
    fn count(self) -> u32 {
        self.word.count_ones()
    }

    #[device_fn]
    fn get(&self, bit: u32) -> bool {
        self.word >> bit & 1 == 1
    }

    #[device_fn]
    fn swap(&mut self, bits: u32) -> u32 {
        let old = self.word;
        self.word = bits;
        old
    }

    #[device_fn]
    fn all(self) -> bool {
        self.word == !0
    }

    #[device_fn]
    fn load(self) -> u32 {
        self.word
    }

    #[device_fn]
    fn sample(self, at: u32) -> u32 {
        self.word * at
    }
}

trait Total {
    #[device_fn]
    fn sum(self) -> u32;

    #[device_fn]
    fn map(self, by: u32) -> Self;
}

impl Total for Bits {
    #[device_fn]
    fn sum(self) -> u32 {
        self.word + 1
    }

    #[device_fn]
    fn map(self, by: u32) -> Bits {
        Bits { word: self.word * by }
    }
}

#[kernel]
fn of_others_kernel(acc: &Acc, bits: Read<Bits>, flags: Atomic<u32>, out: Shared<u32>) {
    out[0] = bits[0].with(5).count();
    out[1] = bits[0].with(7).get(7) as u32 + bits[0].get(7) as u32;
    let mut own = bits[0].with(1);
    out[2] = own.swap(9) + own.word;
    out[3] = own.with(2).all() as u32;
    out[4] = own.with(2).load() + flags.load(0);
    out[5] = own.with(2).map(3).sum() + own.with(4).sample(2);
}

fn of_others(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (bits, flags) = (device.from_slice(&[Bits { word: 1 }])?, device.from_slice(&[100u32])?);
    let out = device.alloc_zeroed::<u32>(6)?;
    queue.launch(ThreadSpec::new(1, 1), of_others_kernel(&bits, &flags, &out))?;
    assert_eq!(out.read(&queue)?, [2, 1, 3 + 9, 0, 13 + 100, 40 + 50]);
    Ok(())
}

/// What a warp gives has the library's methods beside those of the file.
#[kernel]
fn of_warps_kernel(acc: &Acc, bits: Read<Bits>, out: Atomic<u32>) {
    let warp = acc.warp();
    let mask = warp.ballot(true);
    if mask.count() == warp.size() && warp.all(bits[0].with(2).count() == 2) {
        out.fetch_add(0, bits[0].with(3).count());
    }
}

fn of_warps(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (bits, out) = (device.from_slice(&[Bits { word: 1 }])?, device.alloc_zeroed::<u32>(1)?);
    let width = device.properties().warp_width;
    queue.launch(ThreadSpec::new(1, width as usize), of_warps_kernel(&bits, &out))?;
    assert_eq!(out.read(&queue)?, [2 * width]);
    Ok(())
}
