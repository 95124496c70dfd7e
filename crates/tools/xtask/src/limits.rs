//! `limits`: how soon commands of `wattle` end once their time, their memory or the user's patience is over.
//!
//! No test says this, since a test that fails on a time fails on a busy machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::pack::build;

/// How long a command may go on after the moment at which it was to end.
const MOST: Duration = Duration::from_millis(500);

/// When the time limit ends a command, and when Ctrl-C does.
const MOMENT: Duration = Duration::from_secs(2);

/// The memory limit, in bytes. A command's memory is looked at now and then, so that it may have somewhat more.
const MEMORY: u64 = 200 << 20;

/// The longest that a command may have to come to its memory limit.
const PATIENCE: Duration = Duration::from_secs(30);

/// Commands with more to do than there is time for. `{many}` and `{spin}` are litmus files, `{module}` is one of PTX.
const COMMANDS: &[&str] = &[
    "check lock-ticket --size 12 --no-symmetry",
    "check deque-chase-lev --size 3",
    "check queue-michael-scott --size 3",
    "check {module} --grid 8 --arg a=u32[4]:0 --arg b=u32[4]:0",
    "orders lock-ticket --size 12",
    "tour",
    "litmus {many} --model ptx",
    "litmus {many} --model ptx --ask race",
    "litmus {many} --model ptx --ask liveness --progress hsa",
    "litmus {many} --model vulkan",
    "litmus {spin} --model ptx --ask liveness",
    "litmus {spin} --model portable --ask liveness --progress obe",
    "run stream --device host --repeat 1000000",
    "run stream --device simulated --repeat 1000000",
    "stress store-buffering --seconds 100000",
    "stress last-block-sum --seconds 100000",
    "cost fences --device host",
    "cost interference --device host",
];

/// What ends a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Time,
    CtrlC,
    Memory,
}

/// Runs the commands, each to each limit, and prints what it took them.
pub fn run() -> ExitCode {
    match measure() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(late) => {
            println!("{late} ended later than {} s after the moment", MOST.as_secs_f64());
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn measure() -> Result<usize, String> {
    let program = build(&["build", "--workspace", "--bin", "wattle"])?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/limits");
    let doing = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(doing)?;
    let [many, spin, module] = ["many.litmus", "spin.litmus", "many.ptx"].map(|name| folder.join(name));
    fs::write(&many, many_orders()).map_err(doing)?;
    fs::write(&spin, many_loops()).map_err(doing)?;
    fs::write(&module, many_adds()).map_err(doing)?;
    let fill = |word: &str| match word {
        "{many}" => many.clone().into_os_string(),
        "{spin}" => spin.clone().into_os_string(),
        "{module}" => module.clone().into_os_string(),
        other => other.into(),
    };
    println!("how long after its limit each ended; - where it was over before, or never had so much memory");
    println!("{:>9}  {:>9}  {:>9}  {:>8}  command", "time", "Ctrl-C", "memory", "at most");
    let mut late = 0;
    for line in COMMANDS {
        let arguments: Vec<_> = line.split_whitespace().map(fill).collect();
        let mut cells = Vec::new();
        let mut peak = 0;
        for how in [Ended::Time, Ended::CtrlC, Ended::Memory] {
            let ended = end(&program, &arguments, how)?;
            late += usize::from(ended.late.is_some_and(|late| late > MOST));
            cells.push(ended.late.map_or("-".to_owned(), |late| format!("{:.2} s", late.as_secs_f64())));
            if how == Ended::Memory {
                peak = ended.peak;
            }
        }
        println!("{:>9}  {:>9}  {:>9}  {:>4} MiB  {line}", cells[0], cells[1], cells[2], peak >> 20);
    }
    Ok(late)
}

/// How a command ended.
struct End {
    /// How long after the moment; `None` where it was over before, or never had so much memory.
    late: Option<Duration>,
    /// The most memory that it was seen to have, in bytes.
    peak: u64,
}

/// Runs a command to a limit.
fn end(program: &PathBuf, arguments: &[std::ffi::OsString], how: Ended) -> Result<End, String> {
    let mut command = Command::new(program);
    command.args(arguments).env("WATTLE_CACHE", "").stdout(Stdio::null()).stderr(Stdio::null());
    match how {
        Ended::Time => _ = command.args(["--time", &MOMENT.as_secs().to_string()]),
        Ended::Memory => _ = command.args(["--memory", &format!("{}M", MEMORY >> 20)]),
        Ended::CtrlC => {}
    }
    let mut child = command.spawn().map_err(|error| format!("running {}: {error}", program.display()))?;
    let (began, mut moment, mut peak, mut interrupted) = (Instant::now(), None, 0, false);
    loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("waiting for a command: {error}"))? {
            if moment.is_none() && how != Ended::Memory && status.code().is_none_or(|code| code > 1) {
                let given = arguments.iter().map(|one| one.to_string_lossy()).collect::<Vec<_>>().join(" ");
                return Err(format!("`wattle {given}` ended with {status} before its limit: has it another name now?"));
            }
            return Ok(End { late: moment.map(|moment: Instant| moment.elapsed()), peak });
        }
        let memory = resident(&child);
        peak = peak.max(memory);
        let is_over = match how {
            Ended::Time | Ended::CtrlC => began.elapsed() >= MOMENT,
            Ended::Memory => memory > MEMORY,
        };
        moment = moment.or(is_over.then(Instant::now));
        // One that never comes to its memory limit is ended too.
        if !interrupted && (how == Ended::CtrlC && is_over || how == Ended::Memory && began.elapsed() > PATIENCE) {
            interrupted = true;
            interrupt(&child)?;
        }
        sleep(Duration::from_millis(5));
    }
}

/// Sends a process the signal that Ctrl-C sends.
fn interrupt(child: &Child) -> Result<(), String> {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    sent.map(|_| ()).map_err(|error| format!("running kill: {error}"))
}

/// The resident memory of a process, in bytes; 0 where the system does not report it.
fn resident(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Twelve threads that each count three of twelve places up: no claim about them is decided soon.
fn many_orders() -> String {
    let add = |step: usize| move |n: usize| format!("atom.relaxed.gpu.add r0, x{}, 1", (n + step) % 12);
    litmus(12, &[&add(0), &add(1), &add(2)])
}

/// A kernel whose threads count four places up in turns, and keep what they see.
fn many_adds() -> String {
    let turn = |at: usize| {
        let at = at % 4 * 4;
        format!(
            "    atom.relaxed.gpu.global.add.u32 %x, [%a+{at}], 1;\n    ld.relaxed.gpu.global.u32 %y, [%a+{at}];\n    \
             st.relaxed.gpu.global.u32 [%b+{at}], %y;\n"
        )
    };
    let turns: String = (0..12).map(turn).collect();
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{{\n    \
         .reg .u64 %a, %b;\n    .reg .u32 %x, %y;\n    ld.param.u64 %a, [a];\n    ld.param.u64 %b, [b];\n{turns}    ret;\n}}\n"
    )
}

/// Forty threads that each wait for the next one, in loops that change something each time.
fn many_loops() -> String {
    litmus(
        40,
        &[
            &|n| format!("st.relaxed.gpu x{n}, 1"),
            &|n| format!("LC{n}:"),
            &|n| format!("ld.relaxed.gpu r0, x{}", (n + 1) % 40),
            &|n| format!("atom.relaxed.gpu.exch r1, y{}, 2", (n + 1) % 40),
            &|n| format!("beq r0, 0, LC{n}"),
            &|n| format!("atom.relaxed.gpu.add r1, y{n}, 1"),
        ],
    )
}

/// A litmus file whose threads have these lines, each by the thread's number.
fn litmus(threads: usize, lines: &[&dyn Fn(usize) -> String]) -> String {
    let row = |cell: &dyn Fn(usize) -> String| (0..threads).map(cell).collect::<Vec<_>>().join(" | ") + " ;\n";
    let places: String = (0..threads).map(|n| format!("x{n}=0; y{n}=0; P{n}:r0=0; P{n}:r1=0;\n")).collect();
    let lines: String = lines.iter().map(|line| row(line)).collect();
    format!("PTX Long\n{{\n{places}}}\n{}{lines}exists (P0:r0 == 77)\n", row(&|n| format!("P{n}@cta {n},gpu 0")))
}
