//! What threads do together: races by the Vulkan memory model, barriers, outcomes, and threads that never end.

use wattle_foreign::spirv::Answer;

use super::{ask, head, module, races};

/// One thread stores data and a flag; the other waits for the flag and loads the data.
fn publication(store: &str, release: &str, acquire: &str, load: &str) -> String {
    format!(
        "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %end None\nOpBranchConditional %first %give %take\n\
         %give = OpLabel\nOpStore %data0 %7 {store}\n{release}\nOpBranch %end\n\
         %take = OpLabel\nOpBranch %wait\n%wait = OpLabel\n%flag = {acquire}\n%set = OpIEqual %bool %flag %1\n\
         OpLoopMerge %go %wait None\nOpBranchConditional %set %go %wait\n\
         %go = OpLabel\n%x = OpLoad %uint %data0 {load}\nOpStore %out0 %x\nOpBranch %end\n%end = OpLabel\nOpReturn"
    )
}

const AVAILABLE: &str = "NonPrivatePointer|MakePointerAvailable %5";
const VISIBLE: &str = "NonPrivatePointer|MakePointerVisible %5";
const RELEASE: &str = "OpAtomicStore %data1 %5 %68 %1";
const ACQUIRE: &str = "OpAtomicLoad %uint %data1 %5 %66";

#[test]
fn publication_needs_every_part() {
    for (store, release, acquire, load, race_free) in [
        (AVAILABLE, RELEASE, ACQUIRE, VISIBLE, true),
        (AVAILABLE, "OpAtomicStore %data1 %5 %0 %1", ACQUIRE, VISIBLE, false),
        (AVAILABLE, RELEASE, "OpAtomicLoad %uint %data1 %5 %0", VISIBLE, false),
        // The scope of a subgroup does not reach the other workgroup.
        (AVAILABLE, "OpAtomicStore %data1 %3 %68 %1", "OpAtomicLoad %uint %data1 %3 %66", VISIBLE, false),
        // Private accesses take no part.
        ("None", RELEASE, ACQUIRE, VISIBLE, false),
        (AVAILABLE, RELEASE, ACQUIRE, "None", false),
        ("NonPrivatePointer", RELEASE, ACQUIRE, VISIBLE, false),
        // Semantics about the memory of workgroups say nothing of buffers.
        (AVAILABLE, "OpAtomicStore %data1 %5 %260 %1\n%260 = OpConstant %uint 260", ACQUIRE, VISIBLE, false),
        // Fences stand for the orders of what is around them.
        (AVAILABLE, "OpMemoryBarrier %5 %68\nOpAtomicStore %data1 %5 %0 %1", ACQUIRE, VISIBLE, true),
    ] {
        let answer = races("1, 1, 2", &publication(store, release, acquire, load));
        assert_eq!(answer == Answer::Yes, race_free, "{store}, {release}, {acquire}, {load}: {answer:?}");
        assert!(!matches!(answer, Answer::Unknown(_)), "{answer:?}");
    }
}

#[test]
fn the_older_memory_model() {
    let body = publication("None", RELEASE, ACQUIRE, "None");
    let plain = module(&head("1, 1, 2"), "GLSL450", &body);
    assert!(matches!(ask(&plain, "race"), Answer::No(_)));
    let coherent = plain.replace("OpDecorate %data Binding 1", "OpDecorate %data Binding 1\nOpDecorate %data Coherent");
    assert_eq!(ask(&coherent, "race"), Answer::Yes);
}

/// A thread stores into the workgroup's memory, all come to a barrier, and another one loads.
fn around_a_barrier(barrier: &str) -> String {
    format!(
        "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %met None\nOpBranchConditional %first %give %met\n\
         %give = OpLabel\nOpStore %shared %7 NonPrivatePointer|MakePointerAvailable %2\nOpBranch %met\n\
         %met = OpLabel\n{barrier}\nOpBranchConditional %first %end %take\n\
         %take = OpLabel\n%x = OpLoad %uint %shared NonPrivatePointer|MakePointerVisible %2\nOpStore %out0 %x\n\
         OpBranch %end\n%end = OpLabel\nOpReturn"
    )
}

#[test]
fn barriers() {
    for (barrier, race_free) in [
        ("OpControlBarrier %2 %2 %264", true),
        // Memory of a wider scope than the barrier.
        ("OpControlBarrier %2 %5 %264", true),
        ("OpControlBarrier %2 %2 %0", false),
        // Semantics about buffers.
        ("OpControlBarrier %2 %2 %72", false),
        // A barrier of the subgroup: the threads are in two.
        ("OpControlBarrier %3 %3 %264", false),
        ("OpNop", false),
    ] {
        let answer = races("1, 2, 1", &around_a_barrier(barrier));
        assert_eq!(answer == Answer::Yes, race_free, "{barrier}: {answer:?}");
    }
    assert_eq!(races("2, 1, 1", &around_a_barrier("OpControlBarrier %3 %2 %264")), Answer::Yes, "one subgroup");
}

/// A barrier is one event: what one thread has acquired before it waits there, the others have behind it.
#[test]
fn a_barrier_passes_on_what_came_before_it() {
    let body = |barrier: &str| {
        format!(
            "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %end None\nOpBranchConditional %first %give %others\n\
             %give = OpLabel\nOpStore %data0 %7 {AVAILABLE}\nOpMemoryBarrier %5 %68\nOpAtomicStore %data1 %5 %0 %1\n\
             OpBranch %end\n%others = OpLabel\n%second = OpIEqual %bool %thread %1\nOpSelectionMerge %meet None\n\
             OpBranchConditional %second %end %which\n%which = OpLabel\n%third = OpIEqual %bool %thread %2\n\
             OpSelectionMerge %meet None\nOpBranchConditional %third %wait %meet\n%wait = OpLabel\n\
             %flag = OpAtomicLoad %uint %data1 %5 %0\n%set = OpIEqual %bool %flag %1\nOpLoopMerge %go %wait None\n\
             OpBranchConditional %set %go %wait\n%go = OpLabel\nOpBranch %meet\n%meet = OpLabel\n{barrier}\n\
             %reads = OpIEqual %bool %thread %3\nOpSelectionMerge %read None\nOpBranchConditional %reads %read %end\n\
             %read = OpLabel\n%x = OpLoad %uint %data0 {VISIBLE}\nOpBranch %end\n%end = OpLabel\nOpReturn"
        )
    };
    assert_eq!(races("2, 1, 2", &body("OpControlBarrier %2 %5 %72")), Answer::Yes);
    let apart = "OpMemoryBarrier %5 %68\nOpControlBarrier %2 %2 %0\nOpMemoryBarrier %5 %66";
    assert!(matches!(races("2, 1, 2", &body(apart)), Answer::No(_)));
}

#[test]
fn outcomes_are_those_of_all_executions() {
    // Store buffering: both threads may read 0, and cannot both read 0 behind a barrier.
    let body = |between: &str| {
        format!(
            "%mine = OpAccessChain %word %data %0 %thread\n%other = OpISub %uint %1 %thread\n\
             %its = OpAccessChain %word %data %0 %other\nOpAtomicStore %mine %5 %68 %1\n{between}\n\
             %x = OpAtomicLoad %uint %its %5 %66\n%to = OpAccessChain %word %out %0 %thread\nOpStore %to %x\nOpReturn"
        )
    };
    let claim = |quantifier: &str, between: &str| {
        let head = format!("{}\n; @Output: {quantifier} (%out[0][0] == 0 and %out[0][1] == 0)", head("1, 2, 1"));
        ask(&module(&head, "Vulkan", &body(between)), "assertion")
    };
    assert_eq!(claim("exists", ""), Answer::Yes);
    assert!(matches!(claim("not exists", ""), Answer::No(_)));
    assert_eq!(claim("not exists", "OpControlBarrier %2 %2 %72"), Answer::Yes);
    assert!(matches!(claim("exists", "OpControlBarrier %2 %2 %72"), Answer::No(_)));
}

#[test]
fn stores_that_nobody_reads_come_in_any_order() {
    // Six threads store six words each: the last of each word is any thread's, and it is found without their orders.
    let stores: String = (0..4)
        .map(|at| format!("%p{at} = OpAccessChain %word %out %0 %{at}\nOpAtomicStore %p{at} %5 %68 %thread\n"))
        .collect();
    let claim = |claim: &str| {
        let head = format!("{}\n; @Output: {claim}", head("3, 2, 1"));
        ask(&module(&head, "Vulkan", &format!("{stores}OpReturn")), "assertion")
    };
    assert_eq!(claim("forall (%out[0][0] <= 5 and %out[0][3] >= 0)"), Answer::Yes);
    assert_eq!(claim("exists (%out[0][0] == 5 and %out[0][1] == 0)"), Answer::Yes);
    assert!(matches!(claim("forall (%out[0][2] != 4)"), Answer::No(_)));
}

#[test]
fn values_that_nobody_gave_as_addresses() {
    let place = "%n = OpLoad %uint %shared\n%p = OpAccessChain %word %out %0 %n\n";
    let atomic = format!("{place}%old = OpAtomicIAdd %uint %p %5 %0 %1\nOpReturn");
    assert_eq!(races("2, 1, 1", &atomic), Answer::Yes, "atomic wherever they are");
    let narrow = format!("{place}%old = OpAtomicIAdd %uint %p %4 %0 %1\nOpReturn");
    assert!(matches!(races("2, 1, 1", &narrow), Answer::No(_)), "not in each other's scope");
    let numbered = "%n = OpAtomicIIncrement %uint %shared %2 %0\n%p = OpAccessChain %word %out %0 %n\n";
    assert_eq!(races("2, 1, 1", &format!("{numbered}OpStore %p %1\nOpReturn")), Answer::Yes, "each has its own number");
    // Another store at a fixed place may meet them.
    let met = format!("{numbered}OpStore %p %1\n%q = OpAccessChain %word %out %0 %3\nOpStore %q %1\nOpReturn");
    assert_ne!(races("2, 1, 1", &met), Answer::Yes);
    let twice = numbered.replace("OpAtomicIIncrement %uint %shared %2 %0", "OpAtomicIAdd %uint %shared %2 %0 %0");
    assert!(matches!(races("2, 1, 1", &format!("{twice}OpStore %p %1\nOpReturn")), Answer::No(_)));
}

#[test]
fn threads_that_never_end() {
    let body = publication(AVAILABLE, RELEASE, ACQUIRE, VISIBLE);
    // The one that waits is in the second workgroup.
    let text = module(&head("1, 1, 2"), "Vulkan", &body);
    let turned = text.replace("OpIEqual %bool %thread %0", "OpINotEqual %bool %thread %0");
    for (text, schedule, ends) in [
        (&text, "fairUniform", true),
        (&text, "qfHsa", true),
        (&text, "qfObe", false),
        (&text, "unfairUniform", false),
        (&turned, "fairUniform", true),
        (&turned, "qfHsa", false),
        (&turned, "sgUnfair", true),
    ] {
        let answer = ask(text, schedule);
        assert_eq!(answer == Answer::Yes, ends, "{schedule}: {answer:?}");
        assert!(!matches!(answer, Answer::Unknown(_)), "{schedule}: {answer:?}");
    }
    let apart = "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %end None\nOpBranchConditional %first %a %end\n\
                 %a = OpLabel\nOpControlBarrier %2 %2 %264\nOpBranch %end\n%end = OpLabel\nOpReturn";
    assert_eq!(ask(&module(&head("1, 1, 2"), "Vulkan", apart), "fairUniform"), Answer::Yes);
    assert!(matches!(ask(&module(&head("2, 1, 1"), "Vulkan", apart), "fairUniform"), Answer::No(_)));
}

#[test]
fn subgroups() {
    let head = format!("{}\n; @Output: forall (%out[0][0] == 6 and %out[0][1] == 3)", head("4, 1, 1"));
    let body = "%sum = OpGroupNonUniformIAdd %uint %3 Reduce %thread\n%last = OpGroupNonUniformBroadcast %uint %3 %thread %3\n\
                %first = OpIEqual %bool %thread %0\nOpSelectionMerge %end None\nOpBranchConditional %first %a %end\n\
                %a = OpLabel\nOpStore %out0 %sum\n%out1 = OpAccessChain %word %out %0 %1\nOpStore %out1 %last\n\
                OpBranch %end\n%end = OpLabel\nOpReturn";
    assert_eq!(ask(&module(&head, "Vulkan", body), "assertion"), Answer::Yes);
    // Of more lanes than a warp of PTX has: all of them are added.
    let head = format!("{}\n; @Output: forall (%out[0][0] == 8128 and %out[0][1] == 66)", super::head("128, 1, 1"));
    assert_eq!(ask(&module(&head, "Vulkan", &body.replace("%thread %3\n", "%thread %66\n")), "assertion"), Answer::Yes);
}
