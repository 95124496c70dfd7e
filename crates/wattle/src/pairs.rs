//! Atomic sums of pairs of 16-bit floats, which lie in the 32-bit words of an `Atomic<u32>`: CUDA's `atomicAdd` of
//! `__half2` and `__nv_bfloat162`.
//!
//! Each sum replaces both halves at once, by a loop of compare-exchanges on the word: on every device, and for the
//! checker as for whoever reads the word. An instruction for pairs, as PTX has one, adds to each half by itself: "the
//! entire `atom.f16x2` or `atom.bf16x2` is not guaranteed to be atomic as a single 32-bit access" (PTX ISA 8.8,
//! 9.7.13.5 "atom"), so that another thread could see one half added to and the other not.
//!
//! ```
//! use wattle::pairs::fetch_add_f16x2;
//! use wattle::prelude::*;
//!
//! /// Each thread adds to the one word.
//! #[kernel]
//! fn count(acc: &Acc, sums: Atomic<u32>, by: [f16; 2]) {
//!     fetch_add_f16x2(sums, 0, by);
//! }
//!
//! # fn main() -> Result<()> {
//! let device = Device::host();
//! let queue = device.queue()?;
//! let sums = device.alloc_zeroed::<u32>(1)?;
//! let by = [f16::from_f32(1.0), f16::from_f32(0.5)];
//! queue.launch(ThreadSpec::new(10, 1), count(&sums, by))?;
//! let word = sums.read(&queue)?[0];
//! assert_eq!([word as u16, (word >> 16) as u16].map(|bits| f16::from_bits(bits).to_f32()), [10.0, 5.0]);
//! # Ok(())
//! # }
//! ```

use crate::prelude::*;

macro_rules! pairs {
    ($($add:ident $float:ident $word:literal;)+) => {$(
        /// Adds to both halves of the word `i`, of which the first is in the low 16 bits, and gives what was there
        /// before. Relaxed at device scope; each half is rounded once.
        #[doc = concat!("(CUDA's `atomicAdd` of `", $word, "`.)")]
        #[doc(alias = $word)]
        #[device_fn]
        pub fn $add(words: Atomic<u32>, i: u32, by: [$float; 2]) -> [$float; 2] {
            let mut seen = words.load(i);
            loop {
                let (low, high) = ($float::from_bits(seen as u16), $float::from_bits((seen >> 16) as u16));
                let (low_sum, high_sum) = (low + by[0], high + by[1]);
                let desired = low_sum.to_bits() as u32 | (high_sum.to_bits() as u32) << 16;
                let found = words.compare_exchange(i, seen, desired);
                if found == seen {
                    return [low, high];
                }
                seen = found;
            }
        }
    )+};
}
pairs! {
    fetch_add_f16x2 f16 "__half2";
    fetch_add_bf16x2 bf16 "__nv_bfloat162";
}
