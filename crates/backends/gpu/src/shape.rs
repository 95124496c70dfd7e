//! Errors of launches that are larger than a device can run.

use wattle_core::Error;

use crate::error::cannot;

/// The error of too many threads per block; `why` follows their number.
#[cold]
pub fn too_many_threads(device: &str, asked: u32, most: u64, why: &str) -> Error {
    let what = format!("run blocks of {asked} threads{why}: {most} at the most");
    cannot(device, what, "launch more blocks of fewer threads, or with a `FrameSpec`").limited(asked, most)
}

/// The error of too many blocks in one launch; `of` follows their number.
#[cold]
pub fn too_many_blocks(device: &str, asked: u32, most: u64, of: &str) -> Error {
    let what = format!("run {asked} blocks{of} in one launch: {most} at the most");
    cannot(device, what, "launch fewer blocks, and give each more work").limited(asked, most)
}
