//! Every scenario's kernels, for the best device, the least, and those with faults: no findings of the lint, and none
//! of spirv-val where it is installed.

use std::time::{Duration, Instant};

use wattle_check::Simulated as _;
use wattle_core::{Device, Work};
use wattle_spirv::{Features, Lacking, Workarounds, build, lint};

fn features() -> Vec<Features> {
    let lavapipe = Workarounds {
        loops_end_after: Some(65_535),
        leave_loops_at_the_head: true,
        split_fma: true,
        rough_conversion: true,
        folds_wrongly: true,
        rough_rounding: true,
        ..Workarounds::default()
    };
    vec![
        Features::all(),
        Features::least(),
        Features { workarounds: lavapipe, ..Features::all() },
        Features { push_constant_bytes: 0, ..Features::all() },
        Features { workarounds: Workarounds { rough_division: true, ..Workarounds::default() }, ..Features::all() },
    ]
}

fn kernels() -> Vec<(String, wattle_ir::Kernel)> {
    let device = Device::simulated(0);
    let mut kernels = Vec::new();
    for scenario in wattle_kernels::all() {
        let size = match scenario.work {
            Work::Fixed(_) => None,
            Work::Sized(_, sizes) => Some(sizes.proof.min(sizes.small)),
        };
        for kernel in scenario.launched(&device, size).kernels {
            kernels.push((scenario.name.to_owned(), kernel.build().expect("it has been launched")));
        }
    }
    assert!(kernels.len() > 60, "only {} kernels", kernels.len());
    kernels
}

#[test]
fn all_are_valid_and_ordered() {
    let kernels = kernels();
    let mut checker = crate::val::Validator::new();
    let (mut built, mut lacking) = (0, 0);
    for features in features() {
        for (scenario, kernel) in &kernels {
            match build(kernel, &features) {
                Ok(module) => {
                    built += 1;
                    let name = format!("{scenario} ({}), {:?}", kernel.name, features.workarounds);
                    assert_eq!(lint(&module.words), Ok(vec![]), "{name}");
                    assert_eq!(crate::redundant::redundant(&module.words), [""; 0], "{name}");
                    checker.check(&name, &module.words);
                }
                Err(Lacking::Scope { .. } | Lacking::Type { .. } | Lacking::Atomic { .. }) => lacking += 1,
                Err(other) => panic!("{scenario}: {other}"),
            }
        }
    }
    checker.done();
    println!("{built} modules, {lacking} refused for what the device lacks");
    assert!(built > 3 * lacking);
}

/// IR to SPIR-V takes under a millisecond; here the times are only printed, since machines differ.
#[test]
fn how_long_it_takes() {
    let features = Features::all();
    let mut slowest = (Duration::ZERO, String::new());
    for (scenario, kernel) in kernels() {
        let best = (0..5).filter_map(|_| {
            let began = Instant::now();
            build(&kernel, &features).ok().map(|_| began.elapsed())
        });
        if let Some(best) = best.min() {
            slowest = slowest.max((best, scenario));
        }
    }
    println!("slowest: {} in {:?}", slowest.1, slowest.0);
}
