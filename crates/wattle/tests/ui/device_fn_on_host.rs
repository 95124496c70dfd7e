use wattle::prelude::*;

#[device_fn]
fn helper(v: f32) -> f32 {
    v
}

fn main() {
    helper(1.0);
}
