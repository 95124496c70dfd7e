//! Launches of ordinary size (`cuda/large.cu`, compiled as the kernels of [`crate::cuda`] are): what would be a search through
//! thousands of events is one run, a few counted ones, or a search whose stores of open places are known not to be everywhere.

use wattle_foreign::{Condition, Options, Report, Verdict, Violation, World, judge};

use crate::cuda::{launch, source};

fn report(entry: &str, [grid, block]: [u32; 2], arguments: &[&str], asserted: &str) -> Report {
    let launch = launch(grid, block, 0, arguments);
    let mut world = World::new(source("large"), Some(entry), launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse(asserted, world.ranges()).unwrap_or_else(|error| panic!("{error}"));
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{entry}: {error}"))
}

/// The lines of two accesses that race.
#[track_caller]
fn race(report: &Report) -> [u32; 2] {
    let Verdict::Violated(Violation::Race { accesses, .. }, steps) = &report.verdict else { panic!("{report:?}") };
    assert!(accesses.iter().all(|access| steps.contains(access)), "{steps:?}");
    let line = |at: &str| at.strip_prefix("large.cu:").and_then(|at| at.split(':').next()?.parse().ok());
    let mut lines = accesses.clone().map(|access| line(&access.at).unwrap_or(0));
    lines.sort_unstable();
    lines
}

/// A store to `out` at a place that follows from an atomic result is none to the counter, nor to the block's memory.
#[test]
fn blocks_that_take_their_places_from_a_counter() {
    let arguments = ["in=i32[128]:1", "out=i32[128]:0", "count=i32[1]:0", "length=i32:120"];
    let right = report("compact_right", [2, 64], &arguments, "count[0] == 120 && out[119] == 1 && out[120] == 0");
    assert_eq!(right.verdict, Verdict::Holds);
    assert!(right.statistics.abandoned <= right.statistics.complete, "{:?}", right.statistics);
    assert_eq!(race(&report("compact_early", [2, 64], &arguments, "count[0] == 120")), [14, 19]);
}

#[test]
fn tiles_of_256_threads() {
    let arguments = ["a=f32[1024]:1.0", "b=f32[512]:1.0", "c=f32[512]:0.0", "n=i32:32"];
    let right = report("multiply_right", [2, 256], &arguments, "c[0] == 32.0 && c[511] == 32.0");
    assert_eq!((right.verdict, right.statistics.complete), (Verdict::Holds, 1));
    assert_eq!(race(&report("multiply_early", [2, 256], &arguments, "c[0] == 32.0")), [39, 42]);
}

/// The first thread to run reads what the others have not written, which matters; they race with it.
#[test]
fn what_is_read_too_early_races() {
    let arguments = ["in=u32[128]:1", "out=u32[128]:0"];
    assert_eq!(race(&report("turn_early", [2, 64], &arguments, "out[0] == 1")), [91, 92]);
}

#[test]
fn the_last_of_four_blocks() {
    let arguments = ["in=u32[128]:1", "partial=u32[4]", "out=u32[1]:0", "tickets=u32[1]:0"];
    let right = report("last_right", [4, 32], &arguments, "out[0] == 128");
    assert_eq!((right.verdict, right.statistics.complete), (Verdict::Holds, 4));
    match report("last_unfenced", [2, 32], &arguments, "out[0] == 64").verdict {
        Verdict::Violated(Violation::Unwritten { place, written: Some(_), .. }, _) => assert_eq!(place, "partial[0]"),
        other => panic!("{other:?}"),
    }
}

/// Sums of floats are the same in any order where none of them rounds, and where some do they are not.
#[test]
fn sums_of_floats_in_any_order() {
    let exact = report("sum_floats", [2, 64], &["in=f32[128]:1.5", "out=f32[1]:-2.0"], "out[0] == 190.0");
    assert_eq!((exact.verdict, exact.statistics.complete), (Verdict::Holds, 1));
    let rounded =
        report("sum_floats", [1, 3], &["in=f32[3]:100000000.0,1.0,-100000000.0", "out=f32[1]:0.0"], "out[0] == 1.0");
    assert!(matches!(rounded.verdict, Verdict::Violated(Violation::Assertion { .. }, _)), "{rounded:?}");
}

/// What is wrong among many atomic accesses is shown by one of many runs.
#[test]
fn mistakes_beside_counters() {
    let arguments = ["in=u32[128]:3", "out=u32[64]:0"];
    assert_eq!(race(&report("bins_early", [2, 64], &arguments, "out[3] == 128")), [106, 107]);
    let beyond = report("places_beyond", [2, 64], &["out=u32[127]:0", "count=u32[1]:0"], "count[0] == 128").verdict;
    match beyond {
        Verdict::Violated(Violation::Fault { what, .. }, _) => {
            assert!(what.contains("`out`, which has 508 bytes"), "{what}")
        }
        other => panic!("{other:?}"),
    }
}
