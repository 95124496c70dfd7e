//! Launches that never end by themselves: time limits and interruption.

use std::time::{Duration, Instant};

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, interrupt};

use crate::harness::{Case, Outcome, Stop, is_small, kind, not_possible, refused, refused_unless_lacking, says};
use crate::kernels::{affine, beyond, set, wait_until};

pub const CASES: &[Case] = &[
    ("a spin that never ends meets its time limit", spin),
    ("a spin that never ends, on a non-blocking queue", spin_non_blocking),
    ("a spin that never ends, within a device function", spin_in_function),
    ("a cooperative launch that never ends", spin_cooperative),
    ("a host part that never ends", spin_in_host_part),
    ("a host part waits no longer than for a launch that fails", host_part_beside_a_fault),
    ("a launch that is slow but within its limit", within_limit),
    ("a loop with a bound that is far away", far_bound),
    ("alone: an interruption in the midst of a spin", interrupted),
    ("alone: an interruption in a loop with a bound", interrupted_far_bound),
    ("alone: an interruption that is taken back at once", interrupted_briefly),
    ("alone: an interruption beside a time limit", time_limit_then_interrupt),
];

const LIMIT: Duration = Duration::from_millis(200);

fn limited() -> LaunchOptions {
    LaunchOptions::new().time_limit(LIMIT)
}

const SPINS: u32 = line!();
/// Spins, and never twice with the same state, so that no device can see that it will not end.
#[kernel]
fn spins(acc: &Acc, turns: Atomic<u32>, flag: Atomic<u32>) {
    while flag.load(0) == 0 {
        turns.fetch_add(acc.linear_thread_in_grid(), 1);
    }
}

#[device_fn]
fn wait_for_flag(turns: Atomic<u32>, flag: Atomic<u32>, deep: u32) -> u32 {
    let mut number = deep;
    loop {
        number += turns.fetch_add(0, 1);
        if flag.load(0) != 0 {
            break;
        }
    }
    number
}

#[device_fn]
fn wait_deeper(turns: Atomic<u32>, flag: Atomic<u32>) -> u32 {
    let found = wait_for_flag(turns, flag, 3);
    turns.store(0, 0);
    found
}

#[kernel]
fn spins_deep(acc: &Acc, turns: Atomic<u32>, flag: Atomic<u32>, out: Shared<u32>) {
    let found = wait_deeper(turns, flag);
    out[0] = found;
}

fn still_works(queue: &Queue) -> Outcome {
    queue.wait()?;
    for queue in [queue, &queue.device().queue()?] {
        let mut x = queue.device().from_slice(&[1u32, 2, 3])?;
        queue.launch(FrameSpec::cover(3, 2), affine(&mut x, 2, 1))?;
        assert_eq!(x.read(queue)?, [3, 5, 7]);
    }
    Ok(())
}

/// Limits of which a loaded machine needs more than the first to begin the launch at all.
const LIMITS: [Duration; 3] = [LIMIT, Duration::from_secs(2), Duration::from_secs(20)];

/// What a launch ends with that comes to a limit, whose buffer of turns shows that it had begun by then: the limit, and the
/// error.
fn once_begun(
    device: &Device,
    queue: &Queue,
    turns: &Buffer<u32>,
    launch: impl Fn(LaunchOptions) -> wattle::Result<()>,
) -> Result<(Duration, Error), Stop> {
    for limit in LIMITS {
        let error = refused_unless_lacking(device, launch(LaunchOptions::new().time_limit(limit)))?;
        if turns.read(queue)?[0] > 0 {
            return Ok((limit, error));
        }
    }
    panic!("it did nothing within {:?}", LIMITS[2])
}

/// The launch ended at its limit, at this kernel's loop.
#[track_caller]
fn at_limit(error: &Error, kernel: &str, blocks: usize, lines: std::ops::RangeInclusive<u32>) {
    at_this_limit(error, LIMIT, kernel, blocks, lines);
}

#[track_caller]
fn at_this_limit(error: &Error, given: Duration, kernel: &str, blocks: usize, lines: std::ops::RangeInclusive<u32>) {
    let ErrorKind::TimeLimit { kernel: named, limit, lines: found } = error.kind() else { panic!("{error}") };
    assert_eq!((named.as_str(), *limit), (kernel, given));
    assert_eq!(found.len(), blocks, "{error}");
    for line in found {
        assert!(line.site.file.ends_with("endings.rs") && lines.contains(&line.site.line), "{error}");
    }
    says(
        error,
        &[
            &format!("kernel `{kernel}` did not end within {given:?}"),
            "block 0 was at",
            "endings.rs:",
            "cooperative()",
            "raise the limit",
        ],
    );
}

struct Words {
    turns: Buffer<u32>,
    flag: Buffer<u32>,
}

fn words(device: &Device) -> wattle::Result<Words> {
    Ok(Words { turns: device.alloc_zeroed(64)?, flag: device.alloc_zeroed(1)? })
}

fn spin(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let Words { turns, flag } = words(device)?;
    for _ in 0..2 {
        let began = Instant::now();
        // The buffers can be used, and hold what was done.
        let (limit, error) = once_begun(device, &queue, &turns, |options| {
            queue.launch_with(options, ThreadSpec::new(1, 1), spins(&turns, &flag))
        })?;
        assert!(began.elapsed() >= LIMIT, "it ended too early");
        at_this_limit(&error, limit, "spins", 1, SPINS + 4..=SPINS + 6);
        still_works(&queue)?;
    }
    // A wait for a later block: on one worker it never starts.
    let error =
        refused_unless_lacking(device, queue.launch_with(limited(), ThreadSpec::new(40, 1), spins(&turns, &flag)))?;
    kind!(error, ErrorKind::TimeLimit { .. });
    still_works(&queue)
}

fn spin_non_blocking(device: &Device) -> Outcome {
    let (queue, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let Words { turns, flag } = words(device)?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    queue.launch_with(limited(), ThreadSpec::new(1, 1), spins(&turns, &flag))?;
    let event = queue.record()?;
    other.wait_for(&event)?;
    other.launch(FrameSpec::cover(4, 2), affine(&mut x, 1, 1))?;
    at_limit(&refused_unless_lacking(device, event.wait())?, "spins", 1, SPINS + 4..=SPINS + 6);
    at_limit(&refused(queue.wait()), "spins", 1, SPINS + 4..=SPINS + 6);
    assert_eq!(x.read(&other)?, [1; 4]);
    still_works(&queue)?;
    still_works(&other)
}

fn spin_in_function(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let Words { turns, flag } = words(device)?;
    let out = device.alloc_zeroed::<u32>(1)?;
    // The function that called does nothing more: it would set the turns to 0.
    let (limit, error) = once_begun(device, &queue, &turns, |options| {
        queue.launch_with(options, ThreadSpec::new(1, 1), spins_deep(&turns, &flag, &out))
    })?;
    at_this_limit(&error, limit, "spins_deep", 1, SPINS + 11..=SPINS + 18);
    assert_eq!(out.read(&queue)?, [0], "a thread that is stopped does nothing more");
    still_works(&queue)
}

fn spin_cooperative(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let Words { turns, flag } = words(device)?;
    for blocks in [1, 5] {
        let options = limited().cooperative();
        let error = refused_unless_lacking(
            device,
            queue.launch_with(options, ThreadSpec::new(blocks, 1), spins(&turns, &flag)),
        )?;
        at_limit(&error, "spins", blocks, SPINS + 4..=SPINS + 6);
        still_works(&queue)?;
    }
    Ok(())
}

/// A host part waits for a flag that the failing launch never sets.
fn host_part_beside_a_fault(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, y) = (device.alloc_zeroed::<u32>(1)?, device.alloc_host_mapped::<u32, 1>(1));
    let Ok(flag) = y else { return not_possible("it has no memory that the host can reach") };
    let one = ThreadSpec::new(1, 1);
    // Without a limit: it would wait for ever.
    let options = LaunchOptions::new().no_time_limit();
    let launched = queue.launch_with_host(options, one, beyond(&x), wait_until(&flag, 1));
    kind!(refused_unless_lacking(device, launched)?, ErrorKind::Fault(_));
    still_works(&queue)
}

fn spin_in_host_part(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let [turns, flag, other] = [(); 3].map(|()| device.alloc_host_mapped::<u32, 1>(64));
    let (turns, flag, other) = (turns?, flag?, other?);
    let one = ThreadSpec::new(1, 1);
    let error =
        refused_unless_lacking(device, queue.launch_with_host(limited(), one, set(&other, 1), spins(&turns, &flag)))?;
    kind!(error, ErrorKind::TimeLimit { .. });
    says(&error, &["`spins`"]);
    let error =
        refused_unless_lacking(device, queue.launch_with_host(limited(), one, spins(&turns, &flag), set(&other, 2)))?;
    says(&error, &["`spins`"]);
    assert_eq!(other.read(&queue)?[0], 2);
    still_works(&queue)
}

fn within_limit(device: &Device) -> Outcome {
    if device.properties().kind == DeviceKind::Simulated {
        return crate::harness::not_possible("nothing moves there by itself, so nobody can come later");
    }
    device.needs_concurrent_queues(2)?;
    let flag = device.alloc_zeroed::<u32>(1)?;
    let (waits, sets) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let options = LaunchOptions::new().time_limit(Duration::from_secs(60));
    waits.launch_with(options, ThreadSpec::new(2, 1), wait_until(&flag, 1))?;
    waits.launch_with(options.no_time_limit(), ThreadSpec::new(2, 1), wait_until(&flag, 2))?;
    let event = waits.record()?;
    for value in [1, 2] {
        std::thread::sleep(Duration::from_millis(50));
        assert!(!event.is_complete());
        sets.launch(ThreadSpec::new(1, 1), set(&flag, value))?;
        sets.wait()?;
        if value == 1 {
            // The second launch must have begun before its flag is raised over the first's.
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    Ok(waits.wait()?)
}

/// Runs `work` while another thread requests an interruption, after a while.
fn interrupting<T>(work: impl FnOnce() -> T) -> T {
    interrupting_after(Duration::from_millis(50), work)
}

fn interrupting_after<T>(delay: Duration, work: impl FnOnce() -> T) -> T {
    interrupt::clear();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(delay);
            interrupt::request();
        });
        work()
    });
    interrupt::clear();
    result
}

fn interrupted(device: &Device) -> Outcome {
    let Words { turns, flag } = words(device)?;
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let options = LaunchOptions::new();
        for (options, threads) in
            [(options, 1), (options.no_time_limit(), 1), (options.cooperative(), 1), (options.no_time_limit(), 4)]
        {
            let began = Instant::now();
            let interrupted_after = |milliseconds| {
                interrupting_after(Duration::from_millis(milliseconds), || {
                    let launched = queue.launch_with(options, ThreadSpec::new(3, threads), spins(&turns, &flag));
                    refused_unless_lacking(device, launched.and_then(|()| queue.wait()))
                })
            };
            // On a busy machine the first interruption may come before the kernel has begun, so that it is nowhere.
            let is_nowhere =
                |error: &Result<Error, _>| error.as_ref().is_ok_and(|error| !error.to_string().contains("was at"));
            let first = interrupted_after(50);
            let error = if is_nowhere(&first) { interrupted_after(2000) } else { first };
            // A device may lack cooperative launches of this many blocks: the others are tried all the same.
            let error = match error {
                Err(_) if options.is_cooperative() => continue,
                error => error?,
            };
            let soon = Duration::from_secs(if is_small() { 200 } else { 20 });
            assert!(began.elapsed() < soon, "it took long to end");
            kind!(error, ErrorKind::Interrupted { .. });
            says(&error, &["interrupted", "`spins`", "block 0 was at", "endings.rs:"]);
            assert!(!interrupt::requested());
            still_works(&queue)?;
        }
    }
    // As long as the request stands, nothing starts.
    interrupt::request();
    let queue = device.queue()?;
    let error = refused(queue.launch(ThreadSpec::new(3, 1), spins(&turns, &flag)));
    interrupt::clear();
    kind!(error, ErrorKind::Interrupted { .. });
    still_works(&queue)
}

fn interrupted_briefly(device: &Device) -> Outcome {
    if device.properties().kind == DeviceKind::Simulated {
        return crate::harness::not_possible("nothing moves there by itself, so nothing is interrupted");
    }
    device.needs_concurrent_queues(2)?;
    let (queue, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    for round in 0..20 {
        let flag = device.alloc_zeroed::<u32>(1)?;
        other.prepare(ThreadSpec::new(1, 1), &set(&flag, 1))?;
        interrupt::clear();
        queue.launch(ThreadSpec::new(2, 1), wait_until(&flag, 1))?;
        std::thread::sleep(Duration::from_millis(2));
        interrupt::request();
        std::thread::sleep(Duration::from_micros(round * 20));
        interrupt::clear();
        other.launch(ThreadSpec::new(1, 1), set(&flag, 1))?;
        // It saw the request, or it did not. That it has a time limit too is nothing to speak of.
        if let Err(error) = queue.wait() {
            kind!(error, ErrorKind::Interrupted { .. });
        }
        other.wait()?;
    }
    still_works(&queue)
}

fn time_limit_then_interrupt(device: &Device) -> Outcome {
    let Words { turns, flag } = words(device)?;
    let queue = device.queue()?;
    interrupt::clear();
    let error =
        refused_unless_lacking(device, queue.launch_with(limited(), ThreadSpec::new(1, 1), spins(&turns, &flag)))?;
    kind!(error, ErrorKind::TimeLimit { .. });
    let error = interrupting(|| {
        let options = LaunchOptions::new().time_limit(Duration::from_secs(50));
        refused_unless_lacking(device, queue.launch_with(options, ThreadSpec::new(1, 1), spins(&turns, &flag)))
    })?;
    kind!(error, ErrorKind::Interrupted { .. });
    still_works(&queue)
}

/// Loops with a bound, each of another form, that would go on for years, or for a good while at the least.
#[kernel]
fn goes_far(acc: &Acc, form: u32, n: u64, out: Shared<u64>, items: PerItem<u32>, x: Read<u32>) {
    let mut sum = 1u64;
    match form {
        0 => {
            for i in 0..n {
                sum = sum * 3 + i;
            }
        }
        1 => {
            for i in 1..=n {
                sum = sum * 3 + i;
            }
        }
        2 => {
            for i in (0..n).rev() {
                sum = sum * 3 + i;
            }
        }
        3 => {
            for i in 0..n {
                for k in 0..x.len() {
                    sum = sum * 3 + i * x[k] as u64;
                }
            }
        }
        4 => {
            for (i, item) in acc.items(&mut items) {
                for k in 0..n {
                    sum = sum * 3 + k;
                }
                *item = sum as u32 + x[i];
            }
        }
        5 => {
            let mut i = 0;
            while i < n {
                sum = sum * 3 + i;
                i += 1;
            }
        }
        6 => {
            for i in 0..n {
                sum = sum + scaled(i);
            }
        }
        _ => {
            for i in acc.indices(ALL_THREADS, 0..4_294_967_295).strided() {
                for k in 0..x.len() {
                    sum = sum * 3 + (i * k) as u64;
                }
            }
        }
    }
    out[0] = sum;
}

#[device_fn]
fn scaled(n: u64) -> u64 {
    let mut sum = n;
    for i in 0..n % 50 {
        sum = sum * 3 + i;
    }
    sum
}

/// What such a launch says, on the devices that can end it.
fn far(device: &Device, form: u32, threads: usize, options: LaunchOptions) -> Result<Error, crate::harness::Stop> {
    if device.properties().kind != DeviceKind::Host {
        return crate::harness::not_possible("a driver ends such a launch by itself, or nobody does");
    }
    let queue = device.queue()?;
    let (out, mut items) = (device.alloc_zeroed::<u64>(1)?, device.alloc_zeroed::<u32>(4)?);
    let x = device.from_slice(&[1u32; 1000])?;
    let spec = ThreadSpec::new(1, threads);
    Ok(refused(queue.launch_with(options, spec, goes_far(form, u64::MAX, &out, &mut items, &x))))
}

fn far_bound(device: &Device) -> Outcome {
    for (form, threads) in (0..8).flat_map(|form| [(form, 1), (form, 3)]) {
        let error = far(device, form, threads, limited())?;
        kind!(error, ErrorKind::TimeLimit { .. });
        says(&error, &["kernel `goes_far` did not end within 200ms", "block 0 was at", "endings.rs:"]);
    }
    Ok(())
}

fn interrupted_far_bound(device: &Device) -> Outcome {
    for (form, threads) in [(0, 1), (4, 1), (0, 3)] {
        let error = interrupting(|| far(device, form, threads, LaunchOptions::new().no_time_limit()))?;
        kind!(error, ErrorKind::Interrupted { .. });
    }
    Ok(())
}
