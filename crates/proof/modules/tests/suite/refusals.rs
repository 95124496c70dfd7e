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
        ("ret; elect.sync %w0|%p0, -1; ret;", 4, "elect.sync %w0|%p0, -1;", "'elect'"),
        ("@%w0 ret;", 4, "@%w0 ret;", "'%w0' is .b32"),
        ("\nfence.acquire.gpu;", 5, "fence.acquire.gpu;", "PTX ISA .version 8.6"),
        ("ld.acquire.global.u32 %w0, [%i0];", 4, "ld.acquire.global.u32 %w0, [%i0];", "A scope is required"),
        ("mov.u32 %w0, 5 5;", 4, "mov.u32 %w0, 5 5;", "expected ';'"),
        ("  mov.u32 %w0, 0xQ;  // no", 4, "mov.u32 %w0, 0xQ;  // no", "'0xQ' is no number"),
        ("$a: ret;\n$a: ret;", 5, "$a: ret;", "Duplicate definition of label"),
    ] {
        let found = refused(&kernel(body), ptx::Limits::NONE);
        assert_eq!((found.line, found.instruction.as_str()), (line, instruction), "{found}");
        assert!(found.message.contains(why) && found.kind == RefusedKind::Text, "{found}");
        let text = found.to_string();
        assert!(text.starts_with(&format!("folder/k.ptx:{line}: ")) && text.contains(instruction), "{text}");
    }
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
