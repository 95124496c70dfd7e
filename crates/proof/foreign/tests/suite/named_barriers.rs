//! Barriers of PTX for some warps of a block (PTX ISA 8.8, 9.7.13.1 "bar"): arrivals are counted by whole warps, and a barrier
//! that has opened begins anew.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, World, judge};

/// The verdict on a PTX kernel whose body is `body`, run by one block of `threads` threads. In the body the register `%w` has the number
/// of the thread's warp, and `%l` that of its lane.
fn verdict(threads: u32, body: &str, asserted: &str) -> String {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %t, %w, %l, %x, %n;\n\
         .reg .pred %p, %q, %r; .shared .align 4 .u32 word;\nld.param.u64 %a, [p]; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5;\n\
         and.b32 %l, %t, 31; mov.u32 %n, 64; setp.ne.u32 %q, %l, 0;\n{body}\nret; }}"
    );
    let launch = Launch {
        grid: [1; 3],
        block: [threads, 1, 1],
        arguments: vec!["p=u32[4]:0".parse().expect("an argument")],
        dynamic_shared: 0,
    };
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    let asserted: Vec<_> = Some(asserted)
        .filter(|text| !text.is_empty())
        .map(|text| Condition::parse(text, world.ranges()).expect("a condition"))
        .into_iter()
        .collect();
    match judge(&mut world, &asserted, &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict {
        Verdict::Holds => "holds".into(),
        Verdict::Violated(violation, _) => format!("{}: {}", violation.kind(), violation.sentence(&world)),
        Verdict::Unknown(why) => why,
    }
}

/// All lanes but two of each warp end before the barrier.
const LEAVE: &str = "setp.gt.u32 %p, %l, 1; @%p exit;";

#[test]
fn lanes_that_have_ended_count_with_their_warp() {
    for count in ["64", "%n"] {
        let meet = format!("{LEAVE} bar.sync 1, {count}; @!%q red.global.add.u32 [%a], 1;");
        assert_eq!(verdict(64, &meet, "p[0] == 2"), "holds");
        // Of four warps two meet, and then the other two.
        assert_eq!(verdict(128, &meet, "p[0] == 4"), "holds");
        // 48 threads of three warps are not two warps: one is left over.
        let left = meet.replace("%p, %l, 1", "%p, %l, 15");
        assert!(verdict(96, &left, "").starts_with("can be stuck for ever"), "{}", verdict(96, &left, ""));
    }
}

#[test]
fn whoever_comes_too_many_waits() {
    assert!(verdict(96, "bar.sync 1, 64;", "").starts_with("can be stuck for ever"));
    assert_eq!(verdict(128, "bar.sync 1, 64;", ""), "holds");
    // The first warp is to meet each of the others, who may meet each other: unless one of them comes later.
    let twice = "setp.ne.u32 %p, %w, 0; bar.sync 1, 64; @%p exit; bar.sync 1, 64;";
    assert!(verdict(96, twice, "").starts_with("can be stuck for ever"));
    let in_turn = "setp.ne.u32 %p, %w, 0; setp.ne.u32 %r, %w, 2; @!%r bar.sync 2, 64; bar.sync 1, 64; @%p exit;\n\
                   bar.arrive 2, 64; bar.sync 1, 64;";
    assert_eq!(verdict(96, in_turn, ""), "holds");
}

/// What a barrier of two warps orders, and what it does not.
#[test]
fn the_warps_that_meet_are_ordered() {
    let give = |meets: &str| {
        format!(
            "setp.ne.u32 %p, %t, 0; @%p bra MEET; st.shared.u32 [word], 7; MEET: setp.lt.u32 %r, %w, {meets};\n\
             @%r bar.sync 1, 64; setp.ne.u32 %p, %t, 32; @%p exit; ld.shared.u32 %x, [word]; st.global.u32 [%a], %x;"
        )
    };
    assert_eq!(verdict(96, &give("2"), "p[0] == 7"), "holds");
    let apart = give("2").replace("%p, %t, 32", "%p, %t, 64");
    assert!(verdict(96, &apart, "").starts_with("data race"), "{}", verdict(96, &apart, ""));
    // Who only arrives does not wait, and is waited for.
    let arrives = "setp.ne.u32 %p, %w, 0; @%p bra TAKE; @!%q st.shared.u32 [word], 7; bar.arrive 1, 64; bra END;\n\
                   TAKE: bar.sync 1, 64; @!%q ld.shared.u32 %x, [word]; @!%q st.global.u32 [%a], %x; END:";
    assert_eq!(verdict(64, arrives, "p[0] == 7"), "holds");
    let overwrites = arrives.replace("bar.arrive 1, 64;", "bar.arrive 1, 64; @!%q st.shared.u32 [word], 8;");
    assert!(verdict(64, &overwrites, "").starts_with("data race"), "{}", verdict(64, &overwrites, ""));
}

/// Two warps hand a word to and fro by two barriers, as producers and consumers do.
#[test]
fn producers_and_consumers() {
    let rounds = |full: &str| {
        format!(
            "setp.ne.u32 %p, %w, 0; mov.u32 %n, 0; @%p bra TAKE;\n\
             GIVE: @!%q st.shared.u32 [word], %n; bar.arrive {full}, 64; bar.sync 2, 64; add.u32 %n, %n, 1;\n\
             setp.lt.u32 %r, %n, 3; @%r bra GIVE; exit;\n\
             TAKE: bar.sync 1, 64; @!%q ld.shared.u32 %x, [word]; @!%q red.global.add.u32 [%a], %x; bar.arrive 2, 64;\n\
             add.u32 %n, %n, 1; setp.lt.u32 %r, %n, 3; @%r bra TAKE;"
        )
    };
    assert_eq!(verdict(64, &rounds("1"), "p[0] == 3"), "holds");
    let stuck = verdict(64, &rounds("3"), "");
    assert!(stuck.starts_with("can be stuck for ever: block 0, thread 0 and 31 others wait at a barrier"), "{stuck}");
    assert!(stuck.contains("; block 0, thread 32 and 31 others wait at a barrier"), "{stuck}");
    // The order of the fences, which nobody needs, has no end of possibilities.
    let fenced = rounds("1").replace("bar.arrive", "fence.sc.cta; bar.arrive");
    assert_eq!(verdict(64, &fenced, "p[0] == 3"), "holds");
}

/// A warp that only arrived at a barrier, and waits at another one, is not let through that one by the first.
#[test]
fn who_only_arrived_waits_elsewhere() {
    let first = "setp.ne.u32 %p, %w, 0; @%p bra OTHER; bar.sync 2, 64; exit;\n\
                 OTHER: bar.arrive 2, 64; bar.sync 3, 64; @!%q st.global.u32 [%a], 1;";
    assert!(verdict(64, first, "").starts_with("can be stuck for ever"), "{}", verdict(64, first, ""));
    // PTX ISA's own example: the producer waits until the buffer is free, the consumer until it is full.
    let hand_over = "setp.ne.u32 %p, %w, 0; @%p bra TAKE; bar.sync 2, 64; @!%q st.shared.u32 [word], 7; bar.arrive 1, 64;\n\
                     exit; TAKE: bar.arrive 2, 64; bar.sync 1, 64; @!%q ld.shared.u32 %x, [word];\n\
                     @!%q st.global.u32 [%a], %x;";
    assert_eq!(verdict(64, hand_over, "p[0] == 7"), "holds");
    assert!(verdict(64, hand_over, "p[0] == 77").starts_with("assertion"), "{}", verdict(64, hand_over, "p[0] == 77"));
    // The consumer says that the buffer is free again before it has read.
    let early = "setp.ne.u32 %p, %w, 0; mov.u32 %n, 0; @%p bra TAKE;\n\
                 GIVE: bar.sync 2, 64; @!%q st.shared.u32 [word], %n; bar.arrive 1, 64; add.u32 %n, %n, 1;\n\
                 setp.lt.u32 %r, %n, 2; @%r bra GIVE; exit;\n\
                 TAKE: bar.arrive 2, 64; bar.sync 1, 64; bar.arrive 2, 64; @!%q ld.shared.u32 %x, [word];\n\
                 @!%q red.global.add.u32 [%a], %x; bar.sync 1, 64;";
    assert!(verdict(64, early, "").starts_with("data race"), "{}", verdict(64, early, ""));
}

#[test]
fn barriers_and_counts_that_do_not_exist() {
    for (body, said) in [
        ("mov.u32 %n, 16; bar.sync %n;", "numbered from 0 to 15"),
        ("mov.u32 %n, 33; bar.sync 1, %n;", "no multiple of a warp's 32"),
        ("mov.u32 %n, 0; bar.sync 1, %n;", "no multiple of a warp's 32"),
        ("mov.u32 %n, 16; bar.red.popc.u32 %x, %n, %q;", "numbered from 0 to 15"),
    ] {
        let found = verdict(32, body, "");
        assert!(found.starts_with("fault") && found.contains(said), "{body}: {found}");
    }
}
