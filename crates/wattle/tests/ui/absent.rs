use wattle::prelude::*;

#[device_fn]
fn sample(x: f32) -> f32 {
    x
}

#[kernel]
fn copies(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    let tile = acc.shared::<f32, 64>();
    memcpy_async(tile, x, 64);
    acc.cp_async(tile, x);
    y[0] = sample(1.0);
}

#[kernel]
fn tensor_cores(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    wmma::mma_sync(x, x, y);
    acc.mma(x, y);
}

#[kernel]
fn textures(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    y[0] = tex2D(x, 0.5, 0.5);
    y[1] = x.sample(0.5);
}

#[kernel]
fn texture_parameter(acc: &Acc, x: Texture2D, y: Shared<f32>) {
    y[0] = 1.0;
}

#[kernel]
fn dynamic_parallelism(acc: &Acc, y: Shared<f32>) {
    acc.launch(copies);
}

#[kernel]
fn other_names(acc: &Acc, y: Shared<f32>) {
    __syncthreads();
    acc.sync_grid();
    __threadfence();
    acc.fence();
    atomicAdd(y, 1.0);
    printf(y[0]);
    y[0] = clock64() as f32;
}

#[kernel]
fn found_and_swapped(acc: &Acc, x: Atomic<u32>, y: Shared<f32>) {
    while x.compare_exchange(0, 0, 1).is_err() {}
    let mut a = [1.0f32, 2.0];
    a.swap(0, 1);
    y[0] = a[0];
}

#[kernel]
fn names_of_acc(acc: &Acc, y: Shared<f32>) {
    acc.barrier();
    acc.sync();
    acc.grid();
    acc.sync_device();
    acc.sync_all();
    acc.cluster();
    acc.pipeline();
    acc.load_async(y);
    acc.fragment();
    acc.tensor_core();
    y[0] = acc.warp_in_block() as f32;
}

#[device_fn]
fn names_of_acc_in_a_function(acc: &Acc<2>) {
    acc.barrier();
}

fn main() {}
