//! Threads that take tickets (`cuda/tickets.cu`): one run stands for all orders in which they do.

use wattle_foreign::{Condition, Options, Report, Verdict, Violation, World, judge};

use crate::cuda::{launch, race_at, source};

fn report(entry: &str, [grid, block]: [u32; 2], arguments: &[&str], asserted: &[&str]) -> Report {
    let launch = launch(grid, block, 0, arguments);
    let mut world = World::new(source("tickets"), Some(entry), launch).expect("the kernel is there");
    let conditions: Vec<Condition> =
        asserted.iter().map(|text| Condition::parse(text, world.ranges()).expect("a condition")).collect();
    judge(&mut world, &conditions, &Options { loop_bound: 4, ..Options::default() }).expect("it is judged")
}

#[track_caller]
fn holds_by_one_run(report: &Report) {
    assert_eq!((&report.verdict, report.statistics.complete), (&Verdict::Holds, 1));
}

#[track_caller]
fn races(report: &Report, lines: [u32; 2]) {
    race_at(report, "tickets", lines);
}

#[test]
fn whoever_keeps_an_element_gets_a_place() {
    let arguments = ["in=i32[64]:3", "out=i32[64]:0", "count=i32[1]:0"];
    holds_by_one_run(&report("keep", [2, 32], &arguments, &["count[0] == 64", "out[0] == 3 && out[63] == 3"]));
    // Which element comes to which place is left open.
    let differing = ["in=i32[8]:1,2,-1,4,5,-1,7,8", "out=i32[8]:0", "count=i32[1]:0"];
    holds_by_one_run(&report("keep", [2, 4], &differing, &["count[0] == 6", "out[5] > 0", "out[6] == 0"]));
    let known = report("keep", [2, 4], &differing, &["out[0] == 1"]);
    assert!(matches!(known.verdict, Verdict::Violated(Violation::Assertion { .. }, _)), "{known:?}");
    races(&report("keep_racing", [2, 32], &arguments, &[]), [14, 15]);
    let pairs = ["in=i32[8]:3", "out=i32[16]:0", "count=i32[1]:0"];
    races(&report("keep_pairs", [2, 4], &pairs, &[]), [25, 26]);
}

#[test]
fn each_key_has_a_counter() {
    let keys = format!("keys=i32[64]:{}", ["0,1,2,3"; 16].join(","));
    let arguments = [&keys, "next=i32[4]:0,16,32,48", "out=i32[64]:-1"];
    holds_by_one_run(&report("scatter", [4, 16], &arguments, &["next[3] == 64", "out[63] >= 3", "out[0] != 1"]));
    // The first key has more elements than places.
    let few = [&keys, "next=i32[4]:0,15,32,48", "out=i32[64]:-1"];
    races(&report("scatter", [4, 16], &few, &[]), [33, 33]);
}

#[test]
fn threads_share_work() {
    let arguments = ["in=i32[32]:5", "out=i32[32]:0", "next=i32[1]:0", "sum=i32[1]:0", "pieces=32"];
    let asserted = ["out[0] == 10 && out[31] == 10", "next[0] == 40", "sum[0] == 160"];
    holds_by_one_run(&report("share", [2, 4], &arguments, &asserted));
    let wrong = report("share", [2, 4], &arguments, &["sum[0] == 155"]);
    assert!(matches!(wrong.verdict, Verdict::Violated(Violation::Assertion { .. }, _)), "{wrong:?}");
    // One piece more than there are elements.
    let more = ["in=i32[2]:5", "out=i32[2]:0", "next=i32[1]:0", "sum=i32[1]:0", "pieces=3"];
    let beyond = report("share", [2, 1], &more, &[]);
    assert!(matches!(beyond.verdict, Verdict::Violated(Violation::Fault { .. }, _)), "{beyond:?}");
    races(&report("share_neighbours", [2, 1], &["out=i32[4]:0", "next=i32[1]:0", "pieces=4"], &[]), [47, 47]);
}

/// Which pieces a thread had is left open, and what it leaves of them: nothing of that decides anything.
#[test]
fn threads_add_up_the_pieces_that_they_had() {
    let arguments = ["in=f32[32]:0.1", "sums=f32[8]:0", "total=f32[1]:0", "next=i32[1]:0", "pieces=32"];
    holds_by_one_run(&report("share_sums", [2, 4], &arguments, &["next[0] == 40"]));
}

#[test]
fn blocks_share_work() {
    let arguments = ["in=i32[64]:5", "out=i32[64]:0", "next=i32[1]:0", "count=8"];
    let asserted = ["out[0] == 10 && out[63] == 10", "next[0] == 12"];
    holds_by_one_run(&report("tiles", [4, 8], &arguments, &asserted));
    races(&report("tiles_early", [4, 8], &arguments, &[]), [68, 70]);
}

#[test]
fn blocks_reserve_places() {
    let some = format!("in=i32[64]:{},{}", ["3,0,3,3"; 8].join(","), ["0"; 32].join(","));
    for (elements, count) in [("in=i32[64]:3", 64), (&some, 24)] {
        let arguments = [elements, "out=i32[64]:0", "count=i32[1]:0"];
        let asserted = [&*format!("count[0] == {count}"), "out[0] >= 0 && out[0] <= 3"];
        holds_by_one_run(&report("reserve", [8, 8], &arguments, &asserted));
    }
    let few = report("reserve_too_few", [2, 2], &["in=i32[4]:3", "out=i32[4]:0", "count=i32[1]:0"], &[]);
    assert!(matches!(few.verdict, Verdict::Violated(Violation::Race { .. }, _)), "{few:?}");
}

#[test]
fn a_block_counts_what_its_threads_keep() {
    let arguments = ["in=i32[64]:5", "out=i32[64]:0", "count=i32[2]:0"];
    holds_by_one_run(&report("collect", [2, 32], &arguments, &["count[0] == 32 && count[1] == 32", "out[63] == 5"]));
}

/// One thread comes round to add again, beside others that add more: it gets the values that its own additions lead to, such as 1.
#[test]
fn whoever_comes_round_gets_what_its_own_additions_leave() {
    let body = "setp.ne.u32 %p, %t, 0; @%p bra OTHER;\n\
                LOOP: atom.global.add.u32 %x, [%a], 1; setp.eq.u32 %p, %x, 1; @%p trap;\n\
                setp.lt.u32 %p, %x, 8; @%p bra LOOP; bra END;\n\
                OTHER: atom.global.add.u32 %x, [%a], 2; mul.wide.u32 %b, %t, 4; add.u64 %b, %b, %a; st.global.u32 [%b], %x;\n\
                END:";
    let found = crate::bad_input::verdict(crate::bad_input::kernel(body), 6, &["p=u32[8]:0"], &[]);
    assert!(matches!(found, Verdict::Violated(Violation::Fault { .. }, _)), "{found:?}");
}
