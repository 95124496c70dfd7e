//! A scope is no value, so none is chosen as one.

use wattle::prelude::*;

#[kernel]
fn by_if(acc: &Acc, x: Shared<u32>) {
    acc.mem_fence(if x[0] == 1 { Scope::Block } else { Scope::Device }, Order::Release);
}

#[kernel]
fn by_match(acc: &Acc, ready: Atomic<u32>, n: u32) {
    ready.store_with(0, 1, Scope::Device, match n { 0 => Order::Relaxed, _ => Order::Release });
}

#[kernel]
fn in_a_variable(acc: &Acc, x: Shared<u32>) {
    let scope = if x[0] == 1 { Scope::Block } else { Scope::Device };
    acc.mem_fence(scope, Order::Release);
}

fn main() {}
