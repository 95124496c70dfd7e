//! Every refusal names file, line and instruction, and gives the reason.

use std::collections::HashMap;

use wattle_modules::{Refused, RefusedKind, ptx};

fn refused(text: &str, limits: ptx::Limits) -> Refused {
    ptx::read("folder/k.ptx", text, limits, &HashMap::new()).expect_err(text)
}

/// A kernel with these lines, of which the first is line 4.
fn kernel(body: &str) -> String {
    format!(".version 8.5\n.target sm_90\n.entry k() {{ .reg .b32 %w<3>; .reg .f32 %f<3>; .reg .b64 %i<3>;\n{body}\n}}")
}

#[test]
fn a_refusal_says_where_and_why() {
    for (body, line, instruction, why) in [
        ("add.u32 %w0, %w1, 1;\nadd.u32 %w0,\n  %f1 , 1;", 5, "add.u32 %w0, %f1 , 1;", "'%f1' is .f32"),
        ("ret; brkpt; ret;", 4, "brkpt;", "'brkpt'"),
        ("elect.sync %w0, -1;", 4, "elect.sync %w0, -1;", "two results"),
        ("@%w0 ret;", 4, "@%w0 ret;", "'%w0' is .b32"),
        ("\nfence.acquire.gpu;", 5, "fence.acquire.gpu;", "PTX ISA .version 8.6"),
        ("ld.acquire.global.u32 %w0, [%i0];", 4, "ld.acquire.global.u32 %w0, [%i0];", "A scope is required"),
        ("mov.u32 %w0, 5 5;", 4, "mov.u32 %w0, 5 5;", "expected ';'"),
        ("  mov.u32 %w0, 0xQ;  // no", 4, "mov.u32 %w0, 0xQ;  // no", "'0xQ' is no number"),
        ("$a: ret;\n$a: ret;", 5, "$a: ret;", "Duplicate definition of label"),
        (
            ".local .b8 a[4194304];\n.local .b8 b[4];",
            5,
            ".local .b8 b[4];",
            "with 'b' a thread has more than 4194304 bytes",
        ),
        (".local .b8 a[4000000000];", 4, ".local .b8 a[4000000000];", "with 'a' a thread has more"),
        (".reg .u32 %v<2000000000>;", 4, ".reg .u32 %v<2000000000>;", "more than 2097152 registers"),
    ] {
        let found = refused(&kernel(body), ptx::Limits::NONE);
        assert_eq!((found.line, found.instruction.as_str()), (line, instruction), "{found}");
        assert!(found.message.contains(why) && found.kind == RefusedKind::Text, "{found}");
        let text = found.to_string();
        assert!(text.starts_with(&format!("folder/k.ptx:{line}: ")) && text.contains(instruction), "{text}");
    }
}

/// A sign stands before decimal numbers alone, as ptxas has it.
#[test]
fn a_single_in_hexadecimal_has_its_sign_in_its_bits() {
    let module = |value: &str| format!(".version 8.5\n.target sm_90\n.global .f32 a = {value};\n.entry k() {{ ret; }}");
    let found = refused(&module("-0f3F800000"), ptx::Limits::NONE);
    assert!(found.line == 3 && found.message.contains("stands without a sign"), "{found}");
    for value in ["-1.0", "0fBF800000"] {
        ptx::read("k.ptx", &module(value), ptx::Limits::NONE, &HashMap::new()).expect(value);
    }
}

/// What the ISA has and this reader has not is named, and not called illegal.
#[test]
fn modifiers_that_are_not_supported_are_named() {
    for (body, name, why) in [
        ("fence.proxy.async;", "'.proxy' of the instruction 'fence'", "generic proxy"),
        ("fence.proxy.async.global;", "'.proxy' of the instruction 'fence'", "generic proxy"),
        ("fence.proxy.alias;", "'.proxy' of the instruction 'fence'", "aliases"),
        (
            "fence.proxy.tensormap::generic.acquire.gpu [%i0], 128;",
            "'.proxy' of the instruction 'fence'",
            "tensor maps",
        ),
        ("membar.proxy.alias;", "'.proxy' of the instruction 'membar'", "aliases"),
        ("fence.mbarrier_init.release.cluster;", "'.mbarrier_init'", "clusters"),
        ("fence.acquire.sync_restrict::shared::cluster.cluster;", "'.sync_restrict::shared::cluster'", "clusters"),
        ("ld.global.b128 %i0, [%i1];", "'.b128' of the instruction 'ld'", "'.v2.b64'"),
        ("ld.relaxed.gpu.global.b128 %i0, [%i1];", "'.b128' of the instruction 'ld'", "'.v2.b64'"),
        ("st.global.b128 [%i1], %i0;", "'.b128' of the instruction 'st'", "'.v2.b64'"),
        ("mov.b128 %i0, {%i1, %i2};", "'.b128' of the instruction 'mov'", "'.v2.b64'"),
        ("atom.global.exch.b128 %i0, [%i1], %i2;", "'.b128' of the instruction 'atom'", "at most 64 bits"),
        ("atom.global.cas.b128 %i0, [%i1], %i2, %i2;", "'.b128' of the instruction 'atom'", "at most 64 bits"),
        ("cvt.rn.f16x2.e4m3x2 %w0, %h0;", "'.e4m3x2' of the instruction 'cvt'", "floats of 8 bits"),
        ("vote.ballot.b32 %w0, %p0;", "'.ballot' of the instruction 'vote'", "before sm_70"),
        ("shfl.idx.b32 %w0, %w1, 0, 31;", "'.idx' of the instruction 'shfl'", "before sm_70"),
        ("barrier.cluster.arrive;", "'.cluster' of the instruction 'barrier'", "clusters"),
        ("ld.global.v8.f32 {%f0, %f1, %f2, %f0, %f1, %f2, %f0, %f1}, [%i0];", "'.v8'", "use two"),
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f0}, [%i0, {%f0, %f1}];", "'tex'", "textures"),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile [%i0], [%i1, {%w0, %w1}], [%i2];",
            "'cp'",
            "tensor copies",
        ),
        ("redux.sync.min.f32 %f0, %f1, 1;", "'redux' of floats", "shfl.sync"),
        ("mov.u32 %w0, %cluster_ctaid.x;", "'%cluster_ctaid.x'", "clusters"),
        ("setmaxnreg.inc.sync.aligned.u32 64;", "'setmaxnreg'", "registers"),
        (".reg .b128 %big;", "registers of type .b128", "at most 64 bits"),
        (".reg .b8 %small;", "registers of type .b8", "use one of 16 bits"),
        ("cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;", "'.satfinite' of the instruction 'cvt'", "floats of 8 bits"),
    ] {
        let found = refused(&kernel(body).replace("8.5", "8.6"), ptx::Limits::NONE);
        assert!(found.message.contains(name) && found.message.contains(why), "{body}: {found}");
        assert!(found.message.contains("not supported"), "{body}: {found}");
    }
}

/// What is not known in one kernel is no reason to refuse another one.
#[test]
fn only_the_kernel_that_is_asked_for_is_refused() {
    let other = "\n.entry other() { .reg .f32 %f<4>; .reg .b64 %t; .reg .b128 %big; .reg .b32 %w;\n\
                 tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f0, %f1}];\nmov.u32 %w, %cluster_nctarank;\nret; }";
    let text = kernel("ret;").replace("8.5", "8.6") + other;
    let read = |entry: &str| ptx::read_kernel("k.ptx", &text, ptx::Limits::NONE, &HashMap::new(), Some(entry));
    assert_eq!(read("k").expect("it is known").kernels.len(), 1);
    assert!(read("other").is_err());
}

#[test]
fn what_is_no_module_and_what_is_too_new_is_refused() {
    let limits = ptx::Limits { version: (8, 4), sm: 90 };
    assert_eq!(refused(&kernel("ret;"), limits).kind, RefusedKind::Version);
    assert_eq!(refused(&kernel("ret;"), ptx::Limits { version: (8, 5), sm: 80 }).kind, RefusedKind::Target);
    let found = refused("nothing", ptx::Limits::NONE);
    assert_eq!((found.line, found.instruction.as_str()), (1, "nothing"));
    assert_eq!(refused("", ptx::Limits::NONE).instruction, "");
    let by_register = ".version 8.5\n.target sm_90\n.func (.reg .u32 r) f() {}";
    assert!(refused(by_register, ptx::Limits::NONE).message.contains("parameters are of .param space"));
}
