//! Functions that are called: what nvcc leaves as functions (`cuda/calls.cu`), and what a call may not be.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, Violation, World, judge};

fn launch(block: u32, arguments: &[&str]) -> Launch {
    let arguments = arguments.iter().map(|text| text.parse().expect("an argument")).collect();
    Launch { grid: [1; 3], block: [block, 1, 1], arguments, dynamic_shared: 0 }
}

/// The verdict on two threads of a kernel of the compiled file.
fn compiled(entry: &str, asserted: &str) -> Verdict {
    let path = format!("{}/tests/cuda/calls.ptx", env!("CARGO_MANIFEST_DIR"));
    let source = Source { file: "calls.ptx".into(), text: std::fs::read_to_string(path).expect("the file is there") };
    let launch = launch(2, &["counter=i32[1]:0", "seen=i32[2]:0"]);
    let mut world = World::new(source, Some(entry), launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse(asserted, world.ranges()).expect("a condition");
    judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

#[test]
fn what_the_compiler_leaves_as_functions() {
    // Each of two threads adds twice, and keeps the two values that it found: 0 and 1, 0 and 2, 0 and 3, 1 and 2, …
    assert_eq!(compiled("counts", "counter == 4"), Verdict::Holds);
    assert!(matches!(compiled("counts", "seen[0] != 3"), Verdict::Violated(Violation::Assertion { .. }, _)));
    assert_eq!(compiled("counts", "seen[0] >= 1 && seen[0] <= 5"), Verdict::Holds);
    // A record that is passed by value, and indexed in the thread's own memory: 1 + 10 and 2 + 11.
    assert_eq!(compiled("records", "counter == 4 && seen[0] == 11 && seen[1] == 13"), Verdict::Holds);
}

#[test]
fn what_is_wrong_is_shown_in_the_function() {
    let Verdict::Violated(violation @ Violation::Race { .. }, steps) = compiled("races", "counter == 2") else {
        panic!("two threads add without an atomic operation");
    };
    assert!(violation.places().iter().all(|place| place.starts_with("calls.cu:12")), "{violation:?} {steps:?}");
}

/// The verdict on one thread of a kernel with these functions and this body, or why it is refused.
fn written(functions: &str, body: &str, asserted: &str) -> Result<Verdict, String> {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64\n{functions}\n.entry k(.param .u64 word)\n{{ .reg .u64 %a; .reg .u32 \
         %x, %y; .reg .pred %p;\nld.param.u64 %a, [word]; setp.ne.u64 %p, %a, 0;\n{body}\nret; }}"
    );
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch(1, &["word=u32[1]:0"])).map_err(|error| error.to_string())?;
    let condition = Condition::parse(asserted, world.ranges()).expect("a condition");
    let report = judge(&mut world, &[condition], &Options::default()).map_err(|error| error.to_string())?;
    Ok(report.verdict)
}

/// A function that returns one more than it is given, or nothing written where that is 0.
const MORE: &str = ".func (.param .b32 r) more(.param .b32 n)\n{ .reg .b32 %r<3>; .reg .pred %p;\n\
                    ld.param.u32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p ret;\nadd.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }";

fn call(guard: &str, given: u32) -> String {
    format!(
        "{{ .param .b32 param0; st.param.b32 [param0+0], {given}; .param .b32 retval0;\n{guard}call.uni (retval0), more, \
         (param0);\nld.param.b32 %x, [retval0+0]; }}\nst.global.u32 [%a], %x;"
    )
}

/// Constant memory and parameters have generic addresses too (PTX ISA 8.8, 5.1 and 9.7.9.20), as pointers that may point to
/// either have.
#[test]
fn a_pointer_may_be_to_constants() {
    let table = ".const .align 4 .b32 table[2] = {5, 6};";
    let read = "{ .reg .u64 %b; .reg .pred %q;\nmov.u64 %b, table; cvta.const.u64 %b, %b; ld.u32 %x, [%b+4];\n\
                isspacep.const %q, %b; @!%q trap; isspacep.param %q, %b; @%q trap; isspacep.const %q, %a; @%q trap;\n\
                isspacep.shared::cluster %q, %a; @%q trap;\nst.global.u32 [%a], %x; }";
    assert_eq!(written(table, read, "word == 6"), Ok(Verdict::Holds));
    let beyond = written(table, &read.replace("+4", "+8"), "word == 6").expect("it is judged");
    assert!(matches!(beyond, Verdict::Violated(Violation::Fault { .. }, _)), "{beyond:?}");
    for written_to in ["st.u32 [%b], 1", "atom.add.u32 %x, [%b], 1"] {
        let stored = written(table, &read.replace("ld.u32 %x, [%b+4]", written_to), "word == 6").expect("it is judged");
        let Verdict::Violated(Violation::Fault { what, .. }, _) = &stored else { panic!("{stored:?}") };
        assert_eq!(what, "a write to constant memory, which kernels only read");
    }
}

#[test]
fn scopes_guards_and_values() {
    assert_eq!(written(MORE, &call("", 6), "word == 7"), Ok(Verdict::Holds));
    assert_eq!(written(MORE, &format!("{}\n{}", call("", 6), call("@%p ", 8)), "word == 9"), Ok(Verdict::Holds));
    // A call that is not made, and a function that writes nothing, leave the result unwritten.
    for (guard, given) in [("@!%p ", 6), ("", 0)] {
        let verdict = written(MORE, &call(guard, given), "word == 7").expect("it is judged");
        assert!(matches!(verdict, Verdict::Violated(Violation::Unassigned { .. }, _)), "{verdict:?}");
    }
    // A function's shared variable is one for all its calls.
    let shared = ".func next()\n{ .shared .align 4 .u32 count; .reg .u32 %r; ld.shared.u32 %r, [count]; add.u32 %r, %r, 1;\n\
                  st.shared.u32 [count], %r; ret; }\n.func first() { .reg .u32 %r; call next, (); ret; }";
    let verdict = written(shared, "call.uni first, ();", "word == 0").expect("it is judged");
    assert!(matches!(verdict, Verdict::Violated(Violation::Unwritten { .. }, _)), "{verdict:?}");
}

#[test]
fn what_a_call_may_not_be() {
    for (functions, body, why) in [
        (".func f() { call f, (); ret; }", "call f, ();", "k.ptx:2: the function 'f' calls itself"),
        (
            ".func g();\n.func f() { call g, (); ret; }\n.func g() { call f, (); ret; }",
            "call f, ();",
            "'f' calls itself",
        ),
        (".extern .func f();", "call f, ();", "the function 'f' is another module's"),
        ("", "call f, ();", "there is no function 'f'"),
        (MORE, "call more, ();", "'more' takes 1 value and returns 1 value"),
        (MORE, "{ .param .b64 p; .param .b32 r; call (r), more, (p); }", "'n' of 'more' has 4 bytes"),
        (MORE, "call (%x), more, (%y);", "what a call is given are .param variables"),
        (".func f() { ret; } .func f() { ret; }", "", "Duplicate definition of function 'f'"),
    ] {
        let error = written(functions, body, "word == 0").expect_err(why);
        assert!(error.contains(why), "{why} is not in\n{error}");
    }
}

/// Functions are put in the places of their calls, which is no deeper than the stack.
#[test]
fn a_long_chain_of_calls_is_refused() {
    let chain = |length: u32| -> String {
        let call = |number: u32| match number {
            0 => String::new(),
            number => format!("call f{}, (); ", number - 1),
        };
        (0..length).map(|number| format!(".func f{number}() {{ {}ret; }}\n", call(number))).collect()
    };
    let verdict = written(&chain(256), "call f255, ();", "word == 0");
    assert!(matches!(verdict, Ok(Verdict::Holds)), "{verdict:?}");
    let error = written(&chain(2_000), "call f1999, ();", "word == 0").expect_err("it is refused");
    assert!(error.contains("more than 256 functions are called by one another"), "{error}");
}

/// Structs are given member by member, each aligned to its size, and their buffers by name.
#[test]
fn structs_are_arguments() {
    let judged = |entry: &str, arguments: &[&str], assert: &str| {
        let mut world = World::new(crate::cuda::source("by_value"), Some(entry), launch(2, arguments))?;
        let condition = Condition::parse(assert, world.ranges()).expect("a condition");
        judge(&mut world, &[condition], &Options::default()).map(|report| report.verdict)
    };
    let range = "range={from=f32[2]:1.0,3.0; length=i32:2; factor=f32:0.5}";
    assert_eq!(judged("scale", &[range, "out=f32[2]:0.0"], "out[0] == 0.5 && out[1] == 1.5"), Ok(Verdict::Holds));
    // A member with the name of another buffer has that of its struct before it.
    let alike = "range={out=f32[2]:1.0,3.0; length=i32:2; factor=f32:0.5}";
    let both = "out[0] == 0.5 && range.out[1] == 3.0";
    assert_eq!(judged("scale", &[alike, "out=f32[2]:0.0"], both), Ok(Verdict::Holds));
    let nested = format!("all={{kind=i8:2; {range}; offset={{x=f32:0; y=f32:0; z=f32:0.25}}}}");
    assert_eq!(judged("nested", &[&nested, "out=f32[2]:0.0"], "out[0] == 2.25 && out[1] == 6.25"), Ok(Verdict::Holds));
    for (given, why) in [
        (
            "range=5",
            "`range` is a number, and its parameter has 16 bytes: a struct, which is given as `range={x=f32[8]:1.0; n=i32:8}`",
        ),
        ("range={from=f32[2]; length=i32:2}", ""),
        ("range={from=f32[2]}", "`range` has 8 bytes, and its parameter 16: a struct"),
        ("range={from=f32[2]; length=2; factor=f32:1}", "the member `length` needs its type: write `length=i32:2`"),
    ] {
        let error = judged("scale", &[given, "out=f32[2]:0.0"], "out[0] == 0.0").err().map(|error| error.to_string());
        match why {
            "" => assert_eq!(error, None, "the padding at the end is there"),
            why => assert!(error.as_ref().is_some_and(|error| error.contains(why)), "{error:?}"),
        }
    }
    assert!("range={from=f32[2]".parse::<wattle_foreign::Argument>().is_err());
}
