//! Input that looks random and is the same each time, and sums that are nearly exact.

use wattle::{Device, Error, Result};

/// Refuses at once work whose arrays do not fit: numbers of four bytes, some on the device and some on the host.
pub fn fits(device: &Device, on_device: usize, on_host: usize) -> Result<()> {
    let bytes = |numbers: usize| (numbers as u64).saturating_mul(4);
    device.needs_memory(bytes(on_device), bytes(on_host))
}

/// A number of `what` as kernels have it.
///
/// # Errors
/// It is more than a `u32` holds.
pub fn word(device: &Device, what: &str, number: usize) -> Result<u32> {
    let most = u32::MAX;
    u32::try_from(number).map_err(|_| {
        let what = format!("run {number} {what}: kernels count them in `u32`, up to {most}");
        Error::capability(device.name(), what, "take a smaller `--size`").limited(number as u64, most)
    })
}

/// The number of elements of a matrix, or the greatest number if there are more.
pub fn elements([rows, columns]: [usize; 2]) -> usize {
    rows.saturating_mul(columns)
}

/// A number without pattern, for each index (the finalizer of SplitMix64).
pub fn noise(index: usize) -> u32 {
    let mut x = (index as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x >> 32) as u32
}

/// `len` floats in 0..1 without pattern.
pub fn floats(len: usize) -> Vec<f32> {
    (0..len).map(|i| (noise(i) >> 8) as f32 / (1 << 24) as f32).collect()
}

/// `len` integers without pattern.
pub fn integers(len: usize) -> Vec<u32> {
    (0..len).map(noise).collect()
}

/// A running sum, and what its roundings have lost (Kahan).
#[derive(Clone, Copy, Default)]
struct Kahan {
    sum: f32,
    lost: f32,
}

impl Kahan {
    fn add(&mut self, x: f32) {
        let x = x - self.lost;
        let sum = self.sum + x;
        self.lost = (sum - self.sum) - x;
        self.sum = sum;
    }
}

/// The sum by Kahan's method, in eight running sums that are added by it at the end.
pub fn kahan_sum(values: &[f32]) -> f32 {
    let mut sums = [Kahan::default(); 8];
    for chunk in values.chunks(8) {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            sum.add(x);
        }
    }
    let mut total = Kahan::default();
    for part in sums {
        total.add(part.sum);
        total.add(-part.lost);
    }
    total.sum
}
