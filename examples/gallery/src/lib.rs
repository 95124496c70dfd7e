//! Ten kernels as people write them. Each file has a kernel, a function that runs it on any device, and a scenario that
//! compares the result with plain Rust.

pub mod bitonic_sort;
pub mod black_scholes;
pub mod compaction;
pub mod histogram;
pub mod matrix_product;
pub mod monte_carlo_pi;
pub mod n_body;
pub mod saxpy;
pub mod softmax;
pub mod work_stealing;

/// A pseudo-random number for `n`, the same on every machine (the finalizer of MurmurHash3).
pub fn noise(n: usize) -> u32 {
    let mut x = (n as u32).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// A pseudo-random number for `n` from `low` to `high`.
pub fn uniform(n: usize, low: f32, high: f32) -> f32 {
    low + (noise(n) >> 8) as f32 / (1 << 24) as f32 * (high - low)
}
