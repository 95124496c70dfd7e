//! Kernels that people know, written in CUDA C++ (`cuda/*.cu`) and compiled by nvcc 13.5 with
//! `-ptx -lineinfo -arch=sm_90` (`cuda/*.ptx`, where file names have lost their folders): each in its right form and with
//! the mistake that people make.

use wattle_foreign::{Condition, Launch, Options, Report, Source, Verdict, Violation, World, judge};

/// A launch of a kernel in one of the files.
struct Case {
    file: &'static str,
    grid: u32,
    block: u32,
    dynamic_shared: u64,
    arguments: &'static [&'static str],
    assert: &'static str,
}

/// The module in one of the files.
pub fn source(file: &str) -> Source {
    let path = format!("{}/tests/cuda/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    Source { file: format!("{file}.ptx"), text: std::fs::read_to_string(&path).expect("the file is there") }
}

/// A launch of blocks and threads in one dimension.
pub fn launch(grid: u32, block: u32, dynamic_shared: u64, arguments: &[&str]) -> Launch {
    let arguments = arguments.iter().map(|text| text.parse().expect("an argument")).collect();
    Launch { grid: [grid, 1, 1], block: [block, 1, 1], arguments, dynamic_shared }
}

/// Asserts that the verdict is a race of accesses at two lines of a file.
#[track_caller]
pub fn race_at(report: &Report, file: &str, lines: [u32; 2]) {
    let Verdict::Violated(Violation::Race { accesses, .. }, _) = &report.verdict else { panic!("{report:?}") };
    let mut found = accesses.clone().map(|access| access.at);
    found.sort();
    let expected = lines.map(|line| format!("{file}.cu:{line}:"));
    let agree = found.iter().zip(&expected).all(|(at, line)| at.starts_with(line));
    assert!(agree, "{found:?}, and not {expected:?}");
}

fn report(case: &Case, entry: &str) -> Report {
    let launch = launch(case.grid, case.block, case.dynamic_shared, case.arguments);
    let mut world =
        World::new(source(case.file), Some(entry), launch).unwrap_or_else(|error| panic!("{}: {error}", case.file));
    let condition = Some(case.assert).filter(|text| !text.is_empty());
    let condition =
        condition.map(|text| Condition::parse(text, world.ranges()).unwrap_or_else(|error| panic!("{error}")));
    judge(&mut world, condition.as_slice(), &Options::default())
        .unwrap_or_else(|error| panic!("{}: {error}", case.file))
}

/// Asserts that the right form holds, and that the other one, in one block of `block` threads or in the same shape, shows
/// a race between these two lines.
#[track_caller]
fn judged(case: &Case, wrong: &str, block: Option<u32>, race: [u32; 2]) {
    let right = report(case, "right");
    assert_eq!(right.verdict, Verdict::Holds, "{}", case.file);
    let small = Case { grid: block.map_or(case.grid, |_| 1), block: block.unwrap_or(case.block), assert: "", ..*case };
    match report(&small, wrong).verdict {
        Verdict::Violated(Violation::Race { accesses, .. }, _) => {
            let line = |at: &str| at.strip_prefix(case.file)?.strip_prefix(".cu:")?.split(':').next()?.parse().ok();
            let mut lines: [Option<u32>; 2] = accesses.map(|access| line(&access.at));
            lines.sort();
            assert_eq!(lines, race.map(Some), "{}", case.file);
        }
        other => panic!("{} {wrong}: {other:?}", case.file),
    }
}

#[test]
fn reduction() {
    let case = Case {
        file: "reduction",
        grid: 2,
        block: 2,
        dynamic_shared: 0,
        arguments: &["in=f32[4]:1.0,2.0,3.0,4.0", "parts=f32[2]", "out=f32[1]:0.0"],
        assert: "out[0] == 10.0",
    };
    assert_eq!(report(&case, "right").verdict, Verdict::Holds);
    // The parts are volatile, so that PTX has no race: the old value is read.
    match report(&case, "published").verdict {
        Verdict::Violated(Violation::Unwritten { read, .. }, _) => {
            assert!(read.at.starts_with("reduction.cu:23:"), "{read:?}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn grid_barrier() {
    let case = Case {
        file: "grid_barrier",
        grid: 2,
        block: 2,
        dynamic_shared: 0,
        arguments: &["from=i32[2]", "to=i32[2]:0"],
        assert: "to[0] == 2 && to[1] == 1",
    };
    judged(&case, "unfenced", None, [9, 22]);
}

#[test]
fn lookback() {
    let case = Case {
        file: "lookback",
        grid: 3,
        block: 1,
        dynamic_shared: 0,
        arguments: &["in=i32[3]:1,2,3", "sums=i32[3]", "state=i32[3]:0", "out=i32[3]:0"],
        assert: "out[2] == 6",
    };
    judged(&case, "unfenced", None, [12, 16]);
}

#[test]
fn two_sums_of_a_block() {
    let case = Case {
        file: "reduce_twice",
        grid: 2,
        block: 64,
        dynamic_shared: 256,
        arguments: &["a=i32[128]:1", "b=i32[128]:2", "out=i32[2]:0"],
        assert: "out[0] == 64128 && out[1] == 64128",
    };
    judged(&case, "hasty", Some(2), [9, 16]);
}

#[test]
fn warp_sum() {
    let case = Case {
        file: "warp_sum",
        grid: 1,
        block: 8,
        dynamic_shared: 0,
        arguments: &["in=i32[8]:1,2,3,4,5,6,7,8", "out=i32[1]:0"],
        assert: "out[0] == 36",
    };
    judged(&case, "in_step", None, [11, 14]);
}

#[test]
fn spin_lock() {
    let case = Case {
        file: "spin_lock",
        grid: 1,
        block: 3,
        dynamic_shared: 0,
        arguments: &["counter=i32[1]:0"],
        assert: "counter == 3",
    };
    judged(&case, "textbook", None, [12, 12]);
}

#[test]
fn ticket_lock() {
    let case = Case {
        file: "ticket_lock",
        grid: 4,
        block: 1,
        dynamic_shared: 0,
        arguments: &["counter=i32[1]:0"],
        assert: "counter == 4",
    };
    judged(&case, "unfenced", None, [13, 13]);
}

#[test]
fn tiles() {
    let case = Case {
        file: "tiles",
        grid: 2,
        block: 64,
        dynamic_shared: 0,
        arguments: &["in=f32[384]:0.5", "out=f32[128]:0.0", "tiles=3"],
        assert: "out[0] == 1.5 && out[127] == 1.5",
    };
    judged(&case, "clearing", Some(2), [13, 15]);
}

#[test]
fn histogram() {
    let case = Case {
        file: "histogram",
        grid: 2,
        block: 4,
        dynamic_shared: 0,
        arguments: &["in=u8[16]:1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0", "bins=u32[4]:0", "length=16"],
        assert: "bins[0] == 4 && bins[3] == 4",
    };
    judged(&case, "hasty", Some(4), [8, 12]);
}

#[test]
fn compaction() {
    let case = Case {
        file: "compaction",
        grid: 2,
        block: 2,
        dynamic_shared: 0,
        arguments: &["in=i32[4]:7,0,7,7", "out=i32[4]:0", "count=i32[1]:0", "length=4"],
        assert: "count == 3 && out[2] == 7",
    };
    judged(&case, "racy", None, [8, 8]);
}

#[test]
fn shuffles() {
    let case = Case {
        file: "shuffle",
        grid: 1,
        block: 8,
        dynamic_shared: 0,
        arguments: &["in=i32[8]:1,2,3,4,5,6,7,9", "out=i32[3]:0"],
        assert: "out[0] == 37 && out[1] == 213 && out[2] == 9",
    };
    judged(&case, "unordered", None, [13, 19]);
}

/// A kernel that races at thousands of accesses is wrong at once: one execution shows it.
#[test]
fn a_race_is_found_where_graphs_are_large() {
    let arguments = ["in=f32[64]:0.5", "out=f32[32]:0.0", "tiles=2"];
    let mut world =
        World::new(source("tiles"), Some("one_buffer"), launch(1, 32, 0, &arguments)).expect("it is supported");
    let mut options = Options::default();
    options.limits.deadline = Some(std::time::Instant::now() + std::time::Duration::from_secs(20));
    match judge(&mut world, &[], &options).expect("it is supported").verdict {
        Verdict::Violated(Violation::Race { accesses, .. }, _) => {
            let mut lines = accesses.map(|access| access.at.clone());
            lines.sort();
            assert!(lines[0].starts_with("tiles.cu:34:") && lines[1].starts_with("tiles.cu:37:"), "{lines:?}");
        }
        other => panic!("{other:?}"),
    }
}
