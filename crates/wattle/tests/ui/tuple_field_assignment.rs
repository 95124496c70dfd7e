use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let mut pair = (1.0f32, 2.0f32);
    pair.0 = 3.0;
    y[0] = pair.0;
}

fn main() {}
