//! What lanes of a warp find out about each other (`cuda/lanes.cu`), and grids that wait for themselves (`cuda/grid_sync.cu`):
//! compiled as the kernels of [`crate::cuda`] are.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, Violation, World, judge};

use crate::cuda::{launch, source};

fn judged_launch(source: Source, entry: Option<&str>, launch: Launch, assert: &str) -> Verdict {
    let mut world = World::new(source, entry, launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Some(assert).filter(|text| !text.is_empty());
    let condition = condition.map(|text| Condition::parse(text, world.ranges()).expect("a condition"));
    judge(&mut world, condition.as_slice(), &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

fn judged(file: &str, entry: &str, [grid, block]: [u32; 2], arguments: &[&str], assert: &str) -> Verdict {
    judged_launch(source(file), Some(entry), launch(grid, block, 0, arguments), assert)
}

#[test]
fn lanes_with_one_value_find_each_other() {
    let arguments = ["keys=i32[4]:1,2,1,1", "counts=u32[3]:0", "seen=u32[4]:0"];
    let all = "counts[1] == 3 && counts[2] == 1 && seen[0] == 13 && seen[1] == 2 && seen[2] == 13 && seen[3] == 13";
    assert_eq!(judged("lanes", "by_key", [1, 4], &arguments, all), Verdict::Holds);
    let wide = ["keys=i32[32]:1", "counts=u32[3]:0", "seen=u32[32]:0"];
    let all = "counts[1] == 32 && seen[31] == 4294967295";
    assert_eq!(judged("lanes", "by_key", [1, 32], &wide, all), Verdict::Holds);
    // The lower words are equal.
    for (keys, out) in [("5,5", "out[0] == 15 && out[1] == 15"), ("5,4294967301", "out[0] == 1 && out[1] == 1")] {
        let keys = format!("keys=i64[2]:{keys}");
        assert_eq!(judged("lanes", "agree", [1, 2], &[&keys, "out=u32[2]:0"], out), Verdict::Holds, "{keys}");
    }
    let differ = judged("lanes", "agree", [1, 2], &["keys=i64[2]:5,4", "out=u32[2]:0"], "out[0] == 0 && out[1] == 0");
    assert_eq!(differ, Verdict::Holds);
}

#[test]
fn every_choice_of_the_lanes_that_are_together_is_tried() {
    let arguments = ["in=i32[3]:1,1,1", "count=u32[1]:0", "at=u32[3]:9"];
    let once =
        "count == 3 && at[0] < 3 && at[1] < 3 && at[2] < 3 && at[0] != at[1] && at[0] != at[2] && at[1] != at[2]";
    assert_eq!(judged("lanes", "places", [1, 3], &arguments, once), Verdict::Holds);
    // A lane that does not come is never among them.
    let arguments = ["in=i32[3]:1,0,1", "count=u32[1]:0", "at=u32[3]:9"];
    let once = "count == 2 && at[0] < 2 && at[2] < 2 && at[0] != at[2] && at[1] == 9";
    assert_eq!(judged("lanes", "places", [1, 3], &arguments, once), Verdict::Holds);
    // Four of eight come in fifteen ways, of the more than four thousand of all eight.
    let arguments = ["in=i32[8]:0,1,0,1,1,0,0,1", "count=u32[1]:0", "at=u32[8]:9"];
    assert_eq!(judged("lanes", "places", [1, 8], &arguments, "count == 4 && at[7] < 4 && at[0] == 9"), Verdict::Holds);
    // That all of them are together is one choice: there the lowest lane counts for all.
    let wrong = judged("lanes", "for_all", [1, 2], &["in=i32[2]:1", "count=u32[1]:0"], "count == 2");
    assert!(
        matches!(&wrong, Verdict::Violated(Violation::Assertion { values, .. }, _) if values == "count = 1"),
        "{wrong:?}"
    );
    // A lane alone has no choice.
    assert_eq!(judged("lanes", "for_all", [2, 1], &["in=i32[1]:1", "count=u32[1]:0"], "count == 2"), Verdict::Holds);
}

/// A search that ends early says what makes it long.
#[test]
fn lanes_that_may_be_together_are_named_where_the_time_is_up() {
    let launch = launch(1, 8, 0, &["in=i32[8]:1", "count=u32[1]:0", "at=u32[8]:9"]);
    let mut world = World::new(source("lanes"), Some("places"), launch).unwrap_or_else(|error| panic!("{error}"));
    let mut options = Options::default();
    options.limits.deadline = Some(std::time::Instant::now());
    let report = judge(&mut world, &[], &options).unwrap_or_else(|error| panic!("{error}"));
    let Verdict::Unknown(why) = &report.verdict else { panic!("{report:?}") };
    let begins = "the time limit was reached; which lanes are together at lanes.cu:";
    assert!(why.starts_with(begins) && why.contains("launch it with fewer lanes"), "{why}");
}

#[test]
fn where_not_every_choice_is_tried_nothing_is_known() {
    for (entry, block, arguments, assert, why) in [
        ("turns", 2, &["count=u32[1]:0"][..], "count > 0", "a loop comes to it again"),
        ("places", 7, &["in=i32[7]:1", "count=u32[1]:0", "at=u32[7]:9"], "count == 7", "more ways than are tried"),
    ] {
        match judged("lanes", entry, [1, block], arguments, assert) {
            Verdict::Unknown(text) => assert!(text.contains("lanes.cu:") && text.contains(why), "{text}"),
            other => panic!("{entry}: {other:?}"),
        }
    }
    // What some choice shows is wrong.
    let wrong = judged("lanes", "turns", [1, 2], &["count=u32[1]:0"], "count < 3");
    assert!(matches!(wrong, Verdict::Violated(Violation::Assertion { .. }, _)), "{wrong:?}");
}

#[test]
fn a_grid_waits_for_itself() {
    let arguments = ["from=i32[4]:1,2,3,4", "part=i32[4]", "to=i32[4]:0"];
    let turned = "to[0] == 8 && to[1] == 6 && to[2] == 4 && to[3] == 2";
    assert_eq!(judged("grid_sync", "right", [2, 2], &arguments, turned), Verdict::Holds);
    match judged("grid_sync", "of_the_block", [2, 2], &arguments, turned) {
        Verdict::Violated(Violation::Race { accesses, .. }, _) => {
            let mut lines = accesses.map(|access| access.at.clone());
            lines.sort();
            assert!(lines[0].starts_with("grid_sync.cu:17:") && lines[1].starts_with("grid_sync.cu:19:"), "{lines:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// A kernel of two lanes.
fn two_lanes(body: &str) -> (Source, Launch) {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out)\n{{ .reg .u64 %o; .reg .u32 %t, %x, %y, %z; \
         .reg .pred %p, %q;\nld.param.u64 %o, [out];\nmov.u32 %t, %tid.x;\nsetp.eq.u32 %p, %t, 0;\n@%p mov.u32 %x, 5;\n{body}\n\
         mad.wide.u32 %o, %t, 4, %o;\nst.global.u32 [%o], %z;\nret; }}"
    );
    (Source { file: "k.ptx".into(), text }, launch(1, 2, 0, &["out=u32[2]:0"]))
}

#[test]
fn votes_of_negated_predicates() {
    for (body, assert) in [
        ("vote.sync.any.pred %q, !%p, 3; selp.u32 %z, 1, 0, %q;", "out[0] == 1 && out[1] == 1"),
        ("vote.sync.all.pred %q, !%p, 3; selp.u32 %z, 1, 0, %q;", "out[0] == 0 && out[1] == 0"),
        ("vote.sync.ballot.b32 %z, !%p, 3;", "out[0] == 2 && out[1] == 2"),
        ("vote.sync.uni.pred %q, !%p, 3; selp.u32 %z, 1, 0, %q;", "out[0] == 0 && out[1] == 0"),
        ("vote.sync.uni.pred %q, 1, 3; selp.u32 %z, 1, 0, %q;", "out[0] == 1 && out[1] == 1"),
    ] {
        let (source, launch) = two_lanes(body);
        assert_eq!(judged_launch(source, None, launch, assert), Verdict::Holds, "{body}");
    }
}

/// What a lane has not written may go round in a shuffle, and is wrong where it is taken and matters.
#[test]
fn an_unwritten_value_in_a_shuffle_matters_to_who_takes_it() {
    let (source, launch) = two_lanes("shfl.sync.idx.b32 %z, %x, 0, 31, 3;");
    assert_eq!(judged_launch(source, None, launch, "out[0] == 5 && out[1] == 5"), Verdict::Holds);
    let (source, launch) = two_lanes("shfl.sync.idx.b32 %y, %x, 1, 31, 3;\nmov.u32 %z, 1;");
    assert_eq!(judged_launch(source, None, launch, "out[0] == 1"), Verdict::Holds);
    let (source, launch) = two_lanes("shfl.sync.idx.b32 %z, %x, 1, 31, 3;");
    match judged_launch(source, None, launch, "") {
        Verdict::Violated(Violation::Unassigned { place, read }, _) => {
            assert_eq!((place.as_str(), read.instruction.as_str()), ("register `%x`", "st.global.u32 [%o], %z;"));
        }
        other => panic!("{other:?}"),
    }
}

/// The lanes of one mask meet however often other masks have met.
#[test]
fn meetings_of_different_masks_are_counted_apart() {
    let body = "@%p bar.warp.sync 1;\n@!%p bra together;\n@%p bar.warp.sync 1;\ntogether:\nbar.warp.sync 3;\n\
                shfl.sync.idx.b32 %z, %x, 0, 31, 3;";
    let (source, launch) = two_lanes(body);
    assert_eq!(judged_launch(source, None, launch, "out[0] == 5 && out[1] == 5"), Verdict::Holds);
}

/// Which lane is elected is left to the device: any of the mask, and the same one each time.
#[test]
fn every_lane_may_be_elected() {
    let elect = "elect.sync %y|%q, 3;\nselp.u32 %z, 1, 0, %q;";
    for (body, assert, holds) in [
        // One lane, and each knows which.
        (elect, "out[0] == 1 && out[1] == 0 || out[0] == 0 && out[1] == 1", true),
        (elect, "out[0] == 1", false),
        (elect, "out[1] == 1", false),
        ("elect.sync %z|%q, 3;", "out[0] == out[1] && out[0] < 2", true),
        // The same mask elects the same lane again, and another mask may elect another.
        ("elect.sync %y|%q, 3;\nelect.sync %z|%q, 3;\nsub.u32 %z, %z, %y;", "out[0] == 0 && out[1] == 0", true),
        ("elect.sync %y|%q, 3;\n@%p elect.sync %z|%q, 1;\n@!%p mov.u32 %z, %y;", "out[1] == 0", false),
        ("@%p elect.sync %z|%q, 1;\n@!%p elect.sync %z|%q, 2;", "out[0] == 0 && out[1] == 1", true),
        // Lanes that there are not are not elected.
        ("elect.sync %z|%q, 0xffffffff;", "out[0] < 2", true),
    ] {
        let (source, launch) = two_lanes(body);
        match judged_launch(source, None, launch, assert) {
            Verdict::Holds => assert!(holds, "{body}, {assert}"),
            Verdict::Violated(Violation::Assertion { .. }, _) => assert!(!holds, "{body}, {assert}"),
            other => panic!("{body}: {other:?}"),
        }
    }
    // A lane waits for the others of its mask, and has to be in it.
    let (source, launch) = two_lanes("@%p elect.sync %z|%q, 3;\n@!%p bar.warp.sync 2;");
    assert!(World::new(source, None, launch).is_ok_and(|mut world| !matches!(
        judge(&mut world, &[], &Options::default()).map(|report| report.verdict),
        Ok(Verdict::Holds)
    )));
    let (source, launch) = two_lanes("elect.sync %z|%q, 1;");
    assert!(matches!(judged_launch(source, None, launch, ""), Verdict::Violated(Violation::Fault { .. }, _)));
}

/// It orders nothing: what the elected lane does is nobody else's to see.
#[test]
fn an_election_orders_nothing() {
    let body = "mov.u32 %z, 0;\n@%p st.global.u32 [%o+4], 7;\nelect.sync %y|%q, 3;\n@!%p ld.global.u32 %z, [%o+4];";
    let (source, launch) = two_lanes(body);
    assert!(matches!(judged_launch(source, None, launch, ""), Verdict::Violated(Violation::Race { .. }, _)));
}

/// In a scenario each choice's outcomes are tried.
#[test]
fn elections_in_scenarios() {
    use wattle_check::checker::Checker;
    use wattle_core::ThreadSpec;
    let (source, _) = two_lanes("elect.sync %z|%q, 3;");
    let check = |wrong: u32| {
        let report = Checker::new(wattle_memory::Model::Ptx).check(|device| {
            let kernel = wattle_foreign::Module::ptx(source.text.as_str())?.kernel("k")?;
            let (queue, mut out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
            queue.launch(ThreadSpec::new(1, 2), kernel.args((&mut out,)))?;
            let elected = out.read(&queue)?;
            assert!(elected[0] == elected[1] && elected[0] != wrong, "{elected:?}");
            Ok(())
        });
        report.expect("it is judged").verdict.to_string()
    };
    assert_eq!([check(0), check(1), check(2)], ["violated", "violated", "holds"]);
}

#[test]
fn threads_that_wait_together_wait_once() {
    let told = |entry, block| {
        let out = format!("out=u32[{block}]:0");
        judged("wait_together", entry, [2, block], &["flag=u32[1]:0", "data=u32[1]:0", &out], "out[0] == 42")
    };
    assert_eq!(told("told", 1), Verdict::Holds);
    assert_eq!(told("told", 4), Verdict::Holds);
    match told("told_too_early", 2) {
        Verdict::Violated(Violation::Race { accesses, .. }, _) => {
            let mut lines = accesses.map(|access| access.at.clone());
            lines.sort();
            assert!(
                lines[0].starts_with("wait_together.cu:42:") && lines[1].starts_with("wait_together.cu:46:"),
                "{lines:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    let voted = |entry, assert| judged("wait_together", entry, [2, 2], &["status=u32[2]:0", "out=u32[2]:0"], assert);
    assert_eq!(voted("voted", "out[0] == 3 && out[1] == 3"), Verdict::Holds);
    let never = voted("voted_for_ever", "");
    assert!(matches!(never, Verdict::Violated(Violation::Stuck(_), _)), "{never:?}");
}

/// What a shuffle takes from a lane that does not exist is undefined where it is used (PTX ISA 9.7.9.6), and many sums over warps
/// take it without using it.
#[test]
fn what_a_shuffle_takes_from_a_lane_that_does_not_exist_may_not_be_used() {
    let input = "in=i32[8]:1,2,3,4,5,6,7,8";
    assert_eq!(judged("lanes", "sum_down", [1, 8], &[input, "out=i32[1]:0"], "out[0] == 36"), Verdict::Holds);
    let used = judged("lanes", "take_down", [1, 8], &[input, "out=i32[8]:0"], "");
    let Verdict::Violated(Violation::Fault { what, .. }, _) = &used else { panic!("{used:?}") };
    // Which of the four that take from nobody is shown is open.
    assert!(what.contains("what a shuffle took from lane ") && what.contains("which took no part in it"), "{what}");
}

/// From sm_70 on the lanes of a mask meet at operations of one kind, wherever these stand.
#[test]
fn lanes_meet_from_different_places() {
    let body = "{ .reg .u32 %z; .reg .b64 %v; .shared .align 4 .b8 s[8]; mov.u32 %y, s; mad.lo.u32 %y, %t, 4, %y;\n\
                xor.b32 %z, %t, 1; mov.u32 %x, s; mad.lo.u32 %z, %z, 4, %x; add.u32 %x, %t, 5;\n\
                setp.eq.u32 %p, %t, 0; @%p bra FIRST;\nst.shared.u32 [%y], %x; OTHER bra OUT;\n\
                FIRST: st.shared.u32 [%y], %x; ONE\nOUT: ld.shared.u32 %x, [%z]; mul.wide.u32 %b, %t, 4;\n\
                add.u64 %b, %a, %b; st.global.u32 [%b], %x; }";
    let judged = |one: &str, other: &str, target: &str| {
        let Source { file, text } = crate::bad_input::kernel(&body.replace("ONE", one).replace("OTHER", other));
        let source = Source { file, text: text.replace("sm_90", target) };
        judged_launch(source, None, launch(1, 2, 0, &["p=u32[2]:0"]), "p[0] == 6 && p[1] == 5")
    };
    let shuffle = |how: &str| format!("shfl.sync.{how}.b32 %x, %x, 0, 31, 3; bar.warp.sync 3;");
    assert_eq!(judged("bar.warp.sync 3;", "bar.warp.sync 3;", "sm_90"), Verdict::Holds);
    assert_eq!(judged(&shuffle("idx"), &shuffle("idx"), "sm_70"), Verdict::Holds);
    let waits = |verdict: Verdict| matches!(verdict, Verdict::Violated(Violation::Stuck(_), _));
    assert!(waits(judged("bar.warp.sync 3;", "bar.warp.sync 3;", "sm_60")));
    assert!(waits(judged(&shuffle("idx"), &shuffle("bfly"), "sm_90")));
    assert!(waits(judged("bar.warp.sync 3;", "shfl.sync.idx.b32 %x, %x, 0, 31, 3;", "sm_90")));
    let unlike = judged("bar.warp.sync 3;", "bar.warp.sync 2;", "sm_90");
    assert_ne!(unlike, Verdict::Holds);
}

/// Eight lanes count themselves as those that are together do, by one addition of the first of them: each way to part
/// them is searched.
#[test]
fn eight_lanes_that_are_together_somehow() {
    let body = "{ .reg .u32 %m, %n; activemask.b32 %m; popc.b32 %n, %m; mov.u32 %x, %lanemask_lt; and.b32 %x, %x, %m;\n\
                setp.eq.u32 %p, %x, 0; @%p red.relaxed.gpu.global.add.u32 [%a], %n; }";
    let judged = |lanes: u32| {
        let asserted = format!("p[0] == {lanes}");
        judged_launch(crate::bad_input::kernel(body), None, launch(1, lanes, 0, &["p=u32[1]:0"]), &asserted)
    };
    assert_eq!(judged(8), Verdict::Holds);
    assert!(matches!(judged(9), Verdict::Unknown(_)));
}
