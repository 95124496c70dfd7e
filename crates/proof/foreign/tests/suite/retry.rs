//! Loops that try an atomic operation again and read what it expects by a plain load, which races with what others write.

use wattle_foreign::{Launch, Options, Source, Verdict, Violation, World, judge};

/// Threads that each add 1 by a compare-exchange which expects what a load finds. Whether they come to it, `before` says.
fn verdict(load: &str, before: &str, threads: u32) -> Verdict {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %t, %x, %y; .reg .pred %q;\n\
         ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;\n{before}\nagain: {load} %x, [%a];\nadd.u32 %y, %x, 1;\n\
         atom.global.cas.b32 %y, [%a], %x, %y;\nsetp.ne.u32 %q, %y, %x;\n@%q bra again;\ndone: ret; }}"
    );
    let arguments = vec!["p=u32[2]:0".parse().expect("an argument")];
    let launch = Launch { grid: [1; 3], block: [threads, 1, 1], arguments, dynamic_shared: 0 };
    let mut world = World::new(Source { file: "k.ptx".into(), text }, None, launch).expect("a launch");
    judge(&mut world, &[], &Options::default()).expect("a verdict").verdict
}

#[test]
fn a_plain_load_of_what_is_expected_races() {
    // The first thread ends at once, or raises a flag that the others may find raised or not.
    let flag = "setp.ne.u32 %q, %t, 0;\n@%q bra other;\nst.relaxed.gpu.global.u32 [%a+4], 1;\nbra done;\n\
                other: ld.relaxed.gpu.global.u32 %x, [%a+4];\nsetp.eq.u32 %q, %x, 0;\n@%q bra done;";
    for (before, threads) in [("", 2), ("", 3), (flag, 3), (flag, 4)] {
        let found = verdict("ld.global.u32", before, threads);
        assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{threads}, {before}: {found:?}");
        assert_eq!(verdict("ld.relaxed.gpu.global.u32", before, threads), Verdict::Holds, "{threads}, {before}");
    }
    // Only one thread comes to the loop.
    assert_eq!(verdict("ld.global.u32", flag, 2), Verdict::Holds);
}
