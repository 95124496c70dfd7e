use wattle::prelude::*;

#[kernel]
fn length(acc: &Acc, out: Shared<f32>) {
    let tile = acc.shared::<f32>(256);
    tile[0] = 1.0;
    out[0] = tile[0];
}

#[kernel]
fn orders(acc: &Acc, lock: Atomic<u32>) {
    lock.compare_exchange(0, 0, 1, Order::AcqRel, Order::Relaxed);
}

fn main() {}
