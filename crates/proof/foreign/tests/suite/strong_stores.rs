//! Strong stores that nothing orders: none races with the others, and any may be the last.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, Violation, World, judge};

/// Two blocks that each store their number and one, and count themselves; who sees that both have come reads what is left.
fn verdict(store: &str, asserted: &str) -> Verdict {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %t, %x; .reg .pred %q;\n\
         ld.param.u64 %a, [p]; mov.u32 %t, %ctaid.x; add.u32 %t, %t, 1;\n{store} [%a+8], %t;\n\
         red.release.gpu.global.add.u32 [%a], 1;\nagain: ld.acquire.gpu.global.u32 %x, [%a];\nsetp.ne.u32 %q, %x, 2;\n@%q bra again;\n\
         ld.global.u32 %x, [%a+8];\nsetp.eq.u32 %q, %t, 1;\n@%q st.global.u32 [%a+4], %x;\nret; }}"
    );
    let arguments = vec!["p=u32[3]:0".parse().expect("an argument")];
    let launch = Launch { grid: [2, 1, 1], block: [1; 3], arguments, dynamic_shared: 0 };
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse(asserted, world.ranges()).expect("a condition");
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

#[test]
fn a_plain_read_behind_them_finds_any() {
    for store in ["st.volatile.global.u32", "st.relaxed.gpu.global.u32"] {
        for asserted in ["p[2] == 1", "p[2] == 2", "p[1] == 1", "p[1] == 2"] {
            let found = verdict(store, asserted);
            assert!(
                matches!(found, Verdict::Violated(Violation::Assertion { .. }, _)),
                "{store}, {asserted}: {found:?}"
            );
        }
        assert_eq!(verdict(store, "p[1] == 1 && p[2] == 1 || p[1] == 2 && p[2] == 2"), Verdict::Holds, "{store}");
    }
    let found = verdict("st.global.u32", "p[0] == 2");
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{found:?}");
}
