//! Checks that take too long for every change.
//!
//! `cargo run --release -p xtask -- promise` judges all small programs of two threads on all targets; see
//! `crates/proof/check/tests/suite/small/mod.rs`. `fuzz` runs random kernels on every device with a driver. `oracle`
//! compares the checker with the simulated device, `brute` its search with brute force. `mutants` changes what the
//! models say. `pack` makes a folder for a machine with a GPU. `stress` runs the public litmus files on every device.
//! `limits` measures how soon commands end.

mod advised;
mod algorithms;
mod assemble;
#[path = "../../../backends/ptx/tests/suite/assembled/mod.rs"]
mod assembled;
#[path = "../../../proof/check/tests/suite/brute/mod.rs"]
mod brute;
mod brute_force;
mod fuzz;
mod limits;
mod mutants;
mod oracle;
mod pack;
#[path = "../../../apps/kernels/tests/suite/page/mod.rs"]
mod page;
#[path = "../../../proof/foreign/tests/suite/random/campaign.rs"]
mod random;
mod readback;
mod sass;
#[path = "../../../proof/check/tests/suite/oracle/mod.rs"]
mod scenarios;
#[path = "../../../proof/check/tests/suite/script/mod.rs"]
mod script;
#[path = "../../../proof/check/tests/suite/small/mod.rs"]
mod small;
#[path = "../../../proof/check/tests/suite/source/mod.rs"]
mod source;
mod source_edit;
mod stress;
#[path = "../../../backends/ptx/tests/suite/tools/mod.rs"]
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};

use small::drive::judge_all;
use small::{Family, Programs, SHAPES};

/// Checks that take too long for every change.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Judges all small programs of two threads on all targets: of atomics, unless it is said.
    Promise {
        /// Programs with plain places and guards.
        #[arg(long)]
        guarded: bool,
        /// Programs with places that are accessed both ways.
        #[arg(long, conflicts_with = "guarded")]
        mixed: bool,
        /// Takes every Nth program.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        every: u64,
        /// Only threads of one length, as `3+2`.
        #[arg(long, value_name = "A+B")]
        only: Option<String>,
    },
    /// Runs random kernels on every device with a driver, or on one, and compares with the simulated device. What
    /// differs is made small and kept in crates/tools/fuzz/cases.
    Fuzz {
        /// How long.
        #[arg(long, value_name = "M", default_value_t = 1.0, value_parser = minutes)]
        minutes: f64,
        /// How many kernels on each device, however long that takes.
        #[arg(long, value_name = "N", conflicts_with = "minutes")]
        kernels: Option<u64>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[arg(long, value_name = "NAME")]
        device: Option<String>,
    },
    /// Judges random scenarios by the checker and on the simulated device with 50 seeds each. What a seed shows and the
    /// checker does not say is made small and printed. 5,000 if it is not said.
    Oracle(Cases),
    /// Compares the checker's search with brute force on random programs: two to four threads, up to ten accesses, half
    /// of them plain. The executions, outcomes and races must be the same under every model. 100,000 if it is not said.
    Brute(Cases),
    /// Emits random kernels, half of them as PTX and half as SPIR-V, reads them back, and searches them instruction by
    /// instruction: each must leave the bytes that its intermediate representation leaves on the simulated device.
    /// 2,000 if it is not said.
    Readback(Cases),
    /// Assembles random kernels with ptxas (.ci/ptx-tools installs it), and tells of each warning.
    Assemble {
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        kernels: u64,
        /// The architecture: 90 for sm_90.
        #[arg(long, value_name = "SM", default_value_t = 90)]
        arch: u32,
    },
    /// Prints the machine code of Wattle's kernels beside nvcc's for CUDA C++ of the same kernels: instructions per
    /// element in the inner loop, registers, occupancy.
    Sass {
        /// Keeps the texts in a folder.
        #[arg(long, value_name = "FOLDER")]
        keep: Option<PathBuf>,
    },
    /// Changes the models, the lowering table, the clocks and the orderings in one place at a time (cargo-mutants), and
    /// fails if the crate's own tests do not notice a change that crates/tools/xtask/survivors.txt does not list.
    Mutants {
        /// A part of the changes, as `0/4`.
        #[arg(long, value_name = "I/N")]
        shard: Option<String>,
        /// One package: wattle-memory, for example.
        #[arg(long, value_name = "PACKAGE")]
        only: Option<String>,
    },
    /// Checks the known algorithms, litmus tests and mistakes for all targets, and writes
    /// crates/apps/kernels/ALGORITHMS.md.
    Algorithms,
    /// Applies the advice on each broken scenario, or on those whose names contain a word, to its source as it is
    /// printed, builds that, and checks that it holds.
    Advised { words: Vec<String> },
    /// Runs the public litmus files beside the checkout, those that are kernels, on every device, and fails if one
    /// shows an outcome that its model forbids.
    Stress {
        /// How long in all.
        #[arg(long, value_name = "M", default_value_t = 60.0, value_parser = minutes)]
        minutes: f64,
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Ends commands of `wattle` by --time, by Ctrl-C and by --memory, and prints how long after the moment each ended,
    /// and how much memory it had.
    Limits,
    /// Makes a folder with the programs and the script gpu.sh that tests and measures all this on a machine with an
    /// NVIDIA GPU.
    Pack {
        #[arg(long, value_name = "FOLDER", default_value = "target/gpu")]
        output: PathBuf,
    },
}

/// Random cases.
#[derive(clap::Args)]
struct Cases {
    /// How many.
    #[arg(long, value_name = "N")]
    cases: Option<u64>,
    /// The number of the first one.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Reads a time in minutes.
fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if (0.0..1e6).contains(&minutes) { Ok(minutes) } else { Err("a time is from 0 to a million minutes".to_owned()) }
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Promise { guarded, mixed, every, only } => {
            let family = match (guarded, mixed) {
                (_, true) => Family::Mixed,
                (true, false) => Family::Guarded,
                (false, false) => Family::Strong,
            };
            let wanted = |(a, b): &(usize, usize)| only.as_ref().is_none_or(|only| *only == format!("{a}+{b}"));
            // All shapes are judged, also after one that breaks the promise, so this is not `all`.
            let broken = SHAPES
                .iter()
                .filter(|shape| wanted(shape))
                .filter(|shape| !judge_shape(family, **shape, every))
                .count();
            if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Task::Fuzz { minutes, kernels, seed, device } => {
            let until = kernels.map_or(fuzz::Until::Minutes(minutes), fuzz::Until::Kernels);
            fuzz::run(&fuzz::Wanted { until, seed, device })
        }
        Task::Oracle(Cases { cases, seed }) => oracle::run(cases.unwrap_or(5000), seed),
        Task::Brute(Cases { cases, seed }) => brute_force::run(cases.unwrap_or(100_000), seed),
        Task::Readback(Cases { cases, seed }) => readback::run(cases.unwrap_or(2000), seed),
        Task::Assemble { kernels, arch } => assemble::run(kernels, arch),
        Task::Sass { keep } => sass::run(keep.as_deref()),
        Task::Mutants { shard, only } => {
            mutants::run(&mutants::Wanted { shard: shard.as_deref(), only: only.as_deref() })
        }
        Task::Algorithms => algorithms::run(),
        Task::Advised { words } => advised::run(&words),
        Task::Stress { minutes, seed } => stress::run(minutes, seed),
        Task::Limits => limits::run(),
        Task::Pack { output } => pack::run(&output),
    }
}

/// Judges all programs with threads of those lengths; whether all keep the promise.
fn judge_shape(family: Family, shape: (usize, usize), every: u64) -> bool {
    let start = Instant::now();
    let name = format!("{family:?}, {}+{} statements, one in {every}", shape.0, shape.1);
    println!("{name} of {}", Programs::new(family, shape).len());
    let (count, errors) = judge_all(family, shape, every, |part, parts, programs| {
        if part % 64 == 0 {
            eprintln!("  {part}/{parts} {programs} programs, {:.0?}", start.elapsed());
        }
    });
    println!("{name}: {count}; {:.1?}", start.elapsed());
    errors.iter().take(4).for_each(|error| println!("{error}"));
    errors.is_empty()
}
