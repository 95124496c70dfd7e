//! Which blocks run while others wait for them.

mod common;

use std::time::Duration;

use common::{devices, no_messages};
use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

/// A kernel in which each block waits for the one before it, then notifies the next.
#[kernel]
fn chain(acc: &Acc, told: Atomic<u32>, sums: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while told.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
        before = sums[block - 1];
    }
    sums[block] = before + block;
    told.store_with(block, 1, Scope::Device, Order::Release);
}

/// The same kernel on a grid of two dimensions.
#[kernel]
fn chain_of_two(acc: &Acc<2>, told: Atomic<u32>) {
    let [i, j] = acc.block_in_grid();
    let block = i * acc.blocks_in_grid()[1] + j;
    if block > 0 {
        while told.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
    }
    told.store_with(block, block + 1, Scope::Device, Order::Release);
}

#[test]
fn blocks_wait_for_lower_ones() {
    for device in devices() {
        for blocks in [1usize, 2, 3, 7, 100, 1000] {
            let (told, sums) = (device.alloc_zeroed::<u32>(blocks).unwrap(), device.alloc::<u32>(blocks).unwrap());
            let queue = device.queue_non_blocking().unwrap();
            queue.launch(ThreadSpec::new(blocks, 1), chain(&told, &sums)).unwrap();
            // The next launch checks that all parts are over when it begins.
            let mut after = device.alloc::<u32>(blocks).unwrap();
            queue.launch(FrameSpec::cover(blocks, 32), doubled(&sums, &mut after)).unwrap();
            queue.wait().unwrap();
            let expected: Vec<u32> = (0..blocks as u32).map(|block| block * (block + 1)).collect();
            assert_eq!(after.read(&queue).unwrap(), expected, "{} of {blocks}", device.name());
        }
        let told = device.alloc_zeroed::<u32>(77).unwrap();
        let queue = device.queue().unwrap();
        queue.launch(ThreadSpec::new([7, 11], [1, 1]), chain_of_two(&told)).unwrap();
        assert_eq!(told.read(&queue).unwrap(), (1..=77).collect::<Vec<u32>>());
    }
    no_messages();
}

#[kernel]
fn doubled(acc: &Acc, x: Read<u32>, y: PerItem<u32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i] * 2;
    }
}

/// A kernel in which each block waits for the next one.
#[kernel]
fn against_the_order(acc: &Acc, told: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block + 1 < acc.blocks_in_grid() {
        while told.load_with(block + 1, Scope::Device, Order::Acquire) == 0 {}
    }
    told.store_with(block, 1, Scope::Device, Order::Release);
}

#[test]
fn a_wait_for_higher_blocks_is_ended() {
    for device in devices() {
        if device.properties().kind != DeviceKind::Software {
            eprintln!("not possible: {} may run so many blocks at once", device.name());
            continue;
        }
        let blocks = 4 * device.properties().workers as usize + 1;
        let told = device.alloc_zeroed::<u32>(blocks).unwrap();
        let queue = device.queue().unwrap();
        let options = LaunchOptions::new().time_limit(Duration::from_millis(100));
        let error = queue.launch_with(options, ThreadSpec::new(blocks, 1), against_the_order(&told)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TimeLimit { .. } | ErrorKind::Capability { .. }), "{error}");
        // The queue can be used again.
        queue.launch(ThreadSpec::new(1, 1), against_the_order(&told)).unwrap();
    }
    no_messages();
}

#[test]
fn all_blocks_at_once() {
    for device in devices() {
        let most = device.properties().max_cooperative_blocks as usize;
        let queue = device.queue().unwrap();
        let told = device.alloc_zeroed::<u32>(most + 1).unwrap();
        let options = LaunchOptions::new().cooperative().time_limit(Duration::from_secs(20));
        // As many blocks as are tried do run together here; Vulkan does not promise it, so this tests no GPU.
        if device.properties().kind == DeviceKind::Software {
            match queue.launch_with(options, ThreadSpec::new(most, 1), against_the_order(&told)) {
                // lavapipe ends a wait that takes too long, which happens where other programs occupy the cores.
                Err(error) if error.to_string().contains("loop iterations") => eprintln!("{error}"),
                launched => launched.unwrap(),
            }
        }
        let error = queue.launch_with(options, ThreadSpec::new(most + 1, 1), against_the_order(&told)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{text}");
        assert!(text.contains("Vulkan promises that of no number of blocks"), "{text}");
    }
    no_messages();
}
