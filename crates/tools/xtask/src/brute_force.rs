//! `brute`: the search against brute force on random programs.

use std::process::ExitCode;
use std::time::Instant;

use crate::brute::agree::compare;
use crate::brute::random::half_plain;

/// Compares the two on `cases` programs from number `seed` on.
pub fn run(cases: u64, seed: u64) -> ExitCode {
    let began = Instant::now();
    let compared = compare(seed..seed.saturating_add(cases), &|random| half_plain(random, 4_000), &|number| {
        if (number - seed).is_multiple_of(5000) {
            eprintln!("  program {number}, {:.0?}", began.elapsed());
        }
    });
    println!("{compared}, {:.1?}", began.elapsed());
    compared.differences.iter().for_each(|difference| println!("\n{difference}"));
    if compared.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
