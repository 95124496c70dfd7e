use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, count: Atomic<u32>) {
    count.fetch_add(0, 1)
}

fn main() {}
