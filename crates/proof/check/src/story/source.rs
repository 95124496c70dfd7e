//! The text of source lines, where the file is still there and still the one that was compiled.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wattle_ir::Site;

/// The source files that have been read.
#[derive(Default)]
pub(super) struct Sources {
    files: RefCell<HashMap<&'static str, Option<Vec<String>>>>,
}

impl Sources {
    /// The text of a line, without indentation, comment, block delimiters, and the names of enumerations.
    pub fn line(&self, site: Site) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(site.file).or_insert_with(|| read(site.file));
        let line = lines.as_ref()?.get((site.line as usize).checked_sub(1)?)?;
        Some(statement(line).replace("Scope::", "").replace("Order::", "")).filter(|line| !line.is_empty())
    }
}

/// Reads the file's lines. A file that changed after this program was built is not what was compiled.
fn read(file: &str) -> Option<Vec<String>> {
    let built = std::env::current_exe().and_then(std::fs::metadata).and_then(|program| program.modified()).ok();
    let path = candidates(file).find(|path| path.is_file())?;
    let changed: Option<SystemTime> = std::fs::metadata(&path).and_then(|file| file.modified()).ok();
    if changed.zip(built).is_some_and(|(changed, built)| changed > built) {
        return None;
    }
    Some(std::fs::read_to_string(path).ok()?.lines().map(str::to_owned).collect())
}

/// The paths where a file may be that rustc names relative to a workspace: in or above the current directory, or above
/// the program.
fn candidates(file: &str) -> impl Iterator<Item = PathBuf> {
    let roots = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let above: Vec<PathBuf> = roots
        .into_iter()
        .flatten()
        .flat_map(|root| root.ancestors().map(Path::to_path_buf).collect::<Vec<_>>())
        .collect();
    let file = PathBuf::from(file);
    above.into_iter().map(move |root| root.join(&file))
}

fn statement(line: &str) -> &str {
    let code = line.split("//").next().unwrap_or(line).trim();
    let mut rest = code;
    for end in ["{}", "{", ";", ","] {
        rest = rest.strip_suffix(end).unwrap_or(rest).trim_end();
    }
    let rest = rest.strip_prefix("} else ").unwrap_or(rest);
    // `acc.mem_fence(Scope::Device, Order::Release)` is clear without its first word.
    rest.strip_prefix("acc.").unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_a_line_without_what_surrounds_it() {
        assert_eq!(statement("    while flag.load(0) == 0 {} // waits"), "while flag.load(0) == 0");
        assert_eq!(statement("  acc.sync_block();"), "sync_block()");
        assert_eq!(statement("  if tile[0] == 1 {"), "if tile[0] == 1");
    }

    #[test]
    fn a_file_that_is_not_there_has_no_lines() {
        let site = Site { file: "no/such/file.rs", line: 1, column: 1 };
        assert_eq!(Sources::default().line(site), None);
    }
}
