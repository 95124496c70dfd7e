use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, flag: Atomic<u32>) {
    let v = flag.load_with(0, Scope::Device, Order::Release);
    flag.store(0, v);
}

fn main() {}
