//! The files that results are written to.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use crate::exit::Input;

/// Whether a file can be written, which is better known before the time is spent than behind it. What is there stays.
pub fn writable(file: &Path) -> Result<(), Input> {
    let is_new = file.symlink_metadata().is_err();
    // A pipe's reader would take the first end for the last one.
    if file.metadata().is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.map_err(|error| unwritten("file", file, &error))?;
    if is_new {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Writes a file, which may be a pipe: that its reader has gone is no failure.
pub fn write(kind: &'static str, file: &Path, content: impl AsRef<[u8]>) -> Result<(), Input> {
    match std::fs::write(file, content) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| unwritten(kind, file, &error)),
    }
}

/// The error for a file that cannot be written.
pub fn unwritten(kind: &'static str, file: &Path, error: &dyn std::fmt::Display) -> Input {
    Input::new(kind, format!("{} cannot be written: {error}", file.display()))
}
