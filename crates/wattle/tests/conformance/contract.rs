//! Kernels that permit to fuse products and sums, or to reorder sums.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, size};

pub const CASES: &[Case] = &[
    ("products and sums are fused where that is permitted", fused),
    ("products that are added to any place", of_places),
    ("products and sums of integers and arrays", integers),
    ("products and sums of doubles", doubles),
    ("sums that may be reordered", reordered),
    ("loops that are no sums", no_sums),
];

#[device_fn(contract)]
fn fused_sum<T: Float>(x: T, y: T, z: T) -> T {
    z + x * y
}

#[device_fn]
fn plain_sum<T: Float>(x: T, y: T, z: T) -> T {
    z + x * y
}

#[kernel(contract)]
fn contracted<T: Float>(acc: &Acc, x: T, y: T, z: T, out: Shared<T>, items: PerItem<T>) {
    out[acc.linear_thread_in_grid()] = x * y + z;
    out[1] = z + x * y;
    out[2] = x * y - z;
    out[3] = z - x * y;
    out[4] = x * y + z * x;
    let mut sum = z;
    sum += x * y;
    out[5] = sum;
    sum = z;
    sum -= x * y;
    out[6] = sum;
    out[7] = fused_sum(x, y, z);
    out[8] = plain_sum(x, y, z);
    out[9] = z;
    out[9] += x * y;
    for (_, item) in acc.items(&mut items) {
        *item += x * y;
    }
}

#[kernel]
fn uncontracted<T: Float>(acc: &Acc, x: T, y: T, z: T, out: Shared<T>, items: PerItem<T>) {
    out[acc.linear_thread_in_grid()] = x * y + z;
    out[1] = z + x * y;
    out[2] = x * y - z;
    out[3] = z - x * y;
    out[4] = x * y + z * x;
    let mut sum = z;
    sum += x * y;
    out[5] = sum;
    sum = z;
    sum -= x * y;
    out[6] = sum;
    out[7] = fused_sum(x, y, z);
    out[8] = plain_sum(x, y, z);
    out[9] = z;
    out[9] += x * y;
    for (_, item) in acc.items(&mut items) {
        *item += x * y;
    }
}

macro_rules! check {
    ($device:ident $t:ident) => {{
        let (queue, out) = ($device.queue()?, $device.alloc_zeroed::<$t>(10)?);
        // The product's last bits are lost where it is rounded.
        let x = 1.0 + $t::EPSILON;
        let (y, z) = (x, -(x * x));
        let fma = x.mul_add(y, z);
        assert!(fma != 0.0);
        let mut items = $device.from_slice(&[z])?;
        queue.launch(ThreadSpec::new(1, 1), contracted(x, y, z, &out, &mut items))?;
        let (less, both) = (x.mul_add(y, -z), x.mul_add(y, z * x));
        assert_eq!(
            out.read(&queue)?,
            [fma, fma, less, (-x).mul_add(y, z), both, fma, (-x).mul_add(y, z), fma, 0.0, fma]
        );
        assert_eq!(items.read(&queue)?, [fma]);
        let mut items = $device.from_slice(&[z])?;
        queue.launch(ThreadSpec::new(1, 1), uncontracted(x, y, z, &out, &mut items))?;
        let both = x * y + z * x;
        assert_eq!(out.read(&queue)?, [0.0, 0.0, -2.0 * z, 2.0 * z, both, 0.0, 2.0 * z, fma, 0.0, 0.0]);
        assert_eq!(items.read(&queue)?, [0.0]);
        Ok(())
    }};
}

fn fused(device: &Device) -> Outcome {
    check!(device f32)
}

fn doubles(device: &Device) -> Outcome {
    check!(device f64)
}

#[kernel(contract)]
fn of_integers(acc: &Acc, x: u32, y: u32, z: u32, v: [f32; 2], out: Shared<u32>, floats: Shared<f32>) {
    out[acc.linear_thread_in_grid()] = x * y + z;
    out[1] = z - x * y;
    out[2] = x * y - z;
    let mut sum = z as i32;
    sum -= x as i32 * y as i32;
    out[3] = sum as u32;
    let w = v * v + [-1.0f32, 1.0];
    floats[0] = w[0];
    floats[1] = w[1];
}

fn integers(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
    let floats = device.alloc_zeroed::<f32>(2)?;
    let (x, y, z) = (0x1234_5678u32, 0x9abc_def1, 7);
    let v = [1.0 + f32::EPSILON, 3.0];
    queue.launch(ThreadSpec::new(1, 1), of_integers(x, y, z, v, &out, &floats))?;
    let product = x.wrapping_mul(y);
    let wanted = [product.wrapping_add(z), z.wrapping_sub(product), product.wrapping_sub(z), z.wrapping_sub(product)];
    assert_eq!(out.read(&queue)?, wanted);
    assert_eq!(floats.read(&queue)?, [v[0].mul_add(v[0], -1.0), 10.0]);
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    position: [f32; 2],
    mass: f32,
}

/// Every kind of place, and sums that are no products of two, which stay as they are.
#[kernel(contract)]
fn places(acc: &Acc, x: f32, y: f32, z: f32, bodies: Shared<Body>, items: PerItem<Body>, out: Shared<f32>) {
    let i = acc.linear_thread_in_grid();
    bodies[i].mass += x * y;
    bodies[i].position[i + 1] -= x * y;
    for (_, body) in acc.items(&mut items) {
        body.position[0] += x * y;
        body.mass -= x * y;
    }
    let mut row = [z; 3];
    row[i + 1] += x * y;
    let mut body = Body { position: [z; 2], mass: z };
    body.mass += x * y;
    let mut pair = (z, 1.0f32);
    pair.0 += x * y;
    // The old value is a factor of what is added to it.
    let mut own = x;
    own += own * own;
    let mut rows = [[z; 2]; 2];
    rows[1][i] -= x * y;
    out[0] = row[1];
    out[1] = body.mass;
    out[2] = pair.0;
    out[3] = own;
    out[4] = rows[1][0];
    out[5] = z;
    out[5] += x * y * 1.0;
    out[6] = z;
    out[6] += 0.0 + x;
    let tile = acc.shared::<f32, 4>();
    tile[i] = z;
    tile[i] += x * y;
    out[7] = tile[i];
}

fn of_places(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = 1.0 + f32::EPSILON;
    let (y, z) = (x, -(x * x));
    let (plus, minus) = (x.mul_add(y, z), (-x).mul_add(y, z));
    assert_ne!(plus, x * y + z);
    let body = Body { position: [z; 2], mass: z };
    let (bodies, mut items) = (device.from_slice(&[body])?, device.from_slice(&[body])?);
    let out = device.alloc_zeroed::<f32>(8)?;
    queue.launch(ThreadSpec::new(1, 1), places(x, y, z, &bodies, &mut items, &out))?;
    assert_eq!(bodies.read(&queue)?, [Body { position: [z, minus], mass: plus }]);
    assert_eq!(items.read(&queue)?, [Body { position: [plus, z], mass: minus }]);
    let expected = [plus, plus, plus, x.mul_add(x, x), minus, (x * y).mul_add(1.0, z), z + x, plus];
    assert_eq!(out.read(&queue)?, expected);
    Ok(())
}

#[kernel(contract, reassociate)]
fn dot(acc: &Acc, x: Read<f32>, y: Read<f32>, out: PerItem<f32>, counts: Atomic<u32>) {
    for (_, item) in acc.items(&mut out) {
        let (mut sum, mut total, mut count) = (0.5f32, 0.0f32, 0);
        for i in acc.indices(ALL_THREADS, 0..x.extent()) {
            let both = x[i] * y[i];
            sum += x[i] * y[i];
            total += both;
            count += 1;
        }
        *item = sum + total;
        counts.fetch_add(0, count);
    }
}

/// Each order gives a sum that is near to the true one; none misses or repeats an element.
fn reordered(device: &Device) -> Outcome {
    let most = size(device, 100_000, 2_000);
    for count in [0, 1, 31, 32, 33, 1000, most] {
        let x: Vec<f32> = (0..count).map(|i| ((i * 7919) % 1013) as f32 / 512.0).collect();
        let y: Vec<f32> = (0..count).map(|i| ((i * 104_729) % 997) as f32 / 256.0).collect();
        let truth: f64 = x.iter().zip(&y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        let (queue, mut out) = (device.queue()?, device.alloc::<f32>(1)?);
        let (x, y, counts) = (device.from_slice(&x)?, device.from_slice(&y)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(1, 1), dot(&x, &y, &mut out, &counts))?;
        let (found, wanted) = (f64::from(out.read(&queue)?[0]), 2.0 * truth + 0.5);
        assert!((found - wanted).abs() <= 1e-3 * wanted, "{count}: {found}, not {wanted}");
        assert_eq!(counts.read(&queue)?, [count as u32]);
    }
    Ok(())
}

#[kernel(reassociate)]
fn others(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let (mut last, mut prefix, mut some, mut until, mut own) = (0, 0, 0, 0, 0);
    for i in acc.indices(ALL_THREADS, 0..x.extent()) {
        // Read on the way: no sum that could be split.
        prefix += x[i];
        last = last * 3 + prefix;
        // Not in any case.
        if x[i] > 5 {
            some += x[i];
        }
        let mut twice = x[i];
        twice += x[i];
        own += twice;
    }
    for i in acc.indices(ALL_THREADS, 0..x.extent()) {
        if x[i] == 40 {
            break;
        }
        until += x[i];
    }
    out[0] = prefix;
    out[1] = last;
    out[2] = some;
    out[3] = until;
    out[4] = own;
}

fn no_sums(device: &Device) -> Outcome {
    let x: Vec<u32> = (0..100).collect();
    let (queue, values, out) = (device.queue()?, device.from_slice(&x)?, device.alloc_zeroed::<u32>(5)?);
    queue.launch(ThreadSpec::new(1, 1), others(&values, &out))?;
    let (mut last, mut prefix) = (0u32, 0u32);
    for x in &x {
        prefix += x;
        last = last.wrapping_mul(3).wrapping_add(prefix);
    }
    assert_eq!(out.read(&queue)?, [prefix, last, prefix - 15, (0..40).sum(), 2 * prefix]);
    Ok(())
}
