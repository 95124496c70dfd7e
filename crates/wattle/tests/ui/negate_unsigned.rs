use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<u32>) {
    y[0] = -y[1];
}

fn main() {}
