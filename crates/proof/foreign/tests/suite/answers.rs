//! Kernels that have an answer, however their cells are cut, their loops fail and their updates are ordered.

use wattle_foreign::{Condition, Options, Source, Verdict, Violation, World, judge};

use crate::bad_input::{kernel, kind, launch, verdict};

/// A race that many threads take part in is found, however many orders their updates have.
#[test]
fn a_counter_that_one_of_many_threads_sets() {
    let body = "setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%a], 0; atom.global.add.u32 %x, [%a], 1;";
    assert_eq!(kind(&verdict(kernel(body), 64, &["p=u32[1]:0"], &[])), "data race");
}

/// A store whose address waits for a read, where cells are narrower than it, has all of its events where it stands.
#[test]
fn a_wide_store_at_an_open_address() {
    let body = "mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b; ld.global.u32 %x, [%b];\n\
                { .reg .u32 %own, %at, %z; .reg .b16 %h; .shared .align 4 .b8 s[8];\n\
                mov.u32 %at, s; mad.lo.u32 %own, %t, 4, %at; cvt.u16.u32 %h, %x; st.shared.u16 [%own], %h;\n\
                setp.eq.u32 %p, %x, 5; vote.sync.any.pred %p, %p, 3; bar.sync 0; ld.shared.u16 %h, [%own];\n\
                bar.sync 0; cvt.u32.u16 %z, %h; mad.lo.u32 %at, %z, 4, %at; st.shared.u32 [%at], %t;\n\
                bar.sync 0; ld.shared.u32 %z, [%own]; st.global.u32 [%b], %z; }";
    for given in ["0,1", "1,0"] {
        let asserted = format!("p[0] == {}", &given[..1]);
        assert_eq!(kind(&verdict(kernel(body), 2, &[&format!("p=u32[2]:{given}")], &[&asserted])), "holds", "{given}");
    }
}

/// A read of an iteration that may fail finds what has come to its thread, not what was there before that.
#[test]
fn a_loop_over_what_was_overwritten_before_it() {
    let cells = |line: &dyn Fn(u32) -> String| (0..8).map(line).collect::<Vec<_>>().concat();
    let round = |value: u32| {
        format!("{}bar.warp.sync 3;\n", cells(&|cell| format!("@%p st.shared.u32 [%y+{}], {value};\n", 4 * cell)))
    };
    let reads = cells(&|cell| format!("ld.shared.u32 %w, [%y+{}]; add.u32 %z, %z, %w;\n", 4 * cell));
    let body = format!(
        "{{ .reg .u32 %w, %z; .shared .align 4 .b8 s[32];\nmov.u32 %y, s; setp.eq.u32 %p, %t, 0;\n{}{}{}\
         mov.u32 %x, 0; mov.u32 %z, 0;\nAGAIN:\n{reads}add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 2; @%p bra AGAIN;\n\
         mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b; st.global.u32 [%b], %z; }}",
        round(1),
        round(2),
        round(3)
    );
    let found = verdict(kernel(&body), 2, &["p=u32[2]:0"], &["p[0] == 48 && p[1] == 48"]);
    assert_eq!(found, Verdict::Holds);
}

#[test]
fn a_loop_that_fails_in_too_many_ways_is_named() {
    let cells = |line: &dyn Fn(u32) -> String| (0..7).map(line).collect::<Vec<_>>().concat();
    let sets = |value: u32| cells(&|cell| format!("st.relaxed.gpu.global.u32 [%a+{}], {value};\n", 4 * cell));
    let reads = cells(&|cell| format!("ld.relaxed.gpu.global.u32 %y, [%a+{}]; add.u32 %x, %x, %y;\n", 4 * cell));
    let body = format!(
        "setp.eq.u32 %p, %t, 0; @%p bra WAITS;\n{}{}{}bra OUT;\nWAITS: mov.u32 %x, 0;\n{reads}\
         setp.ne.u32 %p, %x, 21; @%p bra WAITS;\nOUT:",
        sets(1),
        sets(2),
        sets(3)
    );
    match verdict(kernel(&body), 2, &["p=u32[7]:0"], &[]) {
        Verdict::Unknown(why) => {
            assert_eq!(why, "an iteration of the loop at k.ptx:39 can fail in more ways than are tried");
        }
        other => panic!("{other:?}"),
    }
}

/// A variable of the module that has the name of an argument is another buffer.
#[test]
fn a_variable_and_an_argument_of_one_name() {
    let Source { file, text } = kernel("mov.u32 %x, 7;\nst.global.u32 [%a], %x;");
    let text = text.replacen(".entry k", ".global .align 4 .u32 sum = 5;\n.entry k", 1);
    let verdict = verdict(Source { file, text }, 1, &["sum=u32[1]:0"], &["sum == 7 && module.sum == 5"]);
    assert_eq!(verdict, Verdict::Holds);
}

/// PTX does not say how the variables of local memory lie to each other.
#[test]
fn what_leaves_a_local_variable_is_in_none() {
    let body = |at: &str| {
        format!(
            "{{ .local .align 4 .b8 one[8];\n.local .align 4 .b8 other[8];\n.reg .u64 %l; mov.u64 %l, one; \
             st.local.u32 [one], 1; st.local.u32 [one+4], 2; st.local.u32 [other], 3; st.local.u32 [other+4], 4;\n\
             ld.local.u32 %x, [{at}]; setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%a], %x; }}"
        )
    };
    for (at, value) in [("one", 1), ("%l+4", 2), ("other", 3), ("other+4", 4)] {
        let asserted = format!("p == {value}");
        assert_eq!(kind(&verdict(kernel(&body(at)), 2, &["p=u32[1]:0"], &[&asserted])), "holds", "{at}");
    }
    for (at, variable) in [("one+8", "one"), ("%l+8", "one"), ("other+8", "other")] {
        let found = verdict(kernel(&body(at)), 2, &["p=u32[1]:0"], &[]);
        let Verdict::Violated(Violation::Fault { what, .. }, _) = &found else { panic!("{at}: {found:?}") };
        assert!(what.contains(&format!("byte 8 of `{variable}`, which has 8 bytes")), "{at}: {what}");
    }
}

/// A thread that comes from one barrier to the next with nothing between them hands on what it has been passed.
#[test]
fn barriers_one_behind_the_other() {
    let body = |second: u32| {
        format!(
            "setp.eq.u32 %p, %t, 0; @%p st.global.u32 [%a], 7;\nsetp.lt.u32 %p, %t, 2; @%p bar.warp.sync 3;\n\
             setp.gt.u32 %p, %t, 0; @%p bar.warp.sync {second};\n\
             setp.eq.u32 %p, %t, 2; @%p ld.global.u32 %x, [%a]; @%p st.global.u32 [%a+4], %x;"
        )
    };
    assert_eq!(kind(&verdict(kernel(&body(6)), 3, &["p=u32[2]:0"], &["p[1] == 7"])), "holds");
    let other = "setp.eq.u32 %p, %t, 1; @%p bra OUT;\nsetp.eq.u32 %p, %t, 0; @%p st.global.u32 [%a], 7;\n\
                 bar.warp.sync 5;\nsetp.eq.u32 %p, %t, 2; @%p ld.global.u32 %x, [%a];\nOUT:";
    assert_eq!(kind(&verdict(kernel(other), 3, &["p=u32[2]:0"], &[])), "holds");
    let without = body(6).replace("@%p bar.warp.sync 3;", "");
    assert_eq!(kind(&verdict(kernel(&without), 3, &["p=u32[2]:0"], &[])), "data race");
}

/// Two parameters may be one buffer, or parts of it.
#[test]
fn arguments_that_are_places_of_one_buffer() {
    let text = ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 from, .param .u64 to)\n{ .reg .u64 %a, %b, %o; .reg \
                .u32 %t, %x;\nld.param.u64 %a, [from]; ld.param.u64 %b, [to]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;\n\
                add.u64 %a, %a, %o; add.u64 %b, %b, %o; ld.global.u32 %x, [%a]; add.u32 %x, %x, 1;\nst.global.u32 [%b], %x; ret; }";
    let judged = |to: &str, asserted: &[&str]| {
        let source = Source { file: "k.ptx".into(), text: text.into() };
        kind(&verdict(source, 2, &["x=u32[4]:5,6,7,8", to], asserted))
    };
    assert_eq!(judged("y=x", &["x[0] == 6 && x[1] == 7"]), "holds");
    assert_eq!(judged("y=x+2", &["x[2] == 6 && x[3] == 7 && x[0] == 5"]), "holds");
    assert_eq!(judged("y=x+1", &[]), "data race");
    assert_eq!(judged("y=x+3", &[]), "fault");
}

/// What rests on the places of two buffers says so.
#[test]
fn addresses_of_two_buffers_are_compared() {
    let note = |from: &str, to: &str| {
        let text = format!(
            ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 x, .param .u64 y)\n{{ .reg .u64 %x, %y; .reg .pred \
             %p;\nld.param.u64 %x, [x]; ld.param.u64 %y, [y]; setp.lt.u64 %p, %{from}, %{to};\n@%p st.global.u32 [%x], 1; ret; }}"
        );
        let source = Source { file: "k.ptx".into(), text };
        let mut world = World::new(source, None, launch(1, &["x=u32[1]:0", "y=u32[1]:0"])).expect("it is read");
        judge(&mut world, &[], &Options::default()).expect("it is judged").note.unwrap_or_default()
    };
    let said = note("x", "y");
    assert!(said.contains("an address in `x` is compared with one in `y` at k.ptx:3"), "{said}");
    assert_eq!(note("x", "x"), "");
}

/// Turns of a loop that computes alone are none of a wait behind it, however many they are.
#[test]
fn a_wait_behind_a_long_loop() {
    let body = |turns: u32| {
        format!(
            "setp.eq.u32 %p, %t, 0; @%p bra SENDS;\nmov.u32 %x, 0;\n\
             EMPTY: add.u32 %x, %x, 1; setp.lt.u32 %p, %x, {turns}; @%p bra EMPTY;\n\
             SPIN: ld.acquire.gpu.global.u32 %x, [%a+4]; setp.ne.u32 %p, %x, 0; @%p bra OUT; ld.global.u32 %y, [%a]; bra SPIN;\n\
             SENDS: st.global.u32 [%a], 1; st.release.gpu.global.u32 [%a+4], 1;\nOUT:"
        )
    };
    for turns in [10, 70_000] {
        assert_eq!(kind(&verdict(kernel(&body(turns)), 2, &["p=u32[2]:0"], &[])), "data race", "{turns}");
    }
}

/// A kernel `k` with these declarations, parameters, registers and this body.
fn module(declared: &str, params: &str, registers: &str, body: &str) -> Source {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 {declared}\n.entry k({params}, .param .u64 out)\n{{ {registers} .reg .u64 %out; \
         ld.param.u64 %out, [out];\n{body}\nret; }}"
    );
    Source { file: "k.ptx".into(), text }
}

/// A number without a type is of the parameter's, and one of another type is refused.
#[test]
fn numbers_are_of_the_types_of_their_parameters() {
    let source = |ty: &str| {
        let body = format!("ld.param.{ty} %v, [v]; st.global.{ty} [%out], %v;");
        module("", &format!(".param .{ty} v"), &format!(".reg .{ty} %v;"), &body)
    };
    let judged = |ty: &str, given: &str, asserted: &str| {
        let item = ty.replace('b', "u").replace('s', "i");
        let out = format!("out={item}[1]:0");
        let mut world = World::new(source(ty), None, launch(1, &[&format!("v={given}"), &out]))
            .map_err(|error| error.to_string().split(". The kernel").next().unwrap_or_default().to_owned())?;
        let asserted = [Condition::parse(asserted, world.ranges()).expect("it is a condition")];
        let verdict = judge(&mut world, &asserted, &Options::default()).expect("it is judged").verdict;
        Ok::<_, String>(kind(&verdict))
    };
    for (ty, given, asserted) in [
        ("f32", "3", "out == 3.0"),
        ("f64", "-1", "out == -1.0"),
        ("f64", "1e-3", "out == 0.001"),
        ("f32", "f32:2", "out == 2.0"),
        ("u32", "7", "out == 7"),
        ("b32", "7", "out == 7"),
        ("b32", "1.0", "out == 1065353216"),
    ] {
        assert_eq!(judged(ty, given, asserted), Ok("holds"), "{ty} {given}");
    }
    for (ty, given, why) in [
        ("u32", "1.0", "`v`: `1.0` is no number of its parameter's type, .u32"),
        ("s32", "f32:1", "`v` is a float, and its parameter an integer"),
        ("f32", "i32:1", "`v` is an integer, and its parameter a float"),
        ("u64", "f32:1", "`v` is a float, and its parameter an integer or a pointer: write a buffer as `v=f32[1]:…`"),
    ] {
        let said = judged(ty, given, "out == 0").expect_err(given);
        assert!(said.contains(why), "{ty} {given}: {said}");
    }
}

/// The host puts something into variables before a launch; where it does not, that says so.
#[test]
fn variables_that_the_host_fills() {
    let source = || {
        let declared = ".const .align 4 .f32 scale; .const .align 4 .b8 taps[12]; .global .align 8 .u64 table; .global .align 4 .u32 seen;";
        let body = "ld.const.f32 %s, [scale]; ld.const.f32 %t, [taps+8]; mul.f32 %s, %s, %t; ld.global.u64 %a, [table];\n\
                    ld.global.f32 %t, [%a+4]; add.f32 %s, %s, %t; st.global.f32 [%out], %s; ld.param.u32 %n, [n];\n\
                    st.global.u32 [seen], %n;";
        module(declared, ".param .u32 n", ".reg .f32 %s, %t; .reg .u64 %a; .reg .u32 %n;", body)
    };
    let given = ["n=3", "out=f32[1]:0", "scale=2", "taps=f32[3]:0,1,5", "table=f32[2]:0,7"];
    let found = verdict(source(), 1, &given, &["out == 17.0 && seen == 3"]);
    assert_eq!(found, Verdict::Holds);
    let world = |given: &[&str]| World::new(source(), None, launch(1, given)).map_err(|error| error.to_string());
    let said = world(&["n=3", "out=f32[1]:0", "scale=2", "taps=f32[2]:0"]).expect_err("there are three taps");
    assert!(said.contains("`taps` has 12 bytes, and is given 8"), "{said}");
    let said = world(&["n=3", "out=f32[1]:0", "more=2"]).expect_err("there is no such variable");
    assert!(said.contains("given by their names: scale, taps, table, seen"), "{said}");
    let said = world(&["n=3", "n=3"]).expect_err("it is there twice");
    assert!(said.contains("`n` is given twice"), "{said}");
    let unset = module(
        ".const .align 4 .u32 count;",
        ".param .u32 n",
        ".reg .u32 %n;",
        "ld.const.u32 %n, [count]; st.global.u32 [%out], %n;",
    );
    let mut world = World::new(unset, None, launch(1, &["n=3", "out=u32[1]:9"])).expect("it is read");
    let note = judge(&mut world, &[], &Options::default()).expect("it is judged").note.unwrap_or_default();
    assert!(note.contains("`count` is read, which the module gives no value"), "{note}");
}

/// Parameters are separate: what is behind one of them is not the next one.
#[test]
fn what_leaves_a_parameter_is_in_none() {
    let source = |index: u32| {
        let body = format!(
            "mov.b64 %p, q; mov.u32 %i, {index}; mul.wide.u32 %o, %i, 4; add.u64 %p, %p, %o; ld.param.u32 %i, [%p];\nst.global.u32 \
             [%out], %i;"
        );
        module("", ".param .align 4 .b8 q[12]", ".reg .u64 %p, %o; .reg .u32 %i;", &body)
    };
    let given = ["q={a=i32:1; b=i32:2; c=i32:3}", "out=u32[1]:0"];
    assert_eq!(kind(&verdict(source(2), 1, &given, &["out == 3"])), "holds");
    for index in [3, 4, 5, u32::MAX >> 2] {
        let found = verdict(source(index), 1, &given, &[]);
        let Verdict::Violated(Violation::Fault { what, .. }, _) = &found else { panic!("{index}: {found:?}") };
        assert!(what.contains("of `q`, which has 12 bytes"), "{index}: {what}");
    }
}

/// Behind a difference the carry flag is set where nothing is borrowed, as nvcc's division of `__int128` takes it.
#[test]
fn a_sum_takes_the_flag_of_a_difference() {
    let source = |first: &str, second: &str| {
        let body = format!(
            "ld.param.u32 %a, [a]; {first} %b, %a, 5; {second} %c, 10, 1; st.global.u32 [%out], %b; st.global.u32 [%out+4], %c;"
        );
        module("", ".param .u32 a", ".reg .u32 %a, %b, %c;", &body)
    };
    for (first, second, a, flagged) in [
        ("sub.cc.u32", "addc.u32", 7, 12),
        ("sub.cc.u32", "addc.u32", 3, 11),
        ("sub.cc.u32", "subc.u32", 7, 9),
        ("sub.cc.u32", "subc.u32", 3, 8),
        ("add.cc.u32", "addc.u32", 7, 11),
        ("add.cc.u32", "addc.u32", u32::MAX, 12),
        ("add.cc.u32", "subc.u32", 7, 8),
        ("add.cc.u32", "subc.u32", u32::MAX, 9),
    ] {
        let given = [&*format!("a={a}"), "out=u32[2]:0"];
        let asserted = format!("out[1] == {flagged}");
        assert_eq!(kind(&verdict(source(first, second), 1, &given, &[&asserted])), "holds", "{first} {second} {a}");
    }
}

/// What nvcc and clang write beside what a launch is about.
#[test]
fn declarations_that_change_nothing() {
    let text = ".version 8.6\n.target sm_90, texmode_independent\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 m = \
                5;\n.visible .entry _ZN2ns3addIiEEvPi(.param .u64 out) .explicitcluster .reqnctapercluster 1, 1, 1\n{ .reg .u64 %a; \
                .reg .u32 %x; ld.param.u64 %a, [out]; ld.global.u32 %x, [m]; st.global.u32 [%a], %x; ret; }\n.visible .entry \
                _Z5otherv() { ret; }";
    let source = |text: &str| Source { file: "k.ptx".into(), text: text.into() };
    let mut world = World::new(source(text), Some("add"), launch(1, &["out=u32[1]:0"])).expect("it is read");
    let asserted = [Condition::parse("out == 5", world.ranges()).expect("it is a condition")];
    let report = judge(&mut world, &asserted, &Options::default()).expect("it is judged");
    assert_eq!(report.verdict, Verdict::Holds);
    let two = text.replace("cluster 1, 1, 1", "cluster 2, 1, 1");
    let refused =
        World::new(source(&two), Some("add"), launch(1, &["out=u32[1]:0"])).expect_err("clusters are not known");
    assert!(refused.to_string().contains("makes clusters of several blocks"), "{refused}");
    let twice = text.replace("_Z5otherv", "_Z3addv");
    let refused = World::new(source(&twice), Some("add"), launch(1, &[])).expect_err("there are two of that name");
    assert!(refused.to_string().contains("has no kernel `add`; it has `_ZN2ns3addIiEEvPi`, `_Z3addv`"), "{refused}");
}

/// An iteration that adds to a value which is still to be read is another one each time: what is read may come from a write behind the
/// loop (load buffering).
#[test]
fn an_iteration_that_adds_to_what_is_still_to_be_read() {
    let body = "setp.eq.u32 %p, %t, 0; @!%p bra OTHERS;\nld.relaxed.gpu.global.u32 %x, [%a];\nWAIT: ld.relaxed.gpu.global.u32 %y, \
                [%a+4]; setp.ne.u32 %p, %y, 0; @%p bra SEEN;\nadd.u32 %x, %x, 1; bra WAIT;\nSEEN: st.relaxed.gpu.global.u32 [%a+8], 1; \
                st.relaxed.gpu.global.u32 [%a+12], %x; bra OUT;\nOTHERS: setp.eq.u32 %p, %t, 1; @%p st.relaxed.gpu.global.u32 [%a+4], \
                1;\n@%p bra OUT; ld.relaxed.gpu.global.u32 %x, [%a+8]; setp.eq.u32 %p, %x, 1; @%p st.relaxed.gpu.global.u32 [%a], \
                10;\nOUT:";
    for value in [10, 11, 12] {
        let asserted = format!("p[3] != {value}");
        let found = verdict(kernel(body), 3, &["p=u32[4]:0"], &[&asserted]);
        assert_eq!(kind(&found), "assertion", "{value}: {found:?}");
    }
}

/// What is kept while a thread waits is the same value, though it is still to be read.
#[test]
fn a_value_that_is_kept_while_a_thread_waits() {
    let body = "setp.eq.u32 %p, %t, 0; @!%p bra OTHER;\nld.relaxed.gpu.global.u32 %x, [%a]; fence.sc.gpu;\nWAIT: \
                ld.relaxed.gpu.global.u32 %y, [%a+4]; setp.eq.u32 %p, %y, 0; @%p bra WAIT;\nst.relaxed.gpu.global.u32 [%a+8], %x; bra \
                OUT;\nOTHER: st.relaxed.gpu.global.u32 [%a], 7; fence.sc.gpu; st.relaxed.gpu.global.u32 [%a+4], 1;\nOUT:";
    let found = verdict(kernel(body), 2, &["p=u32[3]:0"], &["p[2] == 0 || p[2] == 7"]);
    assert_eq!(kind(&found), "holds", "{found:?}");
}
