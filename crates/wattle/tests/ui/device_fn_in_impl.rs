use wattle::prelude::*;

struct Circle;

impl Circle {
    #[device_fn]
    fn area(radius: f32) -> f32 {
        3.14 * radius * radius
    }
}

fn main() {}
