//! Fences have no scope of a warp.

use wattle::prelude::*;

#[kernel]
fn fences(acc: &Acc, out: Shared<u32>) {
    acc.mem_fence(Scope::Warp, Order::Release);
    out[0] = __shfl_down_sync(out[1], 1);
}

fn main() {}
