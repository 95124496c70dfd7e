//! Barrier objects, and grids that wait for themselves in rounds (`cuda/barrier_objects.cu`); waits of libcu++
//! (`cuda/waits.cu`); compiled as the kernels of
//! [`crate::cuda`] are.

use wattle_foreign::{Condition, Launch, Options, Report, Source, Verdict, Violation, World, judge};

use crate::cuda::{launch, race_at, source};

/// The verdict on a launch with an assertion, if there is one, as the command has it.
fn judged(source: Source, entry: Option<&str>, launch: Launch, assert: &str) -> Result<Report, String> {
    let mut world = World::new(source, entry, launch).map_err(|error| error.to_string())?;
    let condition = Some(assert).filter(|text| !text.is_empty());
    let condition = condition.map(|text| Condition::parse(text, world.ranges()).expect("a condition"));
    let options = Options { loop_bound: 4, ..Options::default() };
    judge(&mut world, condition.as_slice(), &options).map_err(|error| error.to_string())
}

fn report(entry: &str, [grid, block]: [u32; 2], arguments: &[&str], assert: &str) -> Report {
    judged(source("barrier_objects"), Some(entry), launch(grid, block, 0, arguments), assert).expect("it is judged")
}

#[track_caller]
fn races(report: &Report, lines: [u32; 2]) {
    race_at(report, "barrier_objects", lines);
}

#[test]
fn a_block_waits_for_a_phase() {
    // In whatever order the threads arrive, they do the same: one run stands for all.
    for threads in [8, 64] {
        let arguments = [format!("in=i32[{threads}]:3"), format!("out=i32[{threads}]:0")];
        let report = report("exchange", [1, threads], &arguments.each_ref().map(String::as_str), "out[0] == 303");
        assert_eq!((&report.verdict, report.statistics.complete), (&Verdict::Holds, 1), "{threads}");
    }
    // Few events are searched and shown.
    assert_eq!(report("exchange", [1, 2], &["in=i32[2]:3", "out=i32[2]:0"], "out[0] == 303").verdict, Verdict::Holds);
}

#[test]
fn whoever_does_not_wait_is_told_where() {
    let arguments = ["in=i32[4]:1", "out=i32[4]:0"];
    let at_once = report("exchange_at_once", [1, 4], &arguments, "");
    races(&at_once, [26, 28]);
    let Verdict::Violated(_, steps) = &at_once.verdict else { unreachable!("it races") };
    let values: Vec<&str> = steps.iter().filter_map(|step| step.value.as_deref()).collect();
    assert!(
        values.iter().any(|value| value.contains("from phase 0 with 0 of 4 arrivals to phase 0 with 1 of 4")),
        "{values:?}"
    );
    let early = report("exchange_too_early", [1, 4], &arguments, "");
    match &early.verdict {
        Verdict::Violated(Violation::Fault { what, .. }, _) => assert!(what.contains("not initialized"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_count_is_that_of_the_threads_that_arrive() {
    for (count, verdict) in [("count=4", "holds"), ("count=3", "stuck"), ("count=5", "stuck"), ("count=0", "1 to 2^20")]
    {
        let found = match report("counts", [1, 4], &[count, "out=i32[4]:0"], "").verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Violated(Violation::Stuck(_), _) => "stuck".into(),
            Verdict::Violated(Violation::Fault { what, .. }, _) => what,
            other => panic!("{count}: {other:?}"),
        };
        assert!(found.contains(verdict), "{count}: {found}");
    }
}

#[test]
fn a_producer_and_a_consumer_pass_buffers_on() {
    let arguments = ["rounds=5", "in=i32[20]:7", "out=i32[20]:0"];
    let report_of = |entry| report(entry, [1, 8], &arguments, "out[0] == 7 && out[19] == 7");
    assert_eq!(report_of("pass").verdict, Verdict::Holds);
    assert!(matches!(report_of("pass_unasked").verdict, Verdict::Violated(..)));
}

#[test]
fn a_phase_waits_for_copies() {
    let arguments = ["in=i32[3]:9", "out=i32[3]:0"];
    assert_eq!(report("copied", [1, 3], &arguments, "out[0] == 9").verdict, Verdict::Holds);
    let many = ["in=i32[24]:9", "out=i32[24]:0"];
    for (entry, line) in [("copied_own", 94), ("copied_unwaited", 97)] {
        for (threads, arguments) in [(3, &arguments), (24, &many)] {
            match report(entry, [1, threads], arguments, "").verdict {
                Verdict::Violated(Violation::Copying { accesses: [access, _], .. }, steps) => {
                    assert!(access.at.starts_with(&format!("barrier_objects.cu:{line}:")), "{entry}: {}", access.at);
                    let values: Vec<&str> = steps.iter().filter_map(|step| step.value.as_deref()).collect();
                    assert!(values.contains(&"writes 9 to tile, byte 0"), "{entry}: {values:?}");
                }
                other => panic!("{entry}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_copy_begins_with_an_object_and_ends_with_its_phase() {
    let arguments = ["in=i32[2]:9", "out=i32[2]:0"];
    match report("copied_changing", [1, 2], &arguments, "").verdict {
        Verdict::Violated(Violation::Copying { accesses: [access, _], .. }, _) => {
            assert!(access.at.starts_with("barrier_objects.cu:115:"), "{}", access.at);
        }
        other => panic!("{other:?}"),
    }
    races(&report("copied_too_early", [1, 2], &arguments, ""), [124, 125]);
}

#[test]
fn a_grid_waits_for_itself_by_a_counter() {
    let arguments = ["count=u32[1]:0", "from=i32[64]:1", "to=i32[64]:0", "rounds=4"];
    let counted = report("counted_sweeps", [16, 4], &arguments, "from[0] == 16 && to[0] == 8");
    assert_eq!((&counted.verdict, counted.statistics.complete), (&Verdict::Holds, 1));
    let few = ["count=u32[1]:0", "from=i32[4]:1", "to=i32[4]:0", "rounds=2"];
    races(&report("counted_sweeps_released", [2, 2], &few, ""), [137, 137]);
}

#[test]
fn a_grid_waits_for_itself_in_rounds() {
    let sweeps = report("sweeps", [6, 16], &["from=i32[96]:1", "to=i32[96]:0", "rounds=5"], "to[0] == 32");
    assert_eq!((&sweeps.verdict, sweeps.statistics.complete), (&Verdict::Holds, 1));
    races(&report("sweeps_in_place", [2, 2], &["at=i32[4]:1", "rounds=2"], ""), [181, 181]);
}

#[test]
fn a_grid_goes_on_until_nothing_changes() {
    let settles = report("settles", [4, 8], &["at=i32[32]:3", "changed=i32[2]:0"], "at[0] == 0 && at[31] == 0");
    assert_eq!((&settles.verdict, settles.statistics.complete), (&Verdict::Holds, 1));
    races(&report("settles_early", [2, 1], &["at=i32[2]:2", "changed=i32[2]:0"], ""), [200, 201]);
}

/// A thread with these instructions on an object that is initialized for `count` arrivals.
fn alone(count: u32, instructions: &str) -> Result<Verdict, String> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 r)\n{{\n.reg .u64 %r, %s; .reg .u32 %t; .reg .pred %p;\n\
         .shared .align 8 .b64 bar;\nld.param.u64 %r, [r];\nmbarrier.init.shared::cta.b64 [bar], {count};\n{instructions}\n\
         selp.u32 %t, 1, 0, %p;\nst.global.u32 [%r], %t;\nret;\n}}\n"
    );
    let source = Source { file: "k.ptx".into(), text };
    Ok(judged(source, None, launch(1, 1, 0, &["r=u32[1]:7"]), "r == 1")?.verdict)
}

#[test]
fn instructions_on_objects_are_as_the_isa_has_them() {
    let arrive = "mbarrier.arrive.shared.b64 %s, [bar];";
    for (instructions, holds) in [
        (format!("{arrive}\nmbarrier.test_wait.shared.b64 %p, [bar], %s;"), false),
        (format!("{arrive}\n{arrive}\nmbarrier.test_wait.shared.b64 %p, [bar], %s;"), true),
        ("mbarrier.arrive.shared.b64 %s, [bar], 2;\nmbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [bar], %s, 10;".into(), true),
        // The parity of a phase that is complete, and of the one under way.
        (format!("{arrive}\nmbarrier.arrive.release.cta.shared::cta.b64 _, [bar];\nmbarrier.test_wait.parity.shared.b64 %p, [bar], 0;"), true),
        (format!("{arrive}\n{arrive}\nmbarrier.try_wait.parity.shared.b64 %p, [bar], 1;"), false),
        (format!("{arrive}\nmbarrier.test_wait.parity.shared.b64 %p, [bar], 0;"), false),
        // By a generic address, and with a guard.
        ("setp.eq.u64 %p, %r, 0;\n@%p mbarrier.arrive.shared.b64 %s, [bar];\n@!%p mbarrier.arrive.shared.b64 %s, [bar], 2;\ncvta.shared.u64 %r, bar;\nmbarrier.test_wait.b64 %p, [%r], %s;\nld.param.u64 %r, [r];".into(), true),
    ] {
        match alone(2, &instructions) {
            Ok(Verdict::Holds) => assert!(holds, "{instructions}"),
            Ok(Verdict::Violated(Violation::Assertion { .. }, _)) => assert!(!holds, "{instructions}"),
            other => panic!("{instructions}: {other:?}"),
        }
    }
    for (instructions, why) in [
        ("mbarrier.arrive.shared.b64 %s, [bar], 3;", "more arrivals"),
        ("mbarrier.inval.shared.b64 [bar];\nmbarrier.arrive.shared.b64 %s, [bar];", "not initialized"),
        ("mbarrier.arrive.shared.b64 %s, [bar], 0;", "range 1 to 2^20 - 1"),
        ("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %s, [bar], 2;", "'.noComplete'"),
        (
            "mbarrier.arrive.shared.b64 %s, [bar], 2;\nmbarrier.arrive.shared.b64 _, [bar], 2;\nmbarrier.test_wait.shared.b64 %p, [bar], %s;",
            "neither the one under way",
        ),
    ] {
        match alone(2, instructions) {
            Ok(Verdict::Violated(Violation::Fault { what, .. }, _)) => assert!(what.contains(why), "{what}"),
            other => panic!("{instructions}: {other:?}"),
        }
    }
    for (instructions, why) in [
        ("mbarrier.arrive_drop.shared.b64 %s, [bar];", "whose count changes"),
        ("mbarrier.arrive.expect_tx.shared.b64 %s, [bar], 16;", "bytes of bulk copies"),
        ("mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16;", "bytes of bulk copies"),
        ("mbarrier.pending_count.b64 %t, %s;", "how many arrivals are pending"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];", "copies that arrive by themselves"),
    ] {
        let refused = alone(2, instructions).expect_err(instructions);
        assert!(refused.contains(why) && refused.contains("k.ptx:10"), "{refused}");
    }
}

/// The verdict on a kernel of `cuda/waits.cu`, launched with two blocks of one thread.
fn waits(entry: &str, arguments: &[&str], assert: &str) -> Verdict {
    judged(source("waits"), Some(entry), launch(2, 1, 0, arguments), assert).expect("it is judged").verdict
}

#[test]
fn libcxx_waits_by_polls_and_sleeps() {
    let (both, pair) = (["data=i32[2]:0", "out=i32[2]:0"], ["data=i32[2]:0", "out=i32[1]:3"]);
    assert_eq!(waits("semaphore", &["sum=i32[1]:0"], "sum == 2"), Verdict::Holds);
    assert_eq!(waits("counting", &pair, "out == 3"), Verdict::Holds);
    assert_eq!(waits("latched", &both, "out[0] == 2 && out[1] == 1"), Verdict::Holds);
    assert_eq!(waits("met", &both, "out[0] == 2 && out[1] == 1"), Verdict::Holds);
    let flag = ["flag=i32[1]:0", "data=i32[1]:0", "out=i32[1]:42"];
    assert_eq!(waits("flagged", &flag, "out == 42"), Verdict::Holds);
    for (entry, arguments) in [("counting_one", &pair[..]), ("flagged_relaxed", &flag)] {
        let verdict = waits(entry, arguments, "out == 42 || out == 3");
        assert!(matches!(verdict, Verdict::Violated(Violation::Race { .. }, _)), "{entry}: {verdict:?}");
    }
}
