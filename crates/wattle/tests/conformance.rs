//! What every device owes: one list of cases, run on each device that there is.
//!
//! A device that cannot run a case says why; one that no device can run is skipped, which fails in CI.
//! `WATTLE_TEST_DEVICE=cuda:0` runs them on that device alone. `WATTLE_TEST_SMALL=1` makes sizes and rounds small
//! enough for valgrind:
//!
//! ```text
//! WATTLE_TEST_SMALL=1 valgrind --error-exitcode=1 --fair-sched=yes target/debug/deps/conformance-*
//! ```

#[path = "conformance/arrays.rs"]
mod arrays;
#[path = "conformance/bad_input.rs"]
mod bad_input;
#[path = "conformance/block_threads.rs"]
mod block_threads;
#[path = "conformance/chains.rs"]
mod chains;
#[path = "conformance/clock.rs"]
mod clock;
#[path = "conformance/clocks.rs"]
mod clocks;
#[path = "conformance/clocks_over_time.rs"]
mod clocks_over_time;
#[path = "conformance/constants.rs"]
mod constants;
#[path = "conformance/contract.rs"]
mod contract;
#[path = "conformance/copies.rs"]
mod copies;
#[path = "conformance/division.rs"]
mod division;
#[path = "conformance/domains.rs"]
mod domains;
#[path = "conformance/empty.rs"]
mod empty;
#[path = "conformance/endings.rs"]
mod endings;
#[path = "conformance/equality.rs"]
mod equality;
#[path = "conformance/events.rs"]
mod events;
#[path = "conformance/everyday.rs"]
mod everyday;
#[path = "conformance/exact.rs"]
mod exact;
#[path = "conformance/faulting.rs"]
mod faulting;
#[path = "conformance/float_atomics.rs"]
mod float_atomics;
#[path = "conformance/function_parameters.rs"]
mod function_parameters;
#[path = "conformance/functions.rs"]
mod functions;
#[path = "conformance/halves.rs"]
mod halves;
#[path = "conformance/harness.rs"]
mod harness;
#[path = "conformance/in_place.rs"]
mod in_place;
#[path = "conformance/inferred_methods.rs"]
mod inferred_methods;
#[path = "conformance/kernels.rs"]
mod kernels;
#[path = "conformance/lanes.rs"]
mod lanes;
#[path = "conformance/later.rs"]
mod later;
#[path = "conformance/lines.rs"]
mod lines;
#[path = "conformance/many_queues.rs"]
mod many_queues;
#[path = "conformance/math.rs"]
mod math;
#[path = "conformance/named_alike.rs"]
mod named_alike;
#[path = "conformance/operators.rs"]
mod operators;
#[path = "conformance/over_arrays.rs"]
mod over_arrays;
#[path = "conformance/own_methods.rs"]
mod own_methods;
#[path = "conformance/panics.rs"]
mod panics;
#[path = "conformance/peers.rs"]
mod peers;
#[path = "conformance/points.rs"]
mod points;
#[path = "conformance/printing.rs"]
mod printing;
#[path = "conformance/queues.rs"]
mod queues;
#[path = "conformance/random.rs"]
mod random;
#[path = "conformance/ranks.rs"]
mod ranks;
#[path = "conformance/rows.rs"]
mod rows;
#[path = "conformance/several_views.rs"]
mod several_views;
#[path = "conformance/shapes.rs"]
mod shapes;
#[path = "conformance/shared_arrays.rs"]
mod shared_arrays;
#[path = "conformance/short_forms.rs"]
mod short_forms;
#[path = "conformance/simulated.rs"]
mod simulated;
#[path = "conformance/specialized.rs"]
mod specialized;
#[path = "conformance/struct_constants.rs"]
mod struct_constants;
#[path = "conformance/structs.rs"]
mod structs;
#[path = "conformance/truth_values.rs"]
mod truth_values;
#[path = "conformance/tuple_structs.rs"]
mod tuple_structs;
#[path = "conformance/twice.rs"]
mod twice;
#[path = "conformance/vector.rs"]
mod vector;
#[path = "conformance/waiting_tasks.rs"]
mod waiting_tasks;
#[path = "conformance/warps.rs"]
mod warps;
#[path = "conformance/wide.rs"]
mod wide;

#[test]
fn function_parameters() {
    harness::run("functions as parameters", function_parameters::CASES);
}

#[test]
fn division() {
    harness::run("divisions by constants", division::CASES);
}

#[test]
fn faulting() {
    harness::run("functions that can fail", faulting::CASES);
}

#[test]
fn short_forms() {
    harness::run("short forms of functions", short_forms::CASES);
}

#[test]
fn contract() {
    harness::run("contracted and reordered arithmetic", contract::CASES);
}

#[test]
fn struct_constants() {
    harness::run("constants that are structs", struct_constants::CASES);
}

#[test]
fn ranks() {
    harness::run("ranks", ranks::CASES);
}

#[test]
fn lines() {
    harness::run("lines", lines::CASES);
}

#[test]
fn rows() {
    harness::run("rows", rows::CASES);
}

#[test]
fn clocks() {
    harness::run("clocks", clocks::CASES);
}

#[test]
fn clocks_over_time() {
    harness::run("clocks over time", clocks_over_time::CASES);
}

#[test]
fn waiting_tasks() {
    harness::run("waiting tasks", waiting_tasks::CASES);
}

#[test]
fn queues() {
    harness::run("queues", queues::CASES);
}

#[test]
fn empty() {
    harness::run("nothing", empty::CASES);
}

#[test]
fn later() {
    harness::run("values that come later", later::CASES);
}

#[test]
fn over_arrays() {
    harness::run("loops over arrays", over_arrays::CASES);
}

#[test]
fn own_methods() {
    harness::run("methods of the user's own types", own_methods::CASES);
}

#[test]
fn tuple_structs() {
    harness::run("structs whose fields have numbers", tuple_structs::CASES);
}

#[test]
fn inferred_methods() {
    harness::run("methods whose receiver's type is inferred", inferred_methods::CASES);
}

#[test]
fn operators() {
    harness::run("operators of structs", operators::CASES);
}

#[test]
fn named_alike() {
    harness::run("methods named as the library's", named_alike::CASES);
}

#[test]
fn chains() {
    harness::run("chains of `let`", chains::CASES);
}

#[test]
fn in_place() {
    harness::run("`&mut` of parts", in_place::CASES);
}

#[test]
fn equality() {
    harness::run("equality of parts", equality::CASES);
}

#[test]
fn everyday() {
    harness::run("everyday Rust", everyday::CASES);
}

#[test]
fn many_queues() {
    harness::run("many queues", many_queues::CASES);
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
fn peers() {
    harness::run("peers", peers::CASES);
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
fn block_threads() {
    harness::run("threads of a block", block_threads::CASES);
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
fn functions() {
    harness::run("functions", functions::CASES);
}

#[test]
fn halves() {
    harness::run("floats of 16 bits", halves::CASES);
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

#[test]
fn arrays() {
    harness::run("arrays of arrays", arrays::CASES);
}

#[test]
fn constants() {
    harness::run("constants", constants::CASES);
}

#[test]
fn several_views() {
    harness::run("several views", several_views::CASES);
}

#[test]
fn printing() {
    harness::run("printing", printing::CASES);
}

#[test]
fn warps() {
    harness::run("warps", warps::CASES);
}

#[test]
fn clock() {
    harness::run("the clock", clock::CASES);
}

#[test]
fn float_atomics() {
    harness::run("atomics of floats", float_atomics::CASES);
}

#[test]
fn structs() {
    harness::run("structs", structs::CASES);
}

#[test]
fn shared_arrays() {
    harness::run("shared memory of several dimensions", shared_arrays::CASES);
}

#[test]
fn lanes() {
    harness::run("lanes", lanes::CASES);
}

#[test]
fn truth_values() {
    harness::run("truth values in memory", truth_values::CASES);
}

#[test]
fn specialized() {
    harness::run("specialized to the device", specialized::CASES);
}

#[test]
fn wide() {
    harness::run("indices of 64 bits", wide::CASES);
}
