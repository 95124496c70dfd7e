use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>, other: &Acc) {
    y[0] = 1.0;
}

fn main() {}
