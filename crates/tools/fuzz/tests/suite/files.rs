//! Cases are written to files and read back, and the files are such that people can read them.

use wattle_check::Simulated;
use wattle_core::Device;
use wattle_fuzz::{Case, Profile, generate, is_clean, outcome, replay};

#[test]
fn cases_are_read_back_as_they_were() {
    let device = Device::simulated(0);
    for seed in 0..100 {
        let case = generate(seed, &Profile::full().with_system_scope());
        let text = case.to_json().unwrap();
        let back = Case::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(case, back, "seed {seed}");
        assert_eq!(outcome(&case, &device).unwrap(), outcome(&back, &device).unwrap(), "seed {seed}");
        let lines = text.lines().count();
        let parts = case.kernel.exprs.len() + case.kernel.slots.len();
        assert!(lines < 2 * parts + 400, "seed {seed}: {lines} lines for {parts} expressions and slots");
        assert!(text.lines().all(|line| line.len() < 200), "{text}");
    }
}

#[test]
fn a_file_that_is_no_case_is_refused() {
    let case = generate(1, &Profile::narrow());
    let text = case.to_json().unwrap();
    let wrong = [
        String::new(),
        "{}".into(),
        text.replacen("\"shared_len\"", "\"shred_len\"", 1),
        text.replacen("\"arguments\": [", "\"arguments\": [{\"scalar\": {\"ty\": \"u32\", \"raw\": 1}}, ", 1),
        text.replacen("\"threads\": [", "\"threads\": [0, ", 1),
        text.replacen("random:", "nowhere", 1),
    ];
    for text in wrong {
        let error = Case::from_json(&text).expect_err("it is no case");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn the_cases_that_are_kept_are_clean() {
    for kept in replay().unwrap() {
        is_clean(&kept.case, &[0, 1, 2]).unwrap_or_else(|error| panic!("{}: {error}", kept.name));
    }
}
