//! Every scenario's kernels, for the capabilities that matter: ptxas takes them without a warning, spills nothing, and
//! uses local memory only for arrays that are local memory.

use std::time::{Duration, Instant};

use wattle_ptx::{PtxTarget, build};

fn assembles(sm: u32) {
    let Some(ptxas) = crate::tools::assembler() else { return };
    let modules: Vec<_> =
        crate::tools::kernels().iter().map(|(_, kernel)| crate::tools::module(kernel, &PtxTarget::new(sm))).collect();
    let (said, _) = crate::tools::assemble(&ptxas, &crate::tools::together(&modules), sm);
    let in_memory = |entry: &str| modules.iter().any(|module| module.entry == entry && module.body.contains(".local "));
    let complaints = crate::tools::complaints(&said, in_memory);
    assert!(complaints.is_empty(), "sm_{sm}: {complaints:#?}");
    let memory = modules.iter().filter(|module| module.body.contains(".local ")).map(|module| module.entry.as_str());
    println!("sm_{sm}: {} modules; with local memory: {:?}", modules.len(), memory.collect::<Vec<_>>());
}

#[test]
fn sm_70() {
    assembles(70);
}

#[test]
fn sm_80() {
    assembles(80);
}

#[test]
fn sm_90() {
    assembles(90);
}

#[test]
fn sm_100() {
    assembles(100);
}

#[test]
fn sm_120() {
    assembles(120);
}

/// IR to PTX takes under a millisecond; here the times are only printed, since machines differ.
#[test]
fn how_long_it_takes() {
    let target = PtxTarget::new(90);
    let mut slowest = (Duration::ZERO, String::new());
    for (scenario, kernel) in crate::tools::kernels() {
        let best = (0..5).filter_map(|_| {
            let began = Instant::now();
            build(&kernel, &target).ok().map(|_| began.elapsed())
        });
        if let Some(best) = best.min() {
            slowest = slowest.max((best, scenario));
        }
    }
    println!("slowest: {} in {:?}", slowest.1, slowest.0);
}
