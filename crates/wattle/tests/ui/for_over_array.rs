use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    for v in [1.0, 2.0] {
        y[0] = v;
    }
    for v in x {
        y[0] = v;
    }
}

fn main() {}
