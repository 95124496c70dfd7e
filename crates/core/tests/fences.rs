//! What the host's fences and atomic operations become: read from what rustc makes of `src/fence.rs`, by scope and order,
//! and of functions that call the methods of a kernel's host code.
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

/// The builds of a library that stand beside this test, the newest first: that is the one of the sources as they are.
fn builds(name: &str) -> Vec<PathBuf> {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let mut builds: Vec<_> = files
        .filter(|file| {
            let file = file.file_name().into_string().unwrap_or_default();
            file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
        })
        .map(|file| (file.metadata().unwrap().modified().unwrap(), file.path()))
        .collect();
    builds.sort();
    builds.into_iter().rev().map(|(_, path)| path).collect()
}

/// What rustc writes for a source that uses `wattle-memory`, and the newest build of these libraries: of `wattle-memory` the
/// newest with which it compiles, which is the one that they use.
fn compile(name: &str, source: &str, libraries: &[&str], emit: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("{name}-{emit}");
    let (from, to) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&from, source).unwrap();
    let others: Vec<_> = libraries.iter().map(|name| (*name, builds(name).remove(0))).collect();
    let mut wrong = String::new();
    for memory in builds("wattle_memory") {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "-Awarnings", "--crate-name=fences"]);
        rustc.arg("-L").arg(format!("dependency={}", memory.parent().unwrap().display()));
        for (name, library) in others.iter().cloned().chain([("wattle_memory", memory)]) {
            rustc.arg("--extern").arg(format!("{name}={}", library.display()));
        }
        rustc.arg(format!("--emit={emit}")).arg("-o").arg(&to).arg(&from);
        let output = rustc.output().unwrap();
        if output.status.success() {
            return std::fs::read_to_string(to).unwrap();
        }
        wrong = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    panic!("{wrong}")
}

/// What rustc writes for the fences alone.
fn compile_fences(emit: &str) -> String {
    compile("fences", &source(), &[], emit)
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
    let text = compile_fences("llvm-ir");
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
    let text = compile_fences("asm");
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

/// The orders of a method, each with what LLVM calls that of the instruction; a sequentially consistent operation is the
/// one behind a fence that its expansion has (`Expansion` in `wattle-memory`).
type Orders = &'static [(&'static str, &'static str)];

const LOADS: Orders = &[("Relaxed", "monotonic"), ("Acquire", "acquire"), ("SeqCst", "acquire")];
const STORES: Orders = &[("Relaxed", "monotonic"), ("Release", "release"), ("SeqCst", "monotonic")];
const UPDATES: Orders = &[
    ("Relaxed", "monotonic"),
    ("Acquire", "acquire"),
    ("Release", "release"),
    ("AcqRel", "acq_rel"),
    ("SeqCst", "acquire"),
];

/// A method of atomic views: its name, its arguments before the scope, its orders, and LLVM's name of the instruction.
const METHODS: &[(&str, &str, Orders, &str)] = &[
    ("load_with", "0", LOADS, "load atomic"),
    ("store_with", "0, 7", STORES, "store atomic"),
    ("exchange_with", "0, 7", UPDATES, "atomicrmw"),
    ("fetch_add_with", "0, 7", UPDATES, "atomicrmw"),
    ("compare_exchange_with", "0, 7, 8", UPDATES, "cmpxchg"),
];

/// Functions that call the methods of a kernel's host code.
fn calls() -> String {
    let mut source = "#![crate_type = \"lib\"]
                      use wattle_core::{Acc, Atomic};
                      use wattle_memory::{Order, Scope};\n"
        .to_owned();
    // Numbers of their own, so that no two functions become one.
    let mut number = 0;
    for scope in SCOPES {
        for (order, _) in ORDERS {
            number += 1;
            source += &format!(
                "#[unsafe(no_mangle)]
                 pub fn mem_fence_{scope}_{order}(acc: &Acc<'_, 1>) -> u32 {{
                     acc.mem_fence(Scope::{scope}, Order::{order});
                     {number}
                 }}\n"
            );
        }
        for (method, arguments, orders, _) in METHODS {
            for (order, _) in *orders {
                number += 1;
                let call = format!("view.{method}({arguments}, Scope::{scope}, Order::{order})");
                let result = match *method {
                    "store_with" => format!("{call}; {number}"),
                    _ => format!("{call} ^ {number}"),
                };
                source += &format!(
                    "#[unsafe(no_mangle)]
                     pub fn {method}_{scope}_{order}(view: &Atomic<u32, 1>) -> u32 {{ {result} }}\n"
                );
            }
        }
    }
    source
}

/// The fences and atomic instructions of a function, each with its orders.
fn ordered(text: &str, name: &str) -> Vec<String> {
    const INSTRUCTIONS: [&str; 5] = ["fence", "load atomic", "store atomic", "atomicrmw", "cmpxchg"];
    let is_order = |word: &&str| ["monotonic", "acquire", "release", "acq_rel", "seq_cst"].contains(word);
    let of_line = |line: &str| {
        let code = line.split([',', '!']).map(str::trim).collect::<Vec<_>>().join(" ");
        let instruction = INSTRUCTIONS
            .iter()
            .find(|name| code.starts_with(&format!("{name} ")) || code.contains(&format!("= {name} ")))?;
        let single = if code.contains("singlethread") { "singlethread " } else { "" };
        let orders: Vec<&str> = code.split_whitespace().filter(is_order).collect();
        Some(format!("{instruction} {single}{}", orders.join(" ")))
    };
    let mut found: Vec<String> = function(text, name).into_iter().filter_map(of_line).collect();
    // A fence stands on both ways: that of an index out of bounds, and the other.
    found.dedup();
    found
}

#[test]
fn methods_pass_on_their_scope_and_order() {
    let text = compile("calls", &calls(), &["wattle_core"], "llvm-ir");
    let fence = |scope: &str, order: &str| match scope {
        "Block" => format!("fence singlethread {order}"),
        _ => format!("fence {order}"),
    };
    each_fence(|scope, order, name| {
        assert_eq!(ordered(&text, &format!("mem_fence_{scope}_{order}")), [fence(scope, name)], "{scope}, {order}");
    });
    for scope in SCOPES {
        for (method, _, orders, instruction) in METHODS {
            for (order, name) in *orders {
                // A compare-exchange that fails is a read: it acquires where the operation does.
                let read = if ["acquire", "acq_rel"].contains(name) { "acquire" } else { "monotonic" };
                let second = if *instruction == "cmpxchg" { format!(" {read}") } else { String::new() };
                let first = (*order == "SeqCst").then(|| fence(scope, "seq_cst"));
                let expected: Vec<String> =
                    first.into_iter().chain([format!("{instruction} {name}{second}")]).collect();
                let found = ordered(&text, &format!("{method}_{scope}_{order}"));
                assert_eq!(found, expected, "{method}, {scope}, {order}");
            }
        }
    }
}
