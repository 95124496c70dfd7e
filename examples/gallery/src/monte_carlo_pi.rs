//! π by chance: each thread throws its own darts, and adds its hits to one count.

use wattle::prelude::*;

/// The next number of a thread's own sequence (Marsaglia's xorshift of 32 bits).
#[device_fn]
pub fn next(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

/// A number of 24 bits from 0 to 1.
#[device_fn]
pub fn next_unit(state: &mut u32) -> f32 {
    (next(state) >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Adds to `hits` how many of each thread's `darts` are within the quarter of a circle.
#[kernel]
pub fn throw(acc: &Acc, seed: u32, darts: u32, hits: Atomic<u32>) {
    // An odd factor gives each thread another state, and none is 0.
    let mut state = ((acc.thread_in_grid() + 1) * 0x9e37_79b9) ^ seed;
    if state == 0 {
        state = 1;
    }
    let mut inside = 0;
    for _ in 0..darts {
        let (x, y) = (next_unit(&mut state), next_unit(&mut state));
        if x * x + y * y < 1.0 {
            inside += 1;
        }
    }
    hits.fetch_add(0, inside);
}

/// How many darts of `threads` threads hit.
///
/// # Errors
/// What the device says.
pub fn hits(device: &Device, threads: usize, darts: u32) -> Result<u32> {
    let queue = device.queue()?;
    let hits = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(threads.div_ceil(64), threads.min(64)), throw(0x2545_f491, darts, &hits))?;
    Ok(hits.read(&queue)?[0])
}

/// π by chance.
#[scenario(sizes = Sizes { full: 1 << 14, small: 1 << 8, proof: 2 })]
pub fn monte_carlo_pi(device: &Device, threads: usize) -> Result<Summary> {
    let darts = if threads < 64 { 4 } else { 256 };
    let hits = hits(device, threads, darts)?;
    let thrown = threads as f64 * f64::from(darts);
    let pi = 4.0 * f64::from(hits) / thrown;

    let mut summary = Summary::new(format!("{thrown} darts: π is about {pi:.4}"));
    // The standard deviation of the estimate is 4·√(p·(1 - p) / darts), with p = π/4: 1.64 / √darts.
    let allowed = 5.0 * 1.64 / thrown.sqrt();
    summary.check((pi - std::f64::consts::PI).abs() < allowed, "it is as near as chance allows", || {
        format!("{pi} is further than {allowed:.1e} away")
    })?;
    Ok(summary)
}
