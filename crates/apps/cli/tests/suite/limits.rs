//! `--time`, `--memory` and Ctrl-C end every command that may take long, also where something does not heed them.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use wattle::prelude::*;
use wattle::{Expectation, Work};
use wattle_cli::Exit;

/// Beyond this a command is said to hang. It says nothing about how quick a command is.
const HANGS: Duration = Duration::from_secs(120);

static RELEASED: AtomicBool = AtomicBool::new(false);
static SLEEPERS: AtomicU32 = AtomicU32::new(0);

/// Looks at no limit until it is released.
fn heeds_nothing(_: &Device) -> Result<Summary> {
    SLEEPERS.fetch_add(1, Ordering::SeqCst);
    let began = Instant::now();
    while !RELEASED.load(Ordering::SeqCst) && began.elapsed() < HANGS {
        thread::sleep(Duration::from_millis(1));
    }
    SLEEPERS.fetch_sub(1, Ordering::SeqCst);
    Ok(Summary::new("slept"))
}

const HEEDS_NOTHING: Scenario = Scenario {
    name: "heeds-nothing",
    summary: "for tests",
    documentation: "A page.",
    expectation: Expectation::Holds,
    work: Work::Fixed(heeds_nothing),
};

/// One test, so that one command runs at a time.
#[test]
fn what_heeds_no_limit_is_left_to_itself() {
    let commands: &[&[&str]] = &[
        &["run", "heeds-nothing"],
        &["run", "heeds-nothing", "--device", "simulated", "--repeat", "3"],
        &["tour", "--device", "host"],
        &["check", "heeds-nothing"],
        &["check", "heeds-nothing", "--target", "ptx:sm_90", "--no-advice"],
        &["check", "heeds-nothing", "--emit-litmus", "ptx"],
        &["orders", "heeds-nothing"],
        &["emit", "heeds-nothing"],
    ];
    for (limit, reached) in
        [(["--time", "0.05"], "the time limit was reached"), (["--memory", "1K"], "the memory limit was reached")]
    {
        for command in commands {
            RELEASED.store(false, Ordering::SeqCst);
            let began = Instant::now();
            let args = [&["wattle"], *command, &limit, &["--json"]].concat();
            let mut out = Vec::new();
            let exit = wattle_cli::execute(&[HEEDS_NOTHING], &args, &mut out);
            let out = String::from_utf8_lossy(&out);
            assert!(began.elapsed() < HANGS, "{args:?} waited for what heeds nothing");
            assert_eq!(exit, Exit::Unanswered, "{args:?}: {out}");
            assert!(out.contains(reached), "{args:?}: {out}");
            RELEASED.store(true, Ordering::SeqCst);
            while SLEEPERS.load(Ordering::SeqCst) > 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[kernel]
fn counts_up(acc: &Acc, x: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        seen.store(0, 1);
    } else {
        let most = 100 * seen.load(0);
        while x.fetch_add(0, 1) < most {}
        seen.store(1, most + 1);
    }
}

/// Goes round a loop, in some executions, more often than the bound that searches have.
fn goes_on(device: &Device) -> Result<Summary> {
    let (queue, x, seen) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(ThreadSpec::new(2, 1), counts_up(&x, &seen))?;
    let mut summary = Summary::new("counted");
    summary.observe(&[("seen", i64::from(seen.read(&queue)?[1]))]);
    Ok(summary)
}

const GOES_ON: Scenario = Scenario { name: "goes-on", work: Work::Fixed(goes_on), ..HEEDS_NOTHING };

/// A table that a limit or a bound has left open does not look whole.
#[test]
fn orders_that_were_not_all_looked_at_are_no_answer() {
    let execute = |more: &[&str]| {
        let mut out = Vec::new();
        let args = [&["wattle", "orders", "goes-on"], more].concat();
        let exit = wattle_cli::execute(&[GOES_ON], &args, &mut out);
        (exit, String::from_utf8(out).unwrap())
    };
    let (exit, text) = execute(&[]);
    assert_eq!(exit, Exit::Unanswered, "{text}");
    assert!(text.contains("not everything was looked at: some loop goes on after"), "{text}");
    let (exit, text) = execute(&["--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(exit, Exit::Unanswered);
    assert_eq!(document["exit_code"], 2, "{text}");
    assert!(document["unknown"][0].as_str().unwrap().contains("some loop goes on"), "{text}");
    assert!(document["variants"][0]["unknown"].as_array().unwrap().contains(&"unordered".into()), "{text}");
}

#[kernel]
fn crosses(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        x.store(0, 1);
        acc.mem_fence(Scope::Device, Order::SeqCst);
        seen.store(0, y.load(0));
    } else {
        y.store(0, 1);
        acc.mem_fence(Scope::Device, Order::SeqCst);
        seen.store(1, x.load(0));
    }
}

/// Is quick to search, and takes its time on the host each time that it is run.
fn takes_its_time(device: &Device) -> Result<Summary> {
    thread::sleep(Duration::from_millis(40));
    let queue = device.queue()?;
    let (x, y, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(ThreadSpec::new(2, 1), crosses(&x, &y, &seen))?;
    let seen = seen.read(&queue)?;
    let mut summary = Summary::new("crossed");
    summary.observe(&[("A", i64::from(seen[0])), ("B", i64::from(seen[1]))]);
    Ok(summary)
}

const TAKES_ITS_TIME: Scenario =
    Scenario { name: "takes-its-time", work: Work::Fixed(takes_its_time), ..HEEDS_NOTHING };

/// What was counted before the limit is shown, and what was not come to is marked.
#[test]
fn orders_that_were_counted_before_a_limit_are_shown() {
    let mut out = Vec::new();
    let args = ["wattle", "orders", "takes-its-time", "--time", "4"];
    let exit = wattle_cli::execute(&[TAKES_ITS_TIME], args, &mut out);
    let text = String::from_utf8(out).unwrap();
    assert_eq!(exit, Exit::Unanswered, "{text}");
    assert!(text.contains("A=1 B=1") && text.contains("the time limit was reached"), "{text}");
    assert!(text.lines().any(|line| line.contains('?')), "{text}");
}

/// Many threads that go round several words: far more states than can be gone through.
fn long_litmus(name: &str) -> PathBuf {
    let threads = 12;
    let column = |line: &dyn Fn(usize) -> String| (0..threads).map(line).collect::<Vec<_>>().join(" | ") + " ;\n";
    let mut text = "PTX Long\n{\n".to_owned();
    for thread in 0..threads {
        text += &format!("x{thread}=0; P{thread}:r0=0; P{thread}:r1=0;\n");
    }
    text += "}\n ";
    text += &column(&|thread| format!("P{thread}@cta {thread},gpu 0"));
    for turn in 0..3 {
        text += &column(&|thread| format!("atom.relaxed.gpu.add r0, x{}, 1", (thread + turn) % threads));
    }
    text += "exists (P0:r0 == 77)\n";
    let path = env::temp_dir().join(format!("wattle-limits-{}-{name}.litmus", process::id()));
    fs::write(&path, text).expect("a file for a test");
    path
}

/// A module that it takes long to prepare a launch of: many branches.
fn long_module(name: &str) -> PathBuf {
    let mut text = "OpCapability Shader\nOpMemoryModel Logical Vulkan\nOpEntryPoint GLCompute %main \"main\"\n\
                    %void = OpTypeVoid\n%f = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%bool = OpTypeBool\n\
                    %ptr = OpTypePointer StorageBuffer %uint\n%one = OpConstant %uint 1\n\
                    %out = OpVariable %ptr StorageBuffer\n%main = OpFunction %void None %f\n%b0 = OpLabel\n"
        .to_owned();
    for turn in 0..7000 {
        let next = turn + 1;
        text += &format!(
            "%v{turn} = OpLoad %uint %out\n%c{turn} = OpIEqual %bool %v{turn} %one\nOpSelectionMerge %b{next} None\n\
             OpBranchConditional %c{turn} %t{turn} %b{next}\n%t{turn} = OpLabel\nOpStore %out %v{turn}\n\
             OpBranch %b{next}\n%b{next} = OpLabel\n"
        );
    }
    text += "OpReturn\nOpFunctionEnd\n";
    let path = env::temp_dir().join(format!("wattle-limits-{}-{name}.spvasm", process::id()));
    fs::write(&path, text).expect("a file for a test");
    path
}

fn wattle(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattle"));
    // What a run prints does not depend on earlier ones.
    command.env("WATTLE_CACHE", "");
    let command = command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command is built")
}

fn done(mut child: Child, args: &[&str]) -> Output {
    let began = Instant::now();
    while child.try_wait().expect("it is a child").is_none() {
        if began.elapsed() >= HANGS {
            let _ = child.kill();
            panic!("{args:?} goes on beyond its limit");
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The arguments with which each command takes long, without an end in sight.
fn long<'a>(file: &'a str, module: &'a str) -> Vec<Vec<&'a str>> {
    vec![
        vec!["check", module, "--arg", "out=u32[1]:0", "--block", "2"],
        vec!["check", "lock-ticket", "--size", "12", "--no-symmetry"],
        vec!["check", "lock-ticket", "--size", "12", "--no-symmetry", "--emit-litmus", "ptx"],
        vec!["check", file],
        vec!["orders", "lock-ticket", "--size", "12"],
        vec!["run", "orderings", "--device", "simulated", "--size", "20", "--repeat", "1000000000"],
        vec!["litmus", file, "--model", "ptx"],
        vec!["litmus", file, "--model", "ptx", "--ask", "race"],
        vec!["litmus", file, "--model", "ptx", "--ask", "liveness", "--progress", "hsa"],
        vec!["stress", "lock-ticket", "--seconds", "100000"],
        vec!["cost", "fences", "--device", "host"],
        vec!["tour", "--device", "simulated", "--device", "host"],
    ]
}

fn stops(limit: &[&str], reached: &str, name: &str, interrupt: bool) {
    let file = long_litmus(name);
    let path = file.display().to_string();
    let module = long_module(name);
    let module_path = module.display().to_string();
    let list = env::temp_dir().join(format!("wattle-limits-{}-{name}.csv", process::id()));
    let file_name = file.file_name().and_then(|name| name.to_str()).expect("a name");
    fs::write(&list, format!("path,expected\n{}", format!("{file_name},1\n").repeat(20))).expect("a list");
    let (root, list_path) = (env::temp_dir().display().to_string(), list.display().to_string());
    let mut all = long(&path, &module_path);
    for question in ["outcome", "liveness"] {
        all.push(vec!["litmus", &root, "--model", "ptx", "--ask", question, "--expected", &list_path]);
    }
    let modules = env::temp_dir().join(format!("wattle-limits-{}-{name}-modules.csv", process::id()));
    let module_name = module.file_name().and_then(|name| name.to_str()).expect("a name");
    fs::write(&modules, format!("path,expected\n{}", format!("{module_name},pass\n").repeat(20))).expect("a list");
    let modules_path = modules.display().to_string();
    all.push(vec!["modules", &root, "--ask", "race", "--expected", &modules_path]);
    for command in all {
        let args = [&command[..], limit].concat();
        let child = wattle(&args);
        if interrupt {
            thread::sleep(Duration::from_millis(300));
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(sent.is_ok_and(|status| status.success()));
        }
        let output = done(child, &args);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(reached), "{args:?}: {text}");
        assert!(!text.contains("panicked"), "{args:?}: {text}");
    }
    for file in [file, module, list, modules] {
        let _ = fs::remove_file(file);
    }
}

#[test]
fn time_ends_every_command() {
    stops(&["--time", "0.3"], "the time limit was reached", "time", false);
}

#[test]
fn memory_ends_every_command() {
    stops(&["--memory", "1M"], "the memory limit was reached", "memory", false);
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_every_command() {
    stops(&[], "it was interrupted", "interrupt", true);
}

/// What a limit left open does not hide what was found to be wrong before.
#[test]
fn what_does_not_hold_decides_beside_what_a_limit_left_open() {
    let long = long_litmus("beside");
    let wrong = env::temp_dir().join(format!("wattle-limits-{}-wrong.litmus", process::id()));
    fs::write(&wrong, "PTX Wrong\n{\nx=0;\n}\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (x == 0)\n")
        .expect("a file for a test");
    let list = env::temp_dir().join(format!("wattle-limits-{}-beside.csv", process::id()));
    fs::write(&list, format!("path,expected\n{},1\n{},0\n", wrong.display(), long.display()))
        .expect("a file for a test");
    let root = env::temp_dir().display().to_string();
    let [wrong_name, long_name, list_name] = [&wrong, &long, &list].map(|path| path.display().to_string());
    for args in [
        vec!["litmus", &root, "--model", "ptx", "--expected", &list_name, "--time", "3"],
        vec!["litmus", &root, "--model", "ptx", "--expected", &list_name, "--time", "3", "--json"],
        vec!["check", &wrong_name, &long_name, "--time", "3"],
    ] {
        let output = done(wattle(&args), &args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", text(&output));
        assert!(text(&output).contains("the time limit was reached"), "{args:?}: {}", text(&output));
    }
    for file in [wrong, long, list] {
        fs::remove_file(file).expect("the test has made it");
    }
}
