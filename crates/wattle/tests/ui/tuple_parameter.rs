use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, pair: (f32, f32), y: Shared<f32>) {
    y[0] = pair.0;
}

fn main() {}
