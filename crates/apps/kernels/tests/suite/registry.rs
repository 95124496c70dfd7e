//! The list of scenarios, and each of them on every device.

use std::collections::HashSet;
use std::time::Instant;

use wattle::{Device, DeviceKind, Error, ErrorKind, Expectation, Result, Work};
use wattle_check::Simulated as _;

#[test]
fn names_are_unique_and_documented() {
    let mut names = HashSet::new();
    for scenario in wattle_kernels::all() {
        let name = scenario.name;
        assert!(names.insert(name), "two scenarios are called {name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        assert!(scenario.documentation.contains(&format!("`{name}`")), "{name} is not named on its page");
        assert!(scenario.documentation.len() > 500, "the page of {name} says little");
        assert!(!scenario.summary.is_empty() && !scenario.summary.ends_with('.'), "{name}");
        assert_eq!(wattle_kernels::find(name).map(|found| found.name), Some(name));
    }
    assert!(wattle_kernels::find("no such scenario").is_none());
}

/// The scenarios come module by module, and in each as they stand in the file, however they were linked.
#[test]
fn they_come_in_a_fixed_order() {
    let names: Vec<&str> = wattle_kernels::all().iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), 168);
    assert_eq!(names[..2], ["deque-chase-lev", "deque-chase-lev-broken-no-take-fence"]);
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(at("publication") + 1 == at("publication-rounds") && at("publication") < at("stream"), "{names:?}");
}

/// What a report or a fault says of a statement is a place in the kernel's own file.
#[test]
fn statements_are_in_the_files_of_their_kernels() -> Result<()> {
    let mut statements = 0;
    for scenario in wattle_kernels::all() {
        let size = match scenario.work {
            Work::Fixed(_) => None,
            Work::Sized(_, sizes) => Some(sizes.proof),
        };
        for kernel in scenario.launched(&Device::simulated(0), size).kernels {
            let kernel = kernel.build()?;
            kernel.walk(&mut |stmt| {
                statements += 1;
                if let Some(site) = stmt.site() {
                    assert!(!site.file.contains("/builder/"), "{} of {}: {site:?}", kernel.name, scenario.name);
                }
            });
        }
    }
    assert!(statements > 3000, "{statements}");
    Ok(())
}

/// A broken variant is wrong, says so in its name, and stands after the right one.
#[test]
fn broken_ones_have_a_right_one() {
    let mut right = HashSet::new();
    for scenario in wattle_kernels::all() {
        match (scenario.expectation, scenario.name.split_once("-broken-")) {
            (Expectation::Holds, None) => {
                right.insert(scenario.name);
            }
            (Expectation::Refuted, Some((of, _))) => assert!(right.contains(of), "{}", scenario.name),
            (Expectation::Refuted, None) => assert!(scenario.name.ends_with("-textbook"), "{}", scenario.name),
            (Expectation::Holds, Some(_)) => panic!("{} is called broken, and holds", scenario.name),
        }
    }
}

/// Where nothing races in the interleaving that it runs, the simulated device cannot find what is wrong, and says so; in
/// all others it does.
#[test]
fn what_only_weak_memory_shows() -> Result<()> {
    let device = Device::select("simulated")?;
    let mut untold = Vec::new();
    for scenario in wattle_kernels::all().iter().filter(|scenario| scenario.expectation == Expectation::Refuted) {
        match scenario.run(&device, None).map_err(|error| matches!(error.kind(), ErrorKind::Capability { .. })) {
            Err(true) => untold.push(scenario.name),
            Err(false) => {}
            Ok(_) => panic!("{} passes", scenario.name),
        }
    }
    let expected = [
        "deque-chase-lev-broken-no-take-fence",
        "deque-chase-lev-broken-no-steal-fence",
        "lock-clh-broken-relaxed-tail",
        "dekker-broken-no-fence",
        "dekker-broken-acq-rel",
        "double-checked-broken-relaxed-flag",
        "hazard-pointer-broken-no-reader-fence",
        "hazard-pointer-broken-no-reclaimer-fence",
        "hazard-pointer-broken-no-fences",
        "hazard-pointer-broken-no-release",
        "lock-mcs-broken-no-tail-acquire",
        "peterson-broken-no-first-fence",
        "peterson-broken-no-second-fence",
        "peterson-broken-acq-rel",
        "reader-writer-lock-broken-relaxed-wait",
        "seqlock-broken-no-reader-fence",
        "seqlock-broken-no-writer-fence",
        "seqlock-broken-relaxed-first-load",
        "stack-treiber-broken-aba",
        "stack-treiber-broken-push-relaxed",
        "stack-treiber-broken-pop-relaxed",
        "block-fence-broken-no-release",
        "block-fence-broken-no-acquire",
        "iriw-broken-acquire",
        "iriw-broken-relaxed",
        "iriw-broken-one-fence",
        "isa2-broken-relaxed-middle",
        "isa2-broken-no-middle-acquire",
        "isa2-broken-no-middle-release",
        "2-plus-2-w-broken-relaxed",
        "2-plus-2-w-broken-release",
        "2-plus-2-w-broken-one-fence",
        "wrc-broken-no-release",
        "wrc-broken-no-acquire",
        "wrc-broken-block-scope",
        "z6-broken-acq-rel",
        "z6-broken-relaxed",
        "orderings-broken-no-release",
        "orderings-broken-no-acquire",
        "orderings-broken-block-scope",
        "store-buffering-broken-one-fence",
        "store-buffering-broken-acq-rel",
        "store-buffering-broken-block-scope",
        "two-queues-broken-no-release",
        "two-queues-broken-no-acquire",
        "two-queues-broken-block-scope",
        "stealing-deque-broken-no-fences",
        "stealing-deque-broken-push-fence-only",
        "stealing-deque-broken-steal-fence-only",
    ];
    assert_eq!(untold, expected);
    Ok(())
}

#[test]
fn sizes_grow() {
    for scenario in wattle_kernels::all() {
        if let Work::Sized(_, sizes) = scenario.work {
            assert!(0 < sizes.proof && sizes.proof < sizes.small && sizes.small < sizes.full, "{}", scenario.name);
        }
    }
}

/// Runs every scenario in one of its sizes; those that are to be refuted must be where the device looks closely.
fn run_all(device: &Device, size: impl Fn(wattle::Sizes) -> usize) {
    let mut lacking = 0;
    for scenario in wattle_kernels::all() {
        let begin = Instant::now();
        let size = match scenario.work {
            Work::Fixed(_) => None,
            Work::Sized(_, sizes) => Some(size(sizes)),
        };
        let ran = scenario.run(device, size);
        println!("{:>11} {:32} {:>8.1} ms  {ran:?}", device.name(), scenario.name, begin.elapsed().as_secs_f64() * 1e3);
        let closely = device.properties().kind == DeviceKind::Simulated;
        // A device with a driver may lack what a scenario needs, and says so.
        let has_driver = matches!(device.properties().kind, DeviceKind::Gpu | DeviceKind::Software);
        let lacks = |error: &Error| has_driver && matches!(error.kind(), ErrorKind::Capability { .. });
        if ran.as_ref().is_err_and(lacks) {
            lacking += 1;
            continue;
        }
        match (scenario.expectation, ran) {
            (Expectation::Refuted, Ok(_)) => assert!(!closely, "{} passes on {}", scenario.name, device.name()),
            (Expectation::Refuted, Err(error)) => {
                let shown = matches!(error.kind(), ErrorKind::Check(_));
                assert!(closely || shown, "{} on {}: {error}", scenario.name, device.name());
            }
            (Expectation::Holds, ran) => {
                let summary = ran.unwrap_or_else(|error| panic!("{} on {}: {error}", scenario.name, device.name()));
                assert!(!summary.checks.is_empty(), "{} checks nothing", scenario.name);
                assert!(!summary.did.is_empty(), "{} does not say what it did", scenario.name);
            }
        }
    }
    println!("{}: {lacking} scenarios not possible", device.name());
    assert!(lacking * 2 < wattle_kernels::all().len(), "{} can hardly run anything", device.name());
}

#[test]
fn small_on_every_device() {
    for device in Device::all() {
        run_all(&device, |sizes| sizes.small);
    }
}

#[test]
fn as_proofs_on_every_device() {
    for device in Device::all() {
        run_all(&device, |sizes| sizes.proof);
    }
}

#[test]
#[ignore = "full sizes are for release builds: cargo test --release -- --ignored"]
fn full_on_the_hosts() -> Result<()> {
    for device in Device::all() {
        let closely = device.properties().kind == DeviceKind::Simulated;
        run_all(&device, |sizes| if closely { sizes.small } else { sizes.full });
    }
    Ok(())
}

/// The simulated device with each of these seeds: other interleavings, the same findings.
#[test]
fn small_under_many_seeds() {
    let seeds = if cfg!(debug_assertions) { 4 } else { 20 };
    for seed in 1..=seeds {
        let device = Device::select(&format!("simulated:{seed}")).unwrap_or_else(|error| panic!("{error}"));
        run_all(&device, |sizes| sizes.small);
    }
}
