//! Everything outside the subset is refused, once, at its own place, in words that name the way out.
//!
//! `TRYBUILD=overwrite cargo test -p wattle --test ui` writes the expected texts anew; read them as a user would.

#[test]
fn refusals() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
