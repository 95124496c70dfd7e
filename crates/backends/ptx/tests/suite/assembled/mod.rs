//! Random kernels, a hundred to a module, through ptxas; for the tests, and for longer runs by an xtask.

use std::path::PathBuf;

use wattle_fuzz::{Profile, generate};
use wattle_ptx::PtxTarget;

use crate::tools;

/// The number of kernels in a module.
pub const AT_A_TIME: u64 = 100;

/// The complaints of ptxas about a hundred random kernels from seed `first` on; empty if there are none.
pub fn complaints(ptxas: &PathBuf, first: u64, sm: u32) -> Vec<String> {
    let profiles = [
        Profile::full().with_system_scope(),
        Profile::full().with_faults(),
        Profile::narrow(),
        Profile::full(),
        Profile::full().sized(80),
    ];
    let modules = (first..first + AT_A_TIME).map(|seed| {
        let mut case = generate(seed, &profiles[seed as usize % profiles.len()]);
        case.kernel.name = format!("random_{seed}");
        tools::module(&case.kernel, &PtxTarget::new(sm))
    });
    let modules: Vec<_> = modules.collect();
    let said = match tools::try_assemble(ptxas, &tools::together(&modules), sm) {
        Ok((said, _)) => said,
        // Finds the modules that ptxas refuses.
        Err(_) => {
            let alone = modules.iter().map(|module| (module, tools::try_assemble(ptxas, &module.text(), sm)));
            return alone.filter_map(|(module, code)| Some(format!("{}: {}", module.entry, code.err()?))).collect();
        }
    };
    // Random kernels may need more registers than there are, and spill; any warning is a complaint.
    let complaints = tools::complaints(&said, |_| true);
    complaints.into_iter().filter(|line| !line.contains("spill")).collect()
}
