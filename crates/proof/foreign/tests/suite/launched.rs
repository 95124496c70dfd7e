//! Kernels of SPIR-V modules in scenarios: launched with buffers and numbers, under Vulkan's memory model.

use wattle_check::checker::{Checker, Verdict};
use wattle_core::{Device, LaunchOptions, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

/// A kernel each thread of which adds a push constant to a counter and stores its number in `out`, with the size of its
/// workgroup in a specialization constant, unless `size` fixes it. The buffer's binding is behind that of the counter.
pub fn module(adds: &str, size: &str) -> String {
    format!(
        "OpCapability Shader\nOpCapability VulkanMemoryModel\nOpMemoryModel Logical Vulkan\n\
         OpEntryPoint GLCompute %main \"count\"\n{size}\nOpName %out \"out\"\nOpName %counter \"counter\"\n\
         OpMemberName %push 0 \"step\"\nOpMemberName %push 1 \"scale\"\n\
         OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 3\nOpDecorate %counter DescriptorSet 0\n\
         OpDecorate %counter Binding 1\nOpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %words ArrayStride 4\n\
         OpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %push 0 Offset 0\nOpMemberDecorate %push 1 Offset 4\n\
         OpDecorate %threads SpecId 0\nOpDecorate %size BuiltIn WorkgroupSize\n\
         %void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n%v3 = OpTypeVector %uint 3\n\
         %words = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %words\n%push = OpTypeStruct %uint %float\n\
         %buffer = OpTypePointer StorageBuffer %block\n%word = OpTypePointer StorageBuffer %uint\n\
         %pushes = OpTypePointer PushConstant %push\n%pushed = OpTypePointer PushConstant %uint\n\
         %in = OpTypePointer Input %v3\n%f = OpTypeFunction %void\n%0 = OpConstant %uint 0\n%1 = OpConstant %uint 1\n\
         %threads = OpSpecConstant %uint 1\n%size = OpSpecConstantComposite %v3 %threads %1 %1\n\
         %gid = OpVariable %in Input\n%out = OpVariable %buffer StorageBuffer\n%counter = OpVariable %buffer StorageBuffer\n\
         %given = OpVariable %pushes PushConstant\n%main = OpFunction %void None %f\n%entry = OpLabel\n\
         %gid3 = OpLoad %v3 %gid\n%thread = OpCompositeExtract %uint %gid3 0\n\
         %mine = OpAccessChain %word %out %0 %thread\nOpStore %mine %thread NonPrivatePointer\n\
         %at = OpAccessChain %pushed %given %0\n%step = OpLoad %uint %at\n\
         %sum = OpAccessChain %word %counter %0 %0\n{adds}\nOpReturn\nOpFunctionEnd\n"
    )
}

pub const ATOMIC: &str = "%old = OpAtomicIAdd %uint %sum %1 %0 %step";
pub const PLAIN: &str = "%old = OpLoad %uint %sum NonPrivatePointer\n%new = OpIAdd %uint %old %step\n\
                     OpStore %sum %new NonPrivatePointer";

/// Launches the kernel twice in turn, in 2 blocks of 2 threads.
pub fn scenario(device: &Device, text: &str) -> Result<()> {
    let count = Module::spirv_file("count.spvasm", text)?.kernel("count")?;
    let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    let mut out = device.alloc_zeroed::<u32>(4)?;
    for step in [3u32, 5] {
        queue.launch(ThreadSpec::new(2, 2), count.args((&counter, &mut out, step, 0.5f32)))?;
    }
    assert_eq!((counter.read(&queue)?, out.read(&queue)?), (vec![32], vec![0, 1, 2, 3]));
    Ok(())
}

#[test]
fn a_scenario_launches_a_module() {
    Checker::new(Model::Vulkan).assert_holds(|device| scenario(device, &module(ATOMIC, "")));
    let report = Checker::new(Model::Vulkan).assert_refuted(|device| scenario(device, &module(PLAIN, "")));
    assert!(report.to_string().contains("data race on counter"), "{report}");
}

/// Each size of subgroups that makes a difference is tried where a module has something of them.
#[test]
fn the_size_of_subgroups_is_left_to_devices() {
    let tried = |text: &str| Checker::new(Model::Vulkan).assert_holds(|device| scenario(device, text)).shapes_tried;
    let without = module(ATOMIC, "OpExecutionMode %main LocalSize 2 1 1")
        .replace("OpDecorate %threads SpecId 0\nOpDecorate %size BuiltIn WorkgroupSize\n", "")
        .replace("OpSpecConstant", "OpConstant");
    assert_eq!(tried(&without), 1);
    let meeting = without.replace("%threads =", "%3 = OpConstant %uint 3\n%threads =");
    // Two threads are two subgroups or one.
    assert_eq!(tried(&meeting.replace("%old =", "OpControlBarrier %3 %3 %0\n%old =")), 2);
    let asking = without
        .replace("%main \"count\"", "%main \"count\" %lanes")
        .replace("OpDecorate %words", "OpDecorate %lanes BuiltIn SubgroupSize\nOpDecorate %words")
        .replace(
            "%gid = OpVariable",
            "%one = OpTypePointer Input %uint\n%lanes = OpVariable %one Input\n%gid = OpVariable",
        );
    assert_eq!(tried(&asking), 8);
}

#[test]
fn an_operation_of_a_subgroup_that_not_all_threads_come_to_is_refused_with_its_own_reason() {
    let alone = "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %end None\n\
                 OpBranchConditional %first %end %others\n%others = OpLabel\n\
                 %all = OpGroupNonUniformIAdd %uint %3 Reduce %thread\nOpBranch %end\n%end = OpLabel";
    let text = module(alone, "")
        .replace("OpCapability Shader", "OpCapability Shader\nOpCapability GroupNonUniformArithmetic")
        .replace("%threads =", "%bool = OpTypeBool\n%3 = OpConstant %uint 3\n%threads =");
    let options = LaunchOptions::new().warp_size(2);
    let answer = Checker::new(Model::Vulkan).check(|device| {
        let count = Module::spirv(text.clone())?.kernel("count")?;
        let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        let mut out = device.alloc_zeroed::<u32>(2)?;
        queue.launch_with(options, ThreadSpec::new(1, 2), count.args((&counter, &mut out, 1u32, 0.5f32)))
    });
    let answer = answer.map_or_else(|error| error.to_string(), |report| report.to_string());
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains("a subgroup that not all of its threads come to is not supported"), "{answer}");
}

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let text = module(ATOMIC, "");
    let signature =
        "count(buffer counter (set 0, binding 1), buffer out (set 0, binding 3), step of 4 bytes, scale of 4 bytes)";
    let error = |model: Model, launch: &(dyn Fn(&Device) -> Result<()> + Sync)| {
        let report = Checker::new(model).check(launch);
        let text = report.map_or_else(|error| error.to_string(), |report| report.to_string());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let few = error(Model::Vulkan, &|device| {
        let counter = device.alloc_zeroed::<u32>(1)?;
        let count = Module::spirv(text.clone())?.kernel("count")?;
        device.queue()?.launch(ThreadSpec::new(1, 1), count.args((&counter, 3u32, 4u32, 0.5f32)))
    });
    assert!(few.contains("argument 2 is a u32 value of 4 bytes") && few.contains(signature), "{few}");
    let fixed =
        module(ATOMIC, "OpExecutionMode %main LocalSize 4 1 1").replace("OpDecorate %size BuiltIn WorkgroupSize", "");
    let shape = error(Model::Vulkan, &|device| scenario(device, &fixed));
    assert!(shape.contains("its own have [4, 1, 1]"), "{shape}");
    let model = error(Model::Ptx, &|device| scenario(device, &text));
    assert!(model.contains("`Checker::new(Model::Vulkan)` proves it"), "{model}");
    let cut = Module::spirv(text.replace("OpReturn\n", "OpFrob\n")).unwrap_err().to_string();
    assert!(cut.contains("OpFrob"), "{cut}");
}

/// What nothing fixes in a buffer is nothing that a scenario may look at.
#[test]
fn values_that_nothing_fixes_are_no_outcome() {
    let adds = "%any = OpUndef %uint\nOpStore %mine %any NonPrivatePointer\n%old = OpAtomicIAdd %uint %sum %1 %0 %step";
    for wanted in [0, 1] {
        let report = Checker::new(Model::Vulkan).check(|device| {
            let count = Module::spirv(module(adds, ""))?.kernel("count")?;
            let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
            let mut out = device.alloc_zeroed::<u32>(1)?;
            queue.launch(ThreadSpec::new(1, 1), count.args((&counter, &mut out, 1u32, 0.5f32)))?;
            assert_eq!(out.read(&queue)?, [wanted]);
            Ok(())
        });
        let report = report.expect("it is judged");
        assert!(report.verdict == Verdict::Unknown && report.to_string().contains("left in out"), "{report}");
    }
}

/// A kernel that stores an undefined value where it decides the address of a store is not said to hold.
#[test]
fn values_that_nothing_fixes_leave_the_verdict_open() {
    let adds = "%any = OpUndef %uint\n%to = OpAccessChain %word %counter %0 %any\nOpAtomicStore %to %1 %0 %step";
    let report = Checker::new(Model::Vulkan).check(|device| {
        let count = Module::spirv(module(adds, ""))?.kernel("count")?;
        let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        let mut out = device.alloc_zeroed::<u32>(1)?;
        queue.launch(ThreadSpec::new(1, 1), count.args((&counter, &mut out, 1u32, 0.5f32)))?;
        queue.wait()
    });
    let report = report.expect("it is judged");
    assert_eq!(report.verdict, Verdict::Unknown, "{report}");
}

/// The second of two launches that run at the same time has a lane outside of its shuffle's mask.
#[test]
fn a_fault_of_a_shuffle_names_its_own_launch() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n\
                .visible .entry first(.param .u64 p)\n{ .reg .u64 %a;\nld.param.u64 %a, [p];\nst.global.u32 [%a], 1;\n\
                st.global.u32 [%a], 2;\nst.global.u32 [%a], 3;\nst.global.u32 [%a], 4;\nret; }\n\
                .visible .entry second(.param .u64 p)\n{ .reg .u64 %a; .reg .u32 %t;\nld.param.u64 %a, [p];\n\
                mov.u32 %t, %tid.x;\nshfl.sync.idx.b32 %t, %t, 0, 31, 1;\nst.global.u32 [%a], %t;\nret; }\n";
    let report = Checker::new(Model::Ptx).assert_refuted(|device| {
        let module = Module::ptx_file("two.ptx", text)?;
        let (first, second) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        let (x, y) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        first.launch(ThreadSpec::new(1, 1), module.kernel("first")?.args((&x,)))?;
        second.launch(ThreadSpec::new(1, 2), module.kernel("second")?.args((&y,)))?;
        first.wait()?;
        second.wait()
    });
    let report = report.to_string();
    assert!(report.contains("two.ptx:16"), "{report}");
}

/// Two halves of a kernel with a barrier of the grid in between.
pub fn halves(device: &Device, options: LaunchOptions) -> Result<()> {
    let text = include_str!("../cuda/grid_sync.ptx");
    let right = Module::ptx_file("grid_sync.ptx", text)?.kernel("right")?;
    let queue = device.queue()?;
    let (from, part) = (device.from_slice(&[1i32, 2, 3, 4])?, device.alloc_zeroed::<i32>(4)?);
    let mut to = device.alloc_zeroed::<i32>(4)?;
    queue.launch_with(options, ThreadSpec::new(2, 2), right.args((&from, &part, &mut to)))?;
    assert_eq!(to.read(&queue)?, [8, 6, 4, 2]);
    Ok(())
}

/// Only a cooperative launch has a workspace for its grid.
#[test]
fn a_grid_of_a_cooperative_launch_waits_for_itself() {
    Checker::new(Model::Ptx).assert_holds(|device| halves(device, LaunchOptions::new().cooperative()));
    let report = Checker::new(Model::Ptx).assert_refuted(|device| halves(device, LaunchOptions::new()));
    assert!(report.to_string().contains("a trap"), "{report}");
}

#[test]
fn which_lanes_are_together_is_not_chosen_in_a_scenario() {
    let text = include_str!("../cuda/lanes.ptx");
    let places = |device: &Device, threads: usize| {
        let kernel = Module::ptx_file("lanes.ptx", text)?.kernel("places")?;
        let (count, at) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
        let from = device.from_slice(&[1i32, 1])?;
        device.queue()?.launch(ThreadSpec::new(1, threads), kernel.args((&from, &count, &at)))
    };
    Checker::new(Model::Ptx).assert_holds(|device| places(device, 1));
    let refused = Checker::new(Model::Ptx).check(|device| places(device, 2)).unwrap_err().to_string();
    assert!(refused.contains("lanes.cu:28:") && refused.contains("which lanes are together"), "{refused}");
}

/// A scenario says of threads that end before a barrier, or go past it, what `judge` says.
#[test]
fn threads_that_leave_a_barrier() {
    let start = "mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b; setp.ne.u32 %p, %t, 0;";
    for (body, verdict, said) in [
        // `if (t == 0) __syncthreads(); a[t] = 1;`
        ("@%p bra OUT; bar.sync 0;\nOUT: st.global.u32 [%b], 1;", Verdict::Violated, "thread 1 has gone past it"),
        // `if (t != 0) return; __syncthreads(); a[t] = 1;`
        (
            "@%p bra OUT; bar.sync 0;\nst.global.u32 [%b], 1;\nOUT:",
            Verdict::Holds,
            "barrier at left.ptx:7, where block 0, thread 0",
        ),
        ("bar.sync 0; st.global.u32 [%b], 1;", Verdict::Holds, ""),
    ] {
        let text = format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 words)\n{{ .reg .u64 %a, %b; .reg .u32 %t; \
             .reg .pred %p;\nld.param.u64 %a, [words]; mov.u32 %t, %tid.x;\n{start} {body}\nret; }}\n"
        );
        let report = Checker::new(Model::Ptx).check(|device| {
            let kernel = Module::ptx_file("left.ptx", text.as_str())?.kernel("k")?;
            let mut words = device.alloc_zeroed::<u32>(2)?;
            device.queue()?.launch(ThreadSpec::new(1, 2), kernel.args((&mut words,)))
        });
        let report = report.expect("it is judged");
        assert_eq!(report.verdict, verdict, "{report}");
        let text = report.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{text}");
        assert_eq!(report.notes.is_empty(), !said.starts_with("barrier"), "{text}");
    }
}

/// What is not known of a kernel whose only thread runs `body`, in which `%a` is the address of a word.
fn not_known(body: &str) -> String {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 word)\n{{ .reg .u64 %a; .reg .u32 %x, %y; .reg .pred %p;\n\
         ld.param.u64 %a, [word]; mov.u32 %x, 0;\n{body}\nret; }}\n"
    );
    let report = Checker::new(Model::Ptx).time(std::time::Duration::from_secs(1)).check(|device| {
        let kernel = Module::ptx_file("loops.ptx", text.as_str())?.kernel("k")?;
        let word = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(1, 2), kernel.args((&word,)))
    });
    let report = report.expect("it is judged");
    assert_eq!(report.verdict, Verdict::Unknown, "{report}");
    report.unknown.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_loop_beyond_the_bound_is_named() {
    // Both threads count in it, each as long as the other does.
    let body = "ROUND: atom.relaxed.gpu.global.add.u32 %y, [%a], 1;\nsetp.lt.u32 %p, %y, 100;\n@%p bra ROUND;";
    let why = not_known(body);
    assert!(why.contains("the loop at loops.ptx:9 goes on after 4 iterations; --loop-bound"), "{why}");
}

#[test]
fn a_loop_that_only_computes_is_named() {
    let body = "ROUND: add.u32 %x, %x, 2;\nsetp.ne.u32 %p, %x, 1;\n@%p bra ROUND;";
    let why = not_known(body);
    assert!(why.contains("turns of the loop at loops.ptx:9, which looks at no memory"), "{why}");
    // What it has read before may keep it there.
    let body = "ld.global.u32 %y, [%a];\nROUND: add.u32 %x, %x, 2;\nsetp.ne.u32 %p, %y, 1;\n@%p bra ROUND;\nst.global.u32 [%a], %x;";
    let why = not_known(body);
    assert!(why.contains("turns of the loop at loops.ptx:10, which looks at no memory"), "{why}");
}
