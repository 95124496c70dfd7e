//! Runs cases on devices: each on a thread of its own, with a limit, so that one that hangs is named.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{LazyLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use wattle::{Device, DeviceKind, Error, ErrorKind};

/// Why a case did not pass.
pub enum Stop {
    /// The device cannot run it, and this is why.
    NotPossible(String),
    /// The device says that it cannot run it. Devices with drivers may lack much; the others lack nothing.
    Lacks(String),
    /// The case failed, with this error.
    Failure(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match error.kind() {
            ErrorKind::Capability { .. } => Stop::Lacks(error.to_string()),
            _ => Stop::Failure(error.to_string()),
        }
    }
}

/// The result of a case.
pub type Outcome = Result<(), Stop>;

/// A case: its name, and the function that runs it on a device.
pub type Case = (&'static str, fn(&Device) -> Outcome);

/// Ends a case that the device cannot run.
pub fn not_possible<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NotPossible(why.into()))
}

/// Whether sizes must be small.
pub fn is_small() -> bool {
    static SMALL: LazyLock<bool> = LazyLock::new(|| std::env::var_os("WATTLE_TEST_SMALL").is_some_and(|v| v != "0"));
    *SMALL
}

/// `full` as a rule, `small` in the small mode and on a device that is slow.
pub fn size(device: &Device, full: usize, small: usize) -> usize {
    if is_small() || matches!(device.properties().kind, DeviceKind::Simulated | DeviceKind::Software) {
        small
    } else {
        full
    }
}

/// A case that sets what the whole process sees takes this to write, all others to read.
static PROCESS: RwLock<()> = RwLock::new(());

/// Cases that begin so have the process to themselves.
const ALONE: &str = "alone: ";

/// What is known to be wrong: the case, the kind of device, and what it is. Such a case must fail, so that one that
/// is mended is taken off this list.
const KNOWN: &[(&str, DeviceKind, &str)] = &[];

/// A case that takes longer than this is reported to hang.
fn limit() -> Duration {
    Duration::from_secs(if is_small() { 300 } else { 60 })
}

/// Says something that the test harness does not swallow.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn run_case((name, case): Case, device: &Device) -> Outcome {
    let (done, outcome) = channel();
    let on = device.clone();
    let thread = std::thread::Builder::new().name(format!("{name} on {}", device.name()));
    thread
        .spawn(move || {
            let run = || catch_unwind(AssertUnwindSafe(|| case(&on)));
            let ended = if name.starts_with(ALONE) {
                let _alone = PROCESS.write().unwrap_or_else(PoisonError::into_inner);
                run()
            } else {
                let _others = PROCESS.read().unwrap_or_else(PoisonError::into_inner);
                run()
            };
            let ended = ended.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Err(Stop::Failure(text.unwrap_or_else(|| "a panic".into())))
            });
            let _ = done.send(ended);
        })
        .expect("a thread for a case");
    // Waiting for the others counts too, so the limit is for all.
    match outcome.recv_timeout(limit() * 2) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Disconnected) => Err(Stop::Failure("its thread died".into())),
        Err(RecvTimeoutError::Timeout) => {
            say(&format!("\nconformance: `{name}` on {} HANGS\n", device.name()));
            std::process::exit(101);
        }
    }
}

/// All devices, or the one that `WATTLE_TEST_DEVICE` names.
fn devices() -> Vec<Device> {
    match std::env::var("WATTLE_TEST_DEVICE") {
        Ok(name) => vec![Device::select(&name).expect("the device that WATTLE_TEST_DEVICE names")],
        Err(_) => Device::all(),
    }
}

/// Runs all cases on all devices.
pub fn run(group: &str, cases: &[Case]) {
    let (mut passed, mut lacking, mut known, mut failed) = (0, Vec::new(), Vec::new(), Vec::new());
    let mut nowhere: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let mut slowest = (Duration::ZERO, String::new());
    for device in devices() {
        for &case in cases {
            let began = Instant::now();
            let name = format!("{} on {}", case.0, device.name());
            let of_this = |known: &&(&str, DeviceKind, &str)| known.0 == case.0 && known.1 == device.properties().kind;
            let outcome = match run_case(case, &device) {
                Err(Stop::Lacks(why)) if has_driver(&device) => Err(Stop::NotPossible(why)),
                Err(Stop::Lacks(why)) => Err(Stop::Failure(why)),
                outcome => outcome,
            };
            match (outcome, KNOWN.iter().find(of_this)) {
                (Err(Stop::Failure(_) | Stop::Lacks(_)), Some((_, _, bug))) => {
                    known.push(format!("  KNOWN BUG: {name}: {bug}\n"))
                }
                (Ok(()), Some(_)) => failed.push(format!("  FAILED: {name}: it passes now; take it off `KNOWN`\n")),
                (Ok(()), None) => {
                    passed += 1;
                    nowhere.retain(|name| *name != case.0);
                }
                (Err(Stop::NotPossible(why)), _) => lacking.push(format!("  not possible: {name}: {why}\n")),
                (Err(Stop::Failure(why) | Stop::Lacks(why)), None) => failed.push(format!("  FAILED: {name}: {why}\n")),
            }
            slowest = slowest.max((began.elapsed(), name));
        }
    }
    say(&format!(
        "conformance, {group}: {passed} passed, {} not possible, {} known bugs, {} failed; slowest: {} in {:?}\n{}{}{}",
        lacking.len(),
        known.len(),
        failed.len(),
        slowest.1,
        slowest.0,
        lacking.concat(),
        known.concat(),
        failed.concat()
    ));
    for name in nowhere.iter().filter(|_| failed.is_empty()) {
        test_skips::skipped(format!("{group}: no device here can run `{name}`"));
    }
    // With `WATTLE_VULKAN_VALIDATION=1` the validation layer watches.
    let said = wattle::vulkan::validation_messages();
    assert!(said.is_empty(), "{group}: {} validation messages, the first: {}", said.len(), said[0]);
    assert!(failed.is_empty(), "{group}: {} cases failed\n{}", failed.len(), failed.concat());
}

/// Each text is in the error's.
#[track_caller]
pub fn says(error: &Error, texts: &[&str]) {
    let found = error.to_string();
    for text in texts {
        assert!(found.contains(text), "`{text}` is not in the error:\n{found}");
    }
}

/// Whether the device is a driver's, and may lack what others have.
pub fn has_driver(device: &Device) -> bool {
    matches!(device.properties().kind, DeviceKind::Gpu | DeviceKind::Software)
}

/// The error of what must fail, but not for what a device with a driver lacks: then the case is not possible.
pub fn refused_unless_lacking<T>(device: &Device, result: wattle::Result<T>) -> Result<Error, Stop> {
    let error = refused(result);
    match error.kind() {
        ErrorKind::Capability { .. } if has_driver(device) => Err(error.into()),
        _ => Ok(error),
    }
}

/// The error of what must fail.
#[track_caller]
pub fn refused<T>(result: wattle::Result<T>) -> Error {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error,
    }
}

/// The error has this kind.
macro_rules! kind {
    ($error:expr, $kind:pat) => {{
        let error = &$error;
        assert!(matches!(error.kind(), $kind), "another kind than {}: {error}", stringify!($kind));
    }};
}
pub(crate) use kind;
