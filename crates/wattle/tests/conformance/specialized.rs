//! Kernels that ask what their device is, and use there what others lack.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("what a device lacks is used where another has it", wide),
    ("an answer in a variable", in_variables),
    ("the device's numbers", numbers),
];

#[device_fn]
fn product(x: u32, y: u32) -> u32 {
    (x as u64 * y as u64 >> 32u32) as u32
}

#[kernel]
fn high_words(acc: &Acc, x: Read<u32>, out: Shared<u32>, by: u32) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        out[i] = if acc.device().has_u64() {
            let mut parts = [0u64; 9];
            parts[i % 9] = product(x[i], by) as u64;
            parts[i % 9] as u32
        } else {
            let (low, high, by_low, by_high) = (x[i] & 0xffff, x[i] >> 16, by & 0xffff, by >> 16);
            let middle = high * by_low + (low * by_low >> 16);
            high * by_high + (middle >> 16) + ((middle & 0xffff) + low * by_high >> 16)
        };
    }
}

fn wide(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<u32> = (0..300u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let (x, out) = (device.from_slice(&all)?, device.alloc_zeroed::<u32>(300)?);
    let by = 0xdead_beef;
    queue.launch(FrameSpec::cover(300, 32), high_words(&x, &out, by))?;
    let high = |x: &u32| ((u64::from(*x) * u64::from(by)) >> 32) as u32;
    assert_eq!(out.read(&queue)?, all.iter().map(high).collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn halves_of(acc: &Acc, x: Read<f32>, out: Shared<f32>) {
    let device = acc.device();
    let double = device.has_f64() && x.len() > 0;
    let both = device.has_f64() && device.has_u64();
    let tile = acc.shared::<f64, 4>();
    if double {
        tile[0] = x[0] as f64;
        acc.sync_block();
        out[0] = (tile[0] * 0.5) as f32;
    }
    if !double {
        out[0] = x[0] * 0.5;
    }
    if both {
        out[1] = (x[1] as f64 as i64) as f32;
        return;
    }
    if x[1] < 0.0 {
        out[1] = -1.0;
    }
    out[1] = x[1].trunc();
}

fn in_variables(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, out) = (device.from_slice(&[3.0f32, 7.75])?, device.alloc_zeroed::<f32>(2)?);
    queue.launch(ThreadSpec::new(1, 1), halves_of(&x, &out))?;
    assert_eq!(out.read(&queue)?, [1.5, 7.0]);
    Ok(())
}

#[kernel]
fn numbers_of(acc: &Acc, out: Shared<u32>) {
    let device = acc.device();
    if acc.thread_in_grid() == 0 {
        out[0] = device.warp_size();
        out[1] = device.compute_capability();
        out[2] = if device.has_u8() { 1 } else { 0 };
        out[3] = if device.has_u16() { 1 } else { 0 };
        out[4] = if device.has_native_f16() { 1 } else { 0 };
        out[5] = if device.has_native_bf16() { 1 } else { 0 };
        out[6] = if device.has_clock() && device.has_u64() { acc.clock() as u32 | 1 } else { 0 };
    }
}

fn numbers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(7)?;
    let lanes = device.properties().warp_width;
    queue.launch(ThreadSpec::new(1, lanes), numbers_of(&out))?;
    let found = out.read(&queue)?;
    assert_eq!(found[0], lanes);
    let is_cuda = device.name().starts_with("cuda");
    assert_eq!(found[1] >= 70, is_cuda, "{found:?}");
    // A Vulkan device has `f16` where it promises the bits.
    assert!(device.name().starts_with("vulkan") || (found[4] == 1) == is_cuda, "{found:?}");
    if !is_cuda && !device.name().starts_with("vulkan") {
        assert_eq!(found[1..6], [0, 1, 1, 0, 0]);
    }
    if !device.name().starts_with("vulkan") {
        assert_ne!(found[6], 0, "it has a clock");
    }
    Ok(())
}
