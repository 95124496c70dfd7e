use wattle::prelude::*;

#[kernel]
fn example(y: Shared<f32>) {
    y[0] = 1.0;
}

fn main() {}
