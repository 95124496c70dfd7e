//! Threads of modules that wait for other blocks, under each progress model.

use wattle_check::checker::Progress;
use wattle_foreign::{Options, Source, Verdict, Violation, World, judge};

use crate::cuda::launch;

/// A kernel of blocks of one thread, in which the blocks whose number `waits` is true of wait for the others.
fn kernel(waits: &str) -> Source {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 flag)\n{{ .reg .u64 %a; .reg .u32 %b, %x; \
         .reg .pred %p;\nld.param.u64 %a, [flag]; mov.u32 %b, %ctaid.x; {waits} @!%p bra SET;\n\
         WAIT: ld.relaxed.gpu.global.u32 %x, [%a];\nsetp.eq.u32 %p, %x, 0; @%p bra WAIT;\nbra OUT;\n\
         SET: st.relaxed.gpu.global.u32 [%a], 1;\nOUT: ret; }}\n"
    );
    Source { file: "k.ptx".into(), text }
}

/// Whether a thread may wait for ever, and what the schedule does then.
fn starves(source: Source, progress: Progress) -> Option<String> {
    let mut world = World::new(source, None, launch(2, 1, 0, &["flag=u32[1]:0"])).expect("it is launched");
    let options = Options { progress, ..Options::default() };
    let report = judge(&mut world, &[], &options).expect("it is judged");
    match report.verdict {
        Verdict::Holds => None,
        Verdict::Violated(Violation::Stuck(stuck), steps) => {
            assert!(!stuck.is_empty() && !steps.is_empty() && !stuck[0].at_barrier);
            Some(report.note.expect("the schedule"))
        }
        other => panic!("{progress}: {other:?}"),
    }
}

#[test]
fn who_waits_for_whom() {
    let (first, second) = ("setp.eq.u32 %p, %b, 0;", "setp.ne.u32 %p, %b, 0;");
    for (progress, first_starves, second_starves) in [
        (Progress::Fair, false, false),
        // Blocks begin in the order of their numbers.
        (Progress::Lobe, true, false),
        (Progress::Obe, true, true),
        // The lowest block goes on.
        (Progress::Hsa, true, false),
        (Progress::HsaObe, true, false),
    ] {
        assert_eq!(starves(kernel(first), progress).is_some(), first_starves, "{progress}, the first");
        assert_eq!(starves(kernel(second), progress).is_some(), second_starves, "{progress}, the second");
    }
    let said = starves(kernel(second), Progress::Obe).expect("block 0 need not begin");
    assert_eq!(said, "`--progress obe` permits that block 0 is not scheduled");
}

/// The way out of a loop depends on what it reads, also where a variable stands between that is set on one way of a jump, wherever
/// the instructions of that way stand.
#[test]
fn a_wait_that_ends_by_a_flag_of_its_own() {
    let waiting = "setp.eq.u32 %p, %b, 0; @%p bra SET;\nmov.u32 %y, 0; bra WAIT;\nDONE: mov.u32 %y, 1; bra NEXT;\n\
                   WAIT: ld.relaxed.gpu.global.u32 %x, [%a];\nsetp.ne.u32 %p, %x, 0; @%p bra DONE;\nbra NEXT;\n\
                   NEXT: setp.eq.u32 %p, %y, 0; @%p bra WAIT; bra OUT;";
    let Source { file, text } = kernel(waiting);
    let text = text
        .replace("%b, %x;", "%b, %x, %y;")
        .replace(
            "WAIT: ld.relaxed.gpu.global.u32 %x, [%a];\nsetp.eq.u32",
            "OLD: ld.relaxed.gpu.global.u32 %x, [%a];\nsetp.eq.u32",
        )
        .replace("@%p bra WAIT;\nbra OUT;\n SET", "@%p bra OLD;\nbra OUT;\nSET");
    let source = || Source { file: file.clone(), text: text.clone() };
    assert_eq!(starves(source(), Progress::Fair), None);
    assert!(starves(source(), Progress::Obe).is_some());
}
