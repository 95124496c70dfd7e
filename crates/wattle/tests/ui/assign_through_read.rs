use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>) {
    x[0] = 1.0;
}

fn main() {}
