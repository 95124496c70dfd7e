//! What is given for a parameter that is a function.

use wattle::prelude::*;

#[device_fn]
fn add(a: f32, b: f32) -> f32 {
    a + b
}

#[device_fn]
fn negate(a: f32) -> f32 {
    -a
}

fn plain(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel]
fn fold<F: DeviceFn<(f32, f32), Output = f32>>(acc: &Acc, x: Read<f32>, out: Shared<f32>, f: F) {
    let mut result = 0.0;
    for i in 0..x.len() {
        result = f(result, x[i]);
    }
    out[0] = result;
}

#[allow(unused)]
fn scenario(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (x, out) = (device.alloc::<f32>(8)?, device.alloc::<f32>(1)?);
    queue.launch(ThreadSpec::new(1, 1), fold(&x, &out, add))?;
    queue.launch(ThreadSpec::new(1, 1), fold(&x, &out, negate))?;
    queue.launch(ThreadSpec::new(1, 1), fold(&x, &out, plain))?;
    queue.launch(ThreadSpec::new(1, 1), fold(&x, &out, 3.0))?;
    Ok(())
}

fn main() {}
