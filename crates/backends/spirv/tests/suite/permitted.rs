//! What kernels permit of their arithmetic, as SPIR-V.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_spirv::{Features, build};

#[kernel(contract)]
fn contracted(acc: &Acc, x: Read<f32>, out: PerItem<f32>) {
    for (i, item) in acc.items(&mut out) {
        *item = x[i] * 3.0 + x[i];
    }
}

#[kernel]
fn uncontracted(acc: &Acc, x: Read<f32>, out: PerItem<f32>) {
    for (i, item) in acc.items(&mut out) {
        *item = x[i] * 3.0 + x[i];
    }
}

/// How many instructions a module has: additions, multiplications, fused ones, and decorations against contraction.
fn counts(words: &[u32]) -> [usize; 4] {
    let (mut at, mut counts) = (5, [0; 4]);
    while at < words.len() {
        let (opcode, length) = (words[at] & 0xffff, (words[at] >> 16) as usize);
        counts[0] += usize::from(opcode == 129);
        counts[1] += usize::from(opcode == 133);
        // `OpExtInst` with the number of `Fma`.
        counts[2] += usize::from(opcode == 12 && words[at + 4] == 50);
        // `OpDecorate … NoContraction`.
        counts[3] += usize::from(opcode == 71 && words[at + 2] == 42);
        at += length;
    }
    counts
}

#[test]
fn products_and_sums_are_fused_where_that_is_permitted() {
    let device = Device::simulated(0);
    let (x, mut out) = (device.alloc_zeroed::<f32>(1).unwrap(), device.alloc_zeroed::<f32>(1).unwrap());
    let kernel = contracted(&x, &mut out).build().expect("it verifies");
    let fused = build(&kernel, &Features::all()).expect("the device has all it needs");
    // The fused one too is not to be contracted with anything else.
    assert_eq!(counts(&fused.words), [0, 0, 1, 1]);
    let kernel = uncontracted(&x, &mut out).build().expect("it verifies");
    let plain = build(&kernel, &Features::all()).expect("the device has all it needs");
    assert_eq!(counts(&plain.words), [1, 1, 0, 2]);
}
