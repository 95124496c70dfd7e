//! `wattle cost`, as a user or a script has it; never how long something takes.

use std::path::PathBuf;

use serde_json::Value;
use wattle_cli::{Exit, execute};

fn cost(args: &[&str]) -> (Exit, String) {
    let mut out = Vec::new();
    let args = ["wattle", "cost"].iter().chain(args).copied();
    let exit = execute(&[], args, &mut out);
    (exit, String::from_utf8(out).unwrap())
}

fn json(args: &[&str]) -> (Exit, Value) {
    let (exit, out) = cost(&[args, &["--json"]].concat());
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert_eq!(document["exit_code"], exit.code(), "{out}");
    (exit, document)
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("wattle-cost-{}-{name}", std::process::id()))
}

#[test]
fn measures_draws_keeps_and_compares() {
    for what in ["fences", "interference"] {
        let (kept, svg) = (file(&format!("{what}.json")), file(&format!("{what}.svg")));
        let (kept, svg) = (kept.to_str().unwrap(), svg.to_str().unwrap());
        let (exit, report) = json(&[what, "--quick", "--svg", svg]);
        assert_eq!((exit, &report["question"], &report["command"]), (Exit::Holds, &what.into(), &"cost".into()));
        assert!(report["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "{report}");
        assert!(std::fs::read_to_string(svg).unwrap().contains("</svg>"));
        std::fs::write(kept, report.to_string()).unwrap();
        // The same again, without measuring, and once more from what that kept.
        let (exit, text) = cost(&[what, "--from", kept, "--save", kept]);
        assert_eq!(exit, Exit::Holds);
        assert_eq!(cost(&[what, "--from", kept]), (exit, text.clone()));
        assert!(text.contains("fence SeqCst") && text.contains("host: "), "{text}");
        let (exit, text) = cost(&[what, "--quick", "--compare", kept]);
        assert_eq!(exit, Exit::Holds, "{text}");
        assert!(text.contains("first") && text.contains("second") && text.contains("ratio"), "{text}");
        let (exit, compared) = json(&[what, "--from", kept, "--compare", kept]);
        assert_eq!((exit, &compared["unmatched"]), (Exit::Holds, &0.into()), "{compared}");
        std::fs::remove_file(kept).unwrap();
        std::fs::remove_file(svg).unwrap();
    }
}

#[test]
fn wrong_input_says_what_is_wrong() {
    let (not_json, other) = (file("not.json"), file("other.json"));
    std::fs::write(&not_json, "{}").unwrap();
    let (_, report) = json(&["fences", "--quick", "--device", "host-serial"]);
    std::fs::write(&other, report.to_string()).unwrap();
    let (not_json, other) = (not_json.to_str().unwrap(), other.to_str().unwrap());
    for (args, kind, says) in [
        (&["fences", "--device", "hots"][..], "unknown_device", "hots"),
        (&["fences", "--device", "simulated"], "capability", "no time"),
        (&["fences", "--compare", "/nowhere/x.json"], "file", "/nowhere/x.json"),
        (&["fences", "--compare", not_json], "not_a_report", "no report of `wattle cost`"),
        (&["interference", "--compare", other], "not_comparable", "`wattle cost interference` writes what is wanted"),
        (&["interference", "--from", other], "not_comparable", "of another kind"),
        // It is known before anything is measured.
        (&["fences", "--save", "/nowhere/x.json"], "file", "/nowhere/x.json"),
        (&["fences", "--from", other, "--quick"], "arguments", "--quick"),
        (&["fences", "--from", other, "--svg", "/nowhere/x.svg"], "file", "/nowhere/x.svg"),
        (&["nothing"], "arguments", "nothing"),
        (&["fences", "--from", other, "--device", "host"], "arguments", "--device"),
    ] {
        let (exit, document) = json(args);
        assert_eq!((exit, document["error"]["kind"].as_str()), (Exit::Unanswered, Some(kind)), "{document}");
        assert!(document["error"]["message"].as_str().is_some_and(|message| message.contains(says)), "{document}");
    }
    std::fs::remove_file(not_json).unwrap();
    std::fs::remove_file(other).unwrap();
}

#[test]
fn a_time_limit_keeps_what_was_measured() {
    // How much a busy machine measures in a time is unknown: the limit grows until it is something.
    for seconds in ["0.3", "1", "3", "10", "30"] {
        let (exit, report) = json(&["fences", "--time", seconds]);
        assert_eq!(exit, Exit::Unanswered, "{report}");
        if report["error"]["kind"] == "time_limit" {
            continue;
        }
        assert_eq!(report["is_partial"], true, "{report}");
        return;
    }
    panic!("nothing was measured in 30 s");
}
