use wattle::prelude::*;

#[kernel]
fn scopes(acc: &Acc, y: Shared<f32>) {
    __threadfence_block();
    __threadfence_system();
    y[0] = 1.0;
}

#[kernel]
fn votes(acc: &Acc, y: Shared<u32>) {
    y[0] = __syncthreads_count(true);
}

fn main() {}
