//! Floats of 16 bits, floats in two parts, and sizes that the host chooses.

use wattle_foreign::{Condition, Options, Verdict, World, judge, spirv};
use wattle_memory::Model;
use wattle_modules::spirv::Setting;

/// What becomes of a shader of `glsl/*.comp`, given the threads of a workgroup where they are the host's to choose.
fn judged(name: &str, local_size: Option<[u32; 3]>, arguments: &str, asserted: &str) -> Verdict {
    let path = format!("{}/tests/glsl/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let module = spirv::read(name, &std::fs::read(path).expect("the file is there")).expect("a module");
    let arguments: Vec<_> = arguments.split_whitespace().map(|one| one.parse().expect("an argument")).collect();
    let inputs = spirv::contents(&arguments);
    let (workgroups, subgroup) = ([1; 3], None);
    let setting = Setting { local_size, workgroups, subgroup, inputs, checks_indices: true, bound: None };
    let mut world: World = spirv::launch(name, &module, None, &setting).unwrap_or_else(|error| panic!("{error}"));
    let asserted = [Condition::parse(asserted, world.ranges()).expect("a condition")];
    let options = Options { model: Model::Vulkan, ..Options::default() };
    judge(&mut world, &asserted, &options).unwrap_or_else(|error| panic!("{error}")).verdict
}

/// The launch's size is that of each constant with the same `SpecId`, one of which is the execution mode's.
#[test]
fn the_host_chooses_the_size_of_a_workgroup() {
    let data = "_=u32[6]:1,2,3,4,5,6";
    assert_eq!(judged("sized", Some([3, 2, 1]), data, "_[0] == 18 && _[5] == 3"), Verdict::Holds);
    let given = format!("{data} factor=2");
    assert_eq!(judged("sized", Some([6, 1, 1]), &given, "_[0] == 12 && _[1] == 10"), Verdict::Holds);
    assert_eq!(judged("sized", None, data, "_[0] == 3 && _[1] == 2"), Verdict::Holds);
}

#[test]
fn halves_in_registers_and_floats_in_two_parts() {
    let given = |x: &str| format!("_=f16[4]:-2.5,1.75,0,0 __0=f32[5]:{x},0,0,0,0 __1=i32[1]:0");
    for asserted in [
        // 1.75 - |min(2.5, 1.75)| + 1, and -2.5 * 1.75 + 1 + 1 + 2 + 1, of which the product and the sum are rounded together.
        "_[2] == 1.0 && _[3] == 0.625",
        "__0[1] == -0.8125 && __1[0] == 3",
        "__0[2] == -0.5 && __0[3] == -6.0 && __0[4] == -13.0",
    ] {
        assert_eq!(judged("small", None, &given("-6.5"), asserted), Verdict::Holds, "{asserted}");
    }
    assert_eq!(judged("small", None, &given("0.0"), "__0[1] == 0.0 && __1[0] == 0"), Verdict::Holds);
    // The parts of an infinity are not said.
    let open = judged("small", None, &given("inf"), "__1[0] == 0");
    assert!(matches!(open, Verdict::Unknown(_)), "{open:?}");
}

#[test]
fn the_least_and_the_greatest_of_floats() {
    let given = "_=f32[2]:1 __0=f32[4]:2,-3,7,0.5";
    assert_eq!(judged("greatest", None, given, "_.least == -3.0 && _.greatest == 7.0"), Verdict::Holds);
}
