//! `wattle litmus`, as a script has it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, process};

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/litmus/litmus")
}

fn litmus(path: &Path, args: &[&str]) -> Result<(Option<i32>, String, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    let output = command.arg("litmus").arg(path).args(args).stdin(Stdio::null()).output()?;
    Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

#[test]
fn all_files_of_a_list_are_judged() -> Result {
    let list = root().join("ptx-outcome.csv").display().to_string();
    let (code, out, err) = litmus(&root(), &["--model", "ptx", "--ask", "outcome", "--expected", &list])?;
    assert_eq!((code, out.as_str()), (Some(0), "14 passed, 0 failed\n"), "{err}");
    let list = root().join("vulkan-liveness-hsa.csv").display().to_string();
    let asked = ["--model", "vulkan", "--ask", "liveness", "--progress", "hsa", "--expected", &list, "--json"];
    let (code, out, _) = litmus(&root(), &asked)?;
    let document: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!((code, &document["failed"]), (Some(0), &0.into()));
    assert_eq!(document["question"], "liveness (hsa)");
    assert!(document["cases"].as_array().is_some_and(|cases| !cases.is_empty()));
    Ok(())
}

#[test]
fn wrong_answers_are_told() -> Result {
    let list = env::temp_dir().join(format!("wattle-litmus-{}.csv", process::id()));
    fs::write(&list, "path,expected\nptx/mailbox.litmus,0\nptx/absent.litmus,1\nptx/relay.litmus,1\n")?;
    let said = litmus(&root(), &["--model", "ptx", "--expected", &list.display().to_string()]);
    fs::remove_file(&list)?;
    let (code, out, _) = said?;
    let mut lines: Vec<&str> = out.lines().collect();
    assert_eq!((code, lines.pop()), (Some(1), Some("1 passed, 1 failed, 1 without an answer")));
    lines.sort_unstable();
    assert!(lines[0].starts_with("ptx/absent.litmus: ") && lines.len() == 2, "{out}");
    assert_eq!(lines[1], "ptx/mailbox.litmus: 1, expected 0");
    Ok(())
}

#[test]
fn files_that_cannot_be_judged_are_no_wrong_answers() -> Result {
    let list = env::temp_dir().join(format!("wattle-litmus-absent-{}.csv", process::id()));
    fs::write(&list, "path,expected\nptx/absent.litmus,1\nptx/relay.litmus,1\n")?;
    let said = litmus(&root(), &["--model", "ptx", "--expected", &list.display().to_string()]);
    fs::remove_file(&list)?;
    let (code, out, err) = said?;
    assert_eq!((code, out.lines().last()), (Some(2), Some("1 passed, 0 failed, 1 without an answer")), "{err}");
    Ok(())
}

#[test]
fn one_file_is_explained() -> Result {
    let (code, out, _) = litmus(&root().join("ptx/two-doors-light.litmus"), &["--model", "ptx"])?;
    assert!(out.contains("exists (") && out.contains("holds under ptx, ") && out.contains(" executions\n"), "{out}");
    assert_eq!(code, Some(0));
    let (code, out, _) = litmus(&root().join("ptx/two-doors-light.litmus"), &["--model", "sc", "--json"])?;
    let document: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!((code, &document["answer"]), (Some(1), &"no".into()), "{out}");
    Ok(())
}

#[test]
fn a_list_without_files_is_refused() -> Result {
    let list = env::temp_dir().join(format!("wattle-litmus-empty-{}.csv", process::id()));
    fs::write(&list, "path,expected\n")?;
    let said = litmus(&root(), &["--model", "ptx", "--expected", &list.display().to_string()]);
    fs::remove_file(&list)?;
    let (code, out, err) = said?;
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains(":2:1: found nothing") && err.contains("the list has none"), "{err}");
    Ok(())
}

#[test]
fn the_verdict_is_said_and_no_claim_that_it_refutes() -> Result {
    for (answer, code, verdict, other) in
        [("0", 1, "data race under vulkan", "no data race"), ("1", 0, "no data race under vulkan", "does not hold")]
    {
        let list = fs::read_to_string(root().join("vulkan-race.csv"))?;
        let file = list.lines().find_map(|line| line.strip_suffix(answer)?.strip_suffix(',')).ok_or("no such file")?;
        let (found, out, _) = litmus(&root().join(file), &["--model", "vulkan", "--ask", "race"])?;
        assert_eq!(found, Some(code), "{out}");
        assert!(out.lines().nth(1).is_some_and(|line| line.starts_with(verdict)), "{out}");
        assert!(!out.contains(other), "{out}");
    }
    let stuck = ["--model", "vulkan", "--ask", "liveness", "--progress", "hsa"];
    let list = fs::read_to_string(root().join("vulkan-liveness-hsa.csv"))?;
    let file = list.lines().find_map(|line| line.strip_suffix(",0")).ok_or("no such file")?;
    let (_, out, _) = litmus(&root().join(file), &stuck)?;
    assert!(out.contains("some run never ends (hsa) under vulkan") && !out.contains("every run ends"), "{out}");
    Ok(())
}

#[test]
fn bad_input_is_refused() -> Result {
    let list = root().join("ptx-outcome.csv");
    let absent = root().join("absent.csv").display().to_string();
    for (path, args, why) in [
        (root(), vec!["--model", "ptx"], "is a directory"),
        (root(), vec!["--model", "ptx", "--expected", &absent], "absent.csv: "),
        (list.clone(), vec!["--model", "ptx", "--expected", &absent], "is not a directory"),
        (list, vec!["--model", "ptx"], "ptx-outcome.csv:1:1: found"),
        (root(), vec!["--model", "itanium"], "there is no memory model `itanium`"),
        (root(), vec!["--model", "ptx", "--progress", "some"], "there is no progress model `some`"),
    ] {
        let (code, _, err) = litmus(&path, &args)?;
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(why), "{err}");
    }
    Ok(())
}

#[test]
fn a_claim_about_no_run_is_told_as_such() -> Result {
    let file = env::temp_dir().join(format!("wattle-litmus-vacuous-{}.litmus", process::id()));
    let text =
        "PTX vacuous\n{ x=0; }\n P0@cta 0,gpu 0 ;\n L: ;\n ld.relaxed.gpu r1, x ;\n bne r1, 1, L ;\nforall (x == 7)\n";
    fs::write(&file, text)?;
    let said = litmus(&file, &["--model", "ptx"]);
    fs::remove_file(&file)?;
    let (code, out, _) = said?;
    assert_eq!(code, Some(0));
    assert!(out.ends_with("holds under ptx, no run ends\n"), "{out}");
    Ok(())
}
