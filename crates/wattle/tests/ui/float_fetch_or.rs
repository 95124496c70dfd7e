use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, best: Atomic<f32>) {
    best.fetch_or(0, 1.0);
}

fn main() {}
