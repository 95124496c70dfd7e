use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = missing + 1.0;
}

fn main() {}
