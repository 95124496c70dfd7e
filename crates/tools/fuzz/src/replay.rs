//! The cases that the repository keeps.

use std::path::{Path, PathBuf};

use wattle_core::{ErrorKind, Result};

use crate::case::Case;

/// A case that the repository keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The name of its file, without the ending.
    pub name: String,
    /// The case that the file holds.
    pub case: Case,
}

/// The folder of the cases that the repository keeps: `crates/tools/fuzz/cases`.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// The cases that the repository keeps, by name: each once failed on some device.
///
/// # Errors
/// The folder or a file cannot be read, or a file holds no case.
pub fn replay() -> Result<Vec<Kept>> {
    let folder = folder();
    let unreadable = |error: std::io::Error| {
        let what = format!("reading {}", folder.display());
        wattle_core::Error::from(ErrorKind::System { what, message: error.to_string() })
    };
    let mut kept = Vec::new();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        // A folder without files is in no repository.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(kept),
        Err(error) => return Err(unreadable(error)),
    };
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            kept.push(Kept { name, case: Case::load(&path)? });
        }
    }
    kept.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kept)
}
