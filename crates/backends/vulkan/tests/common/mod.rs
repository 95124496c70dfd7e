//! What the tests of this crate share. Not every file uses all of it.
#![allow(dead_code)]

use wattle::Device;

/// The devices; prints each reason why there are none.
pub fn devices() -> Vec<Device> {
    let wattle_core::Found { devices, missing, .. } = wattle_vulkan::survey();
    for missing in &missing {
        test_skips::skipped(&missing.reason);
    }
    devices
}

/// Asserts that the validation layer, if enabled, has reported nothing.
pub fn no_messages() {
    assert_eq!(wattle_vulkan::validation_messages(), Vec::<String>::new());
}

/// Runs one test of this program in a process of its own, with other environment variables, and returns its output.
/// `None` if this is that process.
pub fn in_a_child(test: &str, variables: &[(&str, &str)]) -> Option<std::process::Output> {
    const CHILD: &str = "WATTLE_VULKAN_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = std::process::Command::new(program);
    command.args(["--exact", test, "--nocapture", "--include-ignored"]).env(CHILD, "1").envs(variables.iter().copied());
    Some(command.output().expect("this program can be started again"))
}

/// Asserts that a child's test has passed.
#[track_caller]
pub fn passed(output: &std::process::Output) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
}
