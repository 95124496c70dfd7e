use wattle::prelude::*;

struct Circle(f32);

impl Circle {
    #[device_fn]
    fn area(&self) -> f32 {
        3.14
    }

    #[kernel]
    fn fill(&self, acc: &Acc, y: Shared<f32>) {
        y[0] = 1.0;
    }
}

fn main() {}
