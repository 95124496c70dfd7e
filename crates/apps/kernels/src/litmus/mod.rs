//! The classic litmus tests of three and four threads: what relaxed atomics, acquire and release, and `SeqCst` fences leave.
//!
//! Each block is one thread of the test, in as many rounds as there are elements; the words are 0 before.

use wattle::prelude::*;

pub mod iriw;
pub mod isa2;
pub mod two_plus_two_w;
pub mod wrc;
pub mod z6;

const SIZES: Sizes = Sizes { full: 10_000, small: 100, proof: 1 };

/// What a round leaves: the last values of x, y and z, and what was seen.
struct Left {
    words: [u32; 3],
    seen: Vec<u32>,
}

/// Runs a test with `SEEN` values seen in each round; the forbidden end must not come. `launch` gets x, y, z and the place
/// of what is seen.
fn run<const SEEN: usize>(
    device: &Device,
    rounds: usize,
    forbidden: impl Fn(&Left) -> bool,
    launch: impl FnOnce(&Queue, [&Buffer<u32>; 4]) -> Result<()>,
) -> Result<Summary> {
    let queue = device.queue()?;
    let [x, y, z] = [device.alloc_zeroed(rounds)?, device.alloc_zeroed(rounds)?, device.alloc_zeroed(rounds)?];
    let seen = device.alloc_zeroed::<u32>((SEEN * rounds).max(1))?;
    launch(&queue, [&x, &y, &z, &seen])?;
    let words = [x.read(&queue)?, y.read(&queue)?, z.read(&queue)?];
    let seen = seen.read(&queue)?;
    let mut summary = Summary::new(format!("{rounds} rounds"));
    let mut came = 0;
    for round in 0..rounds {
        let left = Left {
            words: [words[0][round], words[1][round], words[2][round]],
            seen: seen[SEEN * round..][..SEEN].to_vec(),
        };
        came += usize::from(forbidden(&left));
    }
    summary.check(came == 0, "the forbidden end never comes", || format!("it came {came} times"))?;
    Ok(summary)
}
