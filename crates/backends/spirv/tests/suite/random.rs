//! Random kernels: no findings of the lint, and none of spirv-val where it is installed.

use wattle_fuzz::{Profile, generate};
use wattle_spirv::{Features, Subgroups, Workarounds, build, lint};

#[test]
fn random_kernels_are_valid_and_ordered() {
    let faults = Workarounds {
        loops_end_after: Some(65_535),
        leave_loops_at_the_head: true,
        fences_in_loops_end_blocks: true,
        split_fma: true,
        folds_wrongly: true,
        rough_rounding: true,
        pads_blocks: true,
        loses_roots: true,
        rough_conversion: true,
        rough_division: true,
        loads_miss_stores: true,
    };
    // Older versions of spirv-val do not know `MaximallyReconvergesKHR`.
    let subgroups = Subgroups { reconverges: false, in_lock_step: true, ..Features::all().subgroups };
    let all = Features { subgroups, ..Features::all() };
    let sets = [
        (all.clone(), Profile::full()),
        (Features { workarounds: faults, ..all }, Profile::full().with_faults()),
        (Features { push_constant_bytes: 0, subgroups, ..Features::least() }, Profile::narrow()),
    ];
    let mut validator = crate::val::Validator::new();
    for seed in 0..500 {
        // Each kernel is made for one of them in turn.
        let (features, profile) = &sets[seed as usize % sets.len()];
        let case = generate(seed, profile);
        let module = build(&case.kernel, features).unwrap_or_else(|lacking| panic!("seed {seed}: {lacking}"));
        assert_eq!(lint(&module.words), Ok(vec![]), "seed {seed}\n{case}");
        validator.check(&format!("seed {seed}"), &module.words);
    }
    validator.done();
}
