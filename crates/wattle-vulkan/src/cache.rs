//! The pipeline cache on disk. It is a help and no more: what cannot be read or written is left alone.
//!
//! A file is the driver's data, and a checksum of them: drivers look at the head alone, and some crash on the rest.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::physical::Identity;

/// The head of the data, version 1: length, version, vendor, device as 32-bit words, and the driver's mark.
const HEAD: usize = 32;

/// The folder; none if nothing is to be kept.
fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name);
    folder_by(variable("WATTLE_CACHE_DIR"), variable("XDG_CACHE_HOME"), variable("HOME"))
}

fn folder_by(own: Option<OsString>, caches: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let base = match own {
        Some(own) if own.is_empty() => return None,
        Some(own) => PathBuf::from(own),
        None => caches.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".cache")))?.join("wattle"),
    };
    Some(base.join("vulkan"))
}

fn file_name(identity: &Identity) -> String {
    let Identity { vendor, device, driver_version, cache } = identity;
    let mut name = format!("{vendor:04x}-{device:04x}-{driver_version:08x}-");
    for byte in cache {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name + ".bin"
}

/// Whether the data are of this device and driver.
fn is_of(identity: &Identity, data: &[u8]) -> bool {
    let word = |at: usize| {
        data.get(at..at + 4).and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?))).unwrap_or_default()
    };
    data.len() >= HEAD
        && word(0) as usize >= HEAD
        && word(0) as usize <= data.len()
        && word(4) == 1
        && word(8) == identity.vendor
        && word(12) == identity.device
        && data[16..HEAD] == identity.cache
}

/// What was saved for this device and driver; nothing if there is none.
pub(crate) fn load(identity: &Identity) -> Vec<u8> {
    folder().map(|folder| load_from(&folder, identity)).unwrap_or_default()
}

fn load_from(folder: &Path, identity: &Identity) -> Vec<u8> {
    let mut data = fs::read(folder.join(file_name(identity))).unwrap_or_default();
    let sum = data.len().checked_sub(SUM).map(|at| data.split_off(at));
    let is_whole = sum.is_some_and(|sum| sum == checksum(&data));
    if is_whole && is_of(identity, &data) { data } else { Vec::new() }
}

/// The bytes of a checksum.
const SUM: usize = 8;

/// FNV-1a: what is damaged by chance has another.
fn checksum(data: &[u8]) -> [u8; SUM] {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    data.iter().fold(0xcbf2_9ce4_8422_2325, step).to_le_bytes()
}

/// Saves data for this device and driver.
pub(crate) fn save(identity: &Identity, data: &[u8]) {
    if let Some(folder) = folder() {
        save_to(&folder, identity, data);
    }
}

/// Another process sees the old file or the new one, and never a part.
fn save_to(folder: &Path, identity: &Identity, data: &[u8]) {
    if !is_of(identity, data) || fs::create_dir_all(folder).is_err() {
        return;
    }
    let name = file_name(identity);
    let other = folder.join(format!("{name}.{}", std::process::id()));
    let done = fs::write(&other, [data, &checksum(data)].concat()).and_then(|()| fs::rename(&other, folder.join(name)));
    if done.is_err() {
        let _ = fs::remove_file(&other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: Identity = Identity { vendor: 0x10de, device: 0x2330, driver_version: 7, cache: [0xab; 16] };

    fn data(rest: &[u8]) -> Vec<u8> {
        let words = [HEAD as u32, 1, IDENTITY.vendor, IDENTITY.device];
        let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        data.extend(IDENTITY.cache);
        data.extend(rest);
        data
    }

    #[test]
    fn what_was_saved_is_loaded() {
        let folder = std::env::temp_dir().join(format!("wattle-cache-{}", std::process::id()));
        save_to(&folder, &IDENTITY, &data(b"rest"));
        assert_eq!(load_from(&folder, &IDENTITY), data(b"rest"));
        save_to(&folder, &IDENTITY, &data(b"other"));
        assert_eq!(load_from(&folder, &IDENTITY), data(b"other"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left there");
        assert!(load_from(&folder, &Identity { driver_version: 8, ..IDENTITY }).is_empty());
        let file = folder.join(file_name(&IDENTITY));
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            fs::write(&file, damaged).unwrap();
            assert!(load_from(&folder, &IDENTITY).is_empty(), "byte {at} is damaged");
            fs::write(&file, &whole[..at]).unwrap();
            assert!(load_from(&folder, &IDENTITY).is_empty(), "cut off at byte {at}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn foreign_data_are_refused() {
        assert!(is_of(&IDENTITY, &data(b"")));
        for at in [0, 4, 8, 12, 16, 31] {
            let mut other = data(b"");
            other[at] ^= 0x80;
            assert!(!is_of(&IDENTITY, &other), "{at}");
        }
        assert!(!is_of(&IDENTITY, &data(b"")[..31]));
        assert!(!is_of(&IDENTITY, &[]));
        let nowhere = load_from(Path::new("/nonexistent"), &IDENTITY);
        assert!(nowhere.is_empty());
        save_to(Path::new("/proc/nonexistent"), &IDENTITY, &data(b""));
    }

    #[test]
    fn the_folder_is_the_users() {
        let path = |text: &str| Some(OsString::from(text));
        assert_eq!(folder_by(None, path("/c"), path("/h")), Some("/c/wattle/vulkan".into()));
        assert_eq!(folder_by(None, path("relative"), path("/h")), Some("/h/.cache/wattle/vulkan".into()));
        assert_eq!(folder_by(path("/w"), path("/c"), path("/h")), Some("/w/vulkan".into()));
        assert_eq!(folder_by(path(""), path("/c"), path("/h")), None);
        assert_eq!(folder_by(None, None, None), None);
    }
}
