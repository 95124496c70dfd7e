//! Everything outside the subset is refused, once, at its own place, in words that name the way out; and so is whatever
//! would let safe code reach memory that is not its own (`ui/unsound`).
//!
//! `TRYBUILD=overwrite cargo test -p wattle --test ui` writes the expected texts anew; read them as a user would.

#[test]
fn refusals() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn unsound_programs_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/unsound/*.rs");
}
