//! What is emitted, as text: a kernel with fences for an architecture that has one-sided ones and for one that has not,
//! one with sequentially consistent fences in shared memory, one with barriers, and one with vector loads.

use wattle_check::Simulated as _;
use wattle_core::{Device, Work};
use wattle_ptx::PtxTarget;

fn text(scenario: &str, target: PtxTarget) -> String {
    let scenario = wattle_kernels::find(scenario).expect("a scenario");
    let size = match scenario.work {
        Work::Fixed(_) => None,
        Work::Sized(_, sizes) => Some(sizes.proof),
    };
    let kernels = scenario.launched(&Device::simulated(0), size).kernels;
    let kernel = kernels[0].build().expect("it has been launched");
    crate::tools::module(&kernel, &target).text()
}

#[test]
fn publication() {
    insta::assert_snapshot!(text("publication", PtxTarget::new(90)));
}

#[test]
fn publication_without_one_sided_fences() {
    insta::assert_snapshot!(text("publication", PtxTarget::new(80)));
}

#[test]
fn one_sided_fences_need_a_version_that_has_them() {
    let (new, old) = (PtxTarget::new(90), PtxTarget::new(90).with_ptx(8, 5));
    assert!(text("publication", new).contains("fence.release.gpu"));
    let old = text("publication", old);
    assert!(old.contains("fence.acq_rel.gpu") && !old.contains("fence.release"), "{old}");
}

#[test]
fn sequentially_consistent_fences_in_shared_memory() {
    insta::assert_snapshot!(text("store-buffering-shared", PtxTarget::new(90)));
}

#[test]
fn barriers() {
    insta::assert_snapshot!(text("block-scan", PtxTarget::new(90)));
}

#[test]
fn vector_loads_and_faults() {
    insta::assert_snapshot!(crate::tools::shortened(&text("last-block-sum", PtxTarget::new(90).with_max_threads(256))));
}
