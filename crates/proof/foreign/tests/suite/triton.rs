//! Kernels of Triton (`triton/kernels.py`, compiled by Triton 3.9 with its own LLVM and without a GPU): each in its right form, and
//! some with the mistake that people make. Their last two parameters are memory that Triton's runtime may ask for.

use wattle_foreign::{Condition, Described, Launch, Options, Source, Verdict, Violation, World, judge};

fn verdict(name: &str, grid: u32, dynamic_shared: u64, arguments: &[&str], asserted: &str) -> Verdict {
    let path = format!("{}/tests/triton/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let source = Source { file: format!("{name}.ptx"), text };
    let block = Described::of(&source, None).expect("it is read").block.expect("Triton fixes the threads of a block");
    let arguments = arguments.iter().chain(&["scratch=0", "profile=0"]);
    let arguments = arguments.map(|text| text.parse().expect("an argument")).collect();
    let launch = Launch { grid: [grid, 1, 1], block, arguments, dynamic_shared };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{name}: {error}"));
    let condition = Condition::parse(asserted, world.ranges()).expect("a condition");
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}")).verdict
}

/// The lines of two accesses that race.
#[track_caller]
fn race(verdict: Verdict) -> [String; 2] {
    match verdict {
        Verdict::Violated(Violation::Race { accesses, .. }, _) => {
            let mut lines = accesses.map(|access| access.at.rsplit_once(':').expect("a column").0.to_owned());
            lines.sort();
            lines
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_softmax_by_rows() {
    let arguments = ["out=f32[128]:0.0", "x=f32[128]:1.0", "n=i32:64"];
    assert_eq!(verdict("softmax", 2, 16, &arguments, "out[5] == 0.015625 && out[127] == 0.015625"), Verdict::Holds);
    match verdict("softmax_unmasked", 2, 16, &arguments, "out[5] > 0.0") {
        Verdict::Violated(Violation::Fault { what, at, .. }, _) => {
            assert_eq!(what, "an access at byte 512 of `x`, which has 512 bytes");
            assert!(at.starts_with("kernels.py:26:"), "{at}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_total_of_two_blocks() {
    let arguments = ["out=i32[1]:0", "x=i32[256]:1"];
    assert_eq!(verdict("total", 2, 16, &arguments, "out == 256"), Verdict::Holds);
    assert_eq!(race(verdict("total_plain", 2, 16, &arguments, "out == 256")), ["kernels.py:40", "kernels.py:40"]);
}

#[test]
fn a_transposition_through_matrices_of_lanes() {
    let items: Vec<String> = (0..1024).map(|item| item.to_string()).collect();
    let given = format!("x=u16[1024]:{}", items.join(","));
    let place = |at: u32| format!("out[{at}] == {}", at % 32 * 32 + at / 32);
    let asserted: Vec<String> = (0..1024).step_by(7).map(place).collect();
    assert_eq!(verdict("transpose", 1, 2048, &["out=u16[1024]", &given], &asserted.join(" && ")), Verdict::Holds);
}

#[test]
fn copies_ahead_of_a_sum() {
    let arguments = ["out=f32[128]:0.0", "x=f32[512]:1.0", "length=i32:512"];
    assert_eq!(verdict("pipelined", 1, 1024, &arguments, "out[0] == 4.0 && out[127] == 4.0"), Verdict::Holds);
}

/// The lanes of a block read what another block has exchanged while it had the lock: an exchange whose result nobody uses reads from
/// nothing that comes behind it, though its thread does not wait for it.
#[test]
fn blocks_that_add_up_under_a_lock() {
    let arguments = ["out=f32[32]:0.0", "x=f32[64]:1.0", "lock=i32[2]:0"];
    assert_eq!(verdict("accumulate", 2, 0, &arguments, "out[0] == 2.0 && out[31] == 2.0"), Verdict::Holds);
    let lines = race(verdict("accumulate_unlocked", 2, 0, &arguments, "out[0] == 2.0"));
    assert!(lines.iter().all(|line| line.starts_with("kernels.py:8")), "{lines:?}");
}
