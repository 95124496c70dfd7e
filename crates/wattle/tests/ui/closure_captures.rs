//! A closure captures nothing.

use wattle::prelude::*;

#[device_fn]
fn apply<F: DeviceFn<(f32,), Output = f32>>(f: F, x: f32) -> f32 {
    f(x)
}

#[kernel]
fn within(acc: &Acc, factor: f32, out: Shared<f32>) {
    out[0] = apply(|x| x * factor, 2.0);
}

#[kernel]
fn map<F: DeviceFn<(f32,), Output = f32>>(acc: &Acc, out: PerItem<f32>, f: F) {
    for (_, x) in acc.items(&mut out) {
        *x = f(*x);
    }
}

#[allow(unused)]
fn scenario(device: &Device, factor: f32) -> Result<()> {
    let queue = device.queue()?;
    let mut out = device.alloc::<f32>(8)?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, device_closure!(|x| x * factor)))?;
    Ok(())
}

#[allow(unused)]
fn upper_case(device: &Device, FACTOR: f32) -> Result<()> {
    let queue = device.queue()?;
    let mut out = device.alloc::<f32>(8)?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, device_closure!(|x| x * FACTOR)))?;
    Ok(())
}

fn main() {}
