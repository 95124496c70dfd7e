use wattle::prelude::*;

#[device_fn]
fn example((a, b): (f32, f32)) -> f32 {
    a + b
}

fn main() {}
