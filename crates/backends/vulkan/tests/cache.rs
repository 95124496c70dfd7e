//! The pipeline cache on disk.

#[path = "../../gpu/tests/drivers/cache.rs"]
mod cache;
mod common;

use cache::Cache;

#[test]
fn is_written_and_read() {
    let devices = common::devices();
    let files = devices.len()..=devices.len();
    cache::is_written_and_read(Cache { driver: "vulkan", devices, files, mends: false });
}
