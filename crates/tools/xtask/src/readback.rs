//! `readback`: random kernels, emitted as PTX and as SPIR-V and read back, against their intermediate representation.

use std::process::ExitCode;
use std::time::Instant;

use wattle_foreign as _;

use crate::random::{Language, campaign};

/// The most differences that are printed.
const ENOUGH: usize = 3;

/// Compares `cases` kernels from number `seed` on, half of them as PTX and half as SPIR-V.
pub fn run(cases: u64, seed: u64) -> ExitCode {
    let mut is_sound = true;
    for language in [Language::Ptx, Language::Spirv] {
        let began = Instant::now();
        let mut count = 0u64;
        let tally = campaign(seed..seed.saturating_add(cases / 2), language, |_| {
            count += 1;
            if count.is_multiple_of(500) {
                eprintln!("  {count} kernels as {language:?}, {:.0?}", began.elapsed());
            }
        });
        println!("{language:?}: {tally}; {:.1?}", began.elapsed());
        for (number, found) in tally.differ.iter().take(ENOUGH) {
            println!("\nkernel {number} as {language:?}: {found}");
        }
        is_sound &= tally.differ.is_empty();
    }
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
