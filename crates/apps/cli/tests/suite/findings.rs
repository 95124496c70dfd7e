//! `--junit` and `--sarif`: what servers for continuous integration read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Runs a command that writes both files, and returns its exit code and what they say.
fn run(name: &str, args: &[&str]) -> Result<(Option<i32>, String, Value)> {
    let file = |extension: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("findings-{name}.{extension}"));
    let (junit, sarif) = (file("xml"), file("sarif"));
    for file in [&junit, &sarif] {
        let _ = std::fs::remove_file(file);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    command.args(args).arg("--junit").arg(&junit).arg("--sarif").arg(&sarif);
    let output = command.stdin(Stdio::null()).output()?;
    let read = |file: &PathBuf| {
        let error = String::from_utf8_lossy(&output.stderr);
        std::fs::read_to_string(file).map_err(|missing| format!("{missing}: {error}"))
    };
    Ok((output.status.code(), read(&junit)?, serde_json::from_str(&read(&sarif)?)?))
}

fn proof(path: &str) -> String {
    format!("{}/../../proof/{path}", env!("CARGO_MANIFEST_DIR"))
}

/// The attributes of the document's first element of a name.
fn attribute<'t>(xml: &'t str, element: &str, name: &str) -> Option<&'t str> {
    let from = xml.find(&format!("<{element} "))?;
    let tag = xml[from..].split('>').next()?;
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
}

#[test]
fn a_race_of_a_scenario_is_one_finding_at_both_lines() -> Result {
    let names = ["check", "publication", "publication-broken-no-release", "--no-advice"];
    let (code, xml, log) = run("scenario", &names)?;
    assert_eq!(code, Some(1));
    let count = |part: &str| xml.matches(part).count();
    // Each scenario is judged as promised and for three targets.
    assert_eq!((count("<testsuite "), count("<testcase ")), (2, 8), "{xml}");
    assert_eq!(attribute(&xml, "testsuites", "tests"), Some("8"), "{xml}");
    let failures: usize = attribute(&xml, "testsuites", "failures").ok_or("failures are counted")?.parse()?;
    assert!(failures >= 1 && failures == count("<failure "), "{xml}");
    assert!(xml.contains("type=\"data race\""), "{xml}");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "data-race");
    let results = run["results"].as_array().ok_or("there are results")?;
    // One finding, though it is there for several targets.
    assert_eq!(results.len(), 1, "{log:#}");
    let result = &results[0];
    let text = result["message"]["text"].as_str().ok_or("there is a message")?;
    assert!(text.starts_with("publication-broken-no-release (portable, "), "{text}");
    let source = include_str!("../../../kernels/src/publication.rs");
    for place in [&result["locations"][0], &result["relatedLocations"][0]] {
        let physical = &place["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().ok_or("there is a file")?;
        assert!(uri.ends_with("kernels/src/publication.rs"), "{uri}");
        let line = physical["region"]["startLine"].as_u64().ok_or("there is a line")? as usize;
        let line = source.lines().nth(line - 1).ok_or("the line is in the file")?;
        assert!(line.contains("payload"), "{line}");
    }
    Ok(())
}

#[test]
fn what_was_not_answered_is_no_failure() -> Result {
    let (code, xml, log) = run("unanswered", &["check", "publication", "--time", "0"])?;
    assert_eq!(code, Some(2));
    assert!(xml.contains("<error ") && !xml.contains("<failure "), "{xml}");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"].as_array().ok_or("there are notifications")?;
    assert!(!notes.is_empty() && log["runs"][0]["results"] == serde_json::json!([]), "{log:#}");
    Ok(())
}

#[test]
fn what_no_target_can_judge_is_no_success() -> Result {
    let (code, xml, _) = run("impossible", &["check", "stream", "--size", "16777216", "--no-advice"])?;
    assert_eq!(code, Some(2), "{xml}");
    assert!(xml.contains("<error ") && !xml.contains("<skipped"), "{xml}");
    Ok(())
}

#[test]
fn a_module_s_race_is_at_the_lines_of_its_source() -> Result {
    let file = proof("foreign/tests/cuda/spin_lock.ptx");
    let args = ["check", &file, "--block", "2", "--arg", "counter=i32[1]:0", "--entry", "textbook"];
    let (code, xml, log) = run("module", &args)?;
    assert_eq!(code, Some(1));
    assert!(xml.contains("textbook under ptx") && xml.contains("<failure "), "{xml}");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "data-race");
    let physical = &result["locations"][0]["physicalLocation"];
    assert!(physical["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with("spin_lock.cu")), "{log:#}");
    assert!(physical["region"]["startLine"].as_u64().is_some_and(|line| line > 1), "{log:#}");
    Ok(())
}

#[test]
fn an_assertion_at_the_end_has_a_location() -> Result {
    // The last step of the story where there is one, else the module.
    let lock = ["--entry", "right", "--block", "2", "--arg", "counter=i32[1]:0", "--assert", "counter[0] == 7"];
    let count = ["--entry", "counts", "--grid", "1", "--block", "2", "--assert", "bins[0] == 7"];
    let count = [&count[..], &["--arg", "in=u32[2]:0", "--arg", "bins=u32[1]:0"]].concat();
    let cases = [
        ("cuda/spin_lock.ptx", &lock[..], "spin_lock.cu", true),
        ("opencl/scopeless.spvasm", &count, ".spvasm", false),
    ];
    for (file, launch, ending, has_line) in cases {
        let file = proof(&format!("foreign/tests/{file}"));
        let (code, _, log) = run("assertion", &[&["check", &file, "--no-advice"], launch].concat())?;
        assert_eq!(code, Some(1), "{log:#}");
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "assertion", "{log:#}");
        let physical = &result["locations"][0]["physicalLocation"];
        assert!(physical["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with(ending)), "{log:#}");
        assert_eq!(physical["region"]["startLine"].is_u64(), has_line, "{log:#}");
    }
    Ok(())
}

#[test]
fn a_module_that_is_refused_was_not_answered() -> Result {
    let file = proof("foreign/tests/cuda/spin_lock.ptx");
    let (code, xml, log) = run("refused", &["check", &file, "--entry", "nothing"])?;
    assert_eq!(code, Some(2));
    assert!(xml.contains("<error ") && xml.contains("nothing"), "{xml}");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    Ok(())
}

#[test]
fn a_litmus_file_s_claim() -> Result {
    let file = proof("litmus/litmus/vulkan/idle-race.litmus");
    let (code, xml, log) = run("litmus", &["litmus", &file, "--model", "vulkan", "--ask", "race"])?;
    assert_eq!(code, Some(1));
    assert_eq!(attribute(&xml, "failure", "type"), Some("data race"), "{xml}");
    let physical = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert!(physical["artifactLocation"]["uri"].as_str().is_some_and(|uri| uri.ends_with("idle-race.litmus")));
    assert!(physical.get("region").is_none());
    Ok(())
}

#[test]
fn a_list_has_a_case_for_each_file() -> Result {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings list");
    std::fs::create_dir_all(&root)?;
    std::fs::copy(proof("litmus/litmus/vulkan/idle-race.litmus"), root.join("a.litmus"))?;
    let list = root.join("expected.csv");
    std::fs::write(&list, "path,expected\na.litmus,1\nmissing.litmus,1\n")?;
    let (root, list) = (root.display().to_string(), list.display().to_string());
    let args = ["litmus", &root, "--model", "vulkan", "--ask", "race", "--expected", &list];
    let (code, xml, log) = run("list", &args)?;
    assert_eq!(code, Some(1), "{xml}");
    assert_eq!((xml.matches("<failure ").count(), xml.matches("<error ").count()), (1, 1), "{xml}");
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().is_some_and(|uri| uri.ends_with("findings%20list/a.litmus")), "{uri}");
    Ok(())
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() -> Result {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    let output = command.args(["check", "publication", "--junit", "/nowhere/at/all.xml"]).output()?;
    let error = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("/nowhere/at/all.xml cannot be written"), "{error}");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_whose_reader_has_gone_is_a_quiet_end_for_files_too() -> Result {
    use std::os::fd::AsRawFd;

    for args in
        [&["emit", "publication", "-o"][..], &["check", "publication-broken-no-release", "--no-advice", "--svg"]]
    {
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        // The child has no such file, but this process has as long as it runs.
        let file = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
        let output = command.env("WATTLE_CACHE", "").args(args).arg(&file).output()?;
        let error = String::from_utf8(output.stderr)?;
        assert!(output.status.code() != Some(2) && error.is_empty(), "{args:?}: {error}");
    }
    Ok(())
}

/// A named pipe is opened once: its reader takes the first end for the last one.
#[cfg(target_os = "linux")]
#[test]
fn a_report_goes_through_a_named_pipe() -> Result {
    let pipe = Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings-pipe");
    let _ = std::fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status()?.success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn()?;
    let args = ["stress", "store-buffering", "--device", "host", "--seconds", "0.2", "--report"];
    let output = Command::new(env!("CARGO_BIN_EXE_wattle")).args(args).arg(&pipe).output()?;
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(reader.wait_with_output()?.stdout)?;
    assert!(page.contains("<table>"), "{page}");
    Ok(())
}

#[test]
fn a_litmus_file_that_is_refused_is_in_every_document() -> Result {
    let (code, xml, log) = run("refused", &["litmus", "there-is-none.litmus", "--model", "ptx"])?;
    assert_eq!((code, xml.matches("<error ").count()), (Some(2), 1), "{xml}");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false, "{log:#}");
    Ok(())
}

#[test]
fn what_was_not_begun_is_in_every_document() -> Result {
    let (code, xml, log) = run("not-begun", &["check", "publication", "store-buffering", "--time", "0"])?;
    assert_eq!((code, xml.matches("<error ").count()), (Some(2), 8), "{xml}");
    let notes = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notes.as_array().map(Vec::len), Some(8), "{log:#}");
    let files = [proof("litmus/litmus/vulkan/idle-race.litmus"), proof("litmus/litmus/vulkan/idle-race.litmus")];
    let (code, xml, _) = run("files-not-begun", &["check", &files[0], &files[1], "--time", "0"])?;
    assert_eq!((code, xml.matches("<error ").count()), (Some(2), 2), "{xml}");
    Ok(())
}

#[test]
fn of_a_list_what_was_not_begun_is_no_failure() -> Result {
    let root = proof("litmus/litmus");
    let list = format!("{root}/ptx-outcome.csv");
    let all = std::fs::read_to_string(&list)?.lines().count() - 1;
    let args = ["litmus", &root, "--model", "ptx", "--expected", &list, "--time", "0"];
    let (code, xml, _) = run("litmus-not-begun", &args)?;
    assert_eq!((code, xml.matches("<error ").count()), (Some(2), all), "{xml}");

    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let list = root.join("not-begun.csv");
    std::fs::write(&list, "path,expected\na.spvasm,pass\nb.spvasm,fail\n")?;
    let (root, list) = (root.display().to_string(), list.display().to_string());
    let args = ["modules", &root, "--ask", "race", "--expected", &list, "--time", "0"];
    let (code, xml, _) = run("modules-not-begun", &args)?;
    assert_eq!((code, xml.matches("<error ").count(), xml.matches("<failure ").count()), (Some(2), 2, 0), "{xml}");
    let output = Command::new(env!("CARGO_BIN_EXE_wattle")).args(args).output()?;
    let text = String::from_utf8(output.stdout)?;
    assert_eq!(text.lines().last(), Some("0 passed, 0 failed, 2 not judged: the time limit was reached"), "{text}");
    Ok(())
}

#[test]
fn a_verdict_that_there_is_not_has_the_names_of_one_that_there_is() -> Result {
    let verdicts = |args: &[&str]| -> Result<Vec<Value>> {
        let output = Command::new(env!("CARGO_BIN_EXE_wattle")).args(args).arg("--json").output()?;
        let document: Value = serde_json::from_slice(&output.stdout)?;
        let scenarios = document["scenarios"].as_array().ok_or("there are scenarios")?.iter();
        Ok(scenarios.flat_map(|scenario| scenario["verdicts"].as_array().cloned().unwrap_or_default()).collect())
    };
    let names = |verdict: &Value| -> Vec<String> {
        verdict.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    let judged = verdicts(&["check", "publication", "store-buffering", "--no-cache", "--no-advice"])?;
    let not = verdicts(&["check", "publication", "store-buffering", "--no-cache", "--no-advice", "--time", "0"])?;
    assert_eq!((judged.len(), not.len()), (8, 8));
    for (judged, not) in judged.iter().zip(&not) {
        assert_eq!(names(judged), names(not));
        for name in ["target", "model", "progress", "emitted"] {
            assert_eq!(judged[name], not[name], "{name}");
        }
        assert_eq!(not["verdict"], "unknown");
    }
    Ok(())
}
