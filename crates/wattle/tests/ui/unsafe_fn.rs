use wattle::prelude::*;

#[device_fn]
unsafe fn example(v: f32) -> f32 {
    v
}

fn main() {}
