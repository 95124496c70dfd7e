use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<u32>) {
    let pairs = [(1, 2), (3, 4)];
    y[0] = 1;
}

fn main() {}
