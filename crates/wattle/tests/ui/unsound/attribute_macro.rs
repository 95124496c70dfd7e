use wattle::prelude::*;

// An attribute macro below `#[kernel]` would rewrite the host's function, which holds the views.
#[kernel]
#[a_macro::of_someone]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = 1.0;
}

#[device_fn]
#[cfg_attr(all(), doc = "It doubles.", track_caller)]
fn twice(x: f32) -> f32 {
    x * 2.0
}

struct Shape;

impl Shape {
    #[device_fn]
    #[instrument]
    fn area(x: f32) -> f32 {
        x * x
    }
}

fn main() {}
