//! How a kernel uses a parameter that is a function.

use wattle::prelude::*;

#[kernel]
fn example<F: DeviceFn<(f32, f32), Output = f32>>(acc: &Acc, n: u32, out: Shared<f32>, f: F) {
    let g = f;
    out[0] = n(1.0);
}

#[kernel]
fn mismatched<F: DeviceFn<(f32, f32), Output = f32>>(acc: &Acc, out: Shared<f32>, f: F) {
    out[0] = f(1u32, 2.0);
}

#[kernel]
fn too_few<F: DeviceFn<(f32, f32), Output = f32>>(acc: &Acc, out: Shared<f32>, f: F) {
    out[0] = f(1.0);
}

fn main() {}
