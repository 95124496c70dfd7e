//! Each function that is not used is said once, and each `mut` that need not be.
#![deny(dead_code, unused_mut)]
use wattle::prelude::*;

#[device_fn]
fn helper(v: f32) -> f32 {
    v
}

#[device_fn]
fn never_called(v: f32) -> f32 {
    v
}

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        let mut never_changed = helper(x[i]);
        *y = never_changed;
    }
}

#[kernel]
fn never_launched(acc: &Acc, y: Shared<f32>) {
    y[acc.thread_in_grid()] = 1.0;
}

fn main() {
    let device = Device::host();
    let x = device.alloc::<f32>(1).unwrap();
    let mut y = device.alloc::<f32>(1).unwrap();
    let _ = example(&x, &mut y);
}
