//! What is emitted, as text: a kernel with fences, one with sequentially consistent fences in shared memory, and one
//! made for a driver with faults.

use wattle_check::Simulated as _;
use wattle_core::{Device, Work};
use wattle_spirv::{Features, Workarounds, build, disassemble};

fn text(scenario: &str, workarounds: Workarounds) -> String {
    let scenario = wattle_kernels::find(scenario).expect("a scenario");
    let size = match scenario.work {
        Work::Fixed(_) => None,
        Work::Sized(_, sizes) => Some(sizes.proof),
    };
    let features = Features { workarounds, ..Features::least() };
    let kernels = scenario.launched(&Device::simulated(0), size).kernels;
    let kernel = kernels[0].build().expect("it has been launched");
    let text = disassemble(&build(&kernel, &features).expect("32 bits are enough").words).expect("a module");
    // The text before the function is the same for all modules.
    let code = text.split_once("= OpFunction").map_or(text.as_str(), |(_, code)| code);
    code.lines().skip(1).collect::<Vec<_>>().join("\n")
}

#[test]
fn publication() {
    insta::assert_snapshot!(text("publication", Workarounds::default()));
}

#[test]
fn sequentially_consistent_fences_in_shared_memory() {
    insta::assert_snapshot!(text("store-buffering-shared", Workarounds::default()));
}

#[test]
fn loops_for_a_driver_with_faults() {
    let faults = Workarounds {
        loops_end_after: Some(65_535),
        leave_loops_at_the_head: true,
        split_fma: true,
        ..Workarounds::default()
    };
    insta::assert_snapshot!(text("publication", faults));
}
