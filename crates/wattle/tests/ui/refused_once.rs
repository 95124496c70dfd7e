//! One mistake is one error, in the words of the kernel.

use wattle::prelude::*;

#[kernel]
fn operations_of_a_warp(acc: &Acc, y: Shared<u32>) {
    let warp = acc.warp();
    y[0] = warp.sum(y[1]);
    y[2] = warp.shfl_down(y[3], 1);
    y[4] = warp.max(y[5]);
    y[6] = acc.warp().broadcast(y[7], 0);
}

#[kernel]
fn numbers_of_arguments(acc: &Acc, y: Atomic<u32>) {
    acc.mem_fence(Scope::Device);
    y.load_with(0, Order::Acquire);
    y.store(0);
    acc.sync_block(0);
}

#[kernel]
fn atomics(acc: &Acc, y: Atomic<u32>, z: Shared<u32>) {
    y.cas(0, 1, 2);
    z.fetch_add(0, 1);
    let tile = acc.shared::<u32, 4>();
    tile.fetch_max(0, 1);
}

#[kernel]
fn indices(acc: &Acc, u: Shared<f32, 2>, v: Read<f32, 2>) {
    u[(1, 2)] = 1.0;
    u[[1, 2]] = v[3][4];
    u[5][6] = 1.0;
    let lanes = u.lanes(0);
}

#[kernel]
fn lengths(acc: &Acc, n: u32, y: Shared<f32>) {
    let tile = acc.shared::<f32, n>();
    let counts = acc.shared_atomic::<u32, n>();
    y[0] = tile[0];
}

#[kernel]
fn results(acc: &Acc, y: Shared<u32>) {
    if y[0] == 3 {
        return 5;
    }
}

#[derive(Clone, Copy, Element)]
struct Unordered {
    at: f32,
    mass: f32,
}

#[kernel]
fn uses(acc: &Acc, y: Shared<Unordered>) {
    y[0].mass = y[1].at;
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair {
    at: (f32, f32),
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Large {
    values: [[f32; 8]; 5],
}

#[kernel]
fn larger(acc: &Acc, y: Shared<[f32; 64]>) {
    y[0][3] = 1.0;
}

#[device_fn]
fn reference(x: &f32) -> f32 {
    *x
}

#[device_fn]
fn pointer(f: fn(f32) -> f32, x: f32) -> f32 {
    f(x)
}

#[kernel]
fn assigns(acc: &Acc, y: Shared<f32>) {
    pointer(3.0) = y[0];
}

fn main() {}
