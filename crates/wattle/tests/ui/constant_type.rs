use wattle::prelude::*;

const LIMIT: usize = 3;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = 1.0;
    let n = LIMIT;
}

fn main() {}
