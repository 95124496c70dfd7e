//! The error messages for files that cannot be read.

use wattle_litmus::parse;

fn error(text: &str) -> String {
    match parse("f.litmus", text) {
        Ok(program) => panic!("read as {program:?}"),
        Err(error) => error.to_string(),
    }
}

fn ptx(code: &str) -> String {
    error(&format!("PTX t\n{{\nx=0;\n}}\nP0@cta 0,gpu 0 ;\n{code} ;\n"))
}

fn vulkan(code: &str) -> String {
    error(&format!("Vulkan t\n{{\nx=0;\n}}\nP0@sg 0,wg 0,qf 0 ;\n{code} ;\n"))
}

#[test]
fn headers_and_blocks() {
    assert_eq!(error(""), "f.litmus:1:1: found nothing, expected `PTX` or `VULKAN` and a name");
    assert_eq!(error("X86 t\n{}"), "f.litmus:1:1: found `X86`, expected `PTX` or `VULKAN` and a name");
    assert_eq!(error("PTX t\n"), "f.litmus:2:1: found the end of the file, expected `{` and the initial values");
    assert_eq!(error("PTX t\n\"open"), "f.litmus:2:1: found a text that does not end, expected a closing `\"`");
    assert_eq!(
        error("PTX t (* \n{}"),
        "f.litmus:2:3: found the end of the file, expected a thread and where it is, as in `P0@cta 0,gpu 0`"
    );
    assert_eq!(error("PTX t\n(* \n{}"), "f.litmus:2:1: found a comment that does not end, expected `*)`");
    assert_eq!(
        error("PTX t\n{ x=y; }"),
        "f.litmus:2:5: found `y`, expected a number (a location's address is no value here)"
    );
    assert_eq!(error("PTX t\n{ x=0; x=1; }"), "f.litmus:2:8: found `x` again, expected a name that has no value yet");
    assert_eq!(error("PTX t\n{ x=0 y=1; }"), "f.litmus:2:7: found `y`, expected `;` or `}`");
    assert_eq!(
        error("PTX t\n{ x=99999999999999999999; }"),
        "f.litmus:2:5: found `99999999999999999999`, expected an integer of 64 bits, decimal or 0x hexadecimal"
    );
    assert_eq!(
        error("Vulkan t\n{ x aliases y; y aliases x; }\nP0@sg 0,wg 0,qf 0;"),
        "f.litmus:2:13: found `y`, expected a name that is not an alias of itself"
    );
}

#[test]
fn placements() {
    assert_eq!(
        error("PTX t\n{}\nP0@block 0,gpu 0;"),
        "f.litmus:3:4: found `block`, expected `cta` or `gpu` and its number"
    );
    assert_eq!(error("PTX t\n{}\nP0@cta 0;"), "f.litmus:3:9: found `;`, expected `gpu` and its number");
    assert_eq!(error("Vulkan t\n{}\nP0@sg 0,wg 0,cta 0;"), "f.litmus:3:14: found `cta`, expected `qf` and its number");
    assert_eq!(
        error("PTX t\n{}\nP0@cta 0,gpu 0|P0@cta 1,gpu 0;"),
        "f.litmus:3:16: found `P0` again, expected a thread that has no column yet"
    );
    assert_eq!(
        error("PTX t\n{ P1:r0=0; }\nP0@cta 0,gpu 0;"),
        "f.litmus:2:3: found a register of `P1`, expected a register of a thread that has a column"
    );
    assert_eq!(
        error("Vulkan t\n{}\n{ ssw 0 3; }\nP0@sg 0,wg 0,qf 0;"),
        "f.litmus:3:9: found `3`, expected the number of a thread that has a column"
    );
}

#[test]
fn rows() {
    assert_eq!(ptx("st.weak x, 1 | ld.weak r0, x"), "f.litmus:6:14: found `|`, expected `;`, as there are 1 threads");
    assert_eq!(ptx("goto L"), "f.litmus:6:6: found `L`, expected a label of this thread, which has none");
    assert_eq!(ptx("A: ;\nA:"), "f.litmus:7:1: found `A:` again, expected a label that this thread does not have yet");
    assert!(ptx("A: ;\nbeq r0, 1, B").ends_with("found `B`, expected a label of this thread: `A`"));
    assert!(ptx("flush x").starts_with("f.litmus:6:1: found `flush`, expected an instruction: ld, st"));
    assert_eq!(ptx("st.weak x"), "f.litmus:6:11: found `;`, expected `,` and another operand");
    assert_eq!(ptx("st.weak r0, 1"), "f.litmus:6:9: found `r0`, expected the name of a memory location");
    assert_eq!(ptx("st.weak x, y"), "f.litmus:6:12: found `y`, expected a number or a register, as `r0`");
    assert_eq!(ptx("ld.weak y, x"), "f.litmus:6:9: found `y`, expected a register, as `r0`");
    assert_eq!(ptx("?"), "f.litmus:6:1: found the character `?`, expected a word, a number or punctuation");
}

#[test]
fn modifiers() {
    assert_eq!(
        ptx("ld.relaxed.cluster r0, x"),
        "f.litmus:6:12: found `.cluster` in `ld.relaxed.cluster`, expected an order: weak, relaxed, acquire or volatile, or a scope: cta, gpu or sys"
    );
    assert_eq!(ptx("ld.relaxed r0, x"), "f.litmus:6:1: found `ld.relaxed`, expected a scope: cta, gpu or sys");
    assert_eq!(
        ptx("ld.release.gpu r0, x"),
        "f.litmus:6:4: found `ld.release.gpu`, expected weak, relaxed, acquire or volatile"
    );
    assert_eq!(
        ptx("ld.relaxed.relaxed.gpu r0, x"),
        "f.litmus:6:12: found `.relaxed` again in `ld.relaxed.relaxed.gpu`, expected an order: weak, relaxed, acquire or volatile, or a scope: cta, gpu or sys"
    );
    assert!(ptx("atom.relaxed.gpu r0, x, 1").contains("expected an operation: exch, cas, add"));
    assert!(ptx("red.relaxed.gpu.cas x, 1, 2").contains("expected an operation: add, sub"));
    assert!(ptx("fence.relaxed.gpu").contains("expected an order: sc, acq_rel, acquire or release"));
    assert!(ptx("bar.cta.red 0").contains("expected `bar.cta.sync` or `bar.cta.arrive`"));
    assert_eq!(ptx("bar.cta.sync r0"), "f.litmus:6:14: found `r0`, expected the number of the barrier's instance");
    assert!(vulkan("st.atom.sc0 x, 1").ends_with("found `st.atom.sc0`, expected a scope: sg, wg, qf or dv"));
    assert!(vulkan("st.av.wg x, 1").ends_with("expected a storage class: sc0, sc1, sc2 or sc3"));
    assert!(vulkan("ld.av.wg.sc0 r0, x").contains("found `.av` in `ld.av.wg.sc0`"));
    assert!(vulkan("ld.atom.rel.wg.sc0.semsc0 r0, x").ends_with("expected a load that acquires or does not order"));
    assert!(vulkan("st.atom.wg.sc0.priv x, 1").contains("found `.priv`"));
    assert!(vulkan("st.rel.wg.sc0 x, 1").ends_with("expected `atom`, as only atomics order"));
    assert!(vulkan("membar.acq.wg.semsc0.semav").ends_with("expected `rel` or `acq_rel` with it"));
    assert!(vulkan("rmw.atom.wg.sc0.mul r0, x, 1").contains("found `.mul` in `rmw.atom.wg.sc0.mul`"));
}

#[test]
fn proxies_are_named() {
    for code in [
        "suld.relaxed.gpu r0, x",
        "sust.weak x, 1",
        "tld.weak r0, x",
        "cold.weak r0, x",
        "ld.const r0, x",
        "fence.proxy.alias",
        "fence.proxy.surface",
    ] {
        let said = ptx(code);
        let name = code.split(' ').next().unwrap();
        assert!(said.starts_with(&format!("f.litmus:6:1: found `{name}`, which goes through a proxy")), "{said}");
        assert!(said.contains("proxies are not supported"), "{said}");
    }
    assert!(
        error("PTX t\n{ x=0; y@texture aliases x; }")
            .starts_with("f.litmus:2:10: found `y@texture`, which goes through a proxy")
    );
}

#[test]
fn conditions() {
    let condition = |text: &str| error(&format!("PTX t\n{{x=0;}}\nP0@cta 0,gpu 0;\nld.weak r0, x;\n{text}"));
    assert_eq!(condition("exists (x == 1"), "f.litmus:5:15: found the end of the file, expected `)`, `/\\` or `\\/`");
    assert_eq!(
        condition("exists (y == 1)"),
        "f.litmus:5:9: found `y`, expected a memory location that the program declares or uses"
    );
    assert_eq!(condition("exists (P3:r0 == 1)"), "f.litmus:5:9: found another thread's register, expected one of P0");
    assert_eq!(condition("exists (x 1)"), "f.litmus:5:11: found `1`, expected a comparison: ==, !=, <, <=, > or >=");
    assert_eq!(condition("~forall (x == 1)"), "f.litmus:5:2: found `forall`, expected `exists`");
    assert_eq!(
        condition("exists (x == 1) exists (x == 2)"),
        "f.litmus:5:17: found `exists`, expected `/\\`, `\\/`, `filter`, or the end of the file"
    );
    let deep = condition(&format!("exists {}x == 1", "(".repeat(5000)));
    assert_eq!(deep, "f.litmus:5:264: found `(`, expected at most 256 nested parentheses and negations");
}

/// A barrier that threads of one block meet with different scopes or counts never opens, so it would look race-free.
#[test]
fn barriers_of_one_number_that_wait_for_different_threads() {
    let two = |here: &str, there: &str, block: u32| {
        let text =
            format!("Vulkan t\n{{\nx=0;\n}}\nP0@sg 0,wg 0,qf 0 | P1@sg 0,wg {block},qf 0 ;\n{here} | {there} ;\n");
        parse("f.litmus", &text).map(|_| ()).map_err(|error| error.to_string())
    };
    let error = two("cbar.wg 1", "cbar.sg 1", 0).unwrap_err();
    assert!(
        error.starts_with(
            "f.litmus:6:13: found barrier 1 waiting for its subgroup, where it waits for its block at 6:1;"
        )
    );
    assert!(error.contains("OpControlBarrier") && error.ends_with("give them different numbers or the same scope"));
    let error = two("cbar.wg 1, 1, 2", "cbar.wg 1, 1, 3", 0).unwrap_err();
    assert!(error.contains("barrier 1 waiting for 3 threads, where it waits for 2 threads at 6:1"), "{error}");
    let error = two("cbar.wg 1, 1, 1", "cbar.wg 1", 0).unwrap_err();
    assert!(error.contains("barrier 1 waiting for its block, where it waits for 1 thread at 6:1"), "{error}");
    // With other numbers or blocks they are different barriers; with a wider memory scope alone they are the same one.
    for (here, there, block) in [
        ("cbar.wg 1", "cbar.sg 2", 0),
        ("cbar.wg 1", "cbar.sg 1", 1),
        ("cbar.wg 1", "cbar.dv 1", 0),
        ("cbar.wg 1, 1, r0", "cbar.wg 1, 1, 2", 0),
    ] {
        assert_eq!(two(here, there, block), Ok(()), "{here} beside {there}");
    }
}

#[test]
fn a_register_that_its_thread_does_not_use_is_refused() {
    let file =
        |condition: &str| format!("PTX t\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n ld.relaxed.gpu r0, x ;\n{condition}\n");
    assert_eq!(
        error(&file("exists (P0:r7 == 1)")),
        "f.litmus:5:12: found `r7`, expected a register that P0 uses: `r0`"
    );
}
