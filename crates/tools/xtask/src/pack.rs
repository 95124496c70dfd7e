//! `pack`: a folder with all that a machine with a GPU needs to test and measure Wattle, Rust not among it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The most bytes that the folder may have.
const MOST_BYTES: u64 = 100_000_000;

/// The script that runs on that machine.
const SCRIPT: &str = include_str!("gpu.sh");

/// The programs: their names in the folder, and what builds them. All are of the whole workspace, whose features are
/// then the same for each.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("wattle", &["build", "--workspace", "--bin", "wattle"]),
    ("gpu-bench", &["build", "--workspace", "--bin", "gpu-bench"]),
    ("xtask", &["build", "--workspace", "--bin", "xtask"]),
    ("conformance", &["test", "--workspace", "--test", "conformance", "--no-run"]),
];

/// Makes the folder and fills it.
pub fn run(folder: &Path) -> ExitCode {
    match pack(folder) {
        Ok(bytes) if bytes <= MOST_BYTES => {
            println!("{}: {:.1} MB; on the machine with the GPU: bash gpu.sh", folder.display(), bytes as f64 * 1e-6);
            ExitCode::SUCCESS
        }
        Ok(bytes) => {
            eprintln!("{} has {bytes} bytes, and may have {MOST_BYTES}", folder.display());
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn pack(folder: &Path) -> Result<u64, String> {
    let doing = |what: &str, path: &Path| {
        let text = format!("{what} {}", path.display());
        move |error: std::io::Error| format!("{text}: {error}")
    };
    fs::create_dir_all(folder).map_err(doing("making", folder))?;
    for (name, arguments) in PROGRAMS {
        let built = build(arguments)?;
        let to = folder.join(name);
        fs::copy(&built, &to).map_err(doing("copying to", &to))?;
        // Most of a program is debug information. Without `strip` it is only larger.
        let _ = Command::new("strip").arg(&to).status();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for name in ["peers.cu", "kernels.cu"] {
        let source = root.join("crates/tools/bench/peers").join(name);
        fs::copy(&source, folder.join(name)).map_err(doing("copying", &source))?;
    }
    for dialect in ["ptx", "vulkan"] {
        let (from, litmus) =
            (root.join("crates/proof/litmus/litmus").join(dialect), folder.join("litmus").join(dialect));
        fs::create_dir_all(&litmus).map_err(doing("making", &litmus))?;
        for file in fs::read_dir(&from).map_err(doing("reading", &from))? {
            let file = file.map_err(doing("reading", &from))?;
            fs::copy(file.path(), litmus.join(file.file_name())).map_err(doing("copying", &file.path()))?;
        }
    }
    let script = folder.join("gpu.sh");
    fs::write(&script, SCRIPT).map_err(doing("writing", &script))?;
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(doing("reading", folder))? {
        bytes += entry.and_then(|entry| entry.metadata()).map_err(doing("reading", folder))?.len();
    }
    Ok(bytes)
}

/// Builds a program for release, and returns its path.
pub fn build(arguments: &[&str]) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .args(["--release", "--message-format=json"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("running cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {} failed", arguments.join(" ")));
    }
    // The last artifact with an executable is the one that was asked for.
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = text.lines().rev().find_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        rest.split_once('"').map(|(path, _)| PathBuf::from(path))
    });
    executable.ok_or_else(|| format!("cargo {} made no program", arguments.join(" ")))
}
