//! Accesses of different sizes to the same bytes.

use super::bad_input::{kernel, launch, verdict};
use wattle_foreign::{Options, Verdict, Violation, World, judge};

fn refusal(body: &str) -> String {
    let mut world = World::new(kernel(body), None, launch(2, &["p=u32[4]:7"])).unwrap();
    judge(&mut world, &[], &Options::default()).expect_err(body).to_string()
}

#[test]
fn plain_ones_are_taken_apart() {
    // A wide store is read in pieces, and pieces are read whole.
    let body = "mov.u64 %b, 0x0000000200000001;\n st.global.u64 [%a], %b;\n ld.global.u32 %x, [%a+4];\n\
                st.global.u32 [%a+8], %x;\n ld.global.u64 %c, [%a+8];\n st.global.u64 [%a], %c;";
    let arguments = ["p=u32[4]:7"];
    assert_eq!(verdict(kernel(body), 1, &arguments, &["p[0] == 2 && p[1] == 7 && p[2] == 2"]), Verdict::Holds);
}

/// What atomic operations have made whole is read in parts, as the number in the lower half of a key with its place.
#[test]
fn parts_of_what_strong_ones_take_whole_are_read() {
    let adds = "atom.relaxed.cta.global.add.u64 %b, [%a], 0x0000000500000001;\n";
    let reads = "ld.global.u32 %x, [%a+4];\n mad.wide.u32 %c, %t, 4, %a;\n st.global.u32 [%c+8], %x;\n";
    let both = "ld.global.v2.u32 {%x, %y}, [%a];\n sub.u32 %x, %x, %y;\n mad.wide.u32 %c, %t, 4, %a;\n st.global.u32 [%c+8], %x;\n";
    let byte = "ld.global.u8 %x, [%a+4];\n mad.wide.u32 %c, %t, 4, %a;\n st.global.u32 [%c+8], %x;\n";
    for (part, left) in [(reads, "10"), (both, "-8"), (byte, "10")] {
        let asserted = format!("p[0] == 2 && p[1] == 10 && p[2] == {left} && p[3] == {left}");
        let body = format!("{adds}bar.sync 0;\n{part}");
        assert_eq!(verdict(kernel(&body), 2, &["p=i32[4]:0"], &[&asserted]), Verdict::Holds, "{body}");
        // The read comes first: its size was there before the atomic operation's.
        let body = format!("{part}bar.sync 0;\n{adds}bar.sync 0;\n{part}");
        assert_eq!(verdict(kernel(&body), 2, &["p=i32[4]:0"], &[&asserted]), Verdict::Holds, "{body}");
        let body = format!("{adds}{part}");
        let found = verdict(kernel(&body), 2, &["p=i32[4]:0"], &[]);
        assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{body}: {found:?}");
    }
}

/// Counters of 32 bits that are read byte by byte, more of them than get widths of their own.
#[test]
fn bytes_of_many_counters_are_read() {
    let body = ".shared .align 4 .b8 counts[64];\n mov.u64 %b, counts;\n cvta.shared.u64 %b, %b;\n mad.wide.u32 %b, %t, 4, %b;\n\
                st.u32 [%b], 0;\n bar.sync 0;\n xor.b32 %x, %t, 1;\n sub.u32 %y, %x, %t;\n mul.wide.s32 %c, %y, 4;\n add.u64 %c, %c, %b;\n\
                red.relaxed.cta.add.u32 [%c], 0x01020304;\n bar.sync 0;\n ld.u8 %x, [%b+3];\n ld.u8 %y, [%b];\n sub.u32 %x, %y, %x;\n\
                mad.wide.u32 %c, %t, 4, %a;\n st.global.u32 [%c], %x;";
    let found = verdict(kernel(body), 16, &["p=u32[16]:0"], &["p[0] == 3 && p[9] == 3 && p[15] == 3"]);
    assert_eq!(found, Verdict::Holds);
}

#[test]
fn what_strong_ones_take_whole_is_not_written_in_parts() {
    let store = "st.global.u32 [%a], %t;\n";
    let error = refusal(&format!("{store}atom.global.add.u64 %b, [%a], 1;\n"));
    assert!(error.starts_with("k.ptx:8: accesses of different sizes meet here: this one is to a part"), "{error}");
    let error = refusal("atom.global.add.u32 %x, [%a], 1;\n atom.global.add.u64 %b, [%a], 1;\n");
    assert!(error.contains("accesses of different sizes meet here, and this one is strong"), "{error}");
    let vector = "st.global.v2.u16 [%a], {1, 2};\n bar.sync 0;\n";
    let error = refusal(&format!("{vector}atom.global.add.u64 %b, [%a], 1;\n"));
    assert!(error.contains("this one is to a part"), "{error}");
}

/// The elements of a vector that fill what a strong access takes whole are written with one event.
#[test]
fn vectors_fill_what_strong_ones_take_whole() {
    let body = "setp.eq.u32 %p, %t, 0;\n@%p st.global.v2.u32 [%a], {3, 4};\n bar.sync 0;\n atom.global.add.u64 %b, [%a], 0x100000001;\n\
                bar.sync 0;\n ld.global.u32 %x, [%a+4];\n mad.wide.u32 %c, %t, 4, %a;\n st.global.u32 [%c+8], %x;";
    let asserted = "p[0] == 5 && p[1] == 6 && p[2] == 6 && p[3] == 6";
    assert_eq!(verdict(kernel(body), 2, &["p=u32[4]:0"], &[asserted]), Verdict::Holds);
    let unordered = body.replacen("bar.sync 0;", "", 1);
    let found = verdict(kernel(&unordered), 2, &["p=u32[4]:0"], &[]);
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{found:?}");
}

/// Operations of different sizes are not morally strong, whatever they are.
#[test]
fn a_strong_read_of_a_part_orders_nothing() {
    let whole = "atom.release.gpu.global.add.u64 %b, [%a], 0x100000001;\n";
    let part = "ld.acquire.gpu.global.u32 %x, [%a+4];\n";
    let found = verdict(kernel(&format!("{whole}{part}")), 2, &["p=u32[4]:0"], &[]);
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{found:?}");
    // The smaller one comes first.
    let found = verdict(kernel(&format!("{part}{whole}")), 2, &["p=u32[4]:0"], &[]);
    assert!(matches!(found, Verdict::Violated(Violation::Race { .. }, _)), "{found:?}");
    let ordered = format!("{part}{whole}bar.sync 0;\n{part}st.global.u32 [%a+8], %x;");
    assert_eq!(verdict(kernel(&ordered), 1, &["p=u32[4]:0"], &["p[2] == 1"]), Verdict::Holds);
}

/// A race of accesses of two sizes says both, and of which bytes they are.
#[test]
fn a_race_of_two_sizes_names_them() {
    for (first, second, said) in [
        (
            "st.volatile.global.u64 [%a+8], %a;",
            "ld.volatile.global.u32 %x, [%a+12];",
            "they are of different sizes, the first of 8 bytes and the second of 4 bytes, among the 8 bytes from p[1] (bytes 8 to 15 of its memory)",
        ),
        (
            "st.global.u8 [%a+3], %x;",
            "st.global.u32 [%a], %x;",
            "they are of different sizes, the first of 1 byte and the second of 4 bytes, among the 4 bytes from p[0] (bytes 0 to 3 of its memory)",
        ),
    ] {
        let body = format!("mov.u32 %x, 1;\nsetp.eq.u32 %p, %t, 0;\n@%p {first}\n@!%p {second}\n");
        let Verdict::Violated(violation, _) = verdict(kernel(&body), 2, &["p=u64[2]:0"], &[]) else { panic!("{body}") };
        let source = kernel(&body);
        let world = World::new(source, None, launch(2, &["p=u64[2]:0"])).expect("it is launched");
        let text = violation.sentence(&world);
        assert!(text.contains(said), "{text}");
    }
}
