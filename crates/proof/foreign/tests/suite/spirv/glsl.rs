//! GLSL shaders of `glsl/*.comp`, compiled by glslang 12 with `-V --target-env vulkan1.2 -g` and written as text by `spirv-dis`:
//! what is said of them.

use std::collections::HashMap;

use wattle_foreign::{Condition, Options, Report, Verdict, Violation, World, judge, spirv};
use wattle_memory::Model;
use wattle_modules::spirv::{Contents, Setting};

/// What buffers are given: their names and words.
pub type Given<'g> = &'g [(&'g str, &'g [u32])];

/// A launch of the GLSL kernel of that name.
pub fn launched(name: &str, workgroups: u32, contents: Given<'_>) -> World {
    let path = format!("{}/tests/glsl/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is there");
    let bytes = |words: &[u32]| Contents::Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect(), None);
    let inputs: HashMap<_, _> = contents.iter().map(|(name, words)| ((*name).to_owned(), bytes(words))).collect();
    let setting = Setting {
        local_size: None,
        workgroups: [workgroups, 1, 1],
        subgroup: None,
        inputs,
        checks_indices: true,
        bound: None,
    };
    let module = spirv::read(&format!("{name}.spvasm"), text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    spirv::launch(&format!("{name}.spvasm"), &module, None, &setting).unwrap_or_else(|error| panic!("{error}"))
}

/// The report on such a launch, with an assertion.
fn judged(name: &str, workgroups: u32, contents: Given<'_>, asserted: &str) -> Report {
    let mut world = launched(name, workgroups, contents);
    let asserted = [Condition::parse(asserted, world.ranges()).expect("a condition")];
    judge(&mut world, &asserted, &Options { model: Model::Vulkan, ..Options::default() }).expect("it is supported")
}

/// glslang writes no line behind the `?:` whose value is stored.
#[test]
fn a_statement_goes_on_behind_its_condition() {
    let report = judged("padded", 1, &[("_", &[1, 2, 3, 4]), ("__0", &[0, 0, 0, 0])], "__0[0] == 2");
    let Verdict::Violated(Violation::Race { accesses, .. }, _) = &report.verdict else { panic!("{report:?}") };
    let mut at: Vec<&str> = accesses.iter().map(|access| access.at.as_str()).collect();
    at.sort_unstable();
    assert_eq!(at, ["padded.comp:10", "padded.comp:8"]);
}

#[test]
fn vectors_in_words() {
    let expected = [0xc1003c00_u32, 0xff33ff00, 0x00817f81, 0x0000ffff, 0x7fff8001, 5, 102, 1, 1, 4];
    for (at, word) in expected.iter().enumerate() {
        let asserted = format!("_[{at}] == {word}");
        assert_eq!(judged("packing", 1, &[("_", &[0; 12])], &asserted).verdict, Verdict::Holds, "{asserted}");
    }
    // 0.1 lies between two numbers of 16 bits, and a device takes either; so it does of 127.5.
    for asserted in ["_[10] == 1006659174", "_[11] == 128"] {
        let verdict = judged("packing", 1, &[("_", &[0; 12])], asserted).verdict;
        assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    }
}

#[test]
fn products_of_matrices() {
    // b has the columns (1, 2, 3) and (4, 5, 6), so that a = ((1, 4), (2, 5), (3, 6)); v = (1, 0, 2) and w = (1, 10).
    let floats = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let (a, b) = (vec![0.0; 6], vec![1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
    let (v, w, rest) = (vec![1.0, 0.0, 2.0, 0.0], vec![1.0, 10.0, 0.0, 0.0], vec![0.0; 40]);
    let words = floats(&[a, vec![0.0; 2], b, v, w, rest].concat());
    for asserted in [
        "m.a[1][0] == 2.0 && m.a[1][1] == 5.0",
        "m.av.x == 7.0 && m.av.y == 16.0",
        "m.wa.x == 41.0 && m.wa.y == 52.0 && m.wa.z == 63.0",
        "m.both[0][0] == 14.0 && m.both[0][1] == 32.0 && m.both[1][0] == 32.0 && m.both[1][1] == 77.0",
        "m.outer[0][0] == 2.0 && m.outer[0][2] == 4.0 && m.outer[1][2] == 2.0 && m.outer[2][0] == 3.0 && m.outer[2][1] == 0.0",
        "m.halved[1][0] == 2.0 && m.halved[1][2] == 3.0",
    ] {
        assert_eq!(judged("matrix", 1, &[("m", &words)], asserted).verdict, Verdict::Holds, "{asserted}");
    }
}

#[test]
fn a_race_says_what_a_barrier_is_not_about() {
    let sentence = |name: &str, given: Given<'_>| {
        let mut world = launched(name, 1, given);
        let options = Options { model: Model::Vulkan, ..Options::default() };
        let report = judge(&mut world, &[], &options).expect("it is supported");
        let Verdict::Violated(violation, _) = report.verdict else { panic!("{report:?}") };
        violation.sentence(&world)
    };
    let both: Given<'_> = &[("_", &[0, 0]), ("__0", &[0, 0])];
    let of_buffers = sentence("barrier", both);
    let said = "the barrier at barrier.comp:11 orders the memory of the workgroup alone, and before it and behind it no fence \
                orders buffers";
    assert!(of_buffers.contains(said), "{of_buffers}");
    let private = sentence("private", both);
    let said = "private.comp:10 is a private one (in GLSL: of memory that is not declared `coherent`)";
    assert!(private.contains(said), "{private}");
    let without = sentence("padded", &[("_", &[1, 2, 3, 4]), ("__0", &[0, 0, 0, 0])]);
    assert!(!without.contains("private"), "{without}");
}

/// SPV_KHR_workgroup_memory_explicit_layout: variables of a workgroup that are laid out share their memory.
#[test]
fn blocks_of_shared_memory_are_one() {
    let report = judged("alias", 1, &[("_", &[0; 4])], "_[0] == 1 && _[1] == 2 && _[2] == 3 && _[3] == 4");
    assert_eq!(report.verdict, Verdict::Holds);
}

/// A thread of a workgroup waits for another one: it holds if each is scheduled again and again, which Vulkan does not promise.
#[test]
fn a_lock_in_a_workgroup_rests_on_progress() {
    let given: Given<'_> = &[("_", &[0]), ("__0", &[0])];
    let within = judged("lock", 1, given, "__0[0] == 2");
    assert_eq!(within.verdict, Verdict::Holds);
    let note = within.note.expect("a note");
    assert!(note.starts_with("where lock.comp:6 waits for lock.comp:11, both threads are of one workgroup"), "{note}");
}

/// The type that contents are given as says nothing of what a buffer holds: the module does.
#[test]
fn buffers_hold_what_the_module_says() {
    let launched = |given: &str| {
        let path = format!("{}/tests/glsl/matrix.spvasm", env!("CARGO_MANIFEST_DIR"));
        let module = spirv::read("matrix.spvasm", &std::fs::read(path).expect("the file is there")).expect("a module");
        let inputs = spirv::contents(&[given.parse().expect("an argument")]);
        let (workgroups, subgroup) = ([1; 3], None);
        let setting = Setting { local_size: None, workgroups, subgroup, inputs, checks_indices: true, bound: None };
        spirv::launch("matrix.spvasm", &module, None, &setting).map_err(|error| error.to_string())
    };
    let mut zeros = launched("m=u32[64]:0").expect("a zero is that of every type");
    let asserted = [Condition::parse("m.av.x < 0.5", zeros.ranges()).expect("a condition")];
    let options = Options { model: Model::Vulkan, ..Options::default() };
    assert_eq!(judge(&mut zeros, &asserted, &options).expect("it is supported").verdict, Verdict::Holds);
    let said = launched("m=u32[64]:1").expect_err("they are floats");
    assert!(said.contains("each of its items is f32, and u32 is given"), "{said}");
}

/// What a loop adds up of what it reads is the same where an iteration finds nothing: that iteration is one that waits.
#[test]
fn a_sum_in_a_loop_that_waits() {
    let given: Given<'_> = &[("F", &[0; 9]), ("O", &[9; 3])];
    let report = judged("lookback", 3, given, "O.found[0] == 0 && O.found[1] == 1 && O.found[2] == 3");
    assert_eq!(report.verdict, Verdict::Holds);
}

#[test]
fn matrices_by_rows() {
    // m has the rows (1, 2, 3) and (4, 5, 6), 16 bytes apart, and both[1] the rows (7, 8) and (9, 10).
    let floats = [1.0f32, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 8.0, 9.0, 10.0];
    let mut words: Vec<u32> = floats.iter().map(|value| value.to_bits()).collect();
    words.resize(21, 0);
    for asserted in [
        "b.av.x == 321.0 && b.av.y == 654.0",
        "b.column.x == 2.0 && b.column.y == 5.0 && b.one == 9.0",
        "b.both[0][0][0] == 7.0 && b.both[0][0][1] == 8.0 && b.both[0][1][0] == 9.0 && b.both[0][1][1] == 10.0",
        "b.m[2][1] == 9.0 && b.m[1][1] == 5.0 && b.m[2][0] == 3.0",
    ] {
        assert_eq!(judged("rows", 1, &[("b", &words)], asserted).verdict, Verdict::Holds, "{asserted}");
    }
}
