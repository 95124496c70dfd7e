//! A cache on disk for what drivers compile. Failures are ignored: a file that cannot be read or written is left alone.
//!
//! A file is data and a checksum of them: drivers check only the head of a binary, and some crash on a damaged rest.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of cache files, which may be deleted at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheFolder(PathBuf);

/// The size of a checksum in bytes.
const SUM: usize = 8;

impl CacheFolder {
    /// The user's folder for a kind of device: `kind` in the folder that the environment variable `WATTLE_CACHE_DIR`
    /// names, else in `wattle` in the user's cache directory. `None` if there is no such directory, or if the variable
    /// is empty, which turns the cache off.
    pub fn of_user(kind: &str) -> Option<CacheFolder> {
        let variable = |name| std::env::var_os(name);
        by_environment(kind, variable("WATTLE_CACHE_DIR"), variable("XDG_CACHE_HOME"), variable("HOME"))
    }

    /// The cache in this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> CacheFolder {
        CacheFolder(folder.into())
    }

    /// The data saved by this name; `None` if there are none, or they are damaged.
    pub fn load(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.0.join(name);
        // Reading something other than a file, such as a pipe, may block for ever.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut data = fs::read(path).ok()?;
        let sum = data.split_off(data.len().checked_sub(SUM)?);
        (sum == checksum(&data)).then_some(data)
    }

    /// Saves data by this name, which is a file name. Another thread or process sees the old file or the new one, and
    /// never a part.
    pub fn save(&self, name: &str, data: &[u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if fs::create_dir_all(&self.0).is_err() {
            return;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let other = self.0.join(format!("{name}.{}-{number}", std::process::id()));
        let written = fs::write(&other, [data, &checksum(data)].concat());
        if written.and_then(|()| fs::rename(&other, self.0.join(name))).is_err() {
            let _ = fs::remove_file(&other);
        }
    }
}

fn by_environment(
    kind: &str,
    own: Option<OsString>,
    caches: Option<OsString>,
    home: Option<OsString>,
) -> Option<CacheFolder> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let base = match own {
        Some(own) if own.is_empty() => return None,
        Some(own) => PathBuf::from(own),
        None => caches.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".cache")))?.join("wattle"),
    };
    Some(CacheFolder(base.join(kind)))
}

/// The FNV-1a checksum of data, which accidental damage changes.
fn checksum(data: &[u8]) -> [u8; SUM] {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    data.iter().fold(0xcbf2_9ce4_8422_2325, step).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_loaded() {
        let path = std::env::temp_dir().join(format!("wattle-gpu-cache-{}", std::process::id()));
        let folder = CacheFolder::at(&path);
        assert_eq!(folder.load("name"), None);
        folder.save("name", b"data");
        assert_eq!(folder.load("name").as_deref(), Some(&b"data"[..]));
        folder.save("name", b"other");
        assert_eq!(folder.load("name").as_deref(), Some(&b"other"[..]));
        assert_eq!(folder.load("nothing"), None);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "nothing else is left there");
        folder.save("empty", b"");
        assert_eq!(folder.load("empty").as_deref(), Some(&b""[..]));
        let file = path.join("name");
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            fs::write(&file, damaged).unwrap();
            assert_eq!(folder.load("name"), None, "byte {at} is damaged");
            fs::write(&file, &whole[..at]).unwrap();
            assert_eq!(folder.load("name"), None, "cut off at byte {at}");
        }
        fs::remove_dir_all(path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_left_alone() {
        let path = std::env::temp_dir().join(format!("wattle-gpu-pipe-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path.join("name")).status();
        if made.is_ok_and(|status| status.success()) {
            let (sender, receiver) = std::sync::mpsc::channel();
            let folder = CacheFolder::at(&path);
            std::thread::spawn(move || sender.send(folder.load("name")));
            let loaded = receiver.recv_timeout(std::time::Duration::from_secs(60));
            assert_eq!(loaded.expect("nobody waits for who may write there"), None);
        }
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn what_cannot_be_written_is_left_alone() {
        let folder = CacheFolder::at("/proc/nonexistent");
        folder.save("name", b"data");
        assert_eq!(folder.load("name"), None);
    }

    #[test]
    fn the_folder_is_the_users() {
        let path = |text: &str| Some(OsString::from(text));
        let at = |text: &str| Some(CacheFolder::at(text));
        assert_eq!(by_environment("kind", None, path("/c"), path("/h")), at("/c/wattle/kind"));
        assert_eq!(by_environment("kind", None, path("relative"), path("/h")), at("/h/.cache/wattle/kind"));
        assert_eq!(by_environment("kind", path("/w"), path("/c"), path("/h")), at("/w/kind"));
        assert_eq!(by_environment("kind", path(""), path("/c"), path("/h")), None);
        assert_eq!(by_environment("kind", None, None, None), None);
    }
}
