use wattle::prelude::*;

#[kernel(fast)]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = 1.0;
}

#[device_fn(contracted)]
fn helper(x: f32) -> f32 {
    x * x + 1.0
}

fn main() {}
