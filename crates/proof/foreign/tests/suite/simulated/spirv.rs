//! SPIR-V modules on the simulated device: races by Vulkan's scopes and storage classes, values that nothing fixes.

use wattle_check::Simulated as _;
use wattle_core::{Device, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

use super::{compared, holds, refuted};
use crate::launched;

#[test]
fn a_counter() {
    let left = |device: &Device, text: &str| launched::scenario(device, text).map(|()| String::new());
    let atomic = launched::module(launched::ATOMIC, "");
    holds(Model::Vulkan, 20, "", &|device| left(device, &atomic));
    let plain = launched::module(launched::PLAIN, "");
    let texts = ["data race on counter:", "count.spvasm:", "of kernel `count`"];
    // The scenario's own assertion fails on no seed before the race is reported.
    refuted(Model::Vulkan, 20, &texts, &|device| left(device, &plain));
}

/// A module of GLSL in `glsl/*.spvasm`, whose buffers have two words of zeros each.
fn glsl(device: &Device, name: &str, buffers: usize, shape: [usize; 2]) -> Result<String> {
    let path = format!("{}/tests/glsl/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let kernel = Module::spirv_file(format!("{name}.spvasm"), text)?.kernel("main")?;
    let queue = device.queue()?;
    let [a, b, c] = [device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?];
    let shape = ThreadSpec::new(shape[0], shape[1]);
    match buffers {
        1 => queue.launch(shape, kernel.args((&a,)))?,
        2 => queue.launch(shape, kernel.args((&a, &b)))?,
        _ => queue.launch(shape, kernel.args((&a, &b, &c)))?,
    }
    Ok(format!("{:?}", [a.read(&queue)?, b.read(&queue)?, c.read(&queue)?]))
}

#[test]
fn mistakes_of_glsl() {
    let cases: [(&str, usize, [usize; 2], &str); 5] = [
        // Its barrier orders the memory of the workgroup alone.
        ("barrier", 2, [1, 2], "data race"),
        // Its words are not declared to be seen by other threads.
        ("neighbours", 2, [1, 2], "data race"),
        ("turn", 1, [1, 2], ""),
        ("publish", 3, [2, 1], "data race"),
        ("semantics", 3, [2, 1], "data race"),
    ];
    for (name, buffers, shape, text) in cases {
        // Debug information names lines of GLSL.
        let file = format!("{name}.");
        refuted(Model::Vulkan, 30, &[text, &file], &|device| glsl(device, name, buffers, shape));
    }
}

/// One workgroup of two threads, the first of which stores to `to` before the barrier, and the second loads from there behind it.
fn around_a_barrier(to: &str, semantics: u32) -> String {
    let body = format!(
        "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %met None\nOpBranchConditional %first %give %met\n\
         %give = OpLabel\nOpStore {to} %7 NonPrivatePointer\nOpBranch %met\n%met = OpLabel\n\
         OpControlBarrier %2 %2 %{semantics}\nOpSelectionMerge %end None\nOpBranchConditional %first %end %take\n\
         %take = OpLabel\n%x = OpLoad %uint {to} NonPrivatePointer\nOpStore %out0 %x NonPrivatePointer\n\
         OpBranch %end\n%end = OpLabel\nOpReturn"
    );
    let constant = format!("%{semantics} = OpConstant %uint {semantics}\n%true = OpConstantTrue");
    crate::spirv::module("", "Vulkan", &body)
        .replace("%264 = OpConstant %uint 264\n", "")
        .replace("%72 = OpConstant %uint 72\n", "")
        .replace("%true = OpConstantTrue", &constant)
}

#[test]
fn storage_classes_are_ordered_each_by_itself() {
    let scenario = |device: &Device, text: &str| {
        let kernel = Module::spirv_file("own.spvasm", text)?.kernel("main")?;
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        let data = device.alloc_zeroed::<u32>(2)?;
        queue.launch(ThreadSpec::new(1, 2), kernel.args((&out, &data)))?;
        Ok(format!("{:?}", out.read(&queue)?))
    };
    // Acquire and release with availability and visibility, of buffers and of the workgroup's memory.
    let (of_buffers, of_group) = (0x6048, 0x6108);
    for (to, semantics, race_free) in [
        ("%data0", of_buffers, true),
        ("%data0", of_group, false),
        ("%shared", of_buffers, false),
        ("%shared", of_group, true),
    ] {
        let text = around_a_barrier(to, semantics);
        if race_free {
            holds(Model::Vulkan, 10, "[7]", &|device| scenario(device, &text));
        } else {
            refuted(Model::Vulkan, 20, &["data race"], &|device| scenario(device, &text));
        }
    }
}

#[test]
fn values_that_nothing_fixes_are_not_made_up() {
    let adds = "%any = OpUndef %uint\nOpStore %mine %any NonPrivatePointer\n%old = OpAtomicIAdd %uint %sum %1 %0 %step";
    let scenario = |device: &Device| launched::scenario(device, &launched::module(adds, "")).map(|()| String::new());
    let error = scenario(&Device::simulated(0)).expect_err("it is not judged").to_string();
    assert!(error.contains("cannot be judged") && error.contains("a value that nothing fixes"), "{error}");
    assert!(error.contains("count.spvasm:"), "{error}");
    // Where none of it matters it is carried along.
    let adds = "%any = OpUndef %uint\n%more = OpIAdd %uint %any %1\n%old = OpAtomicIAdd %uint %sum %1 %0 %step";
    let seen = compared(Model::Vulkan, 4, &|device| {
        launched::scenario(device, &launched::module(adds, "")).map(|()| String::new())
    });
    assert_eq!(seen.errors, Vec::<String>::new());
}
