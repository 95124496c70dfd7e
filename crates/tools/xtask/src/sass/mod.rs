//! `sass`: the machine code of Wattle's kernels beside nvcc's for CUDA C++ of the same kernels.
//!
//! Both are assembled for sm_90 by one ptxas. What is counted is said in [`kernels`]: the instructions along the
//! cheapest way through a turn of the inner loop, for each element or multiply-add. It is a prediction: no GPU is
//! asked.

mod code;
mod kernels;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use wattle_ptx::PtxTarget;

use crate::tools;
use code::Code;
use kernels::{Measured, measured};

const ARCH: u32 = 90;
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/peers/kernels.cu");

const INSTALL: &str = "\
nvcc is not here. It comes from PyPI, and nothing but this comparison needs it:
  python3 -m venv /tmp/nvcc
  /tmp/nvcc/bin/pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-crt nvidia-nvvm
  export WATTLE_NVCC=$(find /tmp/nvcc -path '*/bin/nvcc')
It also needs a host compiler (gcc), and nvdisasm, which .ci/ptx-tools installs.";

/// What the assembler and the machine code say of one kernel.
struct Row {
    per_element: Option<f64>,
    registers: u32,
    occupancy: u32,
    spilled: u32,
}

/// Prints the table; `keep` is a folder for the texts.
pub fn run(keep: Option<&Path>) -> ExitCode {
    let (Some(nvcc), Some(nvdisasm)) = (nvcc(), tools::disassembler()) else {
        eprintln!("{INSTALL}");
        return ExitCode::from(2);
    };
    match table(&nvcc, &nvdisasm, keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// nvcc: named by `WATTLE_NVCC`, or in PATH.
fn nvcc() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("WATTLE_NVCC") {
        return Some(named.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("nvcc")).find(|path| path.is_file())
}

fn table(nvcc: &PathBuf, nvdisasm: &PathBuf, keep: Option<&Path>) -> Result<(), String> {
    let theirs = compiled(nvcc)?;
    let their_text = tools::disassemble(nvdisasm, &theirs.1);
    // The assembler that nvcc uses itself.
    let ptxas = nvcc.with_file_name("ptxas");
    kept(keep, "nvcc.sass", &their_text)?;
    println!("| kernel | counted | Wattle | nvcc | ratio | registers | warps of 64 | spilled bytes |");
    println!("|---|---|---|---|---|---|---|---|");
    for case in measured() {
        let target = PtxTarget::new(ARCH).with_max_threads(case.threads);
        let module = wattle_ptx::build(&case.kernel, &target).map_err(|lacking| lacking.to_string())?;
        let (said, code) = tools::try_assemble(&ptxas, &module.text(), ARCH)?;
        let text = tools::disassemble(nvdisasm, &code);
        kept(keep, &format!("{}.ptx", case.name), &module.text())?;
        kept(keep, &format!("{}.sass", case.name), &text)?;
        let ours = row(&said, &text, &module.entry, &case);
        let nvccs = row(&theirs.0, &their_text, case.name, &case);
        println!("{}", line(&case, &ours, &nvccs));
    }
    Ok(())
}

fn line(case: &Measured, ours: &Row, theirs: &Row) -> String {
    let number = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.2}"));
    let ratio = ours.per_element.zip(theirs.per_element).map(|(ours, theirs)| ours / theirs);
    format!(
        "| {} | {} | {} | {} | {} | {} / {} | {} / {} | {} / {} |",
        case.name,
        case.counted,
        number(ours.per_element),
        number(theirs.per_element),
        number(ratio),
        ours.registers,
        theirs.registers,
        ours.occupancy,
        theirs.occupancy,
        ours.spilled,
        theirs.spilled
    )
}

fn kept(keep: Option<&Path>, name: &str, text: &str) -> Result<(), String> {
    let Some(folder) = keep else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join(name), text))
        .map_err(|error| format!("{}: {error}", folder.display()))
}

/// The messages of nvcc's assembler about the sources, and the machine code.
fn compiled(nvcc: &PathBuf) -> Result<(String, Vec<u8>), String> {
    let cubin = std::env::temp_dir().join(format!("wattle-sass-{}.cubin", std::process::id()));
    let arch = format!("-arch=sm_{ARCH}");
    let output = Command::new(nvcc)
        .args([arch.as_str(), "-O3", "-fmad=false", "-cubin", "-Xptxas", "-v", SOURCE, "-o"])
        .arg(&cubin)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", nvcc.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let code = std::fs::read(&cubin);
    let _ = std::fs::remove_file(&cubin);
    code.ok().filter(|_| output.status.success()).map(|code| (said.clone(), code)).ok_or(said)
}

fn row(said: &str, text: &str, entry: &str, case: &Measured) -> Row {
    let code = Code::of(text, entry);
    let phases = case.phases.iter().map(|work| code.as_ref()?.per_element(work));
    let of =
        said.split("Compiling entry function").find(|part| part.contains(&format!("'{entry}'"))).unwrap_or_default();
    let number = |what: &str| -> u32 {
        let before = of.split(what).next().filter(|before| before.len() < of.len()).unwrap_or_default();
        before.rsplit([',', ' ']).find_map(|word| word.trim().parse().ok()).unwrap_or(0)
    };
    let (registers, shared) = (number(" registers"), number(" bytes smem"));
    let spilled = number(" bytes spill stores") + number(" bytes spill loads");
    Row { per_element: phases.sum(), registers, occupancy: occupancy(case.threads, registers, shared), spilled }
}

/// The warps that a multiprocessor of compute capability 9.0 holds (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability"; registers are given to warps by 256, and a block has 1 KiB of shared memory
/// besides its own).
fn occupancy(threads: u32, registers: u32, shared: u32) -> u32 {
    let warps = threads.div_ceil(32);
    let by_registers = 65536 / (registers.max(1) * 32).next_multiple_of(256) / warps;
    let by_shared = (228 << 10) / (shared + 1024);
    by_registers.min(by_shared).min(64 / warps).min(32) * warps
}
