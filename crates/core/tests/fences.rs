//! What the host's fences become: read from what rustc makes of `src/fence.rs`, by scope and order.
//!
//! The optimized representation of LLVM shows on every machine which fence it is and that the compiler has kept the
//! accesses on their sides; a fence for the compiler alone is marked there, also where a processor needs no instruction
//! for either. The machine code of x86-64 shows that sequential consistency costs an instruction that waits, and
//! nothing else does.

use std::path::{Path, PathBuf};
use std::process::Command;

const SCOPES: [&str; 3] = ["Block", "Device", "System"];
/// The order, and LLVM's name of it.
const ORDERS: [(&str, &str); 4] =
    [("Acquire", "acquire"), ("Release", "release"), ("AcqRel", "acq_rel"), ("SeqCst", "seq_cst")];

/// The file, with four functions for each fence: two writes to one place around it, and two reads, of which a compiler
/// would make one; a write and a read of another place, and the reverse.
fn source() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fence.rs");
    let mut source = format!(
        "#![crate_type = \"lib\"]
         use wattle_memory::{{FenceOrder, Scope}};
         #[path = {file:?}]
         mod fence;\n",
    );
    // Numbers of their own, so that no two functions become one.
    let mut number = 0;
    for scope in SCOPES {
        for (order, _) in ORDERS {
            number += 2;
            let next = number + 1;
            let fence = format!("fence::host_fence(Scope::{scope}, FenceOrder::{order})");
            source += &format!(
                "#[unsafe(no_mangle)]
                 pub unsafe fn writes_{scope}_{order}(place: *mut u32) {{
                     unsafe {{ *place = {number}; {fence}; *place = {next}; }}
                 }}
                 #[unsafe(no_mangle)]
                 pub unsafe fn reads_{scope}_{order}(place: *const u32) -> u32 {{
                     unsafe {{ let first = *place; {fence}; (first ^ *place) + {number} }}
                 }}
                 #[unsafe(no_mangle)]
                 pub unsafe fn looks_back_{scope}_{order}(own: *mut u32, other: *const u32) -> u32 {{
                     unsafe {{ *own = {number}; {fence}; *other }}
                 }}
                 #[unsafe(no_mangle)]
                 pub unsafe fn passes_on_{scope}_{order}(own: *mut u32, other: *const u32) -> u32 {{
                     unsafe {{ let seen = *other; {fence}; *own = {number}; seen }}
                 }}\n"
            );
        }
    }
    source
}

/// The crate with the lowering table, which stands beside this test: of several that have been built the newest, which
/// is that of the sources as they are.
fn lowering_table() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let tables = files.filter(|file| {
        let name = file.file_name().into_string().unwrap_or_default();
        name.starts_with("libwattle_memory-") && name.ends_with(".rlib")
    });
    tables.max_by_key(|file| file.metadata().unwrap().modified().unwrap()).expect("this test depends on it").path()
}

/// What rustc writes for the source.
fn compile(emit: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("fences-{emit}");
    let (from, to) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&from, source()).unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "-Awarnings", "--crate-name=fences"]);
    let table = lowering_table();
    rustc.arg("--extern").arg(format!("wattle_memory={}", table.display()));
    rustc.arg("-L").arg(format!("dependency={}", table.parent().unwrap().display()));
    rustc.arg(format!("--emit={emit}")).arg("-o").arg(&to).arg(&from);
    let output = rustc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(to).unwrap()
}

/// The lines of a function in LLVM's representation.
fn function<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let is_head = |line: &&str| line.starts_with("define") && line.contains(&format!("@{name}("));
    let lines: Vec<_> = text.lines().skip_while(|line| !is_head(line)).take_while(|line| *line != "}").collect();
    assert!(!lines.is_empty(), "there is no `{name}`");
    lines.into_iter().map(str::trim).collect()
}

/// The instructions of a function in the assembler's language of x86-64.
#[cfg(target_arch = "x86_64")]
fn instructions<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let label = format!("{name}:");
    let lines = text.lines().skip_while(|line| *line != label).skip(1);
    let lines: Vec<_> = lines.map(str::trim).take_while(|line| !line.starts_with(".Lfunc_end")).collect();
    assert!(!lines.is_empty(), "there is no `{name}`");
    lines.into_iter().filter(|line| !line.starts_with('.') && !line.starts_with('#')).collect()
}

fn each_fence(mut check: impl FnMut(&str, &str, &str)) {
    for scope in SCOPES {
        for (order, name) in ORDERS {
            check(scope, order, name);
        }
    }
}

#[test]
fn each_fence_is_that_of_its_order_and_keeps_accesses_on_their_sides() {
    let text = compile("llvm-ir");
    each_fence(|scope, order, name| {
        let fence = match scope {
            "Block" => format!("fence syncscope(\"singlethread\") {name}"),
            _ => format!("fence {name}"),
        };
        // A release orders no later reads and an acquire no earlier writes: there a compiler may make one access of two.
        for (function_name, access, may_lack) in [
            (format!("writes_{scope}_{order}"), "store i32", "acquire"),
            (format!("reads_{scope}_{order}"), "load i32", "release"),
        ] {
            let lines = function(&text, &function_name);
            let kept: Vec<_> = lines.iter().filter(|line| line.contains(access) || line.contains("fence ")).collect();
            let at = kept.iter().position(|line| **line == fence);
            assert!(at.is_some(), "no `{fence}` in {lines:#?}");
            if name != may_lack {
                assert_eq!((at, kept.len()), (Some(1), 3), "{fence}: {lines:#?}");
            }
        }
        let sides = |function_name: String| -> Vec<&str> {
            let of = |line: &&str| ["store i32", "load i32", "fence "].into_iter().find(|word| line.contains(word));
            function(&text, &function_name).iter().filter_map(of).collect()
        };
        // Sequential consistency alone keeps a later read behind an earlier write; every fence a later write behind an
        // earlier read.
        if order == "SeqCst" {
            assert_eq!(sides(format!("looks_back_{scope}_{order}")), ["store i32", "fence ", "load i32"], "{fence}");
        }
        assert_eq!(sides(format!("passes_on_{scope}_{order}")), ["load i32", "fence ", "store i32"], "{fence}");
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn sequential_consistency_alone_waits() {
    let text = compile("asm");
    each_fence(|scope, order, _| {
        for function in ["writes", "reads", "looks_back", "passes_on"] {
            let lines = instructions(&text, &format!("{function}_{scope}_{order}"));
            // An exchange with memory is locked without saying so.
            let is_exchange = |line: &&&str| line.starts_with("xchg") && line.contains(['[', '(']);
            let is_locked = |line: &&&str| line.starts_with("mfence") || line.starts_with("lock") || is_exchange(line);
            let waits = lines.iter().filter(is_locked).count();
            let expected = usize::from(order == "SeqCst" && scope != "Block");
            assert_eq!(waits, expected, "{scope}, {order}: {lines:#?}");
        }
    });
}
