//! Checks that take too long for every change.
//!
//! `cargo run --release -p xtask -- promise` judges all small programs of two threads on all targets; see
//! `crates/proof/check/tests/suite/small/mod.rs`. `fuzz` runs random kernels on every device with a driver. `oracle` compares
//! the checker with the simulated device, `brute` its search with brute force. `mutants` changes what the models say.
//! `pack` makes a folder for a machine with a GPU. `stress` runs the public litmus files on every device.

mod advised;
mod algorithms;
mod assemble;
#[path = "../../../backends/ptx/tests/suite/assembled/mod.rs"]
mod assembled;
#[path = "../../../proof/check/tests/suite/brute/mod.rs"]
mod brute;
mod brute_force;
mod fuzz;
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

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use small::drive::judge_all;
use small::{Family, Programs, SHAPES};

const USAGE: &str = "\
cargo run --release -p xtask -- promise [--guarded | --mixed] [--every N] [--only 3+2]

Judges all small programs of two threads on all targets: of atomics; with plain places and guards (--guarded); with
places that are accessed both ways (--mixed). --every N takes every Nth, --only the threads of one length.

cargo run --release -p xtask -- fuzz [--minutes M] [--seed S] [--device NAME]

Runs random kernels on every device with a driver, or on one, and compares with the simulated device. What differs is
made small and kept in crates/tools/fuzz/cases.

cargo run --release -p xtask -- oracle [--cases N] [--seed S]

Judges N random scenarios, 5000 if it is not said, from number S on, by the checker and on the simulated device with 50
seeds each. What a seed shows and the checker does not say is made small and printed.

cargo run --release -p xtask -- brute [--cases N] [--seed S]

Compares the checker's search with brute force on N random programs, 100000 if it is not said, from number S on: two to
four threads, up to ten accesses, half of them plain. The executions, outcomes and races must be the same under every
model.

cargo run --release -p xtask -- readback [--cases N] [--seed S]

Emits N random kernels, 2000 if it is not said, half of them as PTX and half as SPIR-V, reads them back, and searches them
instruction by instruction: each must leave the bytes that its intermediate representation leaves on the simulated device.

cargo xtask assemble [--kernels N] [--arch 90]

Assembles random kernels with ptxas (.ci/ptx-tools installs it), and tells of each warning.

cargo xtask sass [--keep FOLDER]

Prints the machine code of Wattle's kernels beside nvcc's for CUDA C++ of the same kernels: instructions per element in the
inner loop, registers, occupancy. The texts are kept in the folder.

cargo xtask mutants [--shard 0/4] [--only wattle-memory]

Changes the models, the lowering table, the clocks and the orderings in one place at a time (cargo-mutants), and fails if
the crate's own tests do not notice a change that crates/tools/xtask/survivors.txt does not list.

cargo xtask algorithms

Checks the known algorithms, litmus tests and mistakes for all targets, and writes crates/apps/kernels/ALGORITHMS.md.

cargo xtask advised [WORD]...

Applies the advice on each broken scenario, or on those whose names contain a word, to its source as it is printed, builds that,
and checks that it holds.

cargo xtask stress [--minutes M] [--seed S]

Runs the public litmus files beside the checkout, those that are kernels, on every device for M minutes in all, and fails
if one shows an outcome that its model forbids.

cargo xtask pack [--output FOLDER]

Makes a folder, target/gpu if no other is named, with the programs and the script gpu.sh that tests and measures all this
on a machine with an NVIDIA GPU.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let after = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    if arguments.first().is_some_and(|first| first == "fuzz") {
        let number = |name, default: f64| after(name).map_or(Ok(default), |text| text.parse());
        let (Ok(minutes), Ok(seed)) = (number("--minutes", 1.0), number("--seed", 0.0)) else {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        };
        return fuzz::run(&fuzz::Wanted { minutes, seed: seed as u64, device: after("--device").cloned() });
    }
    if arguments.first().is_some_and(|first| first == "stress") {
        let number = |name, default: f64| after(name).map_or(Ok(default), |text| text.parse());
        let (Ok(minutes @ 0.0..), Ok(seed)) = (number("--minutes", 60.0), number("--seed", 0.0)) else {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        };
        return stress::run(minutes, seed as u64);
    }
    match arguments.first().map(String::as_str) {
        Some("algorithms") => return algorithms::run(),
        Some("sass") => return sass::run(after("--keep").map(Path::new)),
        Some("advised") => return advised::run(&arguments[1..]),
        _ => {}
    }
    if arguments.first().is_some_and(|first| first == "assemble") {
        let number = |name, default: u64| after(name).map_or(Ok(default), |text| text.parse());
        let (Ok(kernels), Ok(sm)) = (number("--kernels", 10_000), number("--arch", 90)) else {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        };
        return assemble::run(kernels, sm as u32);
    }
    type OnCases = fn(u64, u64) -> ExitCode;
    let on_cases: Option<(OnCases, u64)> = match arguments.first().map(String::as_str) {
        Some("oracle") => Some((oracle::run, 5000)),
        Some("brute") => Some((brute_force::run, 100_000)),
        Some("readback") => Some((readback::run, 2000)),
        _ => None,
    };
    if let Some((run, usual)) = on_cases {
        let number = |name, default: u64| after(name).map_or(Ok(default), |text| text.parse());
        let (Ok(cases), Ok(seed)) = (number("--cases", usual), number("--seed", 0)) else {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        };
        return run(cases, seed);
    }
    if arguments.first().is_some_and(|first| first == "mutants") {
        let [shard, only] = [after("--shard"), after("--only")].map(|value| value.map(String::as_str));
        return mutants::run(&mutants::Wanted { shard, only });
    }
    if arguments.first().is_some_and(|first| first == "pack") {
        return pack::run(Path::new(after("--output").map_or("target/gpu", String::as_str)));
    }
    let every = after("--every").map_or(Ok(1), |every| every.parse());
    let (Some("promise"), Ok(every @ 1..)) = (arguments.first().map(String::as_str), every) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let family = match (has("--guarded"), has("--mixed")) {
        (_, true) => Family::Mixed,
        (true, _) => Family::Guarded,
        _ => Family::Strong,
    };
    let only = after("--only");
    let wanted = |(a, b): &(usize, usize)| only.is_none_or(|only| *only == format!("{a}+{b}"));
    // All shapes are judged, also after one that breaks the promise, so this is not `all`.
    let broken =
        SHAPES.iter().filter(|shape| wanted(shape)).filter(|shape| !judge_shape(family, **shape, every)).count();
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
