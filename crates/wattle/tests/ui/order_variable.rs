use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let order = Order::Release;
    acc.mem_fence(Scope::Device, order);
    y[0] = 1.0;
}

fn main() {}
