//! Loops over the elements of arrays.
//!
//! The bodies of [`twice!`] are compiled as kernels and as plain Rust; both must leave the same.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};
use crate::twice::twice;

pub const CASES: &[Case] = &[
    ("loops over arrays", over_arrays),
    ("loops over arrays, left and gone on with", left),
    ("loops over arrays that the body changes", changed),
    ("loops over arrays of structs, of generic types and of any length", of_other_types),
];

const STEPS: [i32; 3] = [-1, 0, 1];
static LONG: [u32; 100] = [3; 100];

#[device_fn]
fn powers(n: u32) -> [u32; 3] {
    [n % 10, n % 10 * n % 10, 5]
}

twice! {
    over_arrays arrays_kernel arrays_plain(n, out) 8 {
        for step in [-1, 0, 1] {
            out[0] = out[0] * 3 % 1000 + (step + 1) as u32 * (n % 9);
        }
        let weights = [n, 2, 3, 4, 5, n];
        for weight in weights {
            out[1] = out[1] * 3 % 1000 + weight;
        }
        for step in STEPS {
            for other in STEPS {
                out[2] = out[2] * 2 % 1000 + (step * other + 1) as u32;
            }
        }
        for [x, y] in [[1, n], [3, 4]] {
            out[3] += x * 10 + y;
        }
        for x in [n % 7; 4] {
            out[4] += x;
        }
        let rows = [[1, 2, n], [4, 5, 6]];
        for row in rows {
            for x in row {
                out[5] = out[5] * 2 % 1000 + x;
            }
        }
        for x in LONG {
            out[6] += x;
        }
        for mut x in [1, 2, 3] {
            x *= 2;
            out[7] += x;
        }
    }

    left left_kernel left_plain(n, out) 4 {
        'outer: for a in [1, 2, 3, 4] {
            for b in [n % 5, 2] {
                if a == b {
                    continue 'outer;
                }
                if a + b > 6 {
                    break 'outer;
                }
                out[0] += a * 10 + b;
            }
        }
        for a in [3, 9, n] {
            if a % 3 != 0 {
                continue;
            }
            out[1] += a;
        }
        for a in [5, n, 7] {
            if a == n {
                out[2] = 1;
                return;
            }
        }
        out[3] = 1;
    }

    changed changed_kernel changed_plain(n, out) 2 {
        let mut a = [1, n, 3, 4, 5];
        for x in a {
            a[4] = 100;
            a[1] = 50;
            out[0] = out[0] * 2 % 1000 + x;
        }
        let mut rows = [[1, 2], [3, n]];
        for row in rows {
            rows[1] = [70, 80];
            out[1] = out[1] * 3 + row[0] + row[1];
        }
        out[1] += a[4] + rows[1][1];
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Offset {
    at: [i32; 2],
    weight: f32,
}

const OFFSETS: [Offset; 2] = [Offset { at: [1, -1], weight: 0.5 }, Offset { at: [0, 2], weight: 2.0 }];

#[device_fn]
fn sum<T: Number, const N: usize>(of: [T; N]) -> T {
    let mut sum = T::ZERO;
    for x in of {
        sum += x;
    }
    sum
}

#[kernel]
fn other_types<T: Number>(acc: &Acc, n: u32, x: T, out: Shared<f32>, totals: Shared<T>) {
    for offset in OFFSETS {
        out[0] += offset.weight * (offset.at[0] * 10 + offset.at[1]) as f32;
    }
    let own = [Offset { at: [n as i32, 1], weight: 3.0 }, OFFSETS[1]];
    for Offset { at, weight } in own {
        out[1] += weight * at[0] as f32;
    }
    totals[0] = sum([x, x, x]);
    for p in powers(n) {
        out[2] += p as f32;
    }
    let nothing = [0u32; 0];
    for x in nothing {
        out[3] += x as f32 + 1.0;
    }
}

fn of_other_types(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (out, totals) = (device.alloc_zeroed::<f32>(4)?, device.alloc_zeroed::<i64>(1)?);
    queue.launch(ThreadSpec::new(1, 1), other_types(7, 5i64, &out, &totals))?;
    assert_eq!(out.read(&queue)?, [0.5 * 9.0 + 4.0, 21.0, 7.0 + 9.0 + 5.0, 0.0]);
    assert_eq!(totals.read(&queue)?, [15]);
    Ok(())
}
