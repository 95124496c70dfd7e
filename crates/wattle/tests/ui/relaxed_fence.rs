use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc) {
    acc.mem_fence(Scope::Device, Order::Relaxed);
}

fn main() {}
