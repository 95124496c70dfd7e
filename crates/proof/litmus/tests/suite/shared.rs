//! The public cases beside this repository, if present: every file is read and written back, and every liveness case
//! judged. Nothing here needs them; if they are absent, the tests are skipped.

use std::fs;
use std::path::{Path, PathBuf};

use wattle_litmus::lasso::{self, Liveness};
use wattle_litmus::{Divided, Expected, Progress, World, parse, print};
use wattle_memory::Model;

fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/litmus");
    if root.is_dir() {
        return Some(root);
    }
    test_skips::skipped(format!("{} is not there", root.display()));
    None
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_is_read_and_written_back() {
    let Some(root) = shared() else { return };
    let mut found = Vec::new();
    files(&root, &mut found);
    let mut wrong = Vec::new();
    for path in &found {
        let name = path.display().to_string();
        let program = match parse(&name, &fs::read_to_string(path).unwrap()) {
            Ok(program) => program,
            Err(error) => {
                wrong.push(error.to_string());
                continue;
            }
        };
        let text = print(&program);
        match parse("printed", &text) {
            Ok(again) if again == program => {}
            Ok(_) => wrong.push(format!("{name}: changed by writing it\n{text}")),
            Err(error) => wrong.push(format!("{name}: {error}\n{text}")),
        }
    }
    println!("{} of {} files", found.len() - wrong.len(), found.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn judge(table: &str, progress: Progress) {
    let Some(root) = shared() else { return };
    let expected = Expected::read(&root.join(table)).unwrap();
    let mut wrong = Vec::new();
    for case in &expected.cases {
        let text = fs::read_to_string(root.join(&case.path)).unwrap();
        let program = parse(&case.path.display().to_string(), &text).unwrap();
        let world = World::new(program);
        let verdict = lasso::liveness(&world.setup(Model::Sc), &Divided::default(), progress, 1 << 20).unwrap();
        let right = match verdict {
            Liveness::Ends { .. } => case.expected,
            Liveness::Stuck(_) => !case.expected,
            Liveness::Unknown { .. } | Liveness::Stopped { .. } => false,
        };
        if !right {
            wrong.push(format!("{}: {verdict:?}, expected {}", case.path.display(), u8::from(case.expected)));
        }
    }
    println!("{table}: {} of {}", expected.cases.len() - wrong.len(), expected.cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn vulkan_fair() {
    judge("vulkan-liveness-fair.csv", Progress::Fair);
}

#[test]
fn vulkan_hsa() {
    judge("vulkan-liveness-hsa.csv", Progress::Hsa);
}

#[test]
fn vulkan_obe() {
    judge("vulkan-liveness-obe.csv", Progress::Obe);
}

#[test]
fn vulkan_lobe() {
    judge("vulkan-liveness-lobe.csv", Progress::Lobe);
}

#[test]
fn vulkan_hsa_obe() {
    judge("vulkan-liveness-hsa-obe.csv", Progress::HsaObe);
}

#[test]
fn ptx_fair() {
    judge("ptx-liveness.csv", Progress::Fair);
}
