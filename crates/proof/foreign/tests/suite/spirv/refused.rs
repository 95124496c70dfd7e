//! What is wrong with a module, its comments or its launch is said with the line.

use wattle_foreign::spirv::{self, Answer, Header};

use super::{ask, head, module};

fn refusal(text: &str) -> String {
    let module = match spirv::read("wrong.spvasm", text.as_bytes()) {
        Ok(module) => module,
        Err(error) => return error.to_string(),
    };
    let setting = Header::read(text).expect("the comments are right").setting();
    spirv::launch("wrong.spvasm", &module, None, &setting).expect_err("it is refused").to_string()
}

#[test]
fn instructions() {
    for (body, said) in [
        ("OpFrobnicate %1\nOpReturn", "there is no instruction `OpFrobnicate`"),
        ("%x = OpIAdd %uint %1\nOpReturn", "operands do not fit"),
        ("%x = OpIAdd %uint %1 %nowhere\nOpReturn", "`%nowhere` has no value"),
        ("%x = OpImageRead %uint %1 %1\nOpReturn", "`OpImageRead` is not supported: it is of images"),
        ("OpControlBarrier %1 %1 %72\nOpReturn", "a workgroup or of a subgroup"),
        ("%x = OpAtomicIAdd %uint %data0 %7 %0 %1\nOpReturn", "this scope is not supported"),
        ("OpBranch %nowhere", "there is no label `%nowhere`"),
        ("OpStore %out0 %1", "does not end with a branch or a return"),
        ("%x = OpFunctionCall %void %main\nOpReturn", "the function calls itself"),
        ("OpStore %out0 %1 Sideways\nOpReturn", "`Sideways` is unknown here"),
        ("OpStore %1 %1\nOpReturn", "`%1` is no pointer"),
    ] {
        let text = module(&head("1, 1, 1"), "Vulkan", body);
        let refused = refusal(&text);
        assert!(refused.contains(said) && refused.starts_with("wrong.spvasm:"), "{body}: {refused}");
    }
    let text = module(&head("1, 1, 1"), "Vulkan", "OpReturn");
    for (from, to, said) in [
        ("Logical Vulkan", "Logical OpenCL", "the memory model OpenCL with addresses Logical is not supported"),
        ("Logical Vulkan", "PhysicalStorageBuffer64 Vulkan", "(GL_EXT_buffer_reference, `buffer_reference`;"),
        ("%out = {{0, 0, 0, 0}}, ", "", "its length is given at launch"),
        ("%data = {{", "%data = {{0, 0}, {", "more parts are given than it has"),
        (
            "%data = OpVariable %buffer StorageBuffer",
            "%both = OpTypeArray %block %2\n%buffers = OpTypePointer StorageBuffer %both\n\
             %data = OpVariable %buffers StorageBuffer",
            "`%data`: an array of buffers, each of which is memory of its own, is not supported",
        ),
        (
            "%data = OpVariable %buffer StorageBuffer",
            "%image = OpTypeImage %uint 2D 0 0 0 2 R32ui\n%images = OpTypePointer UniformConstant %image\n\
             %img = OpVariable %images UniformConstant\n%data = OpVariable %buffer StorageBuffer",
            "`%img` is an image, which is not supported: use a storage buffer",
        ),
        ("Binding 1", "Binding 0", "another variable has binding 0"),
        ("%data = {{", "%what = {{", "the module has no result `%what`, which is given contents"),
        ("%words = OpTypeRuntimeArray %uint", "%words = OpTypeRuntimeArray %words", "its type is declared nowhere"),
        ("%words = OpTypeRuntimeArray %uint", "%uint = OpTypeRuntimeArray %uint", "is another instruction's too"),
        ("%main \"main\"", "%other \"main\"", "there is no function `%other`"),
    ] {
        let looks = if to.contains("%img") { "%x = OpLoad %image %img\nOpReturn" } else { "OpReturn" };
        let text = text.replace("\nOpReturn", &format!("\n{looks}"));
        let refused = refusal(&text.replacen(from, to, 1));
        assert!(refused.contains(said), "{from}: {refused}");
    }
}

#[test]
fn comments() {
    for (comment, said) in [
        ("; @Config: 1, 2", "line 1: write three numbers"),
        ("; @Config: 0, 1, 1", "line 1: write three numbers"),
        ("; @Config: 1, 1, 1\n; @Config: 1, 1, 1", "line 2: there are two of it"),
        ("; @Input: x = 1", "line 1: a name begins with `%`"),
        ("; @Input: %x = {1, 2", "line 1: a `,` or a `}` is missing"),
        ("; @Input: %x = 1, %x = 2", "line 1: `%x` is given twice"),
        ("; @Output: exists (1 == 1)\n; @Output: exists (1 == 1)", "line 2: several claims of `exists`"),
        ("; @Other: 1", "line 1: `@Other` is unknown"),
    ] {
        let error = Header::read(comment).expect_err(comment).to_string();
        assert!(error.starts_with(said), "{comment}: {error}");
    }
}

#[test]
fn bytes() {
    for (bytes, said) in [
        (&[3, 2, 0x23, 7, 0, 0][..], "the module is cut off"),
        (&[0xff, 0xfe, 0, 0], "these bytes are no SPIR-V module"),
    ] {
        let error = spirv::read("wrong.spv", bytes).expect_err("it is refused").to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// What stands in one another has a limit: types, and functions, which are put in the places of their calls.
#[test]
fn long_chains_of_types_and_of_calls() {
    let types = |depth: u32| -> String {
        let next = |number: u32| format!("%s{number} = OpTypeStruct %s{0} %s{0}\n", number - 1);
        let all: String = (1..depth).map(next).collect();
        module(&head("1, 1, 1"), "Vulkan", "OpReturn")
            .replace("%gid = OpVar", &format!("%s0 = OpTypeStruct %uint\n{all}%gid = OpVar"))
    };
    assert_eq!(ask(&types(254), "race"), Answer::Yes);
    let refused = refusal(&types(2_000));
    assert!(refused.contains("more than 255 types stand in one another"), "{refused}");
    let calls = |length: u32| -> String {
        let one = |number: u32| {
            let call = match number + 1 {
                next if next == length => String::new(),
                next => format!("%r{number} = OpFunctionCall %void %f{next}\n"),
            };
            format!(
                "OpFunctionEnd\n%f{number} = OpFunction %void None %function\n%l{number} = OpLabel\n{call}OpReturn\n"
            )
        };
        let all: String = (0..length).map(one).collect();
        module(&head("1, 1, 1"), "Vulkan", &format!("%r = OpFunctionCall %void %f0\nOpReturn\n{all}"))
    };
    assert_eq!(ask(&calls(255), "race"), Answer::Yes);
    let refused = refusal(&calls(2_000));
    assert!(refused.contains("more than 256 functions are called by one another"), "{refused}");
}

/// What a module declares and nobody here knows is named beside the verdict, since it may change what instructions mean.
#[test]
fn unknown_declarations_are_named() {
    let path = format!("{}/tests/opencl/variables.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is there");
    let note = |added: &str| {
        let text = text.replacen("OpMemoryModel", &format!("{added}\nOpMemoryModel"), 1);
        let module = spirv::read("variables.spvasm", text.as_bytes()).expect("a module");
        let mut setting = spirv::Header::default().setting();
        (setting.workgroups, setting.local_size) = ([1; 3], Some([1; 3]));
        setting.inputs.extend(spirv::contents(&["out=i32[2]:0", "n=4"].map(|one| one.parse().expect("an argument"))));
        let mut world = spirv::launch("variables.spvasm", &module, Some("reads"), &setting).expect("it is launched");
        let options = wattle_foreign::Options { model: wattle_memory::Model::Vulkan, ..Default::default() };
        wattle_foreign::judge(&mut world, &[], &options).expect("it is judged").note.unwrap_or_default()
    };
    assert_eq!(note(""), "");
    assert_eq!(
        note("OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n%imported = OpExtInstImport \"NonSemantic.Mine\""),
        ""
    );
    let all = "OpCapability 31337\nOpExtension \"SPV_KHR_foo\"\n%imported = OpExtInstImport \"Bogus.ext\"";
    let named = note(all);
    for name in ["capability 31337", "extension SPV_KHR_foo", "instructions of Bogus.ext"] {
        assert!(named.contains(name), "{named}");
    }
}
