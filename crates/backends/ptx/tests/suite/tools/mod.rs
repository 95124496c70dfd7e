//! NVIDIA's assembler and disassembler, where they are installed.
#![allow(dead_code)]

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use wattle_check::Simulated as _;
use wattle_core::{Device, Kernel as _, Work};
use wattle_ir::Kernel;
use wattle_ptx::{Module, PtxTarget, build};

/// The text that loops of several turns at a time contain, and no other code: the greatest step of which three fit.
pub const BATCHED: &str = "1431655765";

/// The text before loops whose checks are made before the first turn.
pub const HOISTED: &str = "No turn fails the checks that are not here.";

/// A tool: named by the variable, or in PATH, or where `.ci/run` puts it.
fn find(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(named) = env::var_os(variable) {
        return Some(named.into());
    }
    let folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../target/ptx-tools/bin");
    folders.into_iter().chain([ours]).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// ptxas; a test without it says so and passes.
pub fn assembler() -> Option<PathBuf> {
    let found = find("WATTLE_PTXAS", "ptxas");
    if found.is_none() {
        test_skips::skipped("no ptxas (set WATTLE_PTXAS, or install the Python package nvidia-cuda-nvcc-cu12)");
    }
    found
}

/// nvdisasm; a test without it says so and passes.
pub fn disassembler() -> Option<PathBuf> {
    let found = find("WATTLE_NVDISASM", "nvdisasm");
    if found.is_none() {
        test_skips::skipped("no nvdisasm (set WATTLE_NVDISASM, or install the Python package nvidia-cuda-nvdisasm)");
    }
    found
}

fn scratch(extension: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("wattle-ptx-{}-{number}.{extension}", std::process::id()))
}

fn run(ptxas: &PathBuf, source: &PathBuf, cubin: &PathBuf, sm: u32) -> Output {
    let arch = format!("-arch=sm_{sm}");
    Command::new(ptxas).args(["-v", &arch]).arg(source).arg("-o").arg(cubin).output().expect("ptxas runs")
}

/// Whether ptxas accepts a text.
pub fn accepts(ptxas: &PathBuf, text: &str, sm: u32) -> bool {
    let (source, cubin) = (scratch("ptx"), scratch("cubin"));
    std::fs::write(&source, text).expect("room for a file");
    let output = run(ptxas, &source, &cubin, sm);
    let _ = (std::fs::remove_file(source), std::fs::remove_file(cubin));
    output.status.success()
}

/// The messages of ptxas about a text with `-v`, and the machine code.
pub fn assemble(ptxas: &PathBuf, text: &str, sm: u32) -> (String, Vec<u8>) {
    try_assemble(ptxas, text, sm).unwrap_or_else(|why| panic!("sm_{sm}: {why}"))
}

/// As [`assemble`]; the error says why there is no code.
pub fn try_assemble(ptxas: &PathBuf, text: &str, sm: u32) -> Result<(String, Vec<u8>), String> {
    let (source, cubin) = (scratch("ptx"), scratch("cubin"));
    std::fs::write(&source, text).expect("room for a file");
    let output = run(ptxas, &source, &cubin, sm);
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {said}\n(the text is in {})", output.status, source.display()));
    }
    let code = std::fs::read(&cubin).expect("the code");
    let _ = (std::fs::remove_file(source), std::fs::remove_file(cubin));
    Ok((said, code))
}

/// The machine code as text.
pub fn disassemble(nvdisasm: &PathBuf, code: &[u8]) -> String {
    let cubin = scratch("cubin");
    std::fs::write(&cubin, code).expect("room for a file");
    let output = Command::new(nvdisasm).arg("-c").arg(&cubin).output().expect("nvdisasm runs");
    let _ = std::fs::remove_file(cubin);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The text of several modules under one header.
pub fn together(modules: &[Module]) -> String {
    let header = modules.first().map_or("", |module| &module.header);
    modules.iter().fold(header.to_owned(), |text, module| text + "\n" + &module.body)
}

pub fn module(kernel: &Kernel, target: &PtxTarget) -> Module {
    build(kernel, target).unwrap_or_else(|lacking| panic!("{}: {lacking}", kernel.name))
}

/// Every scenario's kernels, under names of their own; of those that have another form for threads in lock step, both.
pub fn kernels() -> Vec<(String, Kernel)> {
    let device = Device::simulated(0);
    let mut kernels = Vec::new();
    for scenario in wattle_kernels::all() {
        let size = match scenario.work {
            Work::Fixed(_) => None,
            Work::Sized(_, sizes) => Some(sizes.proof.min(sizes.small)),
        };
        for (number, kernel) in scenario.launched(&device, size).kernels.iter().enumerate() {
            let mut kernel = kernel.build().expect("it has been launched");
            kernel.name = format!("{}_{}_{number}", scenario.name, kernel.name);
            kernels.push((scenario.name.to_owned(), kernel));
        }
    }
    let f32s = || device.alloc_zeroed::<f32>(1).expect("room for a word");
    let u32s = || device.alloc_zeroed::<u32>(1).expect("room for a word");
    let sum = wattle_kernels::last_block_sum::sum::<true, true>(1, 0, &f32s(), &f32s(), &u32s(), &f32s());
    let scan = wattle_kernels::chained_scan::scan_tiles::<4096, 16, true>(&u32s(), &u32s(), &u32s(), &u32s(), &u32s());
    for kernel in [sum.build(), scan.build()] {
        let mut kernel = kernel.expect("it verifies");
        kernel.name += "_together";
        kernels.push(("in-lock-step".to_owned(), kernel));
    }
    assert!(kernels.len() > 60, "only {} kernels", kernels.len());
    kernels
}

/// The text without all but the first three of any lines that begin with the same instruction.
pub fn shortened(text: &str) -> String {
    let name = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let (mut short, mut last, mut run) = (String::new(), String::new(), 0);
    for line in text.lines() {
        run = if name(line) == last { run + 1 } else { 1 };
        last = name(line);
        match run {
            1..=3 => short += &format!("{line}\n"),
            4 => short += "    ...\n",
            _ => {}
        }
    }
    short
}

/// The complaints among the messages of ptxas, to which `-v` adds harmless ones: warnings, spills, and stack frames of
/// entries that `may_use_memory` does not name.
pub fn complaints(said: &str, may_use_memory: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut entry = "";
    for line in said.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            entry = name.trim();
        }
        let number = |what: &str| -> u64 {
            let before = line.split(what).next().unwrap_or_default();
            before.rsplit([',', ' ']).find_map(|word| word.parse().ok()).unwrap_or(u64::MAX)
        };
        let spills =
            line.contains("spill stores") && (number(" bytes spill stores") | number(" bytes spill loads")) != 0;
        let frame = line.contains("stack frame") && number(" bytes stack frame") != 0 && !may_use_memory(entry);
        if spills || frame || line.contains("warning") || line.contains("error") {
            found.push(format!("{entry}: {line}"));
        }
    }
    found
}
