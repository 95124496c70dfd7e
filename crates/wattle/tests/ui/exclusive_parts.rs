//! What `&mut` cannot be given of.

use wattle::prelude::*;

#[device_fn]
fn add(x: &mut f32, y: &mut f32) {
    *x += *y;
}

#[device_fn]
fn double(x: &mut f32) {
    *x *= 2.0;
}

#[kernel]
fn views(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    double(&mut x[0]);
    double(&mut y[0]);
}

#[kernel]
fn two_of_one(acc: &Acc, y: Shared<f32>) {
    let mut a = [1.0, 2.0];
    add(&mut a[0], &mut a[1]);
    y[0] = a[0];
}

#[kernel]
fn not_mut(acc: &Acc, y: Shared<f32>) {
    let a = [1.0, 2.0];
    double(&mut a[0]);
    y[0] = a[0];
}

fn main() {}
