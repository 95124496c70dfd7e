use wattle::prelude::*;

/// An argument that there is not.
#[scenario(title = "one")]
fn unknown(_: &Device) -> Result<()> {
    Ok(())
}

/// A name that is not in quotes.
#[scenario(name = two)]
fn bare_name(_: &Device) -> Result<()> {
    Ok(())
}

/// A name that the command could not take.
#[scenario(name = "My scenario")]
fn bad_name(_: &Device) -> Result<()> {
    Ok(())
}

/// A verdict that there is not.
#[scenario(expect = fails)]
fn bad_verdict(_: &Device) -> Result<()> {
    Ok(())
}

/// A verdict in quotes.
#[scenario(expect = "refuted")]
fn quoted_verdict(_: &Device) -> Result<()> {
    Ok(())
}

/// A word alone.
#[scenario(refuted)]
fn word_alone(_: &Device) -> Result<()> {
    Ok(())
}

/// No word at all.
#[scenario("refuted")]
fn no_word(_: &Device) -> Result<()> {
    Ok(())
}

/// One argument twice.
#[scenario(name = "a", name = "b")]
fn twice(_: &Device) -> Result<()> {
    Ok(())
}

/// No comma.
#[scenario(name = "a" expect = refuted)]
fn no_comma(_: &Device) -> Result<()> {
    Ok(())
}

/// Sizes of another type.
#[scenario(sizes = 10)]
fn bad_sizes(_: &Device, _: usize) -> Result<()> {
    Ok(())
}

fn main() {
    // They are there all the same.
    let _ = (unknown, bare_name, bad_name, bad_verdict, quoted_verdict, word_alone, no_word, twice, no_comma, bad_sizes);
}
