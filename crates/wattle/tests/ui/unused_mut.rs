//! Each `mut` that need not be is said once; that of `PerItem` parameters is the macro's own.
#![deny(unused_mut)]
use wattle::prelude::*;

#[device_fn]
fn helper(v: f32) -> f32 {
    v
}

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        let mut never_changed = helper(x[i]);
        *y = never_changed;
    }
}

fn main() {
    let device = Device::host();
    let x = device.alloc::<f32>(1).unwrap();
    let mut y = device.alloc::<f32>(1).unwrap();
    let _ = example(&x, &mut y);
}
