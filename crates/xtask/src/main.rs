//! Checks that take too long for every change.
//!
//! `cargo run --release -p xtask -- promise [--guarded] [--mixed] [--every N] [--up-to 3+2]` judges all small programs
//! of two threads on all targets; see `crates/wattle-check/tests/small/mod.rs`. `--every N` takes every Nth thread.

#[path = "../../wattle-check/tests/script/mod.rs"]
mod script;
#[path = "../../wattle-check/tests/small/mod.rs"]
mod small;
#[path = "../../wattle-check/tests/source/mod.rs"]
mod source;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use small::judge::{Count, judge};
use small::{Family, Programs, shapes};

const PARTS: u64 = 4096;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    if arguments.first().is_none_or(|first| first != "promise") {
        eprintln!("cargo run --release -p xtask -- promise [--guarded] [--mixed] [--every N] [--up-to 3+2] [--count]");
        return ExitCode::from(2);
    }
    let family = match (has("--guarded"), has("--mixed")) {
        (_, true) => Family::Mixed,
        (true, _) => Family::Guarded,
        _ => Family::Strong,
    };
    let every = after("--every").and_then(|every| every.parse().ok()).unwrap_or(1);
    let up_to = after("--up-to").map_or("3+3", |shape| shape);
    let mut sound = true;
    for shape in shapes() {
        sound &= judge_shape(family, shape, every, has("--count"));
        if format!("{}+{}", shape.0, shape.1) == up_to {
            break;
        }
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Judges all programs with threads of those lengths, on all cores; whether all keep the promise.
fn judge_shape(family: Family, shape: (usize, usize), every: u64, count_only: bool) -> bool {
    let start = Instant::now();
    let programs = Programs::new(family, shape);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let total = Mutex::new((Count::default(), Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, |workers| workers.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= PARTS {
                        return;
                    }
                    let bound = |part: u64| programs.len() * part / PARTS;
                    let (mut count, mut errors) = (Count::default(), Vec::new());
                    for number in (bound(part)..bound(part + 1)).filter(|number| number.is_multiple_of(every)) {
                        let Some(threads) = programs.get(number) else { continue };
                        if count_only {
                            count.programs += 1;
                        } else if let Err(error) = judge(&threads, &mut count) {
                            errors.push(error);
                        }
                        if errors.len() > 2 {
                            break;
                        }
                    }
                    let judged = done.fetch_add(count.programs, Ordering::Relaxed) + count.programs;
                    let Ok(mut total) = total.lock() else { return };
                    total.0.add(&count);
                    total.1.extend(errors);
                    if part % 256 == 255 && !count_only {
                        eprintln!("  {}+{}: {judged} programs, part {part} of {PARTS}, {:.0?}", shape.0, shape.1, start.elapsed());
                    }
                    if total.1.len() > 8 {
                        return;
                    }
                }
            });
        }
    });
    let Ok((count, errors)) = total.into_inner() else { return false };
    println!(
        "{family:?} {}+{}, every {every} of {}: {count:?} in {:.1?}",
        shape.0,
        shape.1,
        programs.len(),
        start.elapsed()
    );
    errors.iter().take(4).for_each(|error| println!("{error}"));
    errors.is_empty()
}
