//! The cache of compiled kernels on disk.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use wattle::prelude::*;

use crate::common::{in_a_child, passed};

#[kernel]
fn squares(acc: &Acc, x: PerItem<u32>) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * *x;
    }
}

fn files(folder: &Path, driver: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.join(driver)) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A driver's cache of compiled kernels on disk.
pub struct Cache {
    /// The driver's name, which is the name of the cache's folder.
    pub driver: &'static str,
    pub devices: Vec<Device>,
    /// The number of files for one kernel on all devices.
    pub files: RangeInclusive<usize>,
    /// Whether a damaged file is written anew, or only passed over.
    pub mends: bool,
}

/// The next process reads what is kept on disk, and makes it anew where it is damaged. A test of the name
/// `is_written_and_read` calls this.
pub fn is_written_and_read(Cache { driver, devices, files: expected, mends }: Cache) {
    let folder = std::env::temp_dir().join(format!("wattle-{driver}-{}", std::process::id()));
    let run = |folder: &str| in_a_child("is_written_and_read", &[("WATTLE_CACHE_DIR", folder)]);
    let Some(output) = run(folder.to_str().unwrap()) else {
        for device in &devices {
            let queue = device.queue().unwrap();
            let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
            queue.launch(FrameSpec::cover(4, 2), squares(&mut x)).unwrap();
            assert_eq!(x.read(&queue).unwrap(), [1, 4, 9, 16]);
            // The file is written already, however the process ends.
            let folder = std::env::var_os("WATTLE_CACHE_DIR").unwrap();
            assert!(folder.is_empty() || !files(Path::new(&folder), driver).is_empty());
        }
        return;
    };
    passed(&output);
    let written = files(&folder, driver);
    assert!(expected.contains(&written.len()), "{written:?}");
    let whole: Vec<Vec<u8>> = written.iter().map(|file| std::fs::read(file).unwrap()).collect();
    // The next process reads the file, and makes it anew if it is damaged, cut off, or of another device or text.
    for damage in [
        |_: &mut Vec<u8>| {},
        |data: &mut Vec<u8>| data.truncate(data.len() / 2 + 17),
        |data: &mut Vec<u8>| data.iter_mut().skip(32).for_each(|byte| *byte ^= 0x55),
        |data: &mut Vec<u8>| data[8] ^= 1,
        |data: &mut Vec<u8>| *data = b"no cache".to_vec(),
        |data: &mut Vec<u8>| data.clear(),
    ] {
        for (file, data) in written.iter().zip(&whole) {
            let mut data = data.clone();
            damage(&mut data);
            std::fs::write(file, data).unwrap();
        }
        passed(&run(folder.to_str().unwrap()).unwrap());
        assert_eq!(files(&folder, driver), written, "nothing else is left there");
        let now: Vec<Vec<u8>> = written.iter().map(|file| std::fs::read(file).unwrap()).collect();
        assert!(!mends || now == whole, "what was damaged is whole again");
    }
    let _ = std::fs::remove_dir_all(&folder);
    // With an empty variable no file is kept.
    passed(&run("").unwrap());
    assert!(files(&folder, driver).is_empty());
}
