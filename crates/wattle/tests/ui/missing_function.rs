use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = helper(y[1]);
}

fn main() {}
