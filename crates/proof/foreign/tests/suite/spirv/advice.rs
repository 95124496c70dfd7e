//! Advice on mistakes in SPIR-V modules: those of GLSL in `glsl/*.comp`, compiled by glslang 12 with `-V --target-env vulkan1.2 -g`
//! and written as text by `spirv-dis`, and modules of our own, in the words of their sources.

use std::time::Duration;

use wattle_foreign::spirv::{self, Header};
use wattle_foreign::{Advice, Condition, Options, Verdict, World, advise};
use wattle_memory::Model;
use wattle_modules::spirv::Setting;

use super::glsl::{Given, launched};
use super::{head, module};

/// The fixes, as lines and words, of a launch that is violated.
fn fixes(mut world: World, header: &Header, asserted: &str) -> Vec<String> {
    let options = Options { model: Model::Vulkan, ..Options::default() };
    let asserted: Vec<Condition> = Some(asserted)
        .filter(|text| !text.is_empty())
        .map(|text| Condition::parse(text, world.ranges()).expect("a condition"))
        .into_iter()
        .collect();
    let claim = header.claim.as_ref();
    let report = spirv::judge_claimed(&mut world, claim, &asserted, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(report.verdict, Verdict::Violated(..)), "{report:?}");
    let (took, budget) = (Duration::from_millis(100), Duration::from_secs(30));
    let Advice { fixes, .. } = advise(&world, claim, &asserted, &options, took, budget);
    fixes.iter().map(|fix| format!("{}: {}", fix.at, fix.text)).collect()
}

/// The fixes of a launch of the GLSL kernel of that name.
fn of_glsl(name: &str, workgroups: u32, contents: Given<'_>, asserted: &str) -> Vec<String> {
    let world = launched(name, workgroups, contents);
    fixes(world, &Header::default(), asserted)
}

#[test]
fn glsl_with_fences_and_barriers() {
    let published = of_glsl("publish", 2, &[("_", &[0]), ("__0", &[0]), ("__1", &[42])], "");
    assert_eq!(
        published,
        [
            "publish.comp:12: add memoryBarrierBuffer() before it",
            "publish.comp:13: add memoryBarrierBuffer() behind it"
        ]
    );
    let turned = of_glsl("turn", 1, &[("_", &[5, 6])], "");
    assert_eq!(turned, ["turn.comp:10: add barrier() behind it"]);
    let neighbours = of_glsl("neighbours", 1, &[("_", &[0, 0]), ("__0", &[0, 0])], "");
    assert_eq!(neighbours, ["neighbours.spvasm:65: declare `Words` coherent"]);
    // Not before the loop's condition, where no statement can stand, and not with fences of buffers.
    let tree = of_glsl("tree", 1, &[("_", &[1, 2, 3, 4, 5]), ("__0", &[0])], "__0[0] == 15");
    assert_eq!(tree, ["tree.comp:11: add barrier() before it"]);
    // Neither in the condition's block nor in the loop, to which not all threads come.
    let offsets = of_glsl("offsets", 1, &[("_", &[1, 2, 3, 4, 0, 0, 0, 0])], "_[7] == 3");
    assert_eq!(offsets, ["offsets.comp:10: add barrier() before the loop"]);
    let ordered = of_glsl("barrier", 1, &[("_", &[0, 0]), ("__0", &[0, 0])], "");
    assert_eq!(
        ordered,
        [
            "barrier.comp:11: add memoryBarrierBuffer() before it",
            "barrier.comp:11: add memoryBarrierBuffer() behind it"
        ]
    );
    // The statement begins with a read of a buffer, and is about shared memory.
    let tallied = of_glsl("tally", 1, &[("_", &[0, 1, 2, 3]), ("__0", &[0, 0])], "__0[0] == 2");
    assert_eq!(tallied, ["tally.comp:13: add barrier() before it"]);
    let counted = of_glsl("count", 1, &[("_", &[0])], "_ == 2");
    assert_eq!(counted, ["count.comp:8: do it by atomicAdd(…, …)"]);
}

#[test]
fn glsl_with_scopes_and_semantics() {
    let published = of_glsl("semantics", 2, &[("_", &[0]), ("__0", &[0]), ("__1", &[42])], "");
    let store = "make its semantics gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable";
    assert_eq!(published, [format!("semantics.comp:14: {store}")]);
}

/// The fixes of two workgroups of one thread, the first of which publishes a word: `publishes`, `takes`.
fn of_two(source: &str, model: &str, [publishes, takes]: [&str; 2]) -> Vec<String> {
    let body = format!(
        "%is_first = OpIEqual %bool %thread %0\nOpSelectionMerge %end None\n\
         OpBranchConditional %is_first %first %second\n%first = OpLabel\n{publishes}\nOpBranch %end\n%second = OpLabel\n\
         {takes}\nOpBranch %end\n%end = OpLabel\nOpReturn"
    );
    let text = module(&head("1, 1, 2"), model, &body).replace("OpEntryPoint", &format!("{source}\nOpEntryPoint"));
    let module = spirv::read("own.spvasm", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let header = Header::read(&text).expect("the comments are right");
    let world = spirv::launch("own.spvasm", &module, None, &header.setting()).unwrap_or_else(|error| panic!("{error}"));
    fixes(world, &header, "")
        .iter()
        .map(|fix| fix.splitn(3, ':').nth(2).unwrap_or_default().trim().to_owned())
        .collect()
}

const STORE: &str = "OpStore %data0 %7 NonPrivatePointer";
const RELEASE: &str = "OpAtomicStore %data1 %5 %release %1";
const TAKE: &str = "%seen = OpAtomicLoad %uint %data1 %5 %acquire\n%is_set = OpIEqual %bool %seen %1\n\
                    OpSelectionMerge %behind None\nOpBranchConditional %is_set %then %behind\n%then = OpLabel\n\
                    %read = OpLoad %uint %data0 NonPrivatePointer\nOpBranch %behind\n%behind = OpLabel";

/// Semantics of buffers that release and make available, and that acquire and make visible.
const SEMANTICS: &str = "%release = OpConstant %uint 8260\n%acquire = OpConstant %uint 16450\n";

#[test]
fn the_words_of_the_source() {
    let bodies = |store: &str, release: &str, take: &str| [format!("{store}\n{release}"), take.to_owned()];
    let of = |source: &str, [publishes, takes]: [String; 2]| of_two(source, "Vulkan", [&publishes, &takes]);
    let with = |text: &str| format!("{SEMANTICS}{text}");
    // A release that is relaxed.
    let relaxed = || bodies(&with(STORE), &RELEASE.replace("%release", "%0"), TAKE);
    assert_eq!(of("", relaxed()), ["make its semantics Release|UniformMemory|MakeAvailable"]);
    assert_eq!(of("OpSource OpenCL_C 120", relaxed()), ["make its order memory_order_release"]);
    // A scope that is too narrow.
    let narrow = || bodies(&with(STORE), &RELEASE.replace("%5", "%2"), TAKE);
    assert_eq!(of("", narrow()), ["make its scope QueueFamily"]);
    assert_eq!(of("OpSource OpenCL_C 120", narrow()), ["make its scope memory_scope_device"]);
    // Accesses that are private.
    let private = || bodies(&with("OpStore %data0 %7"), RELEASE, &TAKE.replace(" NonPrivatePointer", ""));
    assert_eq!(of("", private()), ["access `%data` with NonPrivatePointer"]);
    // A flag that is plain.
    let plain = || {
        let take = TAKE.replace("OpAtomicLoad %uint %data1 %5 %acquire", "OpLoad %uint %data1 NonPrivatePointer");
        bodies(STORE, "OpStore %data1 %1 NonPrivatePointer", &take)
    };
    assert_eq!(
        of("", plain()),
        [
            "write it by `OpAtomicStore` of scope QueueFamily, with the semantics Release|UniformMemory|MakeAvailable",
            "read it by `OpAtomicLoad` of scope QueueFamily, with the semantics Acquire|UniformMemory|MakeVisible"
        ]
    );
    assert_eq!(
        of("OpSource OpenCL_C 120", plain()),
        [
            "write it by atomic_store_explicit(…, …, memory_order_release, memory_scope_device)",
            "read it by atomic_load_explicit(…, memory_order_acquire, memory_scope_device)"
        ]
    );
}

/// What is needed only for the race is relaxed.
#[test]
fn an_access_is_as_weak_as_it_may_be() {
    let alone = ["OpStore %data1 %1 NonPrivatePointer", "%read = OpLoad %uint %data1 NonPrivatePointer"];
    assert_eq!(
        of_two("", "Vulkan", alone),
        [
            "write it by `OpAtomicStore` of scope QueueFamily, with the semantics None",
            "read it by `OpAtomicLoad` of scope QueueFamily, with the semantics None"
        ]
    );
    assert_eq!(
        of_two("OpSource GLSL 450", "GLSL450", alone),
        ["write it by atomicExchange(…, …)", "read it by atomicOr(…, 0)"]
    );
}

/// The claim of the module's comments is judged again with each change.
#[test]
fn advice_makes_the_claim_hold() {
    let head = format!("{}\n; @Output: forall (%data[0][0] == 2)", head("1, 1, 2"));
    let text = module(
        &head,
        "Vulkan",
        "%old = OpLoad %uint %data0 NonPrivatePointer\n%new = OpIAdd %uint %old %1\n\
                      OpStore %data0 %new NonPrivatePointer\nOpReturn",
    );
    let module = spirv::read("own.spvasm", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let header = Header::read(&text).expect("the comments are right");
    let world = spirv::launch("own.spvasm", &module, None, &header.setting()).unwrap_or_else(|error| panic!("{error}"));
    let line = text.lines().position(|line| line.starts_with("%old")).expect("it is there") + 1;
    assert_eq!(fixes(world, &header, ""), [format!("own.spvasm:{line}: do it by `OpAtomicIAdd`")]);
}

/// A barrier of the workgroup that mends a launch has to do so with each size of subgroups.
#[test]
fn advice_holds_with_each_size_of_subgroups() {
    let body = "%turned = OpISub %uint %1 %thread\n%mine = OpAccessChain %word %data %0 %thread\n\
                %other = OpAccessChain %word %data %0 %turned\nOpStore %mine %thread NonPrivatePointer\n\
                %read = OpLoad %uint %other NonPrivatePointer\n%mine_out = OpAccessChain %word %out %0 %thread\n\
                OpStore %mine_out %read NonPrivatePointer\nOpControlBarrier %3 %3 %0\nOpReturn";
    let text = module(&head("2, 1, 1"), "Vulkan", body);
    let module = spirv::read("own.spvasm", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let header = Header::read(&text).expect("the comments are right");
    let of = |sizes: &[u32]| {
        let setting = Setting { subgroup: Some(2), ..header.setting() };
        let mut world = spirv::launch("own.spvasm", &module, None, &setting).unwrap_or_else(|error| panic!("{error}"));
        world.also_with_subgroups_of(sizes);
        fixes(world, &header, "")
    };
    let ends = |fixes: &[String], end: &str| fixes.len() == 1 && fixes[0].contains(end);
    let (workgroup, subgroup) = ("add `OpControlBarrier Workgroup", "add `OpControlBarrier Subgroup");
    assert!(ends(&of(&[]), workgroup) || ends(&of(&[]), subgroup), "{:?}", of(&[]));
    assert!(ends(&of(&[1, 2]), workgroup), "{:?}", of(&[1, 2]));
}
