//! Blocks whose members are numbers of several types: what they are given by name, and what assertions see in them.

use wattle_foreign::{Argument, Condition, Options, Verdict, World, judge, spirv};
use wattle_memory::Model;
use wattle_modules::spirv::Setting;

fn launched(arguments: &[&str]) -> Result<World, String> {
    launched_text(&text(), arguments)
}

fn text() -> String {
    let path = format!("{}/tests/glsl/blocks.spvasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the file is there")
}

fn launched_text(text: &str, arguments: &[&str]) -> Result<World, String> {
    let module = spirv::read("blocks.spvasm", text.as_bytes()).expect("a module");
    let arguments: Vec<Argument> = arguments.iter().map(|text| text.parse().expect("an argument")).collect();
    let setting = Setting {
        local_size: None,
        workgroups: [1; 3],
        subgroup: None,
        inputs: spirv::contents(&arguments),
        checks_indices: true,
        bound: None,
    };
    spirv::launch("blocks.spvasm", &module, None, &setting).map_err(|error| error.to_string())
}

const BLOCK: &str = "b={rest=i32[2]:4,0; count=u32:0; both={y=f32:1; x=f32:0.5}; part=f32:1.5; low=1}";

fn holds(arguments: &[&str], asserted: &str) -> bool {
    holds_of(launched(arguments).expect("it is launched"), asserted)
}

fn holds_of(mut world: World, asserted: &str) -> bool {
    let asserted = [Condition::parse(asserted, world.ranges()).expect("a condition")];
    let options = Options { model: Model::Vulkan, ..Options::default() };
    judge(&mut world, &asserted, &options).expect("it is supported").verdict == Verdict::Holds
}

#[test]
fn members_are_given_by_their_names() {
    for push in ["pc={dt=f32:0.5; n=3}", "pc={n=u32:3; dt=0.5}"] {
        let asserted = "b.count == 3 && b.part == 1.0 && b.low == -7 && b.both.y == 1.5 && b.rest[1] == -5";
        assert!(holds(&[BLOCK, push], asserted), "{push}");
    }
    // Zeros are those of every type.
    assert!(holds(&[BLOCK, "pc={dt=u32:0; n=f32:0}"], "b.count == 0 && b.part == 0.0"));
    // In the order of the scalars in memory; between `low` and `both` is padding.
    assert!(holds(&["b=i32[8]:0,0,0,0,0,0,4,0", "pc={dt=f32:0.5; n=3}"], "b.rest[1] == -5"));
}

/// A disassembler may write a number where the source has a name.
#[test]
fn names_of_the_source_are_taken_too() {
    let numbered = text().replace("%pc ", "%977 ").replace("%pc\n", "%977\n");
    assert!(!numbered.contains("%pc\n") && numbered.contains("OpName %977 \"pc\""), "{numbered}");
    for name in ["pc", "977"] {
        let given = format!("{name}={{dt=f32:0.5; n=3}}");
        let world = launched_text(&numbered, &[BLOCK, &given]).expect("it is launched");
        assert!(holds_of(world, "b.count == 3 && b.part == 1.0"), "{name}");
    }
    let refused = launched_text(&numbered, &[BLOCK, "pd=u32:3"]).err().unwrap_or_default();
    assert!(refused.contains("no result `%pd`"), "{refused}");
}

#[test]
fn assertions_see_the_types_of_the_module() {
    for block in [BLOCK, "b=f32[8]:0", "b=u32[8]:0"] {
        let given = [block, "pc={dt=f32:0.5; n=3}"];
        assert!(holds(&given, "b.low < 0") && !holds(&given, "b.low > 5"), "{block}");
        assert!(holds(&given, "b.count == 3 && b.part == 1.0"), "{block}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (push, said) in [
        ("pc={dt=f32:0.5}", "its member `n` is not given"),
        ("pc={dt=f32:0.5; n=3; m=4}", "`m` is none of its members `dt`, `n`"),
        ("pc={dt=f32:0.5; n=3; n=3}", "its member `n` is given twice"),
        ("pc={dt=u32:1; n=3}", "its member `dt`: it is f32, and u32 is given"),
        ("pc={dt=f32[2]:1; n=3}", "its member `dt`: 2 numbers are given for 1"),
        ("pc={dt={x=f32:1}; n=3}", "its member `dt`: a struct is given, and it has no members"),
        ("pc={dt=f32:0.5; n=x}", "its member `n`: `x` is no number of 32 bits"),
    ] {
        let refused = launched(&[BLOCK, push]).err().unwrap_or_default();
        assert!(refused.contains(said), "{push}: {refused}");
    }
}

/// Whoever describes a launch by options gives all that the kernel reads and cannot write; an error about an argument
/// shows the shader with the types that it takes.
#[test]
fn what_is_not_given_is_an_error_with_the_signature() {
    let signature = "The kernel is `main(buffer b: {count: u32, part: f32, low: i32, both: f32[2], rest: i32[]} (set 0, \
                     binding 0), push constants pc: {dt: f32, n: u32})`";
    let world = launched(&[BLOCK]).expect("it is launched");
    let error = spirv::all_given(&world).expect_err("the push constants are missing").to_string();
    assert!(error.contains("the kernel reads `pc`, which is not given"), "{error}");
    assert!(error.contains("--arg 'pc={dt=f32:0.5; n=u32:8}'") && error.ends_with(signature), "{error}");
    let world = launched(&[BLOCK, "pc={dt=f32:0.5; n=3}"]).expect("it is launched");
    assert_eq!(spirv::all_given(&world), Ok(()));

    for (arguments, said) in [
        (&["pc={dt=f32:0.5; n=3}"][..], "`%b`: its length is given at launch"),
        (&["pc={dt=f32:0.5; n=3}"], "--arg 'b={count=u32:8; part=f32:0.5; low=i32:8; both=f32[2]:0; rest=i32[8]:0}'"),
        (&[BLOCK, "pc={dt=f32:0.5}"], "its member `n` is not given"),
        (&[BLOCK, "pc={dt=f32:0.5; n=f32:0.5}"], "it is u32, and f32 is given"),
        (&[BLOCK, "what=3"], "the module has no result `%what`"),
    ] {
        let error = launched(arguments).expect_err(said);
        assert!(error.contains(said) && error.ends_with(signature), "{error}");
    }
}
