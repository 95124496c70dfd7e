//! The pipeline cache on disk.

mod common;

use std::path::{Path, PathBuf};

use common::{devices, in_a_child, passed};
use wattle::prelude::*;

#[kernel]
fn squares(acc: &Acc, x: PerItem<u32>) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * *x;
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.join("vulkan")) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn is_written_and_read() {
    let folder = std::env::temp_dir().join(format!("wattle-pipelines-{}", std::process::id()));
    let run = |folder: &str| in_a_child("is_written_and_read", &[("WATTLE_CACHE_DIR", folder)]);
    let Some(output) = run(folder.to_str().unwrap()) else {
        for device in devices() {
            let queue = device.queue().unwrap();
            let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
            queue.launch(FrameSpec::cover(4, 2), squares(&mut x)).unwrap();
            assert_eq!(x.read(&queue).unwrap(), [1, 4, 9, 16]);
            // The file is written already, however the process ends.
            let folder = std::env::var_os("WATTLE_CACHE_DIR").unwrap();
            assert!(folder.is_empty() || !files(Path::new(&folder)).is_empty());
        }
        return;
    };
    passed(&output);
    let written = files(&folder);
    assert_eq!(written.len(), devices().len(), "{written:?}");
    let whole: Vec<Vec<u8>> = written.iter().map(|file| std::fs::read(file).unwrap()).collect();
    // The next process reads it, and ignores it if it is damaged, truncated, of another device, or no cache.
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
        assert_eq!(files(&folder), written, "nothing else is left there");
    }
    let _ = std::fs::remove_dir_all(&folder);
    // With an empty folder name no cache is kept.
    passed(&run("").unwrap());
    assert!(files(&folder).is_empty());
}
