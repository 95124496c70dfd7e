//! Where results of searches are kept: files in the user's cache folder, in a folder for each build of this program.
//!
//! A file is known by the hash of what was searched, and begins with a hash of its contents, so that a damaged one is
//! not taken for a result. Folders of builds that nobody has used for a month are removed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use etcetera::BaseStrategy;
use wattle_check::keep::{Keeper, Key};

/// The environment variable that names another folder; where it is empty, nothing is kept.
pub const FOLDER: &str = "WATTLE_CACHE";

/// How long the folder of a build stays without use.
const STAYS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The options of commands whose verdicts are kept.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct KeepArgs {
    /// Searches everything anew, and keeps nothing for later runs (WATTLE_CACHE names the folder of what is kept)
    #[arg(long)]
    pub no_cache: bool,
}

/// The files of one build of this program.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    /// The folder of this build; `None` where the program cannot be read.
    own: OnceLock<Option<PathBuf>>,
}

impl Files {
    /// The files in the folder that the environment names, or in the user's folder for caches; `None` where there is
    /// none.
    pub fn of_user() -> Option<Arc<Files>> {
        Files::in_folder(std::env::var_os(FOLDER))
    }

    fn in_folder(named: Option<OsString>) -> Option<Arc<Files>> {
        let root = match named {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => etcetera::choose_base_strategy().ok()?.cache_dir().join("wattle"),
        };
        Some(Arc::new(Files { root, own: OnceLock::new() }))
    }

    /// The folder of this build.
    fn own(&self) -> Option<&Path> {
        let own = || {
            let mut program = blake3::Hasher::new();
            program.update_reader(fs::File::open(std::env::current_exe().ok()?).ok()?).ok()?;
            Some(self.root.join(&program.finalize().to_hex()[..32]))
        };
        self.own.get_or_init(own).as_deref()
    }

    fn file(&self, key: &Key) -> Option<PathBuf> {
        Some(self.own()?.join(blake3::Hash::from_bytes(key.0).to_hex().as_str()))
    }

    /// Removes the folders of builds that were not used for long. Nobody depends on them, so what fails is left.
    fn remove_old(&self) {
        for folder in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let age = folder.metadata().and_then(|known| known.modified()).ok().and_then(|used| used.elapsed().ok());
            let is_build = folder.file_name().len() == 32;
            if is_build && age.is_some_and(|age| age > STAYS) {
                let _ = fs::remove_dir_all(folder.path());
            }
        }
    }
}

impl Keeper for Files {
    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        let bytes = fs::read(self.file(key)?).ok()?;
        let (hash, result) = bytes.split_at_checked(blake3::OUT_LEN)?;
        (blake3::hash(result).as_bytes() == hash).then(|| result.to_vec())
    }

    fn keep(&self, key: &Key, result: &[u8]) {
        let Some(file) = self.file(key) else { return };
        let Some(folder) = file.parent() else { return };
        if !folder.exists() {
            self.remove_old();
        }
        // Another process may write the same result at the same time, and either is whole.
        let whole = [blake3::hash(result).as_bytes(), result].concat();
        let begun = file.with_extension(std::process::id().to_string());
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&begun, whole));
        if written.and_then(|()| fs::rename(&begun, &file)).is_err() {
            let _ = fs::remove_file(begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_no_result() {
        let root = std::env::temp_dir().join(format!("wattle-kept-{}", std::process::id()));
        let files = Files::in_folder(Some(root.clone().into())).expect("a folder is named");
        let key = Key([7; 32]);
        assert_eq!(files.find(&key), None);
        files.keep(&key, b"a result");
        assert_eq!(files.find(&key).as_deref(), Some(&b"a result"[..]));
        assert_eq!(files.find(&Key([8; 32])), None);
        let file = files.file(&key).expect("the test can be read");
        let whole = fs::read(&file).expect("it was written");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&file, &damaged).expect("it is writable");
            assert_eq!(files.find(&key), None, "byte {at}");
            fs::write(&file, &whole[..at]).expect("it is writable");
            assert_eq!(files.find(&key), None, "{at} bytes");
        }
        fs::remove_dir_all(root).expect("it is there");
        assert!(Files::in_folder(Some("".into())).is_none());
    }
}
