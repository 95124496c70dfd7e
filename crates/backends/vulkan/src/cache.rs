//! The pipeline cache on disk, a file for each device and driver.

use std::fmt::Write as _;

use wattle_gpu::CacheFolder;

use crate::physical::Identity;

/// The size in bytes of the cache header, version 1: length, version, vendor and device as 32-bit words, and the
/// driver's UUID.
const HEAD: usize = 32;

fn file_name(identity: &Identity) -> String {
    let Identity { vendor, device, driver_version, cache } = identity;
    let mut name = format!("{vendor:04x}-{device:04x}-{driver_version:08x}-");
    for byte in cache {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name + ".bin"
}

/// Whether the cache data belong to this device and driver.
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

/// Loads the data saved for this device and driver; empty if there are none.
pub(crate) fn load(identity: &Identity) -> Vec<u8> {
    folder().map(|folder| load_from(&folder, identity)).unwrap_or_default()
}

/// Saves data for this device and driver.
pub(crate) fn save(identity: &Identity, data: &[u8]) {
    if let Some(folder) = folder() {
        save_to(&folder, identity, data);
    }
}

fn folder() -> Option<CacheFolder> {
    CacheFolder::of_user("vulkan")
}

fn load_from(folder: &CacheFolder, identity: &Identity) -> Vec<u8> {
    folder.load(&file_name(identity)).filter(|data| is_of(identity, data)).unwrap_or_default()
}

fn save_to(folder: &CacheFolder, identity: &Identity, data: &[u8]) {
    if is_of(identity, data) {
        folder.save(&file_name(identity), data);
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
    fn what_was_saved_is_loaded_for_its_device() {
        let path = std::env::temp_dir().join(format!("wattle-cache-{}", std::process::id()));
        let folder = CacheFolder::at(&path);
        assert!(load_from(&folder, &IDENTITY).is_empty());
        save_to(&folder, &IDENTITY, &data(b"rest"));
        assert_eq!(load_from(&folder, &IDENTITY), data(b"rest"));
        let newer = Identity { driver_version: 8, ..IDENTITY };
        assert!(load_from(&folder, &newer).is_empty());
        // Data under another cache's name are ignored too.
        folder.save(&file_name(&newer), b"something else");
        assert!(load_from(&folder, &newer).is_empty());
        save_to(&folder, &Identity { device: 1, ..IDENTITY }, &data(b"rest"));
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 2, "what is of another device is not saved");
        std::fs::remove_dir_all(path).unwrap();
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
    }
}
