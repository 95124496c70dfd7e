//! Who searches the documentation for a word of CUDA's finds it: it is an alias of an item, or of the page for CUDA users.

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../src/for_cuda_users.rs");

/// Words of the page's first columns that the items here have themselves, or that are more than a word.
const NO_ALIASES: &[&str] = &["bool", "min", "max", "-G", "float*", ".maxntid", "%globaltimer"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The words of all attributes `doc(alias …)`.
fn aliases() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
    let mut files = Vec::new();
    for of in ["core", "ir", "macros", "operations", "wattle"] {
        sources(&crates.join(of).join("src"), &mut files);
    }
    let mut words = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("a source file");
        for attribute in text.split("#[doc(alias").skip(1) {
            let attribute = attribute.split(")]").next().unwrap_or_default();
            words.extend(attribute.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
    words
}

/// The words of the tables' first columns, without those that are pieces of code.
fn words() -> Vec<&'static str> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("//! | ")?.split(" | ").next());
    let quoted = rows.flat_map(|first| first.split('`').skip(1).step_by(2));
    let is_word = |word: &&str| !word.contains([' ', '(', '[', ';', '<']);
    quoted.filter(is_word).collect()
}

#[test]
fn each_word_of_the_page_is_an_alias() {
    let (words, aliases) = (words(), aliases());
    assert!(words.len() > 100, "{words:?}");
    let is_missing = |word: &&&str| !NO_ALIASES.contains(word) && !aliases.iter().any(|alias| alias == *word);
    let missing: Vec<_> = words.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "rustdoc's search does not find {missing:?}");
}

/// What is not there is said to be so, with what to do instead.
#[test]
fn what_is_not_there_is_said() {
    for word in [
        "texture",
        "wmma",
        "cp.async",
        "dynamic parallelism",
        "grid.sync",
        "clusters",
        "CUDA graphs",
        "__match_any_sync",
    ] {
        let row = PAGE.lines().find(|line| line.contains(word)).unwrap_or_default();
        assert!(row.contains("not there"), "{word}: {row}");
    }
}
