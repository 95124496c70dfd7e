//! A device function's own `self` is not for the user.

use wattle::prelude::*;

#[device_fn]
fn mine(x: u32) -> u32 {
    let me = self;
    x
}

fn main() {}
