//! Each thing that is not used is said once.
#![deny(unused)]
use wattle::prelude::*;

#[device_fn]
fn helper(v: f32) -> f32 {
    let unused_in_function = v;
    v
}

#[device_fn]
fn never_called(v: f32) -> f32 {
    v
}

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>, extra: u32) {
    let unused_in_kernel = 1.0;
    for (i, y) in acc.items(&mut y) {
        let mut never_changed = helper(x[i]);
        *y = never_changed;
    }
    return;
    let after = 3.0;
}

#[kernel]
fn never_launched(acc: &Acc, y: Shared<f32>) {
    y[acc.thread_in_grid()] = 1.0;
}

fn main() {
    let device = Device::host();
    let x = device.alloc::<f32>(1).unwrap();
    let mut y = device.alloc::<f32>(1).unwrap();
    let _ = example(&x, &mut y, 3);
}
