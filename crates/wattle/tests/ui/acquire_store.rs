use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, flag: Atomic<u32>) {
    flag.store_with(0, 1, Scope::Device, Order::Acquire);
}

fn main() {}
