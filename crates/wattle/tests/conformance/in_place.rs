//! `&mut` arguments that are parts: elements of arrays, fields, items.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("`&mut` of elements and fields", parts),
    ("`&mut` of an element that there is not", out_of_bounds),
    ("`&mut` of items", of_items),
    ("`&mut` of any element", of_any),
];

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    position: [f32; 2],
    mass: f32,
}

#[device_fn]
fn bump(x: &mut u32, by: u32) -> u32 {
    *x += by;
    *x * 2
}

#[device_fn]
fn double(x: &mut f32) {
    *x *= 2.0;
}

#[device_fn]
fn sort(row: &mut [u32; 3]) {
    for i in 0..3 {
        for j in i + 1..3 {
            if row[j] < row[i] {
                (row[i], row[j]) = (row[j], row[i]);
            }
        }
    }
}

#[device_fn]
fn bump_each(all: &mut [u32; 3], at: u32) -> u32 {
    bump(&mut all[at], 1) + bump(&mut all[(at + 1) % 3], 10)
}

#[kernel]
fn of_parts(acc: &Acc, n: u32, out: Shared<u32>, floats: Shared<f32>) {
    let mut a = [1, 2, 3];
    out[0] = bump(&mut a[n], 5);
    let mut calls = 0;
    // Arguments are worked out from left to right, and an index once.
    let doubled = bump(&mut a[bump(&mut calls, 1) - 2], {
        calls += 1;
        calls
    });
    out[1] = doubled * 100 + calls;
    out[2] = bump_each(&mut a, n);
    out[3] = a[0] + a[1] * 100 + a[2] * 10_000;
    let mut rows = [[3, n, 1], [9, 8, 7]];
    sort(&mut rows[1]);
    sort(&mut rows[0]);
    bump(&mut rows[1][2], 100);
    out[4] = rows[0][0] + rows[0][2] * 10 + rows[1][0] * 100 + rows[1][2] * 1000;
    let mut bodies = [Body { position: [1.0, 2.0], mass: 3.0 }; 2];
    double(&mut bodies[n].mass);
    double(&mut bodies[0].position[1]);
    let mut one = bodies[1];
    double(&mut one.position[0]);
    double(&mut one.mass);
    floats[0] = bodies[0].mass + bodies[1].mass * 100.0 + bodies[0].position[1] * 10_000.0;
    floats[1] = one.position[0] + one.mass * 10.0;
}

fn parts(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for n in [0u32, 1] {
        let (out, floats) = (device.alloc_zeroed::<u32>(5)?, device.alloc_zeroed::<f32>(2)?);
        queue.launch(ThreadSpec::new(1, 1), of_parts(n, &out, &floats))?;
        let bump = |x: &mut u32, by: u32| {
            *x += by;
            *x * 2
        };
        let mut a = [1, 2, 3];
        let mut expected = [bump(&mut a[n as usize], 5), 0, 0, 0, 0];
        expected[1] = bump(&mut a[0], 2) * 100 + 2;
        let at = n as usize;
        expected[2] = bump(&mut a[at], 1) + bump(&mut a[(at + 1) % 3], 10);
        expected[3] = a[0] + a[1] * 100 + a[2] * 10_000;
        expected[4] = n.min(1) + 30 + 700 + 109_000;
        assert_eq!(out.read(&queue)?, expected, "for {n}");
        let (first, second) = if n == 0 { (6.0, 3.0) } else { (3.0, 6.0) };
        assert_eq!(floats.read(&queue)?, [first + second * 100.0 + 40_000.0, 2.0 + second * 20.0], "for {n}");
    }
    Ok(())
}

#[kernel]
fn beyond(acc: &Acc, n: u32, out: Shared<u32>) {
    let mut a = [1, 2, 3];
    out[0] = bump(&mut a[n], 5);
    out[1] = a[0] + a[1] + a[2];
}

fn out_of_bounds(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(2)?;
    let launched = queue.launch(ThreadSpec::new(1, 1), beyond(3, &out)).and_then(|()| queue.wait());
    crate::harness::says(&crate::harness::refused(launched), &["beyond", "index 3", "3"]);
    Ok(())
}

#[kernel]
fn items(acc: &Acc, bodies: PerItem<Body>, numbers: PerItem<f32>) {
    for (_, body) in acc.items(&mut bodies) {
        double(&mut body.mass);
        double(&mut body.position[1]);
    }
    for (_, number) in acc.items(&mut numbers) {
        double(number);
        double(&mut *number);
    }
}

fn of_items(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut bodies = device.from_slice(&[Body { position: [1.0, 2.0], mass: 3.0 }; 5])?;
    let mut numbers = device.from_slice(&[1.0f32, 2.0, 3.0])?;
    queue.launch(FrameSpec::cover(5, 2), items(&mut bodies, &mut numbers))?;
    assert_eq!(bodies.read(&queue)?, [Body { position: [1.0, 4.0], mass: 6.0 }; 5]);
    assert_eq!(numbers.read(&queue)?, [4.0, 8.0, 12.0]);
    Ok(())
}

#[device_fn]
fn swap<T: Element>(a: &mut T, b: &mut T) {
    let kept = *a;
    *a = *b;
    *b = kept;
}

/// The value that is passed stays what it was.
#[device_fn]
fn put<T: Element>(old: T, into: &mut T, new: T) -> T {
    *into = new;
    old
}

#[device_fn]
fn rotate<T: Element>(a: &mut T, b: &mut T, c: &mut T) {
    swap(a, b);
    swap(b, c);
}

#[kernel]
fn any<T: Number + Element>(
    acc: &Acc,
    numbers: Shared<T>,
    bodies: Shared<Body>,
    rows: Shared<[u32; 3]>,
    flags: Shared<bool>,
) {
    let (mut a, mut b, mut c) = (numbers[0], numbers[1], numbers[2]);
    rotate(&mut a, &mut b, &mut c);
    numbers[0] = a;
    numbers[1] = b;
    numbers[2] = c + put(a, &mut b, c) + b;
    let (mut first, mut second) = (bodies[0], bodies[1]);
    swap(&mut first, &mut second);
    swap(&mut first.position[0], &mut second.position[1]);
    bodies[0] = first;
    bodies[1] = put(second, &mut second, first);
    let mut row = rows[0];
    let other = rows[1];
    rows[0] = put(row, &mut row, other);
    row[0] += 2;
    row[2] -= 2;
    rows[1] = row;
    let (mut yes, mut no) = (flags[0], flags[1]);
    swap(&mut yes, &mut no);
    flags[0] = yes;
    flags[1] = no;
}

fn of_any(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let body = |x, y, mass| Body { position: [x, y], mass };
    let numbers = device.from_slice(&[1u32, 10, 100])?;
    let bodies = device.from_slice(&[body(1.0, 2.0, 3.0), body(4.0, 5.0, 6.0)])?;
    let rows = device.from_slice(&[[1u32, 2, 3], [4, 5, 6]])?;
    let flags = device.from_slice(&[true, false])?;
    queue.launch(ThreadSpec::new(1, 1), any(&numbers, &bodies, &rows, &flags))?;
    assert_eq!(numbers.read(&queue)?, [10, 100, 1 + 10 + 1]);
    assert_eq!(bodies.read(&queue)?, [body(2.0, 5.0, 6.0), body(1.0, 4.0, 3.0)]);
    assert_eq!(rows.read(&queue)?, [[1, 2, 3], [6, 5, 4]]);
    assert_eq!(flags.read(&queue)?, [false, true]);
    Ok(())
}
