use wattle::prelude::*;

#[device_fn]
fn helper(v: f32, w: f32) -> f32 {
    v + w
}

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = helper(y[1], 1);
    y[0] = helper(y[1]);
}

fn main() {}
