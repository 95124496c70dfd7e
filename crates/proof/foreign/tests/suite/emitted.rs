//! What Wattle emits, read back: as PTX or SPIR-V that is emitted, read and searched instruction by instruction, each
//! scenario has the verdict, the outcomes and the number of executions that it has as lowered intermediate representation.

use std::time::Duration;

use wattle_check::checker::{Checker, Profile, Verdict};
use wattle_core::{Device, Scenario};
use wattle_kernels as _;
use wattle_memory::Target;
use wattle_spirv::Features;

/// How long a scenario is searched at the most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Scenarios that are beyond the search as PTX, and why.
const BEYOND: [(&str, &str); 3] = [
    ("ring-mpmc", "a turn of a counted loop fails in more ways than are searched"),
    ("reader-writer-lock-broken-reader-leaves-relaxed", "the search does not end within the limit"),
    ("reader-writer-lock-broken-writer-leaves-relaxed", "the search does not end within the limit"),
];

/// The PTX of a scenario's kernels without the line that names the target.
fn texts(scenario: &Scenario, sm: u32) -> Vec<String> {
    let device = Device::select("simulated").expect("it is linked");
    let target = wattle_ptx::PtxTarget::new(sm).unwatched();
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

/// Scenarios that are beyond the search as SPIR-V, and why.
const BEYOND_AS_SPIRV: [(&str, &str); 3] = [
    ("ring-mpmc", "a turn of a counted loop fails in more ways than are searched"),
    ("last-block-sum", "an `inc` is a loop of compare-exchanges, and all their orders do not end within the limit"),
    (
        "last-block-sum-textbook",
        "an `inc` is a loop of compare-exchanges, and all their orders do not end within the limit",
    ),
];

/// Scenarios with more executions as SPIR-V than as intermediate representation, and why.
const MORE_AS_SPIRV: [(&str, &str); 1] =
    [("last-block-sum-broken-block-scope", "an `inc` is a loop of compare-exchanges, whose orders count")];

/// Compares as SPIR-V for devices with these features; returns the numbers of scenarios that were compared, and of those
/// whose kernels such devices cannot run.
fn compare_as_spirv(profile: Profile, features: &Features) -> (usize, usize) {
    let (mut compared, mut lacking) = (0, 0);
    let device = Device::select("simulated").expect("it is linked");
    let is_listed = |list: &[(&str, &str)], scenario: &Scenario| list.iter().any(|(name, _)| *name == scenario.name);
    for scenario in Scenario::all().expect("their names differ") {
        if is_listed(&BEYOND_AS_SPIRV, scenario) {
            continue;
        }
        let name = format!("{} for {profile:?}", scenario.name);
        let checker = Checker::for_target(Target::Vulkan).time(PATIENCE);
        let own = checker.check_scenario(scenario, None);
        let read = checker.emitted_for(profile).check_scenario(scenario, None);
        let (own, read) = match (own, read) {
            (Ok(own), Ok(read)) => (own, read),
            // Vulkan has no system scope, and reaches no other device's memory.
            (Err(own), Err(read)) => {
                assert_eq!(own.to_string(), read.to_string(), "{name}");
                continue;
            }
            (Ok(_), Err(error)) => {
                let kernels = scenario.launched(&device, None).kernels;
                let built =
                    kernels.iter().map(|kernel| wattle_spirv::build(&kernel.build().expect("it builds"), features));
                assert!(built.into_iter().any(|built| built.is_err()), "{name}: {error}");
                lacking += 1;
                continue;
            }
            (Err(error), Ok(_)) => panic!("{name}: {error}"),
        };
        assert_eq!((read.verdict, &read.outcomes), (own.verdict, &own.outcomes), "{name}:\n{own}\n{read}");
        if own.verdict == Verdict::Holds && !is_listed(&MORE_AS_SPIRV, scenario) {
            assert_eq!(read.statistics.complete, own.statistics.complete, "{name}:\n{own}\n{read}");
        }
        compared += 1;
    }
    (compared, lacking)
}

#[test]
fn vulkan_with_all_features() {
    let (compared, lacking) = compare_as_spirv(Profile::Best, &Features::all());
    assert!(compared > 140 && lacking == 0, "{compared} compared, {lacking} lack something");
}

#[test]
fn vulkan_with_the_least_features() {
    let (compared, lacking) = compare_as_spirv(Profile::Least, &Features::least());
    assert!(compared > 130, "{compared} compared, {lacking} lack something");
}
