//! Scenarios under stress: what is seen is what the checker allows, as programs and as they are written.

use std::time::Duration;

use wattle_core::{Device, Scenario};
use wattle_kernels as _;
use wattle_stress::{Bench, Environment, Options, Sources, test, written};

/// The scenarios whose threads meet in few words: those that are litmus tests.
const FAMILIES: [&str; 7] = ["store-buffering", "orderings", "iriw", "isa2", "wrc", "z6", "two-plus-two-w"];

#[test]
fn the_checker_and_the_host_agree_on_every_scenario_that_is_a_litmus_test() {
    let bench = Bench::new(&Device::host()).unwrap();
    let environment: Environment = "patience=256,delay=2".parse().unwrap();
    let options = Options { most_launches: 1, environment: Some(environment), ..Options::default() };
    let of_family = |scenario: &&Scenario| FAMILIES.iter().any(|family| scenario.name.starts_with(family));
    let (mut programs, mut runs) = (0, 0);
    for scenario in Scenario::all().unwrap().iter().filter(of_family) {
        let mut sources = Sources::default();
        sources.add_scenario(scenario, Duration::from_secs(10));
        for source in &sources.tests {
            let report = test(&bench, &source.name, &source.program, Duration::ZERO, &options).unwrap().unwrap();
            assert_eq!(report.forbidden().count(), 0, "{}: {:?}", source.name, report.outcomes);
            assert!(report.instances > 0, "{}", source.name);
            programs += 1;
        }
        let report = written(&bench, scenario, Duration::from_millis(1)).unwrap();
        assert!(report.is_clean(), "{report:?}");
        runs += report.runs;
    }
    // A family that is renamed does not drop out unseen.
    assert!(programs >= 15 && runs >= 20, "{programs} programs, {runs} runs");
}
