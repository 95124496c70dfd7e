//! What no order of the sequentially consistent fences allows is found in no execution, finished or not.

use wattle::checker::Verdict;
use wattle::prelude::*;

/// In the second round of one block, both could pass the other's flag only if each fence came before the other one.
#[test]
fn two_rounds_of_dekker_exclude_one_another() {
    let dekker = wattle_kernels::all().iter().find(|scenario| scenario.name == "dekker").unwrap();
    let report = Checker::new(Model::Portable).check_scenario(dekker, Some(2)).unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
}
