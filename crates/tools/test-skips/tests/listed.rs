//! Test files that stand together in one program are all part of it: one that no `mod` names would never run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The entries of a folder, none where there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry of a folder").path()).collect()
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(OsStr::to_str).expect("a name in UTF-8")
}

/// The modules of a program of tests that stand in this folder, by the names of their files.
fn modules(folder: &Path) -> BTreeSet<String> {
    let is_module = |path: &PathBuf| {
        let is_file = path.extension() == Some(OsStr::new("rs")) && !matches!(stem(path), "main" | "mod");
        is_file || path.join("mod.rs").exists()
    };
    entries(folder).into_iter().filter(is_module).map(|path| stem(&path).to_owned()).collect()
}

/// The number of files of a module whose submodules stand in `folder`, and which is this text: each is named by its parent.
fn listed(text: &str, folder: &Path) -> usize {
    let module = |line: &str| {
        let (before, name) = line.trim().strip_suffix(';')?.rsplit_once("mod ")?;
        (before.is_empty() || before.starts_with("pub")).then(|| name.to_owned())
    };
    let named: BTreeSet<String> = text.lines().filter_map(module).collect();
    let inner = |module: &String| {
        assert!(named.contains(module), "{} has {module}, which no `mod` names", folder.display());
        let files = [folder.join(module).with_extension("rs"), folder.join(module).join("mod.rs")];
        let text = files.iter().find_map(|file| fs::read_to_string(file).ok()).expect("a file of text");
        1 + listed(&text, &folder.join(module))
    };
    modules(folder).iter().map(inner).sum()
}

#[test]
fn every_file_of_a_program_of_tests_is_part_of_it() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let crates: Vec<PathBuf> = entries(&workspace.join("crates"))
        .into_iter()
        .flat_map(|path| [vec![path.clone()], entries(&path)].concat())
        .collect();
    let mut files = 0;
    for tests in crates.iter().map(|folder| folder.join("tests")) {
        for root in entries(&tests) {
            // A program's root is `main.rs` in the folder, or a file beside it of the same name.
            let (text, folder) = if root.join("main.rs").exists() {
                (fs::read_to_string(root.join("main.rs")), root)
            } else if root.with_extension("").is_dir()
                && root.extension() == Some(OsStr::new("rs"))
                && stem(&root) != "ui"
            {
                // The files of `ui` are programs of their own, for trybuild.
                (fs::read_to_string(&root), root.with_extension(""))
            } else {
                continue;
            };
            let text = text.expect("a file of text");
            files += listed(&text, &folder);
        }
    }
    assert!(files > 100, "{files} files are found");
}
