//! What every device owes: one list of cases, run on each device that there is.
//!
//! A device that cannot run a case says why; one that no device can run is skipped, which fails in CI.
//! `WATTLE_TEST_SMALL=1` makes sizes and rounds small enough for valgrind:
//!
//! ```text
//! WATTLE_TEST_SMALL=1 valgrind --error-exitcode=1 --fair-sched=yes target/debug/deps/conformance-*
//! ```

#[path = "conformance/bad_input.rs"]
mod bad_input;
#[path = "conformance/clocks.rs"]
mod clocks;
#[path = "conformance/copies.rs"]
mod copies;
#[path = "conformance/domains.rs"]
mod domains;
#[path = "conformance/endings.rs"]
mod endings;
#[path = "conformance/events.rs"]
mod events;
#[path = "conformance/harness.rs"]
mod harness;
#[path = "conformance/kernels.rs"]
mod kernels;
#[path = "conformance/math.rs"]
mod math;
#[path = "conformance/panics.rs"]
mod panics;
#[path = "conformance/points.rs"]
mod points;
#[path = "conformance/queues.rs"]
mod queues;
#[path = "conformance/reference.rs"]
mod reference;
#[path = "conformance/shapes.rs"]
mod shapes;
#[path = "conformance/simulated.rs"]
mod simulated;

#[test]
fn clocks() {
    harness::run("clocks", clocks::CASES);
}

#[test]
fn queues() {
    harness::run("queues", queues::CASES);
}

#[test]
fn events() {
    harness::run("events", events::CASES);
}

#[test]
fn domains() {
    harness::run("domains", domains::CASES);
}

#[test]
fn copies() {
    harness::run("copies", copies::CASES);
}

#[test]
fn shapes() {
    harness::run("shapes", shapes::CASES);
}

#[test]
fn bad_input() {
    harness::run("bad input", bad_input::CASES);
}

#[test]
fn math() {
    harness::run("math", math::CASES);
}

#[test]
fn panics() {
    harness::run("panics", panics::CASES);
}

#[test]
fn endings() {
    harness::run("endings", endings::CASES);
}

#[test]
fn simulated() {
    harness::run("simulated", simulated::CASES);
}
