//! The clock that kernels read on the host: nanoseconds since the first read in the process, by the operating system's
//! clock that never goes back. (A processor's own counter would be cheaper, and has a rate that nobody promises.)

use std::sync::LazyLock;
use std::time::Instant;

/// How many ticks a second has.
pub(crate) const TICKS_PER_SECOND: u64 = 1_000_000_000;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The ticks since the first read.
pub(crate) fn ticks() -> u64 {
    // 584 years.
    START.elapsed().as_nanos() as u64
}
