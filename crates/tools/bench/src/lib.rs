//! What the benchmarks share: the peers that Wattle's kernels are measured beside, and the pairing.
//!
//! `gpu-bench` measures a GPU, on machines that have one (`cargo xtask pack`). `cargo bench` runs two targets:
//! `kernels` measures each thing alone, with criterion; `ratios` measures each beside its peer, in turns, in one
//! process, and prints the table that the README quotes. What never will live here: a test that fails on a time.

pub mod peers;

use std::time::Instant;

/// The medians of two things that are run in turns, in seconds per call.
pub fn in_turns(turns: usize, calls: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (f64, f64) {
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..calls {
            f();
        }
        start.elapsed().as_secs_f64() / calls as f64
    };
    // Caches, page tables and helpers are warm after these.
    time(&mut ours);
    time(&mut theirs);
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        // Neither is always the first.
        if turn % 2 == 0 {
            of_ours.push(time(&mut ours));
            of_theirs.push(time(&mut theirs));
        } else {
            of_theirs.push(time(&mut theirs));
            of_ours.push(time(&mut ours));
        }
    }
    (median(of_ours), median(of_theirs))
}

/// The median; the greater of the two in the middle.
///
/// # Panics
/// `times` is empty.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The environment variable `name` as a number, for shorter runs.
pub fn setting(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
