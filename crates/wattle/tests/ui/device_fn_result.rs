use wattle::prelude::*;

#[device_fn]
fn helper(v: f32) -> f32 {
    let w = v + 1.0;
}

#[device_fn]
fn other(v: f32) -> u32 {
    if v > 1.0 {
        return v;
    }
    3
}

fn main() {}
