//! `oracle`: random scenarios in the checker and on the simulated device.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::scenarios::campaign::campaign;
use crate::scenarios::shrink::shrink;

/// How long the checker may take for a case.
const LIMIT: Duration = Duration::from_secs(5);
/// The most differences that are made small and printed.
const ENOUGH: usize = 50;

/// Judges `cases` cases from number `seed` on.
pub fn run(cases: u64, seed: u64) -> ExitCode {
    let began = Instant::now();
    let tally = campaign(seed..seed.saturating_add(cases), LIMIT, &|number| {
        if (number - seed).is_multiple_of(500) {
            eprintln!("  case {number}, {:.0?}", began.elapsed());
        }
    });
    println!("{tally}{:.1?}", began.elapsed());
    for (number, case, difference) in tally.differ.iter().take(ENOUGH) {
        let (small, difference) = shrink(case, difference, LIMIT);
        println!("\ncase {number}: {difference}\n{small}");
    }
    if tally.differ.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
