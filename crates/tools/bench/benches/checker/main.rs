//! The checker on programs that grow, beside loom where loom can express them: a table, and a picture of time against
//! size in `target/checker-bench.svg`.
//!
//! `cargo bench -p wattle-bench --bench checker -- FAMILY` runs the families whose names begin so. A bar that is missed
//! is marked, and nothing fails: times are no tests. `--limit SECONDS` bounds each check, `--no-loom` leaves loom
//! out, and `--model NAME` checks under another model than the portable one.

mod bars;
mod families;
mod litmus;
mod memory;
mod peers;
mod plot;

use std::path::PathBuf;
use std::time::Duration;

use bars::BARS;
use families::{FAMILIES, Family, Size};
use wattle::checker::{Report, Verdict};
use wattle::prelude::*;

/// The command's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The time limit of one check, in seconds; `--limit SECONDS` sets another.
const PATIENCE: u64 = 120;

/// The most memory that any of it may hold, in bytes.
const MOST_MEMORY: u64 = 1 << 30;

/// The most graphs that may be abandoned for each complete one, in families of locks and counters.
const MOST_ABANDONED: u64 = 3;

fn main() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().position(|argument| argument == name).map(|at| at + 1);
    let (limit, given_model) = (option("--limit"), option("--model"));
    let given = |at: Option<usize>| at.and_then(|at| arguments.get(at));
    let patience = Duration::from_secs(given(limit).map_or(Ok(PATIENCE), |seconds| seconds.parse())?);
    let model: Model = given(given_model).map_or(Ok(Model::Portable), |name| name.parse())?;
    let mut names = arguments
        .iter()
        .enumerate()
        .filter(|&(at, argument)| !argument.starts_with("--") && Some(at) != limit && given_model != Some(at));
    let wanted = names.next().map(|(_, name)| name.clone()).unwrap_or_default();
    let loom = !std::env::args().any(|argument| argument == "--no-loom");
    println!(
        "{:<24} {:>4} {:>10} {:>10} {:>11} {:>9} {:>10}   loom",
        "family", "size", "executions", "abandoned", "time", "peak", "bar"
    );
    let mut lines = Vec::new();
    for family in FAMILIES.iter().chain(&BARS).filter(|family| family.name.starts_with(&wanted)) {
        let mut points = Vec::new();
        let mut peer_points = Vec::new();
        for &(name, size) in family.sizes {
            let (report, seconds, peak) = measure(family, size, model, patience)?;
            let across = if size.threads == 64 { size.rounds as f64 } else { (size.blocks * size.threads) as f64 };
            points.push((across, seconds));
            let peer = if loom { peers::run(family.name, name) } else { None };
            println!("{}", row(family, name, &report, seconds, peak, peer.as_ref()));
            if let Some(peer) = peer.filter(|peer| peer.error.is_none()) {
                peer_points.push((across, peer.time.as_secs_f64()));
            }
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.push(plot::Line { name: family.name.to_owned(), points });
        if !peer_points.is_empty() {
            lines.push(plot::Line { name: format!("{}: loom", family.name), points: peer_points });
        }
    }
    if wanted.is_empty() || wanted == "litmus" {
        files();
    }
    let path = target().join("checker-bench.svg");
    if !lines.is_empty() {
        plot::draw(&path, &lines)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The folder where cargo puts what it makes: this program is in `target/release/deps`.
fn target() -> PathBuf {
    let here = std::env::current_exe().ok();
    let above = here.as_deref().and_then(|exe| exe.ancestors().nth(3)).map(PathBuf::from);
    above.unwrap_or_else(std::env::temp_dir)
}

/// The report, the median time of a few checks in seconds, and the most memory held, in bytes.
fn measure(family: &Family, size: Size, model: Model, patience: Duration) -> Result<(Report, f64, Option<u64>)> {
    memory::forget_peak();
    let mut times = Vec::new();
    loop {
        let checker = Checker::new(model).symmetry(family.symmetry).time(patience);
        let report = checker.check(|device| (family.work)(device, size))?;
        times.push(report.elapsed.as_secs_f64());
        if times.len() == 7 || times.iter().sum::<f64>() > 1.0 {
            times.sort_by(f64::total_cmp);
            return Ok((report, times[times.len() / 2], memory::peak()));
        }
    }
}

fn row(
    family: &Family,
    name: &str,
    report: &Report,
    seconds: f64,
    peak: Option<u64>,
    peer: Option<&peers::Explored>,
) -> String {
    let bar = family.bars.iter().find(|(size, _)| *size == name).map(|(_, bar)| *bar);
    let mut missed = Vec::new();
    if bar.is_some_and(|bar| seconds > bar) {
        missed.push("time");
    }
    if family.thrifty && report.statistics.abandoned > MOST_ABANDONED * report.statistics.complete {
        missed.push("abandoned");
    }
    if peak.is_some_and(|peak| peak > MOST_MEMORY) {
        missed.push("memory");
    }
    let missed = if missed.is_empty() { String::new() } else { format!("   MISSED: {}", missed.join(", ")) };
    let verdict = match report.verdict {
        Verdict::Holds => String::new(),
        other => format!("   {other}"),
    };
    let peer = peer.map_or(String::new(), |peer| match (&peer.error, peer.ended) {
        (Some(error), _) => format!("{} runs, {}", peer.runs, error.lines().next().unwrap_or_default()),
        (None, true) => format!("{} runs, {}", peer.runs, time(peer.time.as_secs_f64())),
        (None, false) => format!("{} runs, no end within {}", peer.runs, time(peer.time.as_secs_f64())),
    });
    format!(
        "{:<24} {name:>4} {:>10} {:>10} {:>11} {:>9} {:>10}   {peer}{missed}{verdict}",
        family.name,
        report.statistics.complete,
        report.statistics.abandoned,
        time(seconds),
        peak.map_or(String::new(), |peak| format!("{} MiB", peak >> 20)),
        bar.map_or(String::new(), |bar| format!("< {}", time(bar))),
    )
}

/// Judges the litmus files, if the folder is there.
fn files() {
    memory::forget_peak();
    let judged = litmus::run();
    if judged.is_empty() {
        return println!("no folder of litmus files: skipped");
    }
    println!("{:<24} {:>7} {:>7} {:>11} {:>11}", "litmus files", "passed", "failed", "time", "median file");
    for list in &judged {
        let (total, median) = (time(list.time.as_secs_f64()), time(list.median.as_secs_f64()));
        println!("{:<24} {:>7} {:>7} {total:>11} {median:>11}", list.name, list.passed, list.failed);
    }
    let all: Duration = judged.iter().map(|list| list.time).sum();
    let peak = memory::peak().map_or(String::new(), |peak| format!(", {} MiB", peak >> 20));
    println!("{:<24} {:>27}   bar < 5 s{peak}", "all litmus files", time(all.as_secs_f64()));
}

fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}
