use wattle::prelude::*;

#[scenario]
fn no_doc_comment(_: &Device) -> Result<()> {
    Ok(())
}

/// It takes a size, and names none.
#[scenario]
fn no_sizes(_: &Device, size: usize) -> Result<()> {
    let _ = size;
    Ok(())
}

/// It takes no size, and names some.
#[scenario(sizes = Sizes { full: 3, small: 2, proof: 1 })]
fn no_size(_: &Device) -> Result<()> {
    Ok(())
}

/// It has no device.
#[scenario]
fn no_device() -> Result<()> {
    Ok(())
}

/// It is one function for each `N`.
#[scenario]
fn generic<const N: usize>(_: &Device) -> Result<()> {
    Ok(())
}

/// It is a future.
#[scenario]
async fn future(_: &Device) -> Result<()> {
    Ok(())
}

/// It is no function.
#[scenario]
struct NoFunction;

fn main() {
    let _ = (no_doc_comment, no_sizes, no_size, no_device, NoFunction);
}
