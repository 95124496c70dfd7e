//! Whether a test may pass over what it needs and does not find: a tool, a driver, files beside the repository.
//!
//! On a developer's machine it may, and says so. In CI, where `.ci/run` has installed all of it, such a test fails: a
//! check that is not made is no check. What a device cannot do by its nature is no skip, and does not go by this.

use std::env;
use std::fmt::Display;

/// Whether this is CI: the variable `CI` is set, and neither empty, `0` nor `false`.
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no))
}

/// Reports that a test, or a part of it, is skipped for this reason.
///
/// # Panics
/// In CI.
#[track_caller]
pub fn skipped(reason: impl Display) {
    assert!(!in_ci(), "skipped, and CI is to skip nothing: {reason}");
    eprintln!("skipped: {reason}");
}
