//! The cache of machine code on disk.

#[path = "../../gpu/tests/drivers/cache.rs"]
mod cache;
mod common;

use cache::Cache;

#[test]
fn is_written_and_read() {
    let devices = common::devices();
    // Devices of one architecture share a file.
    let files = usize::from(!devices.is_empty())..=devices.len();
    cache::is_written_and_read(Cache { driver: "cuda", devices, files, mends: true });
}
