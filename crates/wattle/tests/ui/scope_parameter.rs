//! A scope, or an order, as a parameter.

use wattle::prelude::*;

#[device_fn]
fn fence(acc: &Acc, scope: Scope) {
    acc.mem_fence(scope, Order::Release);
}

#[kernel]
fn publish(acc: &Acc, x: Atomic<u32>, order: Order) {
    fence(acc, Scope::Device);
    x.store(0, 1);
}

fn main() {}
