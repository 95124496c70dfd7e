//! Launches that do not fit, instructions that have no meaning here, and kernels that do wrong.

use wattle_foreign::{Argument, Condition, Launch, Options, Source, Verdict, Violation, World, judge};

pub const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

pub fn launch(block: u32, arguments: &[&str]) -> Launch {
    Launch {
        grid: [1; 3],
        block: [block, 1, 1],
        arguments: arguments.iter().map(|text| text.parse().unwrap()).collect(),
        dynamic_shared: 0,
    }
}

/// A kernel `k` with a pointer in `%a`, the thread's number in `%t`, and registers.
pub fn kernel(body: &str) -> Source {
    let text = format!(
        "{HEAD}.entry k(.param .u64 p)\n{{ .reg .u64 %a, %b, %c; .reg .u32 %t, %x, %y; .reg .pred %p;\n\
         ld.param.u64 %a, [p];\n mov.u32 %t, %tid.x;\n{body}\nret; }}"
    );
    Source { file: "k.ptx".into(), text }
}

pub fn verdict(source: Source, block: u32, arguments: &[&str], asserted: &[&str]) -> Verdict {
    let mut world = World::new(source, None, launch(block, arguments)).unwrap_or_else(|error| panic!("{error}"));
    let conditions: Vec<_> = asserted.iter().map(|text| Condition::parse(text, world.ranges()).unwrap()).collect();
    judge(&mut world, &conditions, &Options::default()).unwrap_or_else(|error| panic!("{error}")).verdict
}

pub fn refused(source: Source, entry: Option<&str>, launch: Launch) -> String {
    World::new(source, entry, launch).expect_err("it is refused").to_string()
}

#[test]
fn arguments() {
    for (text, why) in [
        ("out", "it has no `=`"),
        ("out=f31[8]", "`f31` is none of u8, i8"),
        ("out=f32[0]", "a length is a number from 1 to 1048576"),
        ("out=f32[3]:1,2", "2 numbers for 3 items"),
        ("out=u8[1]:256", "`256` is no u8"),
        ("a b=1", "`a b` is no name"),
        ("i.a=1", "`i.a` is no name: a block is given whole, as `i`"),
    ] {
        let error = text.parse::<Argument>().unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("NAME=f32[8]:1.0"), "{error}");
    }
    for (given, why) in
        [("p=q", "`q` is no number, and no buffer that is given before it"), ("p=p", "`p` is no number")]
    {
        let error = refused(kernel(""), None, launch(1, &[given]));
        assert!(error.contains(why), "{error}");
    }
    let error = refused(kernel(""), None, launch(1, &[]));
    assert_eq!(error, "the number of arguments (--arg) is 0, and should be 1. The kernel is `k(.param .u64 p)`");
    let error = refused(kernel(""), None, launch(1, &["n=u32:3"]));
    assert!(error.contains("`n` has 4 bytes, and its parameter 8"), "{error}");
    let two = format!("{HEAD}.entry k(.param .u64 data, .param .u64 flag)\n{{ ret; }}");
    let two = || Source { file: "k.ptx".into(), text: two.clone() };
    let error = refused(two(), None, launch(1, &["flag=u32[1]:0", "data=u32[1]:0"]));
    assert!(error.contains("`flag` is given in the place of the parameter `data`"), "{error}");
    assert_eq!(verdict(two(), 1, &["data=u32[1]:0", "ready=u32[1]:0"], &[]), Verdict::Holds);
}

#[test]
fn shapes_and_names() {
    let error = refused(kernel(""), Some("main"), launch(1, &["p=u32[1]"]));
    assert_eq!(error, "the module has no kernel `main`; it has `k`");
    let error = refused(kernel(""), None, launch(2000, &["p=u32[1]"]));
    assert!(error.starts_with("a block of a CUDA device has at most 1024 x 1024 x 64 threads"), "{error}");
    let shaped = |grid, block, dynamic_shared| Launch { grid, block, dynamic_shared, ..launch(1, &["p=u32[1]"]) };
    let huge = u32::MAX;
    for (asked, said) in [
        (
            shaped([1; 3], [1, 1, 65], 0),
            "1024 x 1024 x 64 threads in its dimensions, and 1024 in all (CUDA C++ Programming Guide",
        ),
        (shaped([1; 3], [huge; 3], 0), "not 4294967295 x 4294967295 x 4294967295"),
        (shaped([1; 3], [32, 33, 1], 0), "a block has at most 1024 threads, not 1056"),
        (shaped([1, 65_536, 1], [1; 3], 0), "a grid of a CUDA device has at most 2147483647 x 65535 x 65535 blocks"),
        (shaped([huge; 3], [1; 3], 0), "a grid of a CUDA device has at most"),
        (shaped([0x7FFF_FFFF, 65_535, 65_535], [1024, 1, 1], 0), "a launch that is judged has at most 65536 threads"),
        (shaped([1; 3], [1; 3], 232_449), "a block of a CUDA device has at most 232448 bytes of shared memory"),
        (shaped([1; 3], [1; 3], 999_999_999_999), "not 999999999999"),
        (shaped([1; 3], [1; 3], u64::MAX), "of shared memory"),
    ] {
        let error = refused(kernel(""), None, asked);
        assert!(error.contains(said), "{error}");
    }
    assert!(World::new(kernel(""), None, shaped([1; 3], [1; 3], 232_448)).is_ok());
    let declared = Source { text: kernel(".shared .b8 tile[49152];").text, ..kernel("") };
    let both = refused(declared, None, shaped([1; 3], [1; 3], 183_297));
    assert!(both.contains("not 232449: 49152 that `k` declares and 183297"), "{both}");
    let world = World::new(kernel(""), None, launch(1, &["p=u32[2]"])).unwrap();
    for (text, why) in [
        ("q[0] == 1", "`q` is none of `p`"),
        ("p[2] == 1", "`p` has 2 items"),
        ("p[0]", "`p[0]` compares nothing"),
        ("p[0] == 1.5", "`1.5` is no u32"),
    ] {
        let error = Condition::parse(text, world.ranges()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn instructions_without_a_meaning() {
    let error = refused(kernel("mov.u32 %x, %clock;\nst.global.u32 [%a], %x;"), None, launch(1, &["p=u32[1]"]));
    assert!(
        error.starts_with("k.ptx:8: a clock has any value") && error.contains("leave out what reads it"),
        "{error}"
    );
    let error = refused(kernel("mov.u32 %x, %nowhere;"), None, launch(1, &["p=u32[1]"]));
    assert!(error.starts_with("k.ptx:8: "), "{error}");
}

#[test]
fn accesses_beyond_a_buffer() {
    let beyond = |body: &str| match verdict(kernel(body), 1, &["p=u32[2]:0"], &[]) {
        Verdict::Violated(Violation::Fault { what, at, .. }, _) => (what, at),
        other => panic!("{other:?}"),
    };
    let (what, at) = beyond("st.global.u32 [%a+8], %t;");
    assert_eq!((what.as_str(), at.as_str()), ("an access at byte 8 of `p`, which has 8 bytes", "k.ptx:8"));
    assert_eq!(beyond("st.global.u32 [%a+-4], %t;").0, "an access at byte -4 of `p`, which has 8 bytes");
    let (what, _) = beyond("ld.global.u32 %x, [%a+2];");
    assert_eq!(what, "an access of 4 bytes at an address that is no multiple of 4");
    assert_eq!(beyond("trap;").0, "a trap");
    // A loop that runs off its buffer ends there.
    let off = "mov.u32 %x, 0; AGAIN: ld.global.u32 %y, [%a]; add.u64 %a, %a, 4; setp.eq.u32 %p, %y, 0; @%p bra AGAIN;";
    assert_eq!(beyond(off).0, "an access at byte 8 of `p`, which has 8 bytes");
    let shared = ".shared .align 4 .b32 tile[2];\n mov.u32 %x, tile;\n";
    let at = |offset: i32| beyond(&format!("{shared}st.shared.u32 [%x+{offset}], %t;")).0;
    assert_eq!(at(8), "an access at byte 8 of `tile`, which has 8 bytes");
    assert_eq!(at(-4), "an access at byte -4 of `tile`, which has 8 bytes");
}

/// A variable in shared memory has its name in the source, and its items where the text shows their type.
#[test]
fn shared_variables_have_names() {
    let read = |declared: &str, name: &str, at: u32| {
        let body = format!(
            ".shared .align 4 .b8 first[4];\n{declared}\nmov.u32 %x, {name};\n ld.shared.u32 %x, [%x+{at}];\n\
                            st.global.u32 [%a], %x;"
        );
        match verdict(kernel(&body), 1, &["p=u32[1]:0"], &[]) {
            Verdict::Violated(Violation::Unwritten { place, .. }, _) => place,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(read(".shared .align 4 .f32 tile[4];", "tile", 4), "tile[1]");
    assert_eq!(read(".shared .align 4 .b8 _ZZ3sumPKfE4part[16];", "_ZZ3sumPKfE4part", 4), "part, byte 4");
    assert_eq!(read(".shared .align 4 .u32 last;", "last", 0), "last");
    // The mangled name of a type is no variable's.
    assert_eq!(read(".shared .align 4 .b8 f[8];", "f", 4), "f, byte 4");
}

#[test]
fn threads_that_never_end() {
    for (begin, iteration) in [
        ("", "ld.relaxed.gpu.global.u32 %x, [%a];"),
        // What is read goes through the thread's own memory, as what a function returns does.
        (
            ".local .align 4 .b32 held;",
            "ld.relaxed.gpu.global.u32 %y, [%a];\n st.local.u32 [held], %y;\n ld.local.u32 %x, [held];",
        ),
        // How long it sleeps makes no difference.
        ("mov.u32 %y, 8;", "ld.relaxed.gpu.global.u32 %x, [%a];\n nanosleep.u32 %y;\n shl.b32 %y, %y, 1;"),
    ] {
        let body = format!("{begin}\nAGAIN: {iteration}\n setp.eq.u32 %p, %x, 0;\n @%p bra AGAIN;");
        match verdict(kernel(&body), 1, &["p=u32[1]:0"], &[]) {
            Verdict::Violated(Violation::Stuck(stuck), _) => assert!(!stuck[0].at_barrier, "{stuck:?}"),
            other => panic!("{body}: {other:?}"),
        }
    }
}

#[test]
fn load_buffering_is_seen() {
    // Each thread reads one place and writes another; nothing depends on what is read.
    let body = "shl.b32 %x, %t, 2;\n cvt.u64.u32 %b, %x;\n add.u64 %b, %b, %a;\n xor.b32 %x, %x, 4;\n\
                cvt.u64.u32 %c, %x;\n add.u64 %c, %c, %a;\n ld.relaxed.gpu.global.u32 %y, [%b];\n\
                mov.u32 %x, 1;\n st.relaxed.gpu.global.u32 [%c], %x;\n st.global.u32 [%b+8], %y;";
    let holds = |condition| verdict(kernel(body), 2, &["p=u32[4]:0"], &[condition]) == Verdict::Holds;
    assert!(holds("p[2] <= 1 && p[3] <= 1"));
    assert!(!holds("p[2] == 0 || p[3] == 0"), "each may read what the other writes behind its read");
}

pub fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Violated(violation, _) => violation.kind(),
        Verdict::Holds => "holds",
        Verdict::Unknown(_) => "unknown",
    }
}

/// A thread that leaves early is not waited for; one that goes on where the others do, without the barrier in between, is: in CUDA
/// C++ all threads of a block come to a `__syncthreads()` or none, and PTX ISA 9.7.13.1 says the same of a warp.
#[test]
fn a_thread_that_goes_past_a_barrier_is_found() {
    let own = "mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b;";
    for (body, passed) in [
        // `if (t == 0) __syncthreads(); a[t] = 1;`
        ("setp.ne.u32 %p, %t, 0; @%p bra OUT; bar.sync 0;\nOUT: st.global.u32 [%b], 1;", true),
        // `if (t != 0) return; __syncthreads(); a[t] = 1;`
        ("setp.ne.u32 %p, %t, 0; @%p bra OUT; bar.sync 0; st.global.u32 [%b], 1;\nOUT:", false),
        // `for (i = 0; i <= t; i++) __syncthreads(); a[t] = 1;`
        (
            "mov.u32 %x, 0;\nAGAIN: bar.sync 0; add.u32 %x, %x, 1; setp.le.u32 %p, %x, %t; @%p bra AGAIN;\n\
             st.global.u32 [%b], 1;",
            true,
        ),
        // All go round as often.
        (
            "mov.u32 %x, 0;\nAGAIN: bar.sync 0; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 2; @%p bra AGAIN;\n\
             st.global.u32 [%b], 1;",
            false,
        ),
    ] {
        let body = format!("{own}\n{body}");
        let found = match verdict(kernel(&body), 2, &["p=u32[2]:0"], &[]) {
            Verdict::Violated(Violation::Stuck(stuck), _) => stuck.iter().all(|stuck| stuck.passed_by.is_some()),
            Verdict::Holds => false,
            other => panic!("{body}: {other:?}"),
        };
        assert_eq!(found, passed, "{body}");
    }
}

/// PTX ISA 9.7.13.1: a barrier waits for the threads that have not exited, and only the aligned form has to be the same
/// instruction for all threads of a warp. Whether the thread that ends has an end of its own makes no difference.
#[test]
fn barriers_of_those_that_are_left() {
    let exits = "setp.ge.u32 %p, %t, 2; @%p exit; st.global.u32 [%a], 1;\n";
    let asserted = ["p[0] == 1"];
    let left = "setp.eq.u32 %p, %t, 1; @%p exit; bar.sync 0; st.global.u32 [%a], 1;";
    assert_eq!(kind(&verdict(kernel(left), 2, &["p=u32[1]:0"], &asserted)), "holds");
    for (end, threads, noted) in [
        ("@%p exit; bar.sync 0;", 2, true),
        ("@%p bra OUT; bar.sync 0;\nOUT:", 2, true),
        ("@%p exit; bar.sync 0;", 1, false),
    ] {
        let body = format!("setp.eq.u32 %p, %t, 1; {end}");
        assert_eq!(kind(&verdict(kernel(&body), threads, &["p=u32[1]:0"], &[])), "holds", "{body}");
        let mut world = World::new(kernel(&body), None, launch(threads, &["p=u32[1]:0"])).unwrap();
        let note = judge(&mut world, &[], &Options::default()).unwrap().note;
        assert_eq!(note.is_some(), noted, "{body}");
        assert!(
            note.is_none_or(|note| note.contains("the barrier at k.ptx:8, where block 0, thread 0 waits")),
            "{body}"
        );
    }
    // An exit behind a first barrier, and lanes of a warp's barrier.
    for later in [
        "bar.sync 0; setp.eq.u32 %p, %t, 1; @%p exit; bar.sync 0;",
        "setp.eq.u32 %p, %t, 1; @%p exit; bar.warp.sync 3;",
    ] {
        assert_eq!(kind(&verdict(kernel(later), 2, &["p=u32[1]:0"], &[])), "holds", "{later}");
    }
    let gathers = "setp.eq.u32 %p, %t, 1; bar.sync 0; @%p exit; bar.red.popc.u32 %x, 0, %p;";
    let mut world = World::new(kernel(gathers), None, launch(2, &["p=u32[1]:0"])).unwrap();
    let refused = judge(&mut world, &[], &Options::default()).expect_err("nobody says what it gathers").to_string();
    assert!(refused.contains("have ended"), "{refused}");
    let fewer = format!("{exits}bar.sync 0;");
    assert_eq!(kind(&verdict(kernel(&fewer), 1, &["p=u32[1]:0"], &asserted)), "holds");
    for (barrier, said) in [("bar.sync 0;", "can be stuck for ever"), ("barrier.sync 0;", "holds")] {
        let apart = format!(
            "setp.eq.u32 %p, %t, 0; @%p bra L; {barrier} bra M; L: st.global.u32 [%a], 1; {barrier} M: mov.u32 %x, %t;"
        );
        assert_eq!(kind(&verdict(kernel(&apart), 2, &["p=u32[1]:0"], &asserted)), said, "{barrier}");
    }
}

/// Two arrays of shared memory have no place relative to each other, and constants and parameters are only read.
#[test]
fn accesses_beside_an_array_and_to_constants() {
    let shared = ".shared .align 4 .b8 s[16]; .shared .align 4 .b8 u[16]; mov.u32 %x, s;\nmov.u32 %y, u;\n";
    let fault = |body: &str| match verdict(kernel(&format!("{shared}{body}")), 1, &["p=u32[1]:0"], &[]) {
        Verdict::Violated(Violation::Fault { what, .. }, _) => what,
        Verdict::Holds => "holds".to_owned(),
        other => panic!("{body}: {other:?}"),
    };
    for (body, said) in [
        ("st.shared.u32 [%x+12], 1; st.shared.u32 [%y+12], 1;", "holds"),
        ("st.shared.u32 [%x+16], 1;", "an access at byte 16 of `s`, which has 16 bytes"),
        ("st.shared.u32 [%y+-4], 1;", "an access at byte -4 of `u`, which has 16 bytes"),
        ("st.shared.u32 [%x+-4], 1;", "an access at byte -4 of `s`, which has 16 bytes"),
        ("st.shared.u32 [%y+32], 1;", "an access at byte 32 of `u`, which has 16 bytes"),
        ("mov.u32 %t, %total_smem_size; setp.ne.u32 %p, %t, 32; @%p trap;", "holds"),
    ] {
        assert_eq!(fault(body), said, "{body}");
    }
    let text = format!(
        "{HEAD}.const .align 4 .u32 table[2] = {{ 1, 2 }};\n.entry k(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %x;\n\
         mov.u64 %a, table;\ncvta.const.u64 %a, %a;\nld.u32 %x, [%a+4];\nst.u32 [%a+4], 1;\nret; }}"
    );
    let found = verdict(Source { file: "k.ptx".into(), text }, 1, &["p=u32[1]:0"], &[]);
    let Verdict::Violated(Violation::Fault { what, at, .. }, _) = &found else { panic!("{found:?}") };
    assert_eq!((&what[..], &at[..]), ("a write to constant memory, which kernels only read", "k.ptx:10"));
}

/// PTX ISA 9.7.1.7: "Division by zero yields an unspecified, machine-specific value."
#[test]
fn divisions_by_zero() {
    let judged = |body: &str, asserted: &[&str]| {
        let verdict = verdict(kernel(&format!("ld.global.u32 %x, [%a];\n{body}")), 1, &["p=u32[2]:0"], asserted);
        match verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Unknown(why) => why,
            Verdict::Violated(..) => panic!("{body}: {verdict:?}"),
        }
    };
    let stored = "div.u32 %y, 7, %x; st.global.u32 [%a], %y;";
    assert_eq!(judged(stored, &[]), "holds");
    assert_eq!(judged(stored, &["p[1] == 0"]), "holds");
    let why = judged(stored, &["p[0] == 4294967295"]);
    assert!(why.contains("`p[0] == 4294967295` looks at what nothing fixes"), "{why}");
    let branch = "rem.u32 %y, 7, %x; setp.eq.u32 %p, %y, 7;\n@%p st.global.u32 [%a+4], 1;";
    let why = judged(branch, &[]);
    assert!(why.contains("division by zero") && why.contains("k.ptx:10"), "{why}");
    // What is not chosen does not count, and other divisors leave nothing open.
    let guarded = "div.u32 %y, 7, %x; setp.eq.u32 %p, %x, 0; selp.u32 %y, 5, %y, %p; st.global.u32 [%a], %y;";
    assert_eq!(judged(guarded, &["p[0] == 5"]), "holds");
    let least =
        |by: i32| format!("mov.u32 %y, 0x80000000; add.s32 %x, %x, {by}; div.s32 %y, %y, %x; st.global.u32 [%a], %y;");
    assert_eq!(judged(&least(1), &["p[0] == 2147483648"]), "holds");
    assert!(judged(&least(-1), &["p[0] == 2147483648"]).contains("nothing fixes"));
    assert!(judged("div.s32 %y, %x, 0; st.global.u32 [%a], %y;", &["p[0] == 0"]).contains("nothing fixes"));
    assert_eq!(judged("div.s32 %y, %x, -1; st.global.u32 [%a], %y;", &["p[0] == 0"]), "holds");
}

/// PTX ISA 9.7.13.1: arrivals at a barrier are counted by whole warps.
#[test]
fn a_count_of_all_warps_is_every_thread() {
    let leaves = "setp.eq.u32 %p, %t, 0; @%p exit; bar.sync 1, 32;";
    for (body, threads) in [("bar.sync 1, 32;", 2), ("bar.sync 1, 64;", 48), (leaves, 32)] {
        assert_eq!(kind(&verdict(kernel(body), threads, &["p=u32[1]:0"], &["p[0] == 0"])), "holds", "{body}");
    }
}

/// PTX ISA 9.7.9.6, 9.7.13.2, 9.7.13.10: the executing thread has to be in the mask.
#[test]
fn lanes_outside_of_their_masks() {
    for body in ["bar.warp.sync 1;", "shfl.sync.idx.b32 %x, %t, 0, 31, 1;", "vote.sync.ballot.b32 %x, %p, 1;"] {
        let body = format!("setp.eq.u32 %p, %t, 0; {body}");
        let Verdict::Violated(Violation::Fault { what, .. }, _) = verdict(kernel(&body), 2, &["p=u32[1]:0"], &[])
        else {
            panic!("{body} is a fault");
        };
        assert!(what.contains("not in the mask"), "{what}");
    }
}

/// A loop without a bound is named, by its place in the source where there is one.
#[test]
fn a_loop_without_a_bound_is_named() {
    let turns = "AGAIN:\n.loc 1 7 3\natom.global.exch.b32 %x, [%a], %t; setp.ne.u32 %p, %x, %t; @%p bra AGAIN;";
    for (body, place) in [(turns.to_owned(), "spin.cu:7:3"), (turns.replace(".loc 1 7 3", ""), "k.ptx:10")] {
        let source = kernel(&body);
        let source = Source { text: source.text + "\n.file 1 \"spin.cu\"\n", ..source };
        let mut world = World::new(source, None, launch(2, &["p=u32[1]:0"])).unwrap_or_else(|error| panic!("{error}"));
        let options = Options { loop_bound: 2, ..Options::default() };
        match judge(&mut world, &[], &options).unwrap_or_else(|error| panic!("{error}")).verdict {
            Verdict::Unknown(why) => {
                assert_eq!(why, format!("the loop at {place} goes on after 2 iterations; --loop-bound looks further"));
            }
            other => panic!("{other:?}"),
        }
    }
    // Threads that count to 1,000 together end, whatever the bound.
    let counts = "AGAIN:\natom.global.add.u32 %x, [%a], 1; setp.lt.u32 %p, %x, 1000; @%p bra AGAIN;";
    assert_eq!(verdict(kernel(counts), 2, &["p=u32[1]:0"], &[]), Verdict::Holds);
}
