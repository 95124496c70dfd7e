//! `assemble`: many random kernels through ptxas.

use std::process::ExitCode;
use std::time::Instant;

use crate::{assembled, tools};

/// Assembles random kernels for a compute capability with ptxas.
pub fn run(kernels: u64, sm: u32) -> ExitCode {
    let Some(ptxas) = tools::assembler() else { return ExitCode::from(2) };
    let began = Instant::now();
    let mut complaints = Vec::new();
    for first in (0..kernels).step_by(assembled::AT_A_TIME as usize) {
        complaints.extend(assembled::complaints(&ptxas, first, sm));
        if first % (10 * assembled::AT_A_TIME) == 0 {
            eprintln!("  {first} kernels, {:.0?}", began.elapsed());
        }
    }
    let all = kernels.next_multiple_of(assembled::AT_A_TIME);
    println!("sm_{sm}: {all} random kernels, {} complaints; {:.0?}", complaints.len(), began.elapsed());
    complaints.iter().take(10).for_each(|complaint| println!("{complaint}"));
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
