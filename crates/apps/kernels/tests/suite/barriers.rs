//! Barriers at different places, or in different iterations, under the checker and on the simulated device.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle_memory::Target;

#[kernel]
fn both_arms(acc: &Acc, out: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        out[0] = 1;
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}

#[kernel]
fn arms_of_match(acc: &Acc, out: Shared<u32>) {
    match acc.thread_in_block() {
        0 => {
            out[0] = 1;
            acc.sync_block();
        }
        1 => acc.sync_block(),
        _ => acc.sync_block(),
    }
}

#[kernel]
fn loop_and_written_out(acc: &Acc, out: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        out[0] = 1;
        for _ in 0..2 {
            acc.sync_block();
        }
    } else {
        acc.sync_block();
        acc.sync_block();
    }
}

#[kernel]
fn other_iteration(acc: &Acc, out: Shared<u32>) {
    let thread = acc.thread_in_block();
    for turn in 0..2 {
        if turn == thread {
            acc.sync_block();
        }
    }
    out[thread] = 1;
}

#[kernel]
fn by_a_race(acc: &Acc, flag: Atomic<u32>) {
    if acc.thread_in_block() == 0 {
        flag.store(0, 1);
    }
    if flag.load(0) == 0 {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}

#[device_fn]
fn meet(acc: &Acc) {
    acc.sync_block();
}

#[kernel]
fn two_calls(acc: &Acc, out: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        out[0] = 1;
        meet(acc);
    } else {
        meet(acc);
    }
}

#[kernel]
fn by_warps(acc: &Acc, out: Shared<u32>, width: u32) {
    if acc.thread_in_block() / width == 0 {
        out[acc.thread_in_block()] = 1;
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}

#[kernel]
fn same_place(acc: &Acc, out: Shared<u32>) {
    let thread = acc.thread_in_block();
    for turn in 0..3 {
        if thread == turn {
            out[0] = turn;
        }
        for _ in 0..2 {
            acc.sync_block();
        }
    }
}

fn kind(report: &Report) -> &'static str {
    report.violations.first().map_or("", |violation| violation.kind())
}

type Scenario = fn(&Device) -> Result<()>;

/// Two threads of one block.
macro_rules! scenario {
    ($kernel:ident) => {{
        fn scenario(device: &Device) -> Result<()> {
            let out = device.alloc_zeroed::<u32>(4)?;
            let queue = device.queue()?;
            queue.launch(ThreadSpec::new(1, 2), $kernel(&out))?;
            queue.wait()
        }
        (stringify!($kernel), scenario as Scenario)
    }};
}

const TARGETS: [Target; 4] = [Target::Portable, Target::Vulkan, Target::Ptx { sm: 90 }, Target::Ptx { sm: 80 }];

#[test]
fn threads_that_meet_at_different_barriers_are_a_violation_on_every_target() {
    let wrong = [
        scenario!(both_arms),
        scenario!(arms_of_match),
        scenario!(loop_and_written_out),
        scenario!(other_iteration),
        scenario!(by_a_race),
        scenario!(two_calls),
    ];
    for (name, scenario) in wrong {
        for target in TARGETS {
            let report = Checker::for_target(target).check(scenario).unwrap();
            assert_eq!(
                (report.verdict, kind(&report)),
                (Verdict::Violated, "can be stuck for ever"),
                "{name} for {target}"
            );
        }
    }
}

#[test]
fn the_story_names_both_barriers_and_the_clauses() {
    let story = |target: Target, scenario: Scenario| {
        let checker = Checker::for_target(target);
        let report = checker.check(scenario).unwrap();
        let text = wattle_check::story::tell(&report.violations[0], &report).to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = story(Target::Portable, scenario!(both_arms).1);
    for part in ["waits at another barrier", "line 11", "line 13", "same dynamic instance", "barrier.cta.sync.aligned"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = story(Target::Ptx { sm: 90 }, scenario!(other_iteration).1);
    for part in ["different iterations", "32 threads", "all threads in the warp must execute the same"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn warps_of_ptx_may_meet_at_different_statements() {
    let scenario = |width: u32| {
        move |device: &Device| {
            let out = device.alloc_zeroed::<u32>(64)?;
            let queue = device.queue()?;
            queue.launch(ThreadSpec::new(1, 64), by_warps(&out, width))?;
            queue.wait()
        }
    };
    let check = |target, width| Checker::for_target(target).check(scenario(width)).unwrap();
    let verdict = |target, width| check(target, width).verdict;
    let report = check(Target::Ptx { sm: 90 }, 32);
    assert_eq!((report.verdict, report.rests_on_warps()), (Verdict::Holds, Some(32)));
    assert!(report.to_string().contains("rests on warps: of 32 threads"), "{report}");
    assert_eq!(check(Target::Ptx { sm: 90 }, 64).rests_on_warps(), None, "all threads are at one statement");
    assert_eq!(verdict(Target::Ptx { sm: 90 }, 16), Verdict::Violated);
    assert_eq!(verdict(Target::Vulkan, 32), Verdict::Violated);
    assert_eq!(verdict(Target::Portable, 32), Verdict::Violated);
}

#[test]
fn one_statement_in_the_same_iterations_is_one_barrier() {
    let (_, scenario) = scenario!(same_place);
    for target in TARGETS {
        let report = Checker::for_target(target).check(scenario).unwrap();
        // Both threads write the one word, in different iterations: the barriers order them.
        assert_eq!(report.verdict, Verdict::Holds, "{target}: {:?}", report.violations);
    }
    scenario(&Device::select("simulated").unwrap()).unwrap();
}

#[test]
fn the_simulated_device_refuses_other_iterations_too() {
    for (name, scenario) in [scenario!(other_iteration), scenario!(two_calls)] {
        let error = scenario(&Device::select("simulated").unwrap()).unwrap_err().to_string();
        assert!(error.contains("different barriers"), "{name}: {error}");
    }
}

#[rustfmt::skip]
#[kernel]
fn on_one_line(acc: &Acc) {
    if acc.thread_in_block() == 0 { acc.sync_block(); } else { acc.sync_block(); }
}

/// Two barriers may stand on one line, and are two for all that.
#[test]
fn two_barriers_of_one_line_are_told_apart() {
    let scenario = |device: &Device| {
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(1, 2), on_one_line())?;
        queue.wait()
    };
    let report = Checker::new(Model::Portable).check(scenario).unwrap();
    let text = wattle_check::story::tell(&report.violations[0], &report).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Thread 1 waits at another barrier, at line") && text.contains(", column 68."), "{text}");
    assert!(!text.contains("another call"), "{text}");
    let error = scenario(&Device::select("simulated").unwrap()).unwrap_err().to_string();
    assert!(error.contains("different barriers") && !error.contains("another call"), "{error}");
}

/// Two calls of one function are two barriers at one line, and there is no loop.
#[test]
fn two_calls_of_one_function_are_said_to_be_calls() {
    let (_, scenario) = scenario!(two_calls);
    let report = Checker::new(Model::Portable).check(scenario).unwrap();
    let text = wattle_check::story::tell(&report.violations[0], &report).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("by another call of the function around it"), "{text}");
    let error = scenario(&Device::select("simulated").unwrap()).unwrap_err().to_string();
    assert!(error.contains("by another call of the function around it") && !error.contains("iteration"), "{error}");
}
