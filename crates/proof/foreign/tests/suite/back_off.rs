//! Back-offs: those that only count polls and sleep are judged, and whatever else depends on the time is refused.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, World, judge};

/// Block 0 writes a word and sets a flag; block 1 waits for it with these instructions behind each look, and reads the word.
fn waits(load: &str, behind: &str) -> Source {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 f, .param .u64 r)\n{{\n\
         .reg .u64 %x, %f, %r, %s, %n; .reg .u32 %t, %u, %v, %w, %c; .reg .pred %p, %q;\nmov.u32 %c, 0;\nld.param.u64 %x, [x];\n\
         ld.param.u64 %f, [f];\nld.param.u64 %r, [r];\nmov.u32 %t, %ctaid.x;\nsetp.ne.u32 %p, %t, 0;\n@%p bra L;\n\
         st.global.u32 [%x], 42;\nst.release.gpu.global.u32 [%f], 1;\nret;\n\
         L: mov.u64 %s, %globaltimer;\nmov.u32 %w, 0;\nT: {load} %v, [%f];\nsetp.ne.u32 %p, %v, 0;\n@%p bra D;\n\
         mov.u64 %n, %globaltimer;\nsub.s64 %n, %n, %s;\n{behind}\nbra T;\n\
         D: ld.global.u32 %v, [%x];\nadd.u32 %v, %v, %w;\nst.global.u32 [%r], %v;\nret;\n}}\n"
    );
    Source { file: "k.ptx".into(), text }
}

fn verdict(source: Source) -> Result<Verdict, String> {
    let arguments = ["x=u32[1]:0", "f=u32[1]:0", "r=u32[1]:42"].map(|given| given.parse().expect("an argument"));
    let launch = Launch { grid: [2, 1, 1], block: [1; 3], arguments: arguments.to_vec(), dynamic_shared: 0 };
    let mut world = World::new(source, None, launch).map_err(|error| error.to_string())?;
    let condition = Condition::parse("r == 42", world.ranges()).expect("a condition");
    let report = judge(&mut world, &[condition], &Options::default()).map_err(|error| error.to_string())?;
    Ok(report.verdict)
}

/// As libcu++ waits: longer sleeps, the longer the time was, and none in the beginning.
const SLEEPS: &str = "setp.lt.s64 %q, %n, 4000000;\n@%q bra S;\nmov.u32 %u, 1000000;\nnanosleep.u32 %u;\nbra T;\n\
                      S: setp.lt.s64 %q, %n, 40000;\n@%q bra T;\nshr.u64 %n, %n, 2;\ncvt.u32.u64 %u, %n;\nnanosleep.u32 %u;";

#[test]
fn a_sleep_changes_nothing() {
    let acquire = "ld.acquire.gpu.global.u32";
    assert_eq!(verdict(waits(acquire, SLEEPS)), Ok(Verdict::Holds));
    assert_eq!(verdict(waits(acquire, "setp.lt.s64 %q, %n, 9;\n@!%q nanosleep.u32 20;")), Ok(Verdict::Holds));
    // And before that a number of polls without a look at the timer, of which each is counted.
    let counts = format!("setp.ge.u32 %q, %c, 16;\n@%q bra U;\nadd.u32 %c, %c, 1;\nbra T;\nU: {SLEEPS}");
    assert_eq!(verdict(waits(acquire, &counts)), Ok(Verdict::Holds));
    // The wait is judged as without the timer.
    assert!(matches!(verdict(waits("ld.relaxed.gpu.global.u32", SLEEPS)), Ok(Verdict::Violated(..))));
}

#[test]
fn what_the_time_decides_is_refused() {
    for behind in [
        // A time-out; a value that is read later; a store; a load; a turn of its own.
        "setp.gt.s64 %q, %n, 4000000;\n@%q bra D;",
        "setp.gt.s64 %q, %n, 9;\n@%q bra S;\nbra T;\nS: mov.u32 %w, 1;",
        "cvt.u32.u64 %w, %n;",
        "st.global.u64 [%f+8], %n;",
        "setp.gt.s64 %q, %n, 9;\n@%q st.global.u32 [%r], 7;",
        "setp.gt.s64 %q, %n, 9;\n@%q bra S;\nbra T;\nS: ld.global.u32 %u, [%x];",
        "S: mov.u64 %n, %globaltimer;\nsub.s64 %n, %n, %s;\nsetp.lt.s64 %q, %n, 9;\n@%q bra S;",
    ] {
        let refused = verdict(waits("ld.acquire.gpu.global.u32", behind)).expect_err(behind);
        assert!(refused.contains("a clock has any value") && refused.contains("%globaltimer"), "{behind}: {refused}");
    }
}
