//! What the checker cannot do is not answered, and what a scenario does wrong is violated.

use wattle::prelude::*;
use wattle::{Expectation, Work};
use wattle_cli::Exit;

#[kernel]
fn count(acc: &Acc, number: Atomic<u32>) {
    number.fetch_add(0, 1);
}

#[kernel]
fn count_to_system(acc: &Acc, number: Atomic<u32>) {
    number.fetch_add_with(0, 1, Scope::System, Order::Relaxed);
}

#[kernel]
fn write(acc: &Acc, word: PerItem<u32>) {
    for (_, word) in acc.items(&mut word) {
        *word = 1;
    }
}

#[kernel]
fn beyond(acc: &Acc, word: Shared<u32>) {
    word[1] = 1;
}

type Scenes = &'static [(&'static str, fn(&Device) -> Result<Summary>)];

fn done() -> Result<Summary> {
    Ok(Summary::new("done"))
}

fn map_unified(device: &Device) -> Result<Summary> {
    let number = device.alloc_unified::<u32, 1>(1)?;
    device.queue()?.launch(ThreadSpec::new(2, 1), count(&number))?;
    assert_eq!(*number.map()?, [2]);
    done()
}

fn map_mut_host_mapped(device: &Device) -> Result<Summary> {
    let mut number = device.alloc_host_mapped::<u32, 1>(1)?;
    number.map_mut()?[0] = 1;
    device.queue()?.launch(ThreadSpec::new(2, 1), count(&number))?;
    assert_eq!(*number.map()?, [3]);
    let queue = device.queue_non_blocking()?;
    queue.launch(ThreadSpec::new(1, 1), count(&number))?;
    queue.wait()?;
    assert_eq!(*number.map()?, [4]);
    done()
}

/// The host reads what a launch may write at that time.
fn map_in_flight(device: &Device) -> Result<Summary> {
    let (queue, mut number) = (device.queue_non_blocking()?, device.alloc_unified::<u32, 1>(1)?);
    queue.launch(ThreadSpec::new(1, 1), write(&mut number))?;
    drop(number.map()?);
    done()
}

fn map_the_devices_own(device: &Device) -> Result<Summary> {
    device.alloc_zeroed::<u32>(1)?.map()?;
    done()
}

fn map_and_unwrap(device: &Device) -> Result<Summary> {
    let number = device.alloc_zeroed::<u32>(1)?;
    assert!(number.map().unwrap().is_empty());
    done()
}

fn map_in_a_host_task(device: &Device) -> Result<Summary> {
    let (queue, number) = (device.queue_non_blocking()?, device.alloc_zeroed::<u32>(1)?);
    queue.host_task(move || number.map().map(|_| ()))?;
    queue.wait()?;
    done()
}

fn unwrap_in_a_host_task(device: &Device) -> Result<Summary> {
    let (queue, number) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.host_task(move || {
        drop(number.map().unwrap());
        Ok(())
    })?;
    done()
}

fn much_memory(device: &Device) -> Result<Summary> {
    device.alloc_zeroed::<u32>(1 << 28)?;
    done()
}

fn many_threads(device: &Device) -> Result<Summary> {
    let number = device.alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1 << 14), count(&number))?;
    done()
}

/// The error is ignored, so nothing was looked at.
fn many_threads_passed_over(device: &Device) -> Result<Summary> {
    let number = device.alloc_zeroed::<u32>(1)?;
    let _ = device.queue()?.launch(ThreadSpec::new(1, 1 << 14), count(&number));
    done()
}

/// 1.6 MB of shared memory, which no device has.
#[kernel]
fn much_for_a_block(acc: &Acc, number: Atomic<u32>) {
    let tile = acc.shared::<u32, 400_000>();
    tile[acc.thread_in_block()] = 1;
    number.fetch_add(0, 1);
}

fn much_shared_memory(device: &Device) -> Result<Summary> {
    let number = device.alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1), much_for_a_block(&number))?;
    done()
}

fn another_device(_: &Device) -> Result<Summary> {
    Device::select("cuda:977")?;
    done()
}

fn queue_stopped(device: &Device) -> Result<Summary> {
    let queue = device.queue_non_blocking()?;
    let number = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(1, 1 << 14), count(&number))?;
    queue.record()?.wait()?;
    queue.launch(ThreadSpec::new(1, 1), count(&number))?;
    done()
}

#[kernel]
fn hello(acc: &Acc, number: Atomic<u32>) {
    println!("{}", number.load(0));
}

/// Looks at what its kernel prints.
fn print_to_a_sink(device: &Device) -> Result<Summary> {
    let (queue, number) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    let (send, lines) = std::sync::mpsc::channel();
    queue.print_to(move |printed| printed.lines.iter().for_each(|line| send.send(line.text.clone()).unwrap()));
    queue.launch(ThreadSpec::new(1, 1), hello(&number))?;
    assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["0"]);
    done()
}

const NOT_ANSWERED: Scenes = &[
    ("print-to-a-sink", print_to_a_sink),
    ("map-the-devices-own", map_the_devices_own),
    ("map-and-unwrap", map_and_unwrap),
    ("map-in-a-host-task", map_in_a_host_task),
    ("unwrap-in-a-host-task", unwrap_in_a_host_task),
    ("much-memory", much_memory),
    ("many-threads", many_threads),
    ("many-threads-passed-over", many_threads_passed_over),
    ("much-shared-memory", much_shared_memory),
    ("another-device", another_device),
    ("queue-stopped", queue_stopped),
];

fn out_of_bounds(device: &Device) -> Result<Summary> {
    let word = device.alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1), beyond(&word))?;
    done()
}

fn conflict(device: &Device) -> Result<Summary> {
    let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let mut word = device.alloc_zeroed::<u32>(1)?;
    one.launch(ThreadSpec::new(1, 1), write(&mut word))?;
    other.launch(ThreadSpec::new(1, 1), write(&mut word))?;
    done()
}

fn overlapping_views(device: &Device) -> Result<Summary> {
    let word = device.alloc_zeroed::<u32>(4)?;
    word.slice(2..7)?;
    done()
}

fn no_extent(device: &Device) -> Result<Summary> {
    device.queue()?.launch(ThreadSpec::new(1, 0), count(&device.alloc_zeroed::<u32>(1)?))?;
    done()
}

fn own_error(_: &Device) -> Result<Summary> {
    Err(Error::check("two is not three"))
}

fn own_panic(_: &Device) -> Result<Summary> {
    panic!("two is not three")
}

fn task_panics(device: &Device) -> Result<Summary> {
    device.queue()?.host_task(|| panic!("two is not three"))?;
    done()
}

fn buffer_of_another_device(device: &Device) -> Result<Summary> {
    let number = Device::host().alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1), count(&number))?;
    done()
}

const VIOLATED: Scenes = &[
    ("out-of-bounds", out_of_bounds),
    ("conflict", conflict),
    ("map-in-flight", map_in_flight),
    ("overlapping-views", overlapping_views),
    ("no-extent", no_extent),
    ("own-error", own_error),
    ("own-panic", own_panic),
    ("task-panics", task_panics),
    ("buffer-of-another-device", buffer_of_another_device),
];

/// The checker supports waits, events, tasks, preparation and domains.
fn queues_and_events(device: &Device) -> Result<Summary> {
    let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    device.needs_concurrent_queues(2)?;
    let number = device.alloc_zeroed::<u32>(1)?;
    one.prepare(ThreadSpec::new(1, 1), &count(&number))?;
    one.launch(ThreadSpec::new(1, 1), count(&number))?;
    let event = one.record()?;
    other.wait_for(&event)?;
    other.launch(ThreadSpec::new(1, 1), count(&number))?;
    other.host_task(|| Ok(()))?;
    other.wait()?;
    assert!(event.is_complete());
    let options = LaunchOptions::new().sync_domain(wattle::SyncDomain::Remote).cooperative();
    other.launch_with(options, ThreadSpec::new(2, 1), count(&number))?;
    assert_eq!(number.read(&other)?, [4]);
    done()
}

fn host_part(device: &Device) -> Result<Summary> {
    let (queue, mut number) = (device.queue()?, device.alloc_unified::<u32, 1>(1)?);
    queue.fill(&mut number, 0)?;
    queue.launch_with_host(
        LaunchOptions::new(),
        ThreadSpec::new(1, 1),
        count_to_system(&number),
        count_to_system(&number),
    )?;
    done()
}

/// A host task's thread knows what its queue did before it, and its queue's launches can be gone on with meanwhile.
fn tasks_in_order(device: &Device) -> Result<Summary> {
    let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let number = device.alloc_unified::<u32, 1>(1)?;
    one.launch(ThreadSpec::new(1, 1), count(&number))?;
    let seen = number.view();
    one.host_task(move || {
        let mut value = [0];
        other.launch(ThreadSpec::new(1, 1), count(&seen))?;
        other.copy_to_host(&mut value, &seen)?;
        if value == [2] { Ok(()) } else { Err(Error::check("it has not been counted")) }
    })?;
    one.wait()?;
    assert_eq!(*number.map()?, [2]);
    // The work of a queue whose last handle is gone is waited for.
    let gone = device.queue_non_blocking()?;
    gone.launch(ThreadSpec::new(1, 1), count(&number))?;
    drop(gone);
    assert_eq!(*number.map()?, [3]);
    done()
}

#[kernel]
fn write_own_number(acc: &Acc, word: Shared<u32>) {
    word[0] = acc.block_in_grid() + 1;
}

/// Reads what is left, says it, and compares it with nothing.
fn tells(device: &Device) -> Result<Summary> {
    let (queue, word) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(2, 1), write_own_number(&word))?;
    Ok(Summary::new(format!("left {:?}", word.read(&queue)?)))
}

#[test]
fn a_scenario_that_tells_several_results_is_not_said_to_hold() {
    let (exit, text) = check("tells", tells, &["--target", "ptx:sm_90"]);
    assert!(exit == Exit::Holds && text.contains("nothing asserted under ptx"), "{text}");
    assert!(text.contains("reports `left [1]`, `left [2]`"), "{text}");
}

fn counts_to_system(device: &Device) -> Result<Summary> {
    let (queue, number) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(2, 1), count_to_system(&number))?;
    let mut summary = Summary::new("counted");
    summary.observe(&[("number", number.read(&queue)?[0].into())]);
    Ok(summary)
}

/// Vulkan has no system scope; under the other models the outcomes are found all the same.
#[test]
fn orders_under_the_models_that_can_judge_them() {
    let orders = |more: &[&str]| {
        let mut out = Vec::new();
        let args = ["wattle", "orders", "counts-to-system"].into_iter().chain(more.iter().copied());
        let exit = wattle_cli::execute(&[scenario("counts-to-system", counts_to_system)], args, &mut out);
        (exit, String::from_utf8_lossy(&out).into_owned())
    };
    let (exit, text) = orders(&[]);
    assert!(exit == Exit::Holds && text.contains("vulkan: ") && text.contains("no system scope"), "{text}");
    let row = |model: &str| text.lines().find(|line| line.trim_start().starts_with(model)).unwrap_or_default();
    assert!(row("vulkan  ").ends_with("n/a") && row("ptx  ").ends_with("yes"), "{text}");
    let (_, json) = orders(&["--json"]);
    assert!(json.contains("\"refused\"") && json.matches("no system scope").count() == 1, "{json}");
}

const HOLDS: Scenes = &[
    ("queues-and-events", queues_and_events),
    ("map-unified", map_unified),
    ("map-mut-host-mapped", map_mut_host_mapped),
    ("tasks-in-order", tasks_in_order),
];

fn scenario(name: &'static str, work: fn(&Device) -> Result<Summary>) -> Scenario {
    Scenario {
        name,
        summary: "for tests",
        documentation: "A page.",
        expectation: Expectation::Holds,
        work: Work::Fixed(work),
    }
}

fn check(name: &'static str, work: fn(&Device) -> Result<Summary>, args: &[&str]) -> (Exit, String) {
    let mut out = Vec::new();
    let args = ["wattle", "check", name, "--no-advice"].into_iter().chain(args.iter().copied());
    let exit = wattle_cli::execute(&[scenario(name, work)], args, &mut out);
    (exit, String::from_utf8_lossy(&out).into_owned())
}

#[test]
fn what_the_checker_cannot_do_is_not_answered() {
    for &(name, work) in NOT_ANSWERED {
        let (exit, out) = check(name, work, &[]);
        assert_eq!(exit, Exit::Unanswered, "{out}");
        assert!(out.contains("cannot be judged") && !out.contains("violated"), "{out}");
        let (_, out) = check(name, work, &["--target", "portable"]);
        assert!(out.contains("portable not possible") && out.contains("portable: "), "{out}");
    }
}

#[test]
fn what_a_scenario_does_wrong_is_violated() {
    for &(name, work) in VIOLATED {
        let (exit, out) = check(name, work, &[]);
        assert_eq!(exit, Exit::DoesNotHold, "{out}");
    }
}

#[kernel]
fn takes_too_much(acc: &Acc, word: Shared<u32>) {
    let many = acc.shared::<u64, 3_000_000>();
    many[0] = 1;
    word[0] = many[0] as u32;
}

/// The host sees only as the kernel begins that its blocks have less memory.
#[test]
fn memory_that_a_block_has_nowhere_is_not_possible() {
    let work = |device: &Device| {
        device.queue()?.launch(ThreadSpec::new(1, 1), takes_too_much(&device.alloc_zeroed::<u32>(1)?))?;
        done()
    };
    for device in ["host", "host-serial", "simulated"] {
        let mut out = Vec::new();
        let exit =
            wattle_cli::execute(&[scenario("too-much", work)], ["wattle", "run", "too-much", "-d", device], &mut out);
        let out = String::from_utf8_lossy(&out).into_owned();
        assert_eq!(exit, Exit::Unanswered, "{out}");
        assert!(out.contains("not possible on this device"), "{out}");
    }
}

#[test]
fn what_the_checker_can_do_is_answered() {
    for &(name, work) in HOLDS {
        let (exit, out) = check(name, work, &[]);
        assert_eq!(exit, Exit::Holds, "{out}");
    }
}

#[test]
fn a_scope_that_a_target_lacks_is_not_answered_for_it() {
    let (exit, out) = check("host-part", host_part, &["--target", "vulkan"]);
    assert_eq!(exit, Exit::Unanswered, "{out}");
    assert!(out.contains("vulkan not possible") && out.contains("no system scope"), "{out}");
}

/// What does not hold decides over what could not be answered, wherever it stands.
#[test]
fn a_violation_beside_what_is_not_answered_is_a_violation() {
    let [(holds, work), (open, none), (wrong, bad)] = [HOLDS[1], NOT_ANSWERED[0], VIOLATED[0]];
    let scenarios = [scenario(holds, work), scenario(open, none), scenario(wrong, bad)];
    for (names, exit) in [
        (vec![holds, open], Exit::Unanswered),
        (vec![open, holds], Exit::Unanswered),
        (vec![wrong, open, holds], Exit::DoesNotHold),
        (vec![open, wrong], Exit::DoesNotHold),
    ] {
        let args = [&["wattle", "check", "--no-advice"][..], &names].concat();
        let mut out = Vec::new();
        assert_eq!(wattle_cli::execute(&scenarios, &args, &mut out), exit, "{names:?}");
        let mut out = Vec::new();
        assert_eq!(wattle_cli::execute(&scenarios, [&args[..], &["--json"]].concat(), &mut out), exit, "{names:?}");
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["exit_code"], exit.code(), "{names:?}");
    }
    // A name that is none is an error of use, whatever stands beside it.
    let mut out = Vec::new();
    assert_eq!(wattle_cli::execute(&scenarios, ["wattle", "check", wrong, "absent"], &mut out), Exit::Unanswered);
}
