//! The proof that the generator keeps its promises: its kernels are well typed, race nowhere, and their results do not
//! depend on scheduling.

use wattle_check::Simulated;
use wattle_core::{Device, ErrorKind, FaultKind};
use wattle_fuzz::{Case, Difference, Profile, cannot, compare, differs, generate, is_clean, outcome, run};

/// Different kinds of profile; each kernel takes the next one.
fn profiles() -> [Profile; 4] {
    [
        Profile::full(),
        Profile::narrow(),
        Profile::full().with_system_scope().sized(40),
        Profile { signed_zeros: false, division_and_root: false, fma: false, ..Profile::full().sized(12) },
    ]
}

/// How many kernels to try: `WATTLE_FUZZ_KERNELS` says it, for longer checks by hand.
fn count() -> u64 {
    std::env::var("WATTLE_FUZZ_KERNELS").ok().and_then(|count| count.parse().ok()).unwrap_or(1000)
}

#[test]
fn kernels_have_no_race_and_do_not_depend_on_scheduling() {
    let mut threads = 0;
    for seed in 0..count() {
        // The same seed with all profiles would be much the same kernel.
        // Warps of 1, 2, 4 to 32 lanes.
        let profile = profiles()[seed as usize % 4].clone().with_warps(1 << (seed / 4 % 6));
        let case = generate(seed, &profile);
        check(&case, seed);
        threads += case.thread_count();
    }
    assert!(threads > 8_000, "{threads} threads are few");
}

fn check(case: &Case, seed: u64) {
    wattle_ir::verify(&case.kernel).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
    is_clean(case, &[1, 2, 3]).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
}

#[test]
fn faults_are_reported_and_change_nothing_else() {
    let profile = Profile::full().with_faults();
    let mut kinds = [0; 3];
    for seed in 0..count() / 4 {
        let case = generate(seed, &profile);
        check(&case, seed);
        let found =
            outcome(&case, &Device::simulated(0)).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
        match found.fault.map(|fault| fault.what) {
            Some(FaultKind::OutOfBounds { .. }) => kinds[0] += 1,
            Some(FaultKind::DivisionByZero) => kinds[1] += 1,
            Some(FaultKind::Assertion(_)) => kinds[2] += 1,
            _ => continue,
        }
        let error = run(&case, &Device::simulated(0)).expect_err("there was a fault before");
        assert!(matches!(error.kind(), ErrorKind::Fault(_)), "{error}");
    }
    println!("{kinds:?}");
    assert!(kinds.iter().all(|&count| count >= 5), "{kinds:?}");
}

#[test]
fn the_host_says_that_it_cannot() {
    let case = generate(0, &Profile::full());
    for device in [Device::host(), Device::host_serial()] {
        let error = run(&case, &device).expect_err("there is no function for it");
        assert!(cannot(&error), "{error}");
    }
}

#[test]
fn two_simulated_devices_agree_and_a_wrong_one_is_found() {
    let case = generate(5, &Profile::full());
    let (a, b) = (Device::simulated(1), Device::simulated(2));
    assert_eq!(differs(&case, &a, &b).unwrap(), None);
    let right = outcome(&case, &a).unwrap();
    let mut wrong = right.clone();
    wrong.buffers[0][0] ^= 1;
    let Some(Difference::Element { index: 0, count: 1, values, .. }) = compare(&case, &right, &wrong) else {
        panic!("the difference is not found");
    };
    assert_eq!(values, [right.buffers[0][0], wrong.buffers[0][0]]);
    let bytes: usize = run(&case, &a).unwrap().iter().map(Vec::len).sum();
    let expected: usize = case
        .writable_views()
        .map(|view| {
            let size: usize = view.numbers.iter().map(|ty| ty.size()).sum();
            view.value.all_contents(view.numbers.len()).len() / view.numbers.len() * size
        })
        .sum();
    assert_eq!(bytes, expected);
}
