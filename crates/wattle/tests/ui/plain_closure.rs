//! Closures without `device_closure!`.

use wattle::prelude::*;

#[kernel]
fn map(acc: &Acc, x: Shared<f32>, f: impl DeviceFn<(f32,), Output = f32>) {
    x[0] = f(x[0]);
}

fn product(queue: &Queue, x: &Buffer<f32>) -> wattle::Result<()> {
    queue.launch(ThreadSpec::new(1, 1), map(x, |x| x * 2.0))
}

fn negative(queue: &Queue, x: &Buffer<f32>) -> wattle::Result<()> {
    queue.launch(ThreadSpec::new(1, 1), map(x, |x| -x))
}

fn main() {}
