use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let scope = Scope::Device;
    acc.mem_fence(scope, Order::Release);
    y[0] = 1.0;
}

fn main() {}
