//! The kernels that are measured, as a CUDA device would run them, and what is counted in each.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_kernels::{chained_scan, histogram, last_block_sum, product, stencil, stream, transpose};

use super::code::Work;

/// A kernel, and what is counted in it.
pub struct Measured {
    /// The name of the kernel among the sources in CUDA C++.
    pub name: &'static str,
    /// What is counted, for people.
    pub counted: &'static str,
    /// Wattle's kernel.
    pub kernel: wattle_ir::Kernel,
    /// Threads per block.
    pub threads: u32,
    /// The loops that an element passes, whose instructions are added up.
    pub phases: &'static [Work],
}

/// A loop whose turns have as many elements as it happens to have.
const fn streamed(contains: &'static [&'static str], counted: &'static str, element: u32) -> Work {
    Work { contains, counted, element: Some(element), turn: None }
}

const TRIAD: &[Work] = &[streamed(&["LDG", "STG"], "STG", 4)];
const SUM: &[Work] = &[streamed(&["LDG", "FADD"], "LDG", 4)];
const HISTOGRAM: &[Work] = &[streamed(&["LDG", "ATOMS"], "LDG", 1)];
/// A tile: what a thread loads to shared memory, and what it stores, by way of the barrier between.
const TRANSPOSE: &[Work] = &[Work {
    contains: &["LDG", "STS", "BAR", "LDS", "STG"],
    counted: "STG",
    element: Some(4),
    turn: Some(transpose::PER_THREAD),
}];
const STENCIL: &[Work] =
    &[Work { contains: &["LDG", "STS", "BAR", "LDS", "STG"], counted: "STG", element: Some(4), turn: Some(1) }];
/// A run's loading, its sums, and its storing. (What is added to the sums before that is a loop like that of the sums.)
const SCAN: &[Work] =
    &[streamed(&["LDG", "STS"], "LDG", 4), streamed(&["LDS", "STS"], "STS", 4), streamed(&["LDS", "STG"], "STG", 4)];
/// The whole of a step: copying to shared memory, and the products.
const PRODUCT: &[Work] =
    &[Work { contains: &["LDG", "STS", "BAR", "LDS", "FFMA"], counted: "FFMA", element: None, turn: Some(256) }];

/// The kernels that are measured, each with the loops in which its instructions are counted.
pub fn measured() -> Vec<Measured> {
    let device = Device::simulated(0);
    let floats = || device.alloc_zeroed::<f32>(1).expect("room for a word");
    let words = || device.alloc_zeroed::<u32>(1).expect("room for a word");
    let bytes = || device.alloc_zeroed::<u8>(1).expect("room for a byte");
    let plane = || device.alloc_zeroed_nd::<f32, 2>([1, 1]).expect("room for a word");
    let elements = "instructions per element";
    let triad = stream::triad(0.4f32, &floats(), &floats(), &mut floats()).build();
    let sum = last_block_sum::sum::<true, true>(0, 0, &floats(), &floats(), &words(), &floats()).build();
    let turned = transpose::transpose_together::<f32, 32, 8, 1056>(&plane(), &plane()).build();
    let step = stencil::step_together::<8, 16, 180>(&plane(), &plane()).build();
    let counts = histogram::count_bytes::<{ histogram::BINS }>(&bytes(), &words()).build();
    let statuses = device.alloc_zeroed::<u64>(1).expect("room for a word");
    let scan = chained_scan::scan_by_warps::<
        { chained_scan::LARGE },
        { chained_scan::LARGE / chained_scan::MAX_THREADS },
        { chained_scan::WARPS },
    >(&words(), &words(), &statuses)
    .build();
    let multiply = product::multiply::<64, 16, 4, 1024, 16>(&plane(), &plane(), &plane()).build();
    let all = [
        ("triad", elements, triad, 1024, TRIAD),
        ("sum", elements, sum, 256, SUM),
        ("transpose", elements, turned, 256, TRANSPOSE),
        ("stencil", elements, step, 128, STENCIL),
        ("histogram", elements, counts, histogram::THREADS as u32, HISTOGRAM),
        ("scan", elements, scan, 256, SCAN),
        ("product", "instructions per multiply-add", multiply, 256, PRODUCT),
    ];
    all.map(|(name, counted, kernel, threads, phases)| Measured {
        name,
        counted,
        kernel: kernel.expect("the kernel is right"),
        threads,
        phases,
    })
    .into()
}
