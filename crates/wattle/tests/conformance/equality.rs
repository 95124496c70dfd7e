//! `==` and `!=` of arrays and tuples, part by part.
//!
//! The bodies of [`twice!`] are compiled as kernels and as plain Rust; both must leave the same.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};
use crate::twice::twice;

pub const CASES: &[Case] = &[("arrays and tuples are compared", compared), ("NaN is in no equal array", not_a_number)];

twice! {
    compared equal_kernel equal_plain(n, out) 6 {
        let a = [1, 2, n];
        out[0] = (a == [1, 2, 3]) as u32 + (a != [1, 2, 4]) as u32 * 10;
        out[1] = ((n, n % 2 == 0) == (4, true)) as u32 + ((n, 1.5f32) != (7, 1.5)) as u32 * 10;
        let rows = [[1, n], [n, 2]];
        if rows == [[1, 2], [2, 2]] {
            out[2] = 1;
        }
        out[3] = ((a, (n, [n; 6])) == ([1, 2, 5], (5, [5; 6]))) as u32;
        let mut changing = [n; 8];
        let before = changing;
        changing[7] = 8;
        out[4] = (changing == before) as u32;
        out[5] = ([0u32; 0] == [0u32; 0]) as u32;
    }
}

#[kernel]
fn nan(acc: &Acc, x: f32, out: Shared<u32>) {
    out[0] = ([x, 1.0] == [x, 1.0]) as u32 + ([x, 1.0] != [x, 1.0]) as u32 * 10;
    assert_eq!([1, 2], [1, 2]);
    assert_ne!((1, x), (2, x), "no two numbers are equal");
}

fn not_a_number(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(1, 1), nan(f32::NAN, &out))?;
    assert_eq!(out.read(&queue)?, [10]);
    queue.launch(ThreadSpec::new(1, 1), nan(0.5, &out))?;
    assert_eq!(out.read(&queue)?, [1]);
    Ok(())
}
