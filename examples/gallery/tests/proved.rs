//! Where threads talk, every execution that the memory model permits.

use wattle::prelude::*;

#[test]
fn threads_that_talk() {
    for (name, scenario, n) in [
        ("saxpy", gallery::saxpy::saxpy as fn(&Device, usize) -> Result<Summary>, 4),
        ("matrix-product", gallery::matrix_product::matrix_product, 2),
        ("n-body", gallery::n_body::n_body, 4),
        ("softmax", gallery::softmax::softmax, 2),
        ("histogram", gallery::histogram::histogram, 2),
        ("compaction", gallery::compaction::compaction, 7),
        ("bitonic-sort", gallery::bitonic_sort::bitonic_sort, 8),
        ("work-stealing", gallery::work_stealing::work_stealing, 2),
    ] {
        println!("{name}");
        Checker::new(Model::Portable).assert_holds(|device| scenario(device, n));
    }
}
