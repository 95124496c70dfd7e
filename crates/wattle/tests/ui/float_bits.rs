use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = y[1] & y[2];
    y[0] = y[1] << 3;
}

fn main() {}
