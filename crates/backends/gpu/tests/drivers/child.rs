//! Tests in processes of their own.

const CHILD: &str = "WATTLE_TEST_CHILD";

/// Whether this process was started by [`in_a_child`].
pub fn is_a_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one test of this program in a process of its own, with other environment variables, and returns what it printed; `None` if
/// this is that process.
pub fn in_a_child(test: &str, variables: &[(&str, &str)]) -> Option<std::process::Output> {
    if is_a_child() {
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
    // A name that no test has runs none, successfully.
    assert!(out.contains("running 1 test"), "no test has run\n{out}\n{err}");
}
