//! Code of a user's that would run within a kernel, when what stands for a device function is dropped.

use wattle::prelude::*;

#[device_fn]
fn twice(x: u32) -> u32 {
    x * 2
}

impl Drop for twice<'_> {
    fn drop(&mut self) {
        println!("within a kernel");
    }
}

fn main() {}
