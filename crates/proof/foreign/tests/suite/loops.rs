//! Loops in the forms that compilers give them: several jumps back to one head, loops that begin in the middle, loops within whose
//! turns decide whether the outer one goes on.

use wattle_check::checker::Progress;
use wattle_foreign::{Condition, Options, Source, Verdict, World, judge};

use crate::cuda::launch;

fn verdict(body: &str, (grid, block): (u32, u32), progress: Progress, asserted: Option<&str>) -> Verdict {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out)\n{{ .reg .u64 %a, %b; .reg .u32 %t, %n, %i, %x, %c; \
         .reg .pred %p, %q;\nld.param.u64 %a, [out]; mov.u32 %t, %tid.x; mov.u32 %n, 0;\n{body}\nret; }}\n"
    );
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch(grid, block, 0, &["out=u32[4]:0"])).expect("it is launched");
    let asserted: Vec<_> =
        asserted.map(|text| Condition::parse(text, world.ranges()).expect("a condition")).into_iter().collect();
    let options = Options { progress, ..Options::default() };
    judge(&mut world, &asserted, &options).expect("it is judged").verdict
}

/// Two lanes come to a barrier as often as each other, by whatever jumps a compiler makes of `continue`, and whatever a loop within
/// does before it.
#[test]
fn lanes_that_go_round_by_different_jumps_meet() {
    let two_jumps = "HEAD: bar.sync 0;\nadd.u32 %n, %n, 1;\nsetp.ge.u32 %p, %n, 3;\n@%p bra END;\nsetp.eq.u32 %q, %t, 1;\n\
                     @%q bra HEAD;\nadd.u32 %i, %i, 1;\nbra HEAD;\nEND:";
    let entered_in_the_middle = "HEAD: mov.u32 %i, 0;\nbra TEST;\nBODY: add.u32 %i, %i, 1;\nTEST: setp.lt.u32 %p, %i, %t;\n\
                                 @%p bra BODY;\nbar.sync 0;\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 3;\n@%p bra HEAD;";
    for body in [two_jumps, entered_in_the_middle] {
        let body = format!("mov.u32 %i, 0;\n{body}");
        assert_eq!(verdict(&body, (1, 2), Progress::Fair, None), Verdict::Holds, "{body}");
    }
}

/// Waits until two flags are set, which a loop within counts: what stands on one way of its jump decides whether the outer one goes on.
fn counts_flags(first: u32, behind: &str) -> String {
    format!(
        "mov.u32 %x, %ctaid.x;\nsetp.eq.u32 %p, %x, {first};\n@%p bra SET;\nmov.u32 %n, 0;\nHEAD: add.u32 %n, %n, 1;\n\
         mov.u32 %c, 0;\nmov.u32 %i, 0;\nmov.u64 %b, %a;\nINNER: ld.relaxed.gpu.global.u32 %x, [%b];\nsetp.eq.u32 %p, %x, 0;\n\
         @%p bra NEXT;\nadd.u32 %c, %c, 1;\nNEXT: add.u64 %b, %b, 4;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, 2;\n\
         @%p bra INNER;\nsetp.ne.u32 %p, %c, 2;\n@%p bra HEAD;\n{behind}\nret;\nSET: st.relaxed.gpu.global.u32 [%a], 1;\n\
         st.relaxed.gpu.global.u32 [%a+4], 1;"
    )
}

#[test]
fn a_wait_that_counts_in_a_loop_within() {
    let waits = counts_flags(1, "st.global.u32 [%a+8], %c;");
    assert_eq!(verdict(&waits, (2, 1), Progress::Fair, Some("out[2] == 2")), Verdict::Holds);
    assert!(matches!(verdict(&waits, (2, 1), Progress::Lobe, Some("out[2] == 2")), Verdict::Violated(..)));
    // How often it goes round is open.
    let counts = counts_flags(0, "st.global.u32 [%a+12], %n;");
    assert!(matches!(verdict(&counts, (2, 1), Progress::Fair, Some("out[3] <= 1")), Verdict::Violated(..)));
}
