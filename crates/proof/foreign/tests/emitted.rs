//! What Wattle emits, read back: as PTX that is emitted, read and searched instruction by instruction, each scenario has the
//! verdict, the outcomes and the number of executions that it has as lowered intermediate representation.

use std::time::Duration;

use wattle_check::checker::{Checker, Verdict};
use wattle_core::{Device, Scenario};
use wattle_kernels as _;
use wattle_memory::Target;

/// How long a scenario is searched at the most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Scenarios that are beyond the search in this form, and why.
const BEYOND: [(&str, &str); 3] = [
    ("ring-mpmc", "a turn of a counted loop fails in more ways than are searched"),
    ("reader-writer-lock-broken-reader-leaves-relaxed", "the search does not end within the limit"),
    ("reader-writer-lock-broken-writer-leaves-relaxed", "the search does not end within the limit"),
];

/// The PTX of a scenario's kernels without the line that names the target.
fn texts(scenario: &Scenario, sm: u32) -> Vec<String> {
    let device = Device::select("simulated").expect("it is linked");
    let target = wattle_ptx::Target::new(sm).unwatched();
    let kernels = scenario.launched(&device, None).kernels;
    let built = kernels.iter().filter_map(|kernel| wattle_ptx::build(&kernel.build().ok()?, &target).ok());
    built.map(|module| module.body).collect()
}

fn compare(sm: u32, is_meant: impl Fn(&Scenario) -> bool) -> usize {
    let mut compared = 0;
    for scenario in Scenario::all().expect("their names differ").iter().filter(|scenario| is_meant(scenario)) {
        if BEYOND.iter().any(|(name, _)| *name == scenario.name) {
            continue;
        }
        let checker = Checker::for_target(Target::Ptx { sm }).time(PATIENCE);
        let name = format!("{} for sm_{sm}", scenario.name);
        let own = checker.check_scenario(scenario, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        let read = checker.emitted().check_scenario(scenario, None);
        let read = read.unwrap_or_else(|error| panic!("{name}, emitted: {error}"));
        assert_eq!((read.verdict, &read.outcomes), (own.verdict, &own.outcomes), "{name}:\n{own}\n{read}");
        if own.verdict == Verdict::Holds {
            assert_eq!(read.statistics.complete, own.statistics.complete, "{name}:\n{own}\n{read}");
        }
        compared += 1;
    }
    compared
}

#[test]
fn newest() {
    assert!(compare(90, |_| true) > 150);
}

/// Before sm_90 there are no one-sided fences; other kernels are the same text.
#[test]
fn older() {
    let differs = |scenario: &Scenario| texts(scenario, 80) != texts(scenario, 90);
    assert!(compare(80, differs) > 50);
    let differs = |scenario: &Scenario| texts(scenario, 70) != texts(scenario, 80);
    compare(70, differs);
}
