use wattle::prelude::*;

#[device_fn]
fn twice(x: &mut f32) -> f32 {
    x * 2.0
}

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let mut a = [1.0; 4];
    let b = &mut a;
    y[0] = 1.0;
}

#[kernel]
fn writes(acc: &Acc, y: &mut f32) {
    *y = 1.0;
}

fn main() {}
