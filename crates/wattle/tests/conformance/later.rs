//! Variables that are declared without a value, `let x;`.
//!
//! The bodies of [`twice!`] are compiled as kernels and as plain Rust; both must leave the same.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};
use crate::twice::twice;

pub const CASES: &[Case] = &[
    ("values that come later, of all branches", branches),
    ("values that come later, out of loops", loops),
    ("values that come later, with parts", parts),
    ("values that come later, passed on by `&mut`, and of generic types", generic),
];

#[device_fn]
fn bump(x: &mut u32, by: u32) -> u32 {
    *x += by;
    by
}

twice! {
    branches branches_kernel branches_plain(n, out) 6 {
        let v;
        if n > 3 { v = 1 } else { v = 2 }
        out[0] = v;
        let w: u64;
        match n {
            0 => w = 5,
            1..=9 => {
                out[1] = 1;
                w = (1 << 40) + n as u64;
            }
            99 => return,
            _ => w = 7,
        }
        out[2] = (w >> 8) as u32 + w as u32;
        let mut sum;
        sum = n;
        sum += v;
        out[3] = sum;
        // One that is read beside what assigns to it.
        out[4] = sum + { sum = 4; sum } + sum;
        let never: u32;
        if n == 12_345 {
            never = 1;
            out[5] = never;
        }
    }

    loops loops_kernel loops_plain(n, out) 3 {
        let first;
        let mut k = 0;
        loop {
            k += 1;
            if k * k > n % 50 {
                first = k;
                break;
            }
        }
        out[0] = first;
        for i in 0..n % 7 {
            let half;
            if i % 2 == 0 { half = i / 2 } else { half = 100 }
            out[1] += half;
        }
        let mut last = 0;
        for i in 0..n % 5 {
            let next;
            if i > 2 { next = last + i } else { next = i }
            last = next;
        }
        out[2] = last;
    }

    parts parts_kernel parts_plain(n, out) 6 {
        let mut pair;
        let array: [u32; 6];
        if n % 2 == 0 {
            pair = (n, 1u32);
            array = [n; 6];
        } else {
            pair = (2, n);
            array = [1, 2, 3, 4, 5, n];
        }
        pair.0 += 1;
        out[0] = pair.0;
        out[1] = pair.1;
        out[2] = array[5] + array[0];
        let mut a;
        a = [1, 2];
        if n > 5 { a[1] = 7; }
        out[3] = a[0] * 10 + a[1];
        let (mut x, y) = (n, n + 1);
        let z;
        (x, z) = (y, x);
        out[4] = x * 2 + z;
    }
}

#[kernel]
fn passed_on<T: Number>(acc: &Acc, n: u32, x: T, out: Shared<u32>, floats: Shared<T>) {
    let mut count;
    if n > 3 {
        count = n;
    } else {
        count = 2;
    }
    out[0] = bump(&mut count, 5) + count;
    let scaled;
    if n > 3 {
        scaled = x * x;
    } else {
        scaled = x;
    }
    floats[0] = scaled;
}

fn generic(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for n in [1u32, 4] {
        let (out, floats) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<f32>(1)?);
        queue.launch(ThreadSpec::new(1, 1), passed_on(n, 3.0, &out, &floats))?;
        let (count, scaled) = if n > 3 { (n, 9.0) } else { (2, 3.0) };
        assert_eq!((out.read(&queue)?, floats.read(&queue)?), (vec![10 + count], vec![scaled]));
    }
    Ok(())
}
