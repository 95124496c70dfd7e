use wattle::prelude::*;

/// It returns a number.
#[scenario]
fn number(_: &Device) -> Result<u32> {
    Ok(1)
}

/// It returns nothing.
#[scenario]
fn nothing(_: &Device) {}

/// It takes something else.
#[scenario]
fn queue(_: &Queue) -> Result<()> {
    Ok(())
}

fn main() {}
