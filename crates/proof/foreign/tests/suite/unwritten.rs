//! Registers and local memory that a thread reads and has not written, and shared memory that nobody has: a finding where the
//! value matters, and none where a compiler carries it along.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, Violation, World, judge};

/// The verdict on a body that begins in line 5, run by two threads, with a pointer to two words in `%a`, the thread's number
/// in `%t`, and whether that is 0 in `%p`.
fn verdict(body: &str, asserted: &str) -> Verdict {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 words)\n{{ .reg .u64 %a, %b, %c; .reg .u32 %t, \
         %x, %y, %z; .reg .b16 %h, %i, %k, %l; .reg .pred %p, %q; .local .align 8 .b8 own[16]; .shared .align 4 .b32 tile[2];\n\
         ld.param.u64 %a, [words]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;\n\n{body}\nret; }}"
    );
    let launch = Launch {
        grid: [1; 3],
        block: [2, 1, 1],
        arguments: vec!["words=u32[2]:0".parse().expect("an argument")],
        dynamic_shared: 0,
    };
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse(asserted, world.ranges()).expect("a condition");
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

/// What was not written, and where that matters.
#[track_caller]
fn finding(body: &str) -> (String, String) {
    match verdict(body, "words[0] <= 4294967295") {
        Verdict::Violated(violation @ Violation::Unassigned { .. }, steps) => {
            let Violation::Unassigned { place, read } = &violation else { unreachable!() };
            assert!(steps.contains(read) && violation.kind() == "unwritten value", "{steps:?}");
            (place.clone(), read.at.clone())
        }
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn registers_matter_as_addresses_conditions_and_what_others_get() {
    for (body, register, line) in [
        ("ld.global.u32 %x, [%b];", "%b", 5),
        ("mov.u64 %c, %b;\nadd.u64 %c, %c, %a;\nst.global.u32 [%c], %t;", "%b", 7),
        ("@%q bra L;\nL: mov.u32 %x, 1;", "%q", 5),
        ("setp.eq.u32 %q, %x, 0;\n@%q st.shared.u32 [tile], %t;", "%x", 6),
        ("@%p st.global.u32 [%a], %x;", "%x", 5),
        ("@%p mov.u32 %x, 1;\nmad.lo.u32 %y, %t, 4, 0;\nst.shared.u32 [%y], %x;", "%x", 7),
        ("red.global.add.u32 [%a], %x;", "%x", 5),
        ("atom.global.cas.b32 %y, [%a], 0, %x;", "%x", 5),
        ("bar.sync %x;", "%x", 5),
        ("shfl.sync.idx.b32 %y, %x, 0, 31, 3;\n@%p st.global.u32 [%a], %y;", "%x", 6),
        ("shfl.sync.idx.b32 %y, 0, %x, 31, 3;", "%x", 5),
    ] {
        assert_eq!(finding(body), (format!("register `{register}`"), format!("k.ptx:{line}")), "{body}");
    }
}

#[test]
fn local_memory_matters_likewise() {
    let part = "mov.u64 %b, own;\nst.local.u32 [%b], %t;\n";
    let stored = format!("{part}ld.local.v2.u32 {{%x, %y}}, [%b];\n@%p st.global.u32 [%a], %y;");
    assert_eq!(finding(&stored), ("byte 4 of local memory".into(), "k.ptx:8".into()));
    let generic = format!("{part}cvta.local.u64 %b, %b;\nld.u64 %c, [%b];\nld.global.u32 %x, [%c];");
    assert_eq!(finding(&generic), ("byte 4 of local memory".into(), "k.ptx:9".into()));
    let copied = format!("{part}ld.local.u32 %x, [%b+8];\nst.local.u32 [%b], %x;\nld.local.u32 %y, [%b];\n");
    assert_eq!(finding(&format!("{copied}@%p red.global.add.u32 [%a], %y;")).0, "byte 8 of local memory");
    let written =
        format!("{part}st.local.u32 [%b+4], 7;\nld.local.v2.u32 {{%x, %y}}, [%b];\n@%p st.global.u32 [%a], %y;");
    assert_eq!(verdict(&written, "words[0] == 7"), Verdict::Holds);
}

/// A register that is packed of a written part and an unwritten one, and memory that it is stored to: each part is what it was.
#[test]
fn parts_are_told_apart() {
    let packed = "mov.u16 %h, 7;\nmov.b32 %z, {%h, %i};\nmov.u32 %y, %z;\nmov.b32 {%k, %l}, %y;\n";
    for (part, outcome) in [("%k", Ok("words[0] == 7")), ("%l", Err(("register `%i`", 9)))] {
        let body = format!("{packed}@%p st.global.u16 [%a], {part};");
        match outcome {
            Ok(holds) => assert_eq!(verdict(&body, holds), Verdict::Holds, "{body}"),
            Err((place, line)) => assert_eq!(finding(&body), (place.into(), format!("k.ptx:{line}")), "{body}"),
        }
    }
    assert_eq!(finding(&format!("{packed}@%p st.global.u32 [%a], %y;")).0, "register `%i`");
    assert_eq!(
        finding(&format!("{packed}add.u32 %y, %y, 1;\nmov.b32 {{%k, %l}}, %y;\n@%p st.global.u16 [%a], %k;")).0,
        "register `%i`"
    );
    let stored = "mov.u64 %b, own;\nmov.u32 %y, 7;\nmov.b64 %c, {%y, %x};\nst.local.u64 [%b], %c;\n";
    let written = format!("{stored}ld.local.u32 %z, [%b];\n@%p st.global.u32 [%a], %z;");
    assert_eq!(verdict(&written, "words[0] == 7"), Verdict::Holds);
    let unwritten = format!("{stored}ld.local.u32 %z, [%b+4];\n@%p st.global.u32 [%a], %z;");
    assert_eq!(finding(&unwritten), ("register `%x`".into(), "k.ptx:10".into()));
    // Narrow parts of memory, some of them written, that are read as one.
    let wide =
        "mov.u64 %b, own;\nmov.u32 %y, 7;\nst.local.u32 [%b], %y;\nld.local.u64 %c, [%b];\nmov.b64 {%y, %z}, %c;\n";
    assert_eq!(verdict(&format!("{wide}@%p st.global.u32 [%a], %y;"), "words[0] == 7"), Verdict::Holds);
    assert_eq!(finding(&format!("{wide}@%p st.global.u32 [%a], %z;")).0, "byte 4 of local memory");
}

/// What goes into a result bit by bit leaves the other bits as they are: nvcc packs a size with nothing above it, and takes the
/// low half. Of the two words in `%c` the upper one is unwritten.
#[test]
fn bits_are_told_apart_by_what_keeps_them() {
    let packed = "mov.u32 %y, 0x01020384;\nmov.b64 %c, {%y, %x};\n";
    for (body, known) in [
        ("cvt.u32.u64 %z, %c;", Some(0x0102_0384_u32)),
        ("cvt.s32.s64 %z, %c;", Some(0x0102_0384_u32)),
        ("cvt.u32.u8 %z, %c;", Some(0x84)),
        ("cvt.s32.s8 %z, %c;", Some(0xffff_ff84)),
        ("cvt.s64.s32 %c, %c; shr.u64 %c, %c, 32; cvt.u32.u64 %z, %c;", Some(0)),
        ("cvt.u32.u64 %z, %c; shl.b32 %z, %z, 8;", Some(0x0203_8400)),
        ("shr.u64 %c, %c, 8; cvt.u32.u64 %z, %c;", None),
        ("shr.u64 %c, %c, 8; and.b64 %c, %c, 0xffffff; cvt.u32.u64 %z, %c;", Some(0x01_0203)),
        ("shr.u64 %c, %c, 8; and.b64 %c, %c, 0x1000000; cvt.u32.u64 %z, %c;", None),
        ("shl.b64 %c, %c, 32; shr.u64 %c, %c, 32; cvt.u32.u64 %z, %c;", Some(0x0102_0384_u32)),
        ("shr.u64 %c, %c, %t; cvt.u32.u64 %z, %c;", Some(0x0102_0384_u32)),
        ("shr.u64 %c, %c, %x; cvt.u32.u64 %z, %c;", None),
        ("or.b64 %c, %c, 0xffffffff00000000; shr.u64 %c, %c, 32; cvt.u32.u64 %z, %c;", Some(0xffff_ffff)),
        ("xor.b64 %c, %c, 3; cvt.u32.u64 %z, %c;", Some(0x0102_0387)),
        ("not.b64 %c, %c; cvt.u32.u64 %z, %c;", Some(0xfefd_fc7b)),
        ("not.b64 %c, %c; shr.u64 %c, %c, 32; cvt.u32.u64 %z, %c;", None),
        ("bfe.u64 %c, %c, 8, 16; cvt.u32.u64 %z, %c;", Some(0x0203)),
        ("bfe.u64 %c, %c, 24, 9; cvt.u32.u64 %z, %c;", None),
        ("prmt.b32 %z, %y, %x, 0x0123;", Some(0x8403_0201)),
        ("prmt.b32 %z, %y, %x, 0x4321;", None),
        ("shf.l.clamp.b32 %z, %y, %x, 32;", Some(0x0102_0384_u32)),
        ("lop3.b32 %z, %y, %x, 0, 0xf0;", Some(0x0102_0384_u32)),
        ("lop3.b32 %z, %y, %x, 0, 0xc0;", None),
        ("bfi.b32 %z, %y, %x, 8, 16; bfe.u32 %z, %z, 8, 16;", Some(0x0384)),
        ("bfi.b32 %z, %y, %x, 8, 16;", None),
        ("add.u64 %c, %c, 1; shr.u64 %c, %c, 32; cvt.u32.u64 %z, %c;", None),
    ] {
        let body = format!("{packed}{body}\n@%p st.global.u32 [%a], %z;");
        match known {
            Some(known) => assert_eq!(verdict(&body, &format!("words[0] == {known}")), Verdict::Holds, "{body}"),
            None => assert_eq!(finding(&body).0, "register `%x`", "{body}"),
        }
    }
}

#[test]
fn values_that_compilers_carry_along_do_not_matter() {
    for body in [
        // The arm of a selection that is not chosen, and a computation in it.
        "add.u32 %y, %x, 1; selp.u32 %z, 7, %y, %p; @%p st.global.u32 [%a], %z;",
        // A register that is written and read under one predicate.
        "@%p mov.u32 %x, 7; @%p st.global.u32 [%a], %x;",
        // A copy of a record to the thread's own memory.
        "mov.u64 %b, own; mov.b64 %c, {%t, %x}; st.local.u64 [%b], %c; @%p st.global.u32 [%a], 7;",
        "mov.u64 %b, own; st.local.v2.u32 [%b], {%t, %x}; ld.local.u32 %y, [%b]; add.u32 %y, %y, 7;\n\
         @%p st.global.u32 [%a], %y;",
        "setp.eq.u32 %q, %x, 0; and.pred %q, %q, %p; @%p st.global.u32 [%a], 7;",
    ] {
        assert_eq!(verdict(body, "words[0] == 7"), Verdict::Holds, "{body}");
    }
}

/// What is read of the block's memory, where, and where it matters, if that is elsewhere.
#[track_caller]
fn shared_finding(body: &str) -> (String, String, Option<String>) {
    match verdict(body, "words[0] <= 4294967295") {
        Verdict::Violated(Violation::Unwritten { place, read, used, .. }, steps) => {
            let shown = |step| assert!(steps.contains(step), "{steps:?}");
            std::iter::once(&read).chain(used.as_deref()).for_each(shown);
            (place, read.at, used.map(|used| used.at))
        }
        other => panic!("{body}: {other:?}"),
    }
}

/// nvcc makes `p ? 7 : tile[0]` a load by all threads and a selection, and a record with padding one wide load.
#[test]
fn loads_of_shared_memory_that_nobody_needs_do_not_matter() {
    for body in [
        "ld.shared.u32 %x, [tile]; selp.u32 %z, 7, %x, %p; @%p st.global.u32 [%a], %z;",
        "ld.shared.u32 %x, [tile]; add.u32 %y, %x, 1; selp.u32 %z, 7, %y, %p; @%p st.global.u32 [%a], %z;",
        "@%p st.shared.u32 [tile], 7; bar.sync 0; ld.shared.v2.u32 {%x, %y}, [tile]; @%p st.global.u32 [%a], %x;",
        "@%p st.shared.u32 [tile], 7; bar.sync 0; ld.shared.u64 %b, [tile]; mov.b64 {%x, %y}, %b;\n\
         @%p st.global.u32 [%a], %x;",
        // A shuffle of it between lanes of which none uses it.
        "ld.shared.u32 %x, [tile]; shfl.sync.idx.b32 %y, %x, 0, 31, 3; selp.u32 %z, 7, %y, %p; @%p st.global.u32 [%a], %z;",
        // A loop that loads it each time, beside atomic operations that take part in choices.
        "mov.u32 %y, 0;\nL: ld.shared.u32 %x, [tile]; atom.global.add.u32 %z, [%a+4], 1; add.u32 %y, %y, 1;\n\
         setp.lt.u32 %q, %y, 2; @%q bra L; selp.u32 %z, 7, %x, %p; @%p st.global.u32 [%a], %z;",
    ] {
        assert_eq!(verdict(body, "words[0] == 7"), Verdict::Holds, "{body}");
    }
}

#[test]
fn loads_of_shared_memory_matter_where_registers_do() {
    let at = |line: u32| format!("k.ptx:{line}");
    for (body, read, used) in [
        ("ld.shared.u32 %x, [tile];\n@%p st.global.u32 [%a], %x;", 5, 6),
        ("ld.shared.u32 %x, [tile];\nadd.u32 %y, %x, 1;\n@%p st.shared.u32 [tile+4], %y;", 5, 7),
        ("ld.shared.u32 %x, [tile];\nsetp.eq.u32 %q, %x, 0;\n@%q mov.u32 %y, 1;", 5, 7),
        ("L: ld.acquire.cta.shared.u32 %x, [tile];\nsetp.eq.u32 %q, %x, 0;\n@%q bra L;", 5, 7),
        ("ld.shared.u32 %x, [tile];\nmad.lo.u32 %y, %x, 4, 0;\nld.shared.u32 %z, [%y];", 5, 7),
        // The atomic operations of others give the search a choice.
        ("atom.global.add.u32 %z, [%a], 1;\nld.shared.u32 %x, [tile];\n@%p st.global.u32 [%a+4], %x;", 6, 7),
    ] {
        assert_eq!(shared_finding(body), ("tile[0]".into(), at(read), Some(at(used))), "{body}");
    }
    // An atomic operation writes back what it has computed.
    assert_eq!(shared_finding("@%p atom.shared.add.u32 %x, [tile], 1;"), ("tile[0]".into(), at(5), None));
}

/// Somebody writes it, and nothing orders that before the read.
#[test]
fn a_write_that_comes_too_late_is_named() {
    let body =
        "@%p st.relaxed.cta.shared.u32 [tile], 7;\nld.relaxed.cta.shared.u32 %x, [tile];\n@!%p st.global.u32 [%a], %x;";
    match verdict(body, "words[0] <= 4294967295") {
        Verdict::Violated(Violation::Unwritten { read, used: Some(used), written: Some(written), .. }, steps) => {
            assert_eq!([&written.at, &read.at, &used.at], ["k.ptx:5", "k.ptx:6", "k.ptx:7"]);
            assert!([&*written, &read, &*used].into_iter().all(|step| steps.contains(step)), "{steps:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// What a lane takes from one that took it from nobody, and from one that has ended at a fault.
#[test]
fn what_lanes_pass_on_is_traced_to_where_it_comes_from() {
    let fault = |body: &str| match verdict(body, "words[0] <= 4294967295") {
        Verdict::Violated(Violation::Fault { what, at, .. }, _) => (what, at),
        other => panic!("{body}: {other:?}"),
    };
    let twice = "shfl.sync.idx.b32 %x, %t, 5, 31, 3;\nmov.u32 %y, %x;\nshfl.sync.idx.b32 %z, %y, 1, 31, 3;\n\
                 @%p st.global.u32 [%a], %z;";
    let (what, at) = fault(twice);
    assert!(what.contains("took from lane 5, which took no part") && at == "k.ptx:8", "{what} at {at}");
    let passed = "ld.shared.u32 %x, [tile];\nshfl.sync.idx.b32 %z, %x, 1, 31, 3;\n@%p st.global.u32 [%a], %z;";
    assert_eq!(shared_finding(passed), ("tile[0]".into(), "k.ptx:5".into(), Some("k.ptx:7".into())));
    let beyond = "mul.wide.u32 %b, %t, 8; add.u64 %b, %a, %b;\nld.global.u32 %x, [%b];\n\
                  shfl.sync.down.b32 %y, %x, 1, 31, -1;\n@%p st.global.u32 [%a], %y;";
    let (what, at) = fault(beyond);
    assert!(what.contains("an access at byte 8 of `words`") && at == "k.ptx:6", "{what} at {at}");
}

/// A structure of a number of 4 bytes and one of 8 at the byte 8 in shared memory, which each of two threads writes and copies as a
/// whole, as compilers do: what lies between is padding.
const PADDED: &str = "mad.lo.u32 %x, %t, 16, 0;\nmov.u64 %b, padded;\ncvta.shared.u64 %b, %b;\ncvt.u64.u32 %c, %x;\nadd.u64 %b, %b, %c;\n\
                      st.u32 [%b], %t;\nst.u64 [%b+8], 7;\nbar.sync 0;\nxor.b32 %x, %t, 1;\nmad.lo.u32 %x, %x, 16, 0;\n\
                      mov.u64 %b, padded;\ncvta.shared.u64 %b, %b;\ncvt.u64.u32 %c, %x;\nadd.u64 %b, %b, %c;\n";

fn padded(body: &str, asserted: &str) -> Verdict {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 words)\n{{ .reg .u64 %a, %b, %c, %d; .reg .u32 %t, \
         %x, %y, %z; .reg .pred %p; .shared .align 8 .b8 padded[32]; .shared .align 8 .b8 copy[32];\n\
         ld.param.u64 %a, [words]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 16, %a;\n{PADDED}{body}\nret; }}"
    );
    let arguments = vec!["words=u32[8]:0".parse().expect("an argument")];
    let launch = Launch { grid: [1; 3], block: [2, 1, 1], arguments, dynamic_shared: 0 };
    let mut world =
        World::new(Source { file: "k.ptx".into(), text }, None, launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse(asserted, world.ranges()).expect("a condition");
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

#[test]
fn padding_may_be_copied() {
    let fields = "words[0] == 1 && words[4] == 0 && words[2] == 7";
    let by_words = "ld.v4.u32 {%x, %y, %z, _}, [%b];\nld.u32 %z, [%b+8];\nst.global.v4.u32 [%a], {%x, %y, %z, 0};";
    let by_halves = "ld.v2.u64 {%c, %d}, [%b];\nst.global.v2.u64 [%a], {%c, %d};";
    // By way of another one in shared memory.
    let twice = "mov.u64 %c, copy;\ncvta.shared.u64 %c, %c;\nmad.wide.u32 %c, %t, 16, %c;\nld.v2.u32 {%x, %y}, [%b];\nst.v2.u32 [%c], {%x, %y};\n\
                 ld.v2.u32 {%x, %y}, [%c];\nst.global.v2.u32 [%a], {%x, %y};\nst.global.u32 [%a+8], 7;";
    for body in [by_words, by_halves, twice] {
        assert_eq!(padded(body, fields), Verdict::Holds, "{body}");
        // Nothing is known of what is between.
        let found = padded(body, "words[1] == 0");
        assert!(matches!(&found, Verdict::Unknown(why) if why.contains("nobody has written")), "{body}: {found:?}");
    }
}

#[test]
fn padding_that_matters_is_a_finding() {
    let copy = "mov.u64 %c, copy;\ncvta.shared.u64 %c, %c;\nmad.wide.u32 %c, %t, 16, %c;\nld.v2.u32 {%x, %y}, [%b];\nst.v2.u32 [%c], {%x, %y};\n";
    for (use_of_it, copied) in [
        // Nothing but padding is stored, directly or from the copy.
        ("st.global.u32 [%a], %y;".to_owned(), false),
        (format!("{copy}ld.u32 %z, [%c+4];\nst.global.u32 [%a], %z;"), true),
        // It decides, or goes into a sum.
        (format!("{copy}ld.u32 %z, [%c+4];\nsetp.eq.u32 %p, %z, 0;\n@%p st.global.u32 [%a], 1;"), true),
        (format!("{copy}ld.v2.u32 {{%x, %z}}, [%c];\nadd.u32 %z, %z, %x;\nst.global.u32 [%a], %z;"), true),
        // It is added to in the copy.
        (format!("{copy}atom.add.u32 %z, [%c+4], 1;"), true),
        // Another thread reads the copy.
        (
            format!(
                "{copy}bar.sync 0;\nxor.b32 %x, %t, 1;\nmov.u64 %c, copy;\ncvta.shared.u64 %c, %c;\nmad.wide.u32 %c, %x, 16, %c;\n\
                  ld.u32 %z, [%c+4];\nst.global.u32 [%a], %z;"
            ),
            true,
        ),
    ] {
        let body = format!("ld.v2.u32 {{%x, %y}}, [%b];\n{use_of_it}");
        match padded(&body, "words[7] == 0") {
            Verdict::Violated(Violation::Unwritten { is_copy, .. }, _) => assert_eq!(is_copy, copied, "{body}"),
            other => panic!("{body}: {other:?}"),
        }
    }
    // What is written behind the copy is known.
    let written = format!("{copy}st.u32 [%c+4], 5;\nld.u32 %z, [%c+4];\nst.global.u32 [%a], %z;");
    assert_eq!(padded(&written, "words[0] == 5"), Verdict::Holds);
}

/// Padding that is less than a word is copied in a piece of its own.
#[test]
fn padding_of_a_piece_may_be_copied() {
    let own = "mov.u64 %c, copy;\ncvta.shared.u64 %c, %c;\nmad.wide.u32 %c, %t, 16, %c;\nst.u16 [%c], 5;\nld.u16 %x, [%c];\nld.u16 %y, [%c+2];\n";
    let both = format!("{own}st.global.u16 [%a], %x;\nst.global.u16 [%a+2], %y;");
    assert_eq!(padded(&both, "words[1] == 0"), Verdict::Holds);
    for alone in ["st.global.u16 [%a+2], %y;", "st.global.u16 [%a], %x;\nst.global.u16 [%a+4], %y;"] {
        let found = padded(&format!("{own}{alone}"), "words[1] == 0");
        assert!(
            matches!(found, Verdict::Violated(Violation::Unwritten { is_copy: false, .. }, _)),
            "{alone}: {found:?}"
        );
    }
}

/// What a mask makes zero nobody has copied; and of a word that was copied in part, each byte is what it was.
#[test]
fn masks_make_no_padding() {
    let own = "mov.u64 %c, copy;\ncvta.shared.u64 %c, %c;\nmad.wide.u32 %c, %t, 16, %c;\n";
    let masked = format!("{own}ld.u32 %x, [%c];\nand.b32 %x, %x, 0xffff;\nst.global.u32 [%a], %x;");
    let found = padded(&masked, "words[1] == 0");
    assert!(matches!(found, Verdict::Violated(Violation::Unwritten { .. }, _)), "{found:?}");
    let part = format!("{own}st.u8 [%c], 5;\nld.u32 %x, [%c];\nst.u32 [%c+8], %x;\n");
    let known = format!("{part}ld.u32 %x, [%c+8];\nand.b32 %x, %x, 0xff;\nst.global.u32 [%a], %x;");
    assert_eq!(padded(&known, "words[0] == 5"), Verdict::Holds);
    let open = format!("{part}ld.u8 %x, [%c+9];\nst.global.u32 [%a], %x;");
    let found = padded(&open, "words[1] == 0");
    assert!(matches!(found, Verdict::Violated(Violation::Unwritten { is_copy: true, .. }, _)), "{found:?}");
}

/// What is computed from memory that nobody has written, or loaded from it alone, is no padding, whatever is stored beside it.
#[test]
fn what_is_computed_is_no_padding() {
    let own = "mov.u64 %c, copy;\ncvta.shared.u64 %c, %c;\nmad.wide.u32 %c, %t, 16, %c;\n";
    for body in [
        "ld.u32 %x, [%c];\nst.global.v2.u32 [%a], {%x, 5};",
        "ld.u32 %x, [%c];\nadd.u32 %x, %x, 1;\nst.global.v2.u32 [%a], {%x, 5};",
        "ld.u32 %x, [%c];\nsetp.eq.u32 %p, %x, 0;\nselp.u32 %x, 1, 2, %p;\nst.global.v2.u32 [%a], {%x, 5};",
        "ld.u16 %x, [%c];\nadd.u32 %x, %x, 1;\nst.global.u16 [%a], %x;\nst.global.u16 [%a+2], 5;",
        "ld.u16 %x, [%c];\nld.u16 %y, [%c+2];\nst.global.u16 [%a], %x;\nst.global.u16 [%a+2], %y;",
        "st.u8 [%c], 5;\nld.u32 %x, [%c];\nand.b32 %x, %x, 0x100;\nst.global.u32 [%a], %x;",
        "st.u8 [%c], 5;\nld.u32 %x, [%c];\nshr.u32 %x, %x, 8;\nst.global.u32 [%a], %x;",
    ] {
        let found = padded(&format!("{own}{body}"), "words[3] == 0");
        assert!(matches!(found, Verdict::Violated(Violation::Unwritten { .. }, _)), "{body}: {found:?}");
    }
    // A register on the way changes nothing.
    let moved =
        "ld.v2.u32 {%x, %y}, [%b];\nmov.u32 %z, %y;\nst.global.v2.u32 [%a], {%x, %z};\nst.global.u32 [%a+8], 7;";
    assert_eq!(padded(moved, "words[2] == 7"), Verdict::Holds);
}
