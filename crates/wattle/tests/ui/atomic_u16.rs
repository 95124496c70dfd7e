use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, small: Atomic<u16>) {
    small.store(0, 1);
}

fn main() {}
