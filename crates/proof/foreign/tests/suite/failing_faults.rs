//! Faults and races of iterations that fail: a thread of a module ends where its access is out of bounds, also where nobody uses
//! what the access reads.

use wattle_foreign::{Launch, Options, Source, Verdict, Violation, World, judge};

/// The verdict on two blocks of one thread, of which the first stores `stored` to `x` and then sets the flag `f`, for which
/// the other one waits; `body` stands in its loop, between the poll and the jump back.
fn verdict(stored: u32, poll: &str, body: &str) -> Verdict {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .shared .align 4 .b32 tile[4];\n.entry k(.param .u64 f, .param .u64 x) {{\n\
         .reg .u64 %f, %x, %a; .reg .u32 %t, %v, %w, %u, %s; .reg .pred %p;\nld.param.u64 %f, [f]; ld.param.u64 %x, [x]; \
         mov.u32 %t, %ctaid.x; setp.ne.u32 %p, %t, 0; mov.u32 %w, 0; @%p bra WAIT;\nst.relaxed.gpu.global.u32 [%x], {stored}; \
         st.release.gpu.global.u32 [%f], 1; ret;\nWAIT: {poll} %v, [%f]; setp.ne.u32 %p, %v, 0; @%p bra END;\n{body}\n\
         bra WAIT;\nEND: ret; }}"
    );
    let launch = Launch {
        grid: [2, 1, 1],
        block: [1; 3],
        arguments: vec!["f=u32[1]:0".parse().expect("an argument"), "x=u32[4]:0".parse().expect("an argument")],
        dynamic_shared: 0,
    };
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    judge(&mut world, &[], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

const ACQUIRING: &str = "ld.acquire.gpu.global.u32";
/// The place that is as far behind `x` as it holds words.
const PLACE: &str = "ld.relaxed.gpu.global.u32 %w, [%x]; mul.wide.u32 %a, %w, 4; add.u64 %a, %a, %x;\n";

#[test]
fn an_access_whose_value_nobody_uses_faults() {
    let bodies = [
        format!("{PLACE}ld.relaxed.gpu.global.u32 %u, [%a];"),
        format!("{PLACE}ld.acquire.gpu.global.u32 %u, [%a];"),
        format!("{PLACE}ld.global.u32 %u, [%a];"),
        format!("{PLACE}ld.volatile.global.u32 %u, [%a];"),
        format!("{PLACE}atom.relaxed.gpu.global.add.u32 %u, [%a], 0;"),
        format!("{PLACE}atom.relaxed.gpu.global.cas.b32 %u, [%a], 5, 6;"),
        // The place of the place.
        format!(
            "{PLACE}ld.relaxed.gpu.global.u32 %u, [%a]; mul.wide.u32 %a, %w, 8; add.u64 %a, %a, %x;\nld.global.u32 %u, [%a];"
        ),
        "ld.relaxed.gpu.global.u32 %w, [%x]; mul.wide.u32 %a, %w, 1; add.u64 %a, %a, %x;\nld.global.u32 %u, [%a];"
            .to_owned(),
        "ld.relaxed.gpu.global.u32 %w, [%x]; mov.u32 %s, tile; mad.lo.u32 %s, %w, 4, %s;\nld.shared.u32 %u, [%s];"
            .to_owned(),
        format!("{PLACE}@%p ld.global.u32 %u, [%x]; ld.global.u32 %u, [%a];"),
    ];
    for body in &bodies {
        let found = verdict(9, ACQUIRING, body);
        assert!(matches!(found, Verdict::Violated(Violation::Fault { .. }, _)), "{body}: {found:?}");
    }
    let volatile = verdict(9, "ld.volatile.global.u32", &bodies[3]);
    assert!(matches!(volatile, Verdict::Violated(Violation::Fault { .. }, _)), "{volatile:?}");
}

#[test]
fn an_access_within_bounds_does_not() {
    for body in ["ld.relaxed.gpu.global.u32 %u, [%a];", "ld.acquire.gpu.global.u32 %u, [%a];"] {
        let found = verdict(3, ACQUIRING, &format!("{PLACE}{body}"));
        assert_eq!(found, Verdict::Holds, "{body}");
    }
}

/// Two threads wait for a flag. What they do beside that conflicts, and is in iterations alone that fail.
#[test]
fn two_iterations_that_fail_race_with_each_other() {
    let judged = |read: &str| {
        let text = format!(
            ".version 8.6 .target sm_90 .address_size 64\n.entry k(.param .u64 f, .param .u64 x) {{\n\
             .reg .u64 %f, %x; .reg .u32 %t, %v, %w; .reg .pred %p;\nld.param.u64 %f, [f]; ld.param.u64 %x, [x];\n\
             mov.u32 %t, %ctaid.x; setp.eq.u32 %p, %t, 1; @%p bra ONE; setp.eq.u32 %p, %t, 2; @%p bra OTHER;\n\
             st.release.gpu.global.u32 [%f], 1; ret;\n\
             ONE: {ACQUIRING} %v, [%f]; setp.ne.u32 %p, %v, 0; @%p bra END;\n\
             atom.relaxed.gpu.global.cas.b32 %w, [%x], 7, 8; bra ONE;\n\
             OTHER: {ACQUIRING} %v, [%f]; setp.ne.u32 %p, %v, 0; @%p bra END;\n{read} %w, [%x]; bra OTHER;\nEND: ret; }}"
        );
        let arguments = ["f=u32[1]:0", "x=u32[1]:1"].map(|text| text.parse().expect("an argument")).to_vec();
        let launch = Launch { grid: [3, 1, 1], block: [1; 3], arguments, dynamic_shared: 0 };
        let mut world = World::new(Source { file: "k.ptx".into(), text }, None, launch).expect("a launch");
        judge(&mut world, &[], &Options::default()).expect("it is judged").verdict
    };
    // An exchange that fails writes in PTX.
    let found = judged("ld.global.u32");
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{found:?}");
    assert_eq!(judged("ld.relaxed.gpu.global.u32"), Verdict::Holds);
}
