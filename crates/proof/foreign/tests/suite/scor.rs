//! A public suite of scoped races, compiled by nvcc: verdicts beside the suite's labels.
//!
//! The suite asks for races of data that its own detector sees. Its data are `volatile`, which is relaxed at system scope
//! for PTX, so that under PTX's own view few of its races are one; as CUDA C++ has it, where volatile orders nothing, the
//! verdicts are the labels but for one: the detector does not ask for an acquire side.

use wattle_foreign::{Launch, Options, Report, Source, Verdict, Violation, World, judge};
use wattle_memory::Term;

/// A number that the source defines.
fn number(source: &str, name: &str) -> u32 {
    let line = source.lines().find(|line| line.starts_with(&format!("#define {name} "))).expect("the source says it");
    line.split_whitespace().last().and_then(|number| number.parse().ok()).expect("a number")
}

fn report(folder: &std::path::Path, path: &str, volatile_is_plain: bool) -> Report {
    let source = std::fs::read_to_string(folder.join(path)).expect("a CUDA file");
    let text = std::fs::read_to_string(folder.join(path).with_extension("ptx")).expect("a PTX file");
    let launch = Launch {
        grid: [number(&source, "NBLOCKS"), 1, 1],
        block: [number(&source, "TPERBLK"), 1, 1],
        arguments: vec!["data=u32[1]:0".parse().expect("an argument")],
        dynamic_shared: 0,
    };
    let source = Source { file: path.into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    world.volatile_is_plain = volatile_is_plain;
    judge(&mut world, &[], &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The one that the suite calls right although a block's second warp reads the data behind a flag without an acquire.
const NO_ACQUIRE: &str = "scor/norace_interwarp-block_fence_hrf-indirect.cu";

/// Those that race also where volatile accesses are strong: the scope of an atomic operation is too narrow.
const RACES_ANYWAY: [&str; 1] = ["scor/race_interblock_blkatom.cu"];

#[test]
fn scor() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/modules");
    let Ok(list) = std::fs::read_to_string(folder.join("scor-race.csv")) else {
        return test_skips::skipped("the public modules are not beside the checkout (../shared)");
    };
    for line in list.lines().skip(1) {
        let (path, label) = line.split_once(',').expect("two columns");
        let races = |report: &Report| match &report.verdict {
            Verdict::Holds => false,
            Verdict::Violated(Violation::Race { .. }, _) => true,
            other => panic!("{path}: {other:?}"),
        };
        let as_cuda = report(&folder, path, true);
        assert_eq!(races(&as_cuda), label == "fail" || path == NO_ACQUIRE, "{path}, volatile is plain: {as_cuda:?}");
        if path == NO_ACQUIRE {
            let Verdict::Violated(violation, _) = &as_cuda.verdict else { panic!("{as_cuda:?}") };
            let Violation::Race { reason: Some(reason), .. } = violation else { panic!("{violation:?}") };
            assert!(
                reason.sentence.contains("nothing acquires: the read at ") && reason.term == Some(Term::Acquire),
                "{reason:?}"
            );
        }
        let as_ptx = report(&folder, path, false);
        assert_eq!(races(&as_ptx), RACES_ANYWAY.contains(&path), "{path}, volatile is strong: {as_ptx:?}");
        // Who knows CUDA C++ reads why it holds.
        let said = as_ptx.note.as_ref().is_some_and(|note| note.contains("--volatile-is-plain"));
        assert_eq!(said, races(&as_cuda) && !races(&as_ptx), "{path}: {as_ptx:?}");
    }
}
