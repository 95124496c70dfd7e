//! `wattle stress`: its parts, its reports, and what is wrong with what it is given.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const MESSAGE_PASSING: &str = "PTX mp\n{ x=0; f=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.acquire.gpu r0, f ;\n \
                               st.release.gpu f, 1 | beq r0, 0, LC00 ;\n | ld.weak r1, x ;\n | LC00: ;\n\
                               ~exists (P1:r0 == 1 /\\ P1:r1 == 0)\n";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stress-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mp.litmus"), MESSAGE_PASSING).unwrap();
    folder
}

fn wattle(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    command.current_dir(folder).arg("stress").args(args);
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const QUICK: [&str; 4] = ["--seconds", "0.1", "--environment", "patience=256,delay=2"];

#[test]
fn a_campaign_in_two_processes_is_put_together_in_either_order() {
    let folder = folder("parts");
    let part = |shard: &str| {
        let args = [&["mp.litmus", "--json", "--shard", shard][..], &QUICK].concat();
        wattle(&folder, &args).stdout(fs::File::create(folder.join(format!("{}.json", &shard[..1]))).unwrap()).spawn()
    };
    let parts = [part("0/2").unwrap(), part("1/2").unwrap()];
    for mut part in parts {
        assert_eq!(part.wait().unwrap().code(), Some(0));
    }
    let merged = |args: &[&str]| -> Value {
        let output = wattle(&folder, args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let both = merged(&["--json", "--merge", "0.json", "1.json"]);
    assert_eq!(both, merged(&["--json", "--merge", "1.json", "0.json"]));
    let sum = |report: &Value| report["tests"][0]["instances"].as_u64().unwrap();
    let read = |name: &str| -> Value { serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap() };
    assert_eq!(sum(&both), sum(&read("0.json")) + sum(&read("1.json")));
    let counted =
        both["tests"][0]["outcomes"].as_array().unwrap().iter().map(|outcome| outcome["count"].as_u64().unwrap());
    assert_eq!(counted.sum::<u64>(), sum(&both));
    assert_eq!(both["shards"], serde_json::json!([0, 1]));
    let part = wattle(&folder, &["--merge", "0.json"]).output().unwrap();
    assert_eq!(part.status.code(), Some(2));
    assert!(text(&part).contains("shards 0 of 2; missing: 1"), "{}", text(&part));
    let twice = wattle(&folder, &["--merge", "0.json", "0.json"]).output().unwrap();
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice).contains("shard 0 is in two of the reports"), "{}", text(&twice));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_is_run_and_its_page_written() {
    let folder = folder("page");
    fs::write(folder.join("bad.litmus"), "no litmus file").unwrap();
    let output = wattle(&folder, &[&[".", "--report", "page.html"][..], &QUICK].concat()).output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for words in ["mp", "P1:r0=", "allowed", "not run:", "bad.litmus", "nothing was seen that the model forbids"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("<h2>mp</h2>") && page.contains("bad.litmus"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_is_said() {
    let folder = folder("wrong");
    fs::write(
        folder.join("devices.litmus"),
        "PTX d\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;\n st.weak x, 1 | st.weak x, 2 ;\nexists (x == 1)\n",
    )
    .unwrap();
    fs::write(folder.join("no.json"), "{}").unwrap();
    fs::create_dir_all(folder.join("empty")).unwrap();
    for (args, words) in [
        (&["no-such-scenario"][..], "no-such-scenario"),
        (&["missing.litmus"], "missing.litmus"),
        (&["empty"], "there is no litmus file in it"),
        (&["mp.litmus", "--device", "simulated"], "wattle check"),
        (&["mp.litmus", "--device", "nowhere"], "nowhere"),
        (&["mp.litmus", "--shard", "2/2"], "0/4 is the first of four"),
        (&["mp.litmus", "--environment", "speed=9"], "write one as a report does"),
        (&["--merge", "no.json"], "it is no report"),
        (&["devices.litmus"], "its threads are on several devices"),
        (&["mp.litmus", "--environment", "space=block"], "use `space=device`"),
        (&["mp.litmus", "--report", "nowhere/page.html"], "nowhere/page.html cannot be written"),
        (&["mp.litmus", "--seconds", "-3"], "-3"),
        (&["--merge", "no.json", "--seed", "3"], "cannot be used with"),
        (&[], "required"),
    ] {
        let output = wattle(&folder, args).output().unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Reports of one seed are not of one campaign for that.
#[test]
fn parts_of_other_tests_are_not_put_together() {
    let folder = folder("others");
    fs::copy(folder.join("mp.litmus"), folder.join("other.litmus")).unwrap();
    for (name, file, shard) in [("a.json", "mp.litmus", "0/2"), ("b.json", "other.litmus", "1/2")] {
        let output = wattle(&folder, &[&[file, "--json", "--shard", shard][..], &QUICK].concat()).output().unwrap();
        fs::write(folder.join(name), output.stdout).unwrap();
    }
    let output = wattle(&folder, &["--merge", "a.json", "b.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("what is tested is `mp.litmus` in one"), "{}", text(&output));
    fs::remove_dir_all(folder).unwrap();
}

/// A job scheduler ends what takes too long with SIGTERM: what came until then is printed, and the exit code says that it is not all.
#[cfg(unix)]
#[test]
fn what_came_before_a_signal_is_kept() {
    let folder = folder("signal");
    let args = ["mp.litmus", "--seconds", "60", "--json", "--environment", "patience=256,delay=2"];
    let child = wattle(&folder, &args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Whether the test has begun by then is not known; that it ends, and says so, is.
    std::thread::sleep(std::time::Duration::from_secs(3));
    // Every shell has a `kill` of its own.
    assert!(Command::new("sh").args(["-c", &format!("kill {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
    let instances = report["tests"][0]["instances"].as_u64().unwrap_or(0);
    let refused = report["refused"].as_array().map_or(0, Vec::len);
    assert!(instances > 0 || refused > 0, "{report}");
    fs::remove_dir_all(folder).unwrap();
}
