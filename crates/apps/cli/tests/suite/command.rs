//! The built binary, as a user or a script has it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn wattle(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn said(output: Output) -> Result<Said> {
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert!(!out.contains('\x1b') && !err.contains('\x1b'), "a pipe gets no colours:\n{out}{err}");
    assert!(!err.contains("panicked"), "{err}");
    Ok(Said { code: output.status.code(), out, err })
}

fn say(args: &[&str]) -> Result<Said> {
    said(wattle(args).output()?)
}

fn json(args: &[&str]) -> Result<(Option<i32>, Value)> {
    let said = say(args)?;
    let document: Value = serde_json::from_str(&said.out)?;
    assert_eq!(document["exit_code"].as_i64(), said.code.map(i64::from), "{}", said.out);
    Ok((said.code, document))
}

/// The longest line, in columns.
fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn help_names_every_command() -> Result {
    let help = say(&["--help"])?;
    assert_eq!(help.code, Some(0));
    for command in ["tour", "devices", "list", "run", "emit", "Exit codes"] {
        assert!(help.out.contains(command), "{}", help.out);
    }
    assert_eq!(say(&["--version"])?.code, Some(0));
    let nothing = say(&[])?;
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Usage"), "{}", nothing.err);
    Ok(())
}

#[test]
fn devices_that_are_there_and_why_others_are_not() -> Result {
    let text = say(&["devices"])?;
    assert_eq!(text.code, Some(0));
    assert!(text.out.contains("host-serial"), "{}", text.out);
    assert!(width(&text.out) <= 120, "{}", text.out);

    let (_, document) = json(&["devices", "--json"])?;
    let names: Vec<_> = document["devices"].as_array().into_iter().flatten().map(|device| &device["name"]).collect();
    assert_eq!(names[..3], ["host", "host-serial", "simulated"]);
    assert!(document["devices"][0]["workers"].as_u64() >= Some(1));
    let missing = document["missing"].as_array().map_or(0, Vec::len);
    assert_eq!(text.out.contains("not here"), missing > 0, "{}", text.out);
    for missing in document["missing"].as_array().into_iter().flatten() {
        assert!(missing["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{missing}");
    }
    Ok(())
}

#[test]
fn scenarios_and_their_pages() -> Result {
    let text = say(&["list"])?;
    assert_eq!(text.code, Some(0));
    assert!(text.out.contains("publication"), "{}", text.out);
    assert!(width(&text.out) <= 120, "{}", text.out);
    for command in ["list", "explain"] {
        let page = say(&[command, "publication"])?;
        assert_eq!(page.code, Some(0));
        assert!(page.out.starts_with("publication\n") && page.out.lines().count() > 5, "{}", page.out);
    }
    let (_, document) = json(&["list", "--json"])?;
    let scenarios = document["scenarios"].as_array().ok_or("no scenarios")?;
    assert_eq!(scenarios.len(), wattle_kernels::all().len());
    assert!(scenarios.iter().any(|scenario| scenario["expectation"] == "refuted"));
    let (_, one) = json(&["list", "stream", "--json"])?;
    assert!(one["scenarios"][0]["sizes"]["full"].as_u64() > one["scenarios"][0]["sizes"]["proof"].as_u64());
    Ok(())
}

#[test]
fn a_scenario_that_holds() -> Result {
    let text = say(&["run", "publication", "swap", "--device", "all"])?;
    assert_eq!(text.code, Some(0), "{}", text.out);
    assert_eq!(text.out.matches("held").count(), 2 * wattle::Device::all().len(), "{}", text.out);
    let (code, document) = json(&["run", "orderings", "-d", "simulated", "--size", "7", "--repeat", "5", "--json"])?;
    assert_eq!(code, Some(0));
    let attempt = &document["attempts"][0];
    assert_eq!((&attempt["status"], &attempt["size"], &attempt["runs"]), (&"held".into(), &7.into(), &5.into()));
    let outcomes = attempt["outcomes"].as_object().ok_or("no outcomes")?;
    assert_eq!(outcomes.values().filter_map(Value::as_u64).sum::<u64>(), 35);
    Ok(())
}

#[test]
fn a_scenario_that_is_refuted() -> Result {
    let text = say(&["run", "publication-broken-block-scope", "--device", "simulated:7"])?;
    assert_eq!(text.code, Some(1), "{}", text.out);
    assert!(text.out.contains("data race") && text.out.contains("publication.rs:"), "{}", text.out);
    assert!(width(&text.out) <= 120, "{}", text.out);
    let (_, document) = json(&["run", "publication-broken-block-scope", "-d", "simulated", "-r", "3", "--json"])?;
    let attempt = &document["attempts"][0];
    assert_eq!(attempt["status"], "does_not_hold");
    assert_eq!(attempt["as_expected"], true);
    assert_eq!(attempt["error"]["kind"], "finding");
    Ok(())
}

#[test]
fn launches_by_frames_hold_in_any_shape() -> Result {
    let scenarios = ["swap", "block-scan", "histogram", "matrix-transpose", "last-block-sum", "grid-barrier"];
    for shape in [&["--blocks", "1"][..], &["--threads", "1"], &["--blocks", "3", "--threads", "5"]] {
        let (code, document) = json(&[&["run", "-d", "simulated", "--json"][..], &scenarios, shape].concat())?;
        assert_eq!(code, Some(0), "{document}");
        assert_eq!(document["shape"]["used"], true);
    }
    Ok(())
}

#[test]
fn a_shape_that_no_launch_takes() -> Result {
    let text = say(&["run", "publication", "--blocks", "3"])?;
    assert_eq!(text.code, Some(0));
    assert!(text.out.contains("note: --blocks and --threads changed nothing"), "{}", text.out);
    Ok(())
}

#[test]
fn outcomes_have_bars() -> Result {
    let text = say(&["run", "orderings-no-fence", "-d", "simulated"])?;
    assert!(text.out.contains('█') && text.out.contains('%'), "{}", text.out);
    Ok(())
}

#[test]
fn emits_each_kernel_once() -> Result {
    let text = say(&["emit", "publication", "--target", "ir"])?;
    assert_eq!(text.code, Some(0), "{}", text.err);
    assert_eq!(text.out.matches("kernel ").count(), 1, "{}", text.out);
    assert!(text.out.contains("// line "), "{}", text.out);
    let (_, document) = json(&["emit", "cumulativity", "-t", "ir", "--json"])?;
    let kernels = document["kernels"].as_array().ok_or("no kernels")?;
    assert_eq!(kernels.len(), 2, "the host part too");
    assert!(kernels.iter().all(|kernel| kernel["text"].as_str().is_some_and(|text| !text.is_empty())));
    let (_, one) = json(&["emit", "cumulativity", "-t", "ir", "-k", "receive", "--json"])?;
    assert_eq!(one["kernels"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[test]
fn emits_ptx_for_an_architecture_and_a_version() -> Result {
    let emitted = |args: &[&str]| {
        let target: &[&str] = if args.contains(&"--target") { &[] } else { &["--target", "ptx"] };
        say(&[&["emit", "publication"], target, args].concat())
    };
    let usual = emitted(&[])?;
    assert_eq!(usual.code, Some(0), "{}", usual.err);
    for line in [".version 8.6", ".target sm_90", "fence.release.gpu;", "fence.acquire.gpu;"] {
        assert!(usual.out.contains(line), "{line}\n{}", usual.out);
    }
    assert!(usual.out.contains("// crates/apps/kernels/src/publication.rs:"), "{}", usual.out);
    // One-sided fences are not defined below, and an assembler takes them silently all the same.
    for (args, version) in [(["--arch", "sm_90", "--ptx", "8.5"], "8.5"), (["--arch", "sm_80", "--ptx", "8.6"], "8.6")]
    {
        let older = emitted(&args)?;
        assert!(older.out.contains(&format!(".version {version}")), "{}", older.out);
        assert!(older.out.contains("fence.acq_rel.gpu;") && !older.out.contains("fence.acquire"), "{}", older.out);
    }
    for (args, words) in [
        (["--arch", "sm_100", "--ptx", "8.0"], "begins with PTX 8.6"),
        (["--arch", "sm_91", "--ptx", "8.6"], "sm_90, sm_100"),
        (["--arch", "sm_90", "--ptx", "eight"], "write 8.6"),
        (["--arch", "sm_90", "--ptx", "8.60"], "write 8.6"),
        (["--target", "ir", "--arch", "sm_90"], "--target ptx"),
    ] {
        let wrong = emitted(&args)?;
        assert!(wrong.code == Some(2) && wrong.err.contains(words), "{args:?}: {}", wrong.err);
    }
    let both = say(&["emit", "publication", "-o", "x.ptx", "--json"])?;
    assert!(both.code == Some(2) && both.out.contains("--output is for the code alone"), "{}", both.out);
    // Several kernels, of which some have one name, are one module.
    let several = say(&["emit", "stream", "--target", "ptx"])?.out;
    assert_eq!(several.matches(".version").count(), 1, "{several}");
    for entry in ["wattle_copy(", "wattle_copy_2(", "wattle_dot_2("] {
        assert_eq!(several.matches(&format!(".entry {entry}")).count(), 1, "{entry}");
    }
    Ok(())
}

#[test]
fn bad_input_says_what_there_is() -> Result {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["run", "publicaton"],
            &["no scenario `publicaton`", "did you mean `publication`", "`wattle list` shows the"],
        ),
        (&["list", "nothing-like-it"], &["no scenario", "`wattle list` shows the"]),
        (&["check", "publication", "--junit", "no/such/folder.xml"], &["no/such/folder.xml cannot be written"]),
        (&["check", "publication", "--svg", "no/such/folder.svg"], &["no/such/folder.svg cannot be written"]),
        (&["litmus", "none", "--model", "ptx", "--sarif", "no/such/folder"], &["no/such/folder cannot be written"]),
        (&["check", "swap", "--junit", "same", "--sarif", "same"], &["--junit and --sarif name the same file"]),
        (&["check", "."], &[". is a folder", "wattle modules", "wattle litmus"]),
        (&["check", "swap", "--time=-1"], &["write a number of seconds from 0 on"]),
        (&["run", "swap", "--device", "hots"], &["no device `hots`", "host-serial", "did you mean `host`"]),
        (&["run", "swap", "--device", "cuda:99"], &["cuda"]),
        (&["tour", "--device", ""], &["no device ``"]),
        (&["run"], &["NAME"]),
        (&["run", "swap", "--size", "0"], &["at least 1"]),
        (&["run", "swap", "--size", "many"], &["1000, 1_000 or 2^24"]),
        (&["orders", "orderings", "--size", "0"], &["at least 1"]),
        (&["orders", "publication", "--size", "4"], &["`publication` has one size only; leave it out"]),
        (&["check", "orderings", "--size", "18446744073709551615"], &["at most 1152921504606846976, 2^60"]),
        (&["run", "swap", "--size", "-3"], &["-3"]),
        (&["run", "swap", "--size", "many"], &["many"]),
        (&["run", "publication", "--size", "3"], &["--size", "publication"]),
        (&["run", "swap", "--repeat", "0"], &["0"]),
        (&["run", "swap", "--blocks", "0"], &["0"]),
        (&["emit", "swap", "--target", "wasm"], &["wasm", "possible values: ir"]),
        (&["emit", "swap", "--target", "ir", "--kernel", "nope"], &["no kernel `nope`", "there are"]),
        (&["emit", "nope", "--target", "ir"], &["no scenario `nope`"]),
        (&["fly"], &["fly"]),
        (&["devices", "more"], &["more"]),
    ];
    for (args, words) in cases {
        let text = say(args)?;
        assert_eq!(text.code, Some(2), "{args:?}: {}", text.err);
        assert_eq!(text.out, "", "{args:?}");
        for word in *words {
            assert!(text.err.contains(word), "{args:?} should say `{word}`: {}", text.err);
        }
        let mut with_json = args.to_vec();
        with_json.push("--json");
        let (code, document) = json(&with_json)?;
        assert_eq!(code, Some(2), "{args:?}");
        assert!(document["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{document}");
        assert!(document["error"]["kind"].is_string(), "{document}");
    }
    let (_, document) = json(&["run", "publicaton", "--json"])?;
    assert_eq!(document["error"]["kind"], "unknown_scenario");
    assert_eq!(document["error"]["near"][0], "publication");
    Ok(())
}

#[test]
fn more_than_there_is_could_not_be_tried() -> Result {
    let text = say(&["run", "stream", "--size", "2^60"])?;
    assert_eq!(text.code, Some(2), "{}{}", text.out, text.err);
    assert!(text.out.contains("could not be tried"), "{}", text.out);
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_early() -> Result {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proof/litmus/litmus/ptx/mailbox.litmus");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proof/litmus/litmus");
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proof/litmus/litmus/ptx-outcome.csv");
    let commands: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["list"],
        &["list", "publication"],
        &["explain", "publication"],
        &["tour", "--device", "simulated"],
        &["devices"],
        &["run", "publication-broken-block-scope", "--device", "simulated"],
        &["check", "publication-broken-block-scope", "--no-advice"],
        &["check", file],
        &["check", "publication", "--emit-litmus", "ptx"],
        &["orders", "orderings"],
        &["litmus", file, "--model", "ptx"],
        &["litmus", root, "--model", "ptx", "--expected", list],
        &["emit", "publication"],
        &["emit", "publication", "--target", "spirv"],
        &["emit", "publication", "--target", "spirv-bin"],
        &["emit", "publication", "--target", "ptx"],
    ];
    let closed = |args: &[&str]| -> Result {
        // The reader is gone before the command starts, so that its first line already meets a closed pipe.
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        let done = said(wattle(args).stdout(writer).stderr(Stdio::piped()).spawn()?.wait_with_output()?)?;
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{args:?}");
        Ok(())
    };
    for args in commands {
        closed(args)?;
        closed(&[args, &["--json"][..]].concat())?;
    }
    closed(&["list", "nothing-like-it", "--json"])
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written() -> Result {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full")?;
    let done = said(wattle(&["list"]).stdout(full).stderr(Stdio::piped()).spawn()?.wait_with_output()?)?;
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("could not be written"), "{}", done.err);
    Ok(())
}

#[cfg(unix)]
fn interrupt(child: &std::process::Child) -> Result {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    assert!(sent.success());
    Ok(())
}

#[cfg(unix)]
#[test]
fn an_interruption_keeps_what_was_found() -> Result {
    let long = ["run", "orderings", "-d", "simulated", "-n", "20", "--repeat", "1000000000", "--json"];
    let child = wattle(&long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    thread::sleep(Duration::from_millis(700));
    let start = Instant::now();
    interrupt(&child)?;
    let done = said(child.wait_with_output()?)?;
    assert!(start.elapsed() < Duration::from_secs(5), "it took {:?} to stop", start.elapsed());
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.contains("Ctrl-C again"), "{}", done.err);
    let document: Value = serde_json::from_str(&done.out)?;
    assert_eq!((&document["exit_code"], &document["interrupted"]), (&2.into(), &true.into()));
    let attempt = &document["attempts"][0];
    assert_eq!(attempt["status"], "interrupted");
    let runs = attempt["runs"].as_u64().ok_or("no runs")?;
    assert!(runs >= 1);
    let rounds: u64 =
        attempt["outcomes"].as_object().into_iter().flat_map(|map| map.values()).filter_map(Value::as_u64).sum();
    assert_eq!(rounds, 20 * runs);
    Ok(())
}

#[cfg(unix)]
#[test]
fn an_interrupted_tour_says_how_far_it_came() -> Result {
    let mut child = wattle(&["tour"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut out = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut text = String::new();
    // The first line of the first device: something has been found.
    while !text.contains('✓') && out.read_line(&mut text)? > 0 {}
    interrupt(&child)?;
    out.read_to_string(&mut text)?;
    let code = child.wait()?.code();
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("it was interrupted: ") && text.contains("were done"), "{text}");
    Ok(())
}
