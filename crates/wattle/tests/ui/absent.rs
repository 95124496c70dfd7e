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
    atomicAdd(y, 1.0);
    printf(y[0]);
    y[0] = clock64() as f32;
}

fn main() {}
