//! The files that results are written to.

use std::fs::OpenOptions;
use std::path::Path;

use crate::exit::Input;

/// Whether a file can be written, which is better known before the time is spent than behind it. What is there stays.
pub fn writable(file: &Path) -> Result<(), Input> {
    let is_new = file.symlink_metadata().is_err();
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.map_err(|error| Input::new("file", format!("{} cannot be written: {error}", file.display())))?;
    if is_new {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}
