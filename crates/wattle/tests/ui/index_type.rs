use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let i = 3i32;
    y[i] = 1.0;
}

fn main() {}
