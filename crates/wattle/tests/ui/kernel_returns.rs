use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>) -> f32 {
    x[acc.thread_in_grid()]
}

fn main() {}
