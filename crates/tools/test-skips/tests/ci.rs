//! A skip passes on a developer's machine and fails in CI.

use std::process::{Command, Output};

const CHILD: &str = "TEST_SKIPS_CHILD";

/// The skip that the other test judges, in a process of its own.
#[test]
fn skips() {
    if std::env::var_os(CHILD).is_some() {
        test_skips::skipped("no such tool");
    }
}

fn child(ci: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", "skips", "--nocapture"]).env(CHILD, "1").env_remove("CI").envs(ci.map(|ci| ("CI", ci)));
    command.output().expect("this program can be started again")
}

#[test]
fn a_skip_fails_in_ci_alone() {
    for (ci, passes) in
        [(None, true), (Some(""), true), (Some("false"), true), (Some("true"), false), (Some("1"), false)]
    {
        let output = child(ci);
        assert_eq!(output.status.success(), passes, "CI={ci:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("no such tool"), "CI={ci:?}: {said}");
    }
}
