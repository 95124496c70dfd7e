//! The kernels that people know (`cuda.rs`), in scenarios: what is right leaves the right values on every seed, and what is
//! wrong is found by some seed, with the lines of the CUDA source.

use wattle_core::{Device, LaunchOptions, Result, ThreadSpec};
use wattle_foreign::{LoadedKernel, Module};
use wattle_memory::Model;

use super::{holds, refuted};
use crate::cuda::source;

/// The seeds on which each is run.
const SEEDS: u64 = 40;

/// A kernel of one of the files.
fn kernel(file: &str, entry: &str) -> Result<LoadedKernel> {
    let source = source(file);
    Module::ptx_file(source.file, source.text)?.kernel(entry)
}

/// A scenario of one of the files' kernels, by the kernel's name.
type Of<'s> = &'s (dyn Fn(&Device, &str) -> Result<String> + Sync);

/// Asserts that the right form leaves these values, and that some seed finds the race in the other one, whose lines these are.
#[track_caller]
fn known(file: &str, wrong: &str, lines: [u32; 2], left: &str, scenario: Of<'_>) {
    holds(Model::Ptx, SEEDS, left, &|device| scenario(device, "right"));
    let texts = lines.map(|line| format!("{file}.cu:{line}:"));
    let texts: Vec<&str> = texts.iter().map(String::as_str).chain(["data race"]).collect();
    refuted(Model::Ptx, SEEDS, &texts, &|device| scenario(device, wrong));
}

#[test]
fn grid_barrier() {
    known("grid_barrier", "unfenced", [9, 22], "[2, 1]", &|device, entry| {
        let (queue, from) = (device.queue()?, device.alloc::<i32>(2)?);
        let to = device.alloc_zeroed::<i32>(2)?;
        let options = LaunchOptions::new().cooperative();
        queue.launch_with(options, ThreadSpec::new(2, 2), kernel("grid_barrier", entry)?.args((&from, &to)))?;
        Ok(format!("{:?}", to.read(&queue)?))
    });
}

#[test]
fn lookback() {
    known("lookback", "unfenced", [12, 16], "[1, 3, 6]", &|device, entry| {
        let (queue, values) = (device.queue()?, device.from_slice(&[1i32, 2, 3])?);
        let (sums, state) = (device.alloc::<i32>(3)?, device.alloc_zeroed::<i32>(3)?);
        let out = device.alloc_zeroed::<i32>(3)?;
        queue.launch(ThreadSpec::new(3, 1), kernel("lookback", entry)?.args((&values, &sums, &state, &out)))?;
        Ok(format!("{:?}", out.read(&queue)?))
    });
}

#[test]
fn two_sums_of_a_block() {
    known("reduce_twice", "hasty", [9, 16], "[64128, 64128]", &|device, entry| {
        let threads = if entry == "right" { 64 } else { 2 };
        let blocks = if entry == "right" { 2 } else { 1 };
        let queue = device.queue()?;
        let (a, b) = (device.from_slice(&[1i32; 128])?, device.from_slice(&[2i32; 128])?);
        let out = device.alloc_zeroed::<i32>(2)?;
        let options = LaunchOptions::new().shared_len(256);
        let bundle = kernel("reduce_twice", entry)?.args((&a, &b, &out));
        queue.launch_with(options, ThreadSpec::new(blocks, threads), bundle)?;
        Ok(format!("{:?}", out.read(&queue)?))
    });
}

#[test]
fn warp_sum() {
    known("warp_sum", "in_step", [11, 14], "[36]", &|device, entry| {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<i32>(1)?);
        let values = device.from_slice(&[1i32, 2, 3, 4, 5, 6, 7, 8])?;
        queue.launch(ThreadSpec::new(1, 8), kernel("warp_sum", entry)?.args((&values, &out)))?;
        Ok(format!("{:?}", out.read(&queue)?))
    });
}

#[test]
fn spin_lock() {
    known("spin_lock", "textbook", [12, 12], "[3]", &|device, entry| {
        let (queue, counter) = (device.queue()?, device.alloc_zeroed::<i32>(1)?);
        queue.launch(ThreadSpec::new(1, 3), kernel("spin_lock", entry)?.args((&counter,)))?;
        Ok(format!("{:?}", counter.read(&queue)?))
    });
}

#[test]
fn ticket_lock() {
    known("ticket_lock", "unfenced", [13, 13], "[4]", &|device, entry| {
        let (queue, counter) = (device.queue()?, device.alloc_zeroed::<i32>(1)?);
        queue.launch(ThreadSpec::new(4, 1), kernel("ticket_lock", entry)?.args((&counter,)))?;
        Ok(format!("{:?}", counter.read(&queue)?))
    });
}

#[test]
fn tiles() {
    known("tiles", "clearing", [13, 15], "[1.5, 1.5]", &|device, entry| {
        let (blocks, threads) = if entry == "right" { (2, 64) } else { (1, 2) };
        let (queue, values) = (device.queue()?, device.from_slice(&[0.5f32; 384])?);
        let out = device.alloc_zeroed::<f32>(128)?;
        queue.launch(ThreadSpec::new(blocks, threads), kernel("tiles", entry)?.args((&values, &out, 3i32)))?;
        let out = out.read(&queue)?;
        Ok(format!("{:?}", [out[0], out[127]]))
    });
}

#[test]
fn histogram() {
    known("histogram", "hasty", [8, 12], "[4, 4, 4, 4]", &|device, entry| {
        let blocks = if entry == "right" { 2 } else { 1 };
        let values: Vec<u8> = (1..17).map(|at| at % 4).collect();
        let (queue, values) = (device.queue()?, device.from_slice(&values)?);
        let bins = device.alloc_zeroed::<u32>(4)?;
        queue.launch(ThreadSpec::new(blocks, 4), kernel("histogram", entry)?.args((&values, &bins, 16i32)))?;
        Ok(format!("{:?}", bins.read(&queue)?))
    });
}

#[test]
fn compaction() {
    known("compaction", "racy", [8, 8], "([3], [7, 7, 7])", &|device, entry| {
        let (queue, values) = (device.queue()?, device.from_slice(&[7i32, 0, 7, 7])?);
        let (out, count) = (device.alloc_zeroed::<i32>(4)?, device.alloc_zeroed::<i32>(1)?);
        queue.launch(ThreadSpec::new(2, 2), kernel("compaction", entry)?.args((&values, &out, &count, 4i32)))?;
        Ok(format!("{:?}", (count.read(&queue)?, &out.read(&queue)?[..3])))
    });
}

#[test]
fn shuffles() {
    known("shuffle", "unordered", [13, 19], "[37, 213, 9]", &|device, entry| {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<i32>(3)?);
        let values = device.from_slice(&[1i32, 2, 3, 4, 5, 6, 7, 9])?;
        queue.launch(ThreadSpec::new(1, 8), kernel("shuffle", entry)?.args((&values, &out)))?;
        Ok(format!("{:?}", out.read(&queue)?))
    });
}

/// Each block's part of a sum: the last block to finish adds them up.
fn reduction(device: &Device, entry: &str) -> Result<String> {
    let (queue, values) = (device.queue()?, device.from_slice(&[1.0f32, 2.0, 3.0, 4.0])?);
    let (parts, out) = (device.alloc::<f32>(2)?, device.alloc_zeroed::<f32>(1)?);
    let once = kernel("reduction", entry)?;
    // The counter, a variable of the module, is back at zero after each launch.
    for _ in 0..2 {
        queue.launch(ThreadSpec::new(2, 2), once.args((&values, &parts, &out)))?;
    }
    Ok(format!("{:?}", out.read(&queue)?))
}

#[test]
fn thread_fence_reduction() {
    holds(Model::Ptx, SEEDS, "[10.0]", &|device| reduction(device, "right"));
}
