//! The public corpus of SPIR-V modules with expected answers.

use std::path::Path;

use wattle_foreign::Options;
use wattle_foreign::corpus::{self, Ask};

#[test]
fn answers_are_the_expected_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/modules");
    for (list, ask) in [
        ("spirv-assertion.csv", Ask::Assertion),
        ("spirv-race.csv", Ask::Race),
        ("spirv-termination.csv", Ask::Termination("fairUniform".parse().expect("a schedule"))),
    ] {
        let Ok(text) = std::fs::read_to_string(root.join(list)) else {
            return test_skips::skipped("the public modules are not beside the checkout (../shared)");
        };
        let cases = corpus::cases(list, &text).unwrap_or_else(|error| panic!("{error}"));
        let (mut wrong, mut done) = (Vec::new(), 0);
        corpus::run(&root, ask, &cases, &Options::default(), &mut |judged| {
            done += 1;
            if !judged.passed() {
                wrong.push(judged.to_string());
            }
        });
        assert!(wrong.is_empty() && done == cases.len(), "{list}, {done} of {}: {}", cases.len(), wrong.join("\n"));
    }
}
