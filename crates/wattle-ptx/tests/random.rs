//! Random kernels, a hundred to a module: ptxas takes them without a warning.

mod tools;

use wattle_fuzz::{Profile, generate};
use wattle_ptx::Target;

fn assembles(sm: u32) {
    let Some(ptxas) = tools::assembler() else { return };
    let profiles = [
        Profile::full().with_system_scope(),
        Profile::full().with_faults(),
        Profile::narrow(),
        Profile::full(),
        Profile::full().sized(80),
    ];
    for first in (0..500).step_by(100) {
        let modules = (first..first + 100).map(|seed| {
            let mut case = generate(seed, &profiles[seed as usize % profiles.len()]);
            case.kernel.name = format!("random_{seed}");
            tools::module(&case.kernel, &Target::new(sm))
        });
        let modules: Vec<_> = modules.collect();
        let (said, _) = tools::assemble(&ptxas, &tools::together(&modules), sm);
        // Random kernels may need more registers than there are; a warning they never deserve.
        let complaints = tools::complaints(&said, |_| true);
        let warnings: Vec<_> = complaints.iter().filter(|line| !line.contains("spill")).collect();
        assert!(warnings.is_empty(), "sm_{sm}, seeds from {first}: {warnings:#?}");
    }
}

#[test]
fn sm_80() {
    assembles(80);
}

#[test]
fn sm_90() {
    assembles(90);
}
