//! Memory that `ld.global.nc` reads has to be read-only while the kernel runs, whatever orders its accesses.

use wattle_foreign::{Launch, Options, Source, Verdict, Violation, World, judge};

/// The verdict on a body that begins in line 5, run by blocks of two threads, with pointers to four words in `%a` and in `%b`,
/// the thread's number in `%t`, and whether that is 0 in `%p`.
fn verdict(body: &str, blocks: u32) -> Verdict {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 a, .param .u64 b)\n{{ .reg .u64 %a, %b, %c, %d; \
         .reg .u32 %t, %x, %y; .reg .pred %p;\nld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u32 %t, %tid.x; \
         setp.eq.u32 %p, %t, 0;\nmul.wide.u32 %c, %t, 4; add.u64 %d, %b, %c; add.u64 %c, %a, %c;\n{body}\nret; }}"
    );
    let arguments = ["a=u32[4]:1", "b=u32[4]:0"].map(|text| text.parse().expect("an argument")).into();
    let launch = Launch { grid: [blocks, 1, 1], block: [2, 1, 1], arguments, dynamic_shared: 0 };
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    judge(&mut world, &[], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

#[test]
fn a_write_to_what_is_read_only_names_both_lines() {
    for (body, blocks, place, lines) in [
        // A thread's own write before its read, and behind it.
        ("st.global.u32 [%c], 7;\nld.global.nc.u32 %x, [%c];", 1, "a[0]", [6, 5]),
        ("ld.global.nc.u32 %x, [%c];\nst.global.u32 [%c], %x;", 1, "a[0]", [5, 6]),
        // One that a barrier orders, and one by an atomic operation.
        ("@%p st.global.u32 [%a+4], 7;\nbar.sync 0;\n@!%p ld.global.nc.u32 %x, [%a+4];", 1, "a[1]", [7, 5]),
        (
            "@!%p ld.global.nc.v2.u32 {%x, %y}, [%a+8];\nbar.sync 0;\n@%p red.global.add.u32 [%a+12], 1;",
            1,
            "a[3]",
            [5, 7],
        ),
        // One that every execution has, in a launch whose executions differ.
        (
            "atom.global.add.u32 %x, [%b], 1;\n@%p bra L;\nst.global.u32 [%a], %x;\nld.global.nc.u32 %y, [%a];\nL:",
            1,
            "a[0]",
            [8, 7],
        ),
    ] {
        match verdict(body, blocks) {
            Verdict::Violated(violation @ Violation::ReadOnly { .. }, steps) => {
                let Violation::ReadOnly { place: found, accesses } = &violation else { unreachable!() };
                assert_eq!((found.as_str(), violation.kind()), (place, "write to read-only memory"), "{body}");
                let at = accesses.each_ref().map(|access| access.at.as_str());
                assert_eq!(at, lines.map(|line| format!("k.ptx:{line}")), "{body}");
                assert!(accesses.iter().all(|access| steps.contains(access)), "{steps:?}");
            }
            other => panic!("{body}: {other:?}"),
        }
    }
}

#[test]
fn other_memory_may_be_written() {
    for (body, blocks) in [
        ("ld.global.nc.u32 %x, [%c];\nst.global.u32 [%d], %x;", 1),
        // Other words of the same buffer.
        ("ld.global.nc.u32 %x, [%c];\nst.global.u32 [%c+8], %x;", 1),
        ("st.global.u32 [%c], 7;\nld.global.u32 %x, [%c];", 1),
        ("ld.global.nc.u32 %x, [%c];\nred.global.add.u32 [%b], %x;", 2),
    ] {
        assert_eq!(verdict(body, blocks), Verdict::Holds, "{body}");
    }
}
