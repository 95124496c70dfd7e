//! Instructions that compilers make of ordinary kernels (`cuda/instructions.cu`), asynchronous copies (`cuda/copies.cu`), each
//! with its verdict; compiled as the kernels of [`crate::cuda`] are.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, Violation, World, judge};

fn judged(
    file: &str,
    entry: &str,
    [grid, block]: [u32; 2],
    arguments: &[&str],
    assert: &str,
) -> Result<Verdict, String> {
    let path = format!("{}/tests/cuda/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    let source =
        Source { file: format!("{file}.ptx"), text: std::fs::read_to_string(path).expect("the file is there") };
    let arguments = arguments.iter().map(|text| text.parse().expect("an argument")).collect();
    let launch = Launch { grid: [grid, 1, 1], block: [block, 1, 1], arguments, dynamic_shared: 0 };
    let mut world = World::new(source, Some(entry), launch).map_err(|error| error.to_string())?;
    let condition = Some(assert).filter(|text| !text.is_empty());
    let condition = condition.map(|text| Condition::parse(text, world.ranges()).expect("a condition"));
    let report = judge(&mut world, condition.as_slice(), &Options::default()).map_err(|error| error.to_string())?;
    Ok(report.verdict)
}

#[test]
fn what_compilers_make_computes_what_the_source_says() {
    let (a, b, by) = (0x8000_0001u32, 0x1234_5678u32, 4u32);
    let product = u128::from(u64::from(a) << 32 | u64::from(b)) * u128::from(u64::from(b) << 32 | u64::from(a));
    let dot = a.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(&x, y)| u32::from(x) * u32::from(y)).sum::<u32>() + 1;
    let words = [
        b << by | a >> (32 - by),
        a.rotate_left(by),
        (b & 0xFFFF) << 16 | a & 0xFFFF,
        dot,
        a.reverse_bits() + b.count_ones() + a.leading_zeros(),
        b & !0xFF0 | (a & 0xFF) << by,
        a & b | !a & by,
        (product >> 64) as u32,
    ];
    let words: Vec<String> = words.iter().enumerate().map(|(at, word)| format!("out[{at}] == {word}")).collect();
    let words = words.join(" && ");
    let (up, third) = (1.0f32.next_up().to_string(), "out[2] == 16777218.0");
    let floats =
        format!("out[0] == 1.0 && out[1] == {up} && {third} && out[3] == 3.5 && out[4] == 4.0 && out[5] == 1.0");
    let whiches = ["which=0", "which=1", "which=2", "which=3", "which=4", "which=5", "which=6", "which=-1"];
    let switched = [3, 45, 7, 9 ^ 5, 42, 4, -1, -1].map(|value| format!("out[0] == {value}"));
    let mut cases = vec![
        ("words", 1, vec!["out=u32[8]:0", "a=2147483649", "b=305419896", "by=4"], words.as_str()),
        ("floats", 1, vec!["out=f32[6]:0.0", "a=1.0", "b=f32:1e-20"], floats.as_str()),
        ("counts", 4, vec!["in=i32[4]:1,2,3,4", "out=i32[4]:0"], "out[0] == 1204 && out[3] == 1201"),
        ("pointers", 1, vec!["out=i32[1]:0"], "out[0] == 4"),
        ("asserts", 1, vec!["out=i32[1]:3"], "out[0] == 4"),
    ];
    for (which, assert) in whiches.iter().zip(&switched) {
        cases.push(("switches", 1, vec!["out=i32[3]:2,9,5", which], assert));
    }
    for (entry, block, arguments, assert) in cases {
        let verdict = judged("instructions", entry, [1, block], &arguments, assert);
        assert_eq!(verdict, Ok(Verdict::Holds), "{entry} {arguments:?} {assert}");
    }
}

#[test]
fn a_failed_assertion_is_a_fault_at_its_line() {
    let Ok(Verdict::Violated(Violation::Fault { what, at, .. }, _)) =
        judged("instructions", "asserts", [1, 1], &["out=i32[1]:2"], "")
    else {
        panic!("the assertion fails");
    };
    assert!(what.contains("an assertion has failed") && at.starts_with("instructions.cu:67"), "{what} {at}");
}

#[test]
fn only_the_kernel_that_is_asked_for_has_to_be_known() {
    let refused =
        judged("instructions", "foreign", [1, 1], &["out=u32[1]"], "").expect_err("it waits for another launch");
    assert!(refused.contains("'griddepcontrol' is not supported: launches that begin before"), "{refused}");
}

#[test]
fn copies_that_are_waited_for() {
    let sums = "out[0] == 3.0 && out[3] == 3.0 && out[7] == 3.0";
    for shape in [[1, 2], [2, 64]] {
        let arguments = ["in=f32[768]:1.0", "out=f32[512]:0.0", "tiles=3"];
        assert_eq!(judged("copies", "right", shape, &arguments, sums), Ok(Verdict::Holds), "{shape:?}");
    }
    let filled =
        judged("copies", "filled", [1, 2], &["in=i32[1]:5", "out=i32[2]", "length=1"], "out[0] == 6 && out[1] == 1");
    assert_eq!(filled, Ok(Verdict::Holds));
}

#[test]
fn what_comes_between_a_copy_and_its_wait() {
    let arguments = ["in=i32[2]:1,2", "out=i32[2]"];
    for (entry, line) in [("early", 33), ("hasty", 56)] {
        match judged("copies", entry, [1, 2], &arguments, "") {
            Ok(Verdict::Violated(Violation::Copying { accesses: [access, _], .. }, _)) => {
                assert!(access.at.starts_with(&format!("copies.cu:{line}:")), "{entry}: {access:?}");
            }
            other => panic!("{entry}: {other:?}"),
        }
    }
    let unsynchronized = judged("copies", "unsynchronized", [1, 2], &arguments, "");
    assert!(matches!(unsynchronized, Ok(Verdict::Violated(Violation::Race { .. }, _))), "{unsynchronized:?}");
    match judged("copies", "changed", [1, 2], &arguments, "") {
        Ok(Verdict::Violated(Violation::Fault { what, .. }, _)) => {
            assert!(what.contains("an asynchronous copy of what is written"), "{what}")
        }
        other => panic!("{other:?}"),
    }
}

/// The verdict on a kernel of one thread that copies a word from `in` to `tile`, with something in between and something
/// behind the wait.
fn between(between: &str, behind: &str) -> Verdict {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{{ .reg .u64 %in, %out; \
         .reg .u32 %x; .shared .align 16 .b8 tile[32];\nld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n\
         cp.async.ca.shared.global [tile], [%in], 4; cp.async.commit_group;\n{between}\ncp.async.wait_group 0;\n{behind}\nret; }}"
    );
    let arguments = ["in=u32[4]:5,6,7,8", "out=u32[1]:0"].map(|text| text.parse().expect("an argument")).to_vec();
    let launch = Launch { grid: [1; 3], block: [1; 3], arguments, dynamic_shared: 0 };
    let mut world =
        World::new(Source { file: "k.ptx".into(), text }, None, launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse("out[0] == 5", world.ranges()).expect("a condition");
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

#[test]
fn a_thread_and_its_own_copies() {
    let read = "ld.shared.u32 %x, [tile]; st.global.u32 [%out], %x;";
    assert_eq!(between("", read), Verdict::Holds);
    assert_eq!(between("ld.global.u32 %x, [%in]; st.shared.u32 [tile+4], %x;", read), Verdict::Holds);
    // A later group may stay open; it writes elsewhere.
    let later = "cp.async.ca.shared.global [tile+16], [%in], 16; cp.async.commit_group; cp.async.wait_group 1;";
    assert_eq!(between(later, read), Verdict::Holds);
    for early in [
        "ld.shared.u32 %x, [tile];",
        "mov.u32 %x, 5; st.shared.u32 [tile], %x;",
        "st.shared.u8 [tile+1], 0;",
        "mov.u32 %x, 2779096485; st.shared.u32 [tile], %x;",
        "atom.shared.add.u32 %x, [tile], 0;",
        "cp.async.ca.shared.global [tile], [%in], 4; cp.async.commit_group;",
    ] {
        assert!(matches!(between(early, read), Verdict::Violated(Violation::Copying { .. }, _)), "{early}");
    }
    // The second group is open.
    let open = "cp.async.ca.shared.global [tile+4], [%in], 4; cp.async.commit_group; cp.async.wait_group 1;\n\
                ld.shared.u32 %x, [tile+4];";
    assert!(matches!(between(open, read), Verdict::Violated(Violation::Copying { .. }, _)));
    assert!(matches!(between("st.global.u32 [%in], 9;", read), Verdict::Violated(Violation::Fault { .. }, _)));
}
