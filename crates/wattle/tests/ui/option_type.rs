use wattle::prelude::*;

#[device_fn]
fn example(v: f32) -> Option<f32> {
    v
}

fn main() {}
