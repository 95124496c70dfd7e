//! An array and a number have no operator.

use wattle::prelude::*;

#[kernel]
fn of_elements(acc: &Acc, v: Shared<[f32; 4]>, x: Shared<f32>) {
    let a = v[0];
    v[1] = a * 2.0;
    let k = 3.0f32;
    v[2] = k * v[0];
    v[3] += x[0] + 1.0;
}

#[kernel]
fn of_variables<const N: usize>(acc: &Acc, x: Shared<f32>) {
    let a: [f32; N] = [1.0; N];
    x[0] = (a / x[1])[0];
}

#[kernel]
fn without_signs(acc: &Acc, v: Shared<[u32; 4]>) {
    v[0] = -v[1];
}

fn main() {}
