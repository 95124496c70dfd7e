//! Kernels are generic in 1 to 4 dimensions.

use wattle::prelude::*;

#[kernel]
fn fill<const D: usize>(acc: &Acc<D>, out: PerItem<u32, D>) {
    for (_, out) in acc.items(&mut out) {
        *out = 1;
    }
}

#[kernel]
fn mixed<const D: usize>(acc: &Acc<D>, x: Read<u32, D>, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, x.extent()) {
        out[i] = x[i];
    }
}

#[allow(unused)]
fn scenario(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let mut none = device.alloc_nd::<u32, 0>([0usize; 0])?;
    queue.launch(ThreadSpec::new([1usize; 0], [1usize; 0]), fill(&mut none))?;
    let mut five = device.alloc_nd::<u32, 5>([1; 5])?;
    queue.launch(ThreadSpec::new([1; 5], [1; 5]), fill(&mut five))?;
    Ok(())
}

fn main() {}
