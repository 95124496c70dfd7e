//! Dynamic instances of control barriers: the statement in the same iterations of the loops around it.

use super::*;

/// A loop of two iterations over `%i{name}`, which are numbered from 0, and what it does in each; control goes on at `%past{name}`.
fn twice(name: &str, before: &str, body: &str) -> String {
    format!(
        "OpBranch %head{name}\n%head{name} = OpLabel\n\
         %i{name} = OpPhi %uint %0 %{before} %n{name} %next{name}\n\
         OpLoopMerge %past{name} %next{name} None\nOpBranch %body{name}\n%body{name} = OpLabel\n{body}\n\
         OpBranch %next{name}\n%next{name} = OpLabel\n%n{name} = OpIAdd %uint %i{name} %1\n\
         %more{name} = OpULessThan %bool %n{name} %2\nOpBranchConditional %more{name} %head{name} %past{name}\n\
         %past{name} = OpLabel\n"
    )
}

/// A barrier under a condition.
fn barrier_if(condition: &str) -> String {
    format!(
        "{condition}\nOpSelectionMerge %met None\nOpBranchConditional %c %meet %met\n%meet = OpLabel\n\
         OpControlBarrier %2 %2 %264\nOpBranch %met\n%met = OpLabel"
    )
}

/// Whether the two threads of a workgroup get past their barriers.
#[track_caller]
fn ends(body: &str, ends: bool) {
    let text = module(&head("2, 1, 1"), "Vulkan", &format!("{body}OpReturn"));
    match ask(&text, "fairUniform") {
        Answer::Yes => assert!(ends, "they meet in different iterations:\n{text}"),
        Answer::No(_) => assert!(!ends, "they are in the same iterations:\n{text}"),
        Answer::Unknown(why) => panic!("{why}"),
    }
}

#[test]
fn threads_meet_in_one_iteration() {
    ends(&twice("", "entry", "OpControlBarrier %2 %2 %264"), true);
    // Each thread comes to the barrier once: both in the second iteration, and each in its own one.
    ends(&twice("", "entry", &barrier_if("%c = OpIEqual %bool %i %1")), true);
    ends(&twice("", "entry", &barrier_if("%c = OpIEqual %bool %i %thread")), false);
}

#[test]
fn a_way_out_of_a_loop_is_in_it() {
    let leaves = |last: &str| {
        let body = format!(
            "%c = OpIEqual %bool %i {last}\nOpSelectionMerge %on None\nOpBranchConditional %c %leave %on\n\
             %leave = OpLabel\nOpControlBarrier %2 %2 %264\nOpBranch %past\n%on = OpLabel"
        );
        twice("", "entry", &body)
    };
    ends(&leaves("%1"), true);
    ends(&leaves("%thread"), false);
    // Behind the loop it does not matter in which iteration a thread left it.
    let behind = leaves("%thread").replace("OpControlBarrier %2 %2 %264\n", "") + "OpControlBarrier %2 %2 %264\n";
    ends(&behind, true);
}

#[test]
fn iterations_count_from_the_entry_of_their_loop() {
    // In the first iteration of the outer loop one thread goes through the inner one twice, and the other leaves it at once;
    // in the second iteration both meet in the first of the inner one, or each in its own.
    let nested = |barrier: &str, leaves: &str| {
        let inner = format!(
            "%ca = OpIEqual %bool %i %0\n%cb = OpIEqual %bool %thread {leaves}\n%cc = OpLogicalAnd %bool %ca %cb\n\
             OpSelectionMerge %in None\nOpBranchConditional %cc %pastx %in\n%in = OpLabel\n{}",
            barrier_if(&format!(
                "%cd = OpIEqual %bool %i %1\n%ce = OpIEqual %bool %ix {barrier}\n\
                                 %c = OpLogicalAnd %bool %cd %ce"
            ))
        );
        twice("", "entry", &twice("x", "body", &inner))
    };
    ends(&nested("%0", "%1"), true);
    ends(&nested("%thread", "%1"), false);
}

#[test]
fn a_thread_that_waits_in_a_loop_with_a_barrier_is_not_counted_out() {
    // The loop that waits has no barrier in it, and lies in one that has: its turns tell nothing apart.
    let waits = "%first = OpIEqual %bool %thread %0\nOpSelectionMerge %go None\nOpBranchConditional %first %give %go\n\
                 %give = OpLabel\nOpAtomicStore %data0 %5 %68 %1\nOpBranch %go\n%go = OpLabel\nOpBranch %spin\n\
                 %spin = OpLabel\nOpLoopMerge %seen %turn None\nOpBranch %look\n%look = OpLabel\n\
                 %flag = OpAtomicLoad %uint %data0 %5 %66\n%zero = OpIEqual %bool %flag %0\n\
                 OpBranchConditional %zero %turn %seen\n%turn = OpLabel\nOpBranch %spin\n%seen = OpLabel\n\
                 OpControlBarrier %2 %2 %264";
    ends(&twice("", "entry", waits), true);
}
