//! A process that ends while a launch runs.

mod common;

use common::{devices, in_a_child};
use wattle::prelude::*;

#[kernel]
fn spins(acc: &Acc, turns: Atomic<u32>, flag: Atomic<u32>) {
    while flag.load(0) == 0 {
        turns.fetch_add(acc.linear_thread_in_grid(), 1);
    }
}

/// The exit code of the child.
const CODE: i32 = 7;

/// The variable that selects the device of the child.
const DEVICE: &str = "WATTLE_VULKAN_TEST_DEVICE";

#[test]
fn exit_while_a_launch_runs() {
    for (number, device) in devices().iter().enumerate() {
        for _ in 0..4 {
            let number = number.to_string();
            let Some(output) = in_a_child("exit_while_a_launch_runs", &[(DEVICE, &number)]) else {
                let number: usize = std::env::var(DEVICE).unwrap().parse().unwrap();
                return spin_and_exit(&devices()[number]);
            };
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(CODE), "{}: {}\n{text}", device.name(), output.status);
        }
    }
}

fn spin_and_exit(device: &Device) {
    let queue = device.queue_non_blocking().unwrap();
    let turns = device.alloc_zeroed::<u32>(64).unwrap();
    let flag = device.alloc_zeroed::<u32>(1).unwrap();
    let options = LaunchOptions::new().no_time_limit();
    queue.launch_with(options, ThreadSpec::new(2, 16), spins(&turns, &flag)).unwrap();
    queue.launch_with(options, ThreadSpec::new(2, 16), spins(&turns, &flag)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    std::process::exit(CODE);
}

#[kernel]
fn counts(acc: &Acc, turns: Atomic<u32>, len: u32) {
    for _ in 0..len {
        turns.fetch_add(acc.linear_thread_in_grid(), 1);
    }
}

fn work_and_exit(device: &Device) {
    // The driver's compiler is loaded before: what it creates first it destroys before any exit handler runs.
    let x = device.alloc_zeroed::<u32>(64).unwrap();
    device.queue().unwrap().launch(ThreadSpec::new(4, 16), counts(&x, 1)).unwrap();
    for thread in 0..4 {
        let device = device.clone();
        std::thread::spawn(move || {
            loop {
                let queue = if thread == 0 { device.queue() } else { device.queue_non_blocking() }.unwrap();
                let y = device.alloc_zeroed::<u32>(64 + thread).unwrap();
                for _ in 0..20 {
                    let _ = queue.launch(ThreadSpec::new(4, 16), counts(&y, 1000));
                }
                let _ = y.read(&queue);
            }
        });
    }
    let spread = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_micros() % 100_000;
    std::thread::sleep(std::time::Duration::from_micros(u64::from(spread)));
    std::process::exit(CODE);
}

#[test]
fn exit_while_threads_work() {
    if std::env::var_os("WATTLE_VULKAN_VALIDATION").is_some_and(|value| value != "0") {
        // What the layer creates when it is first used for something, it destroys before any exit handler runs.
        eprintln!(
            "not possible: the validation layer does not survive the end of a process whose threads are within it"
        );
        return;
    }
    for (number, device) in devices().iter().enumerate() {
        for _ in 0..10 {
            let number = number.to_string();
            let Some(output) = in_a_child("exit_while_threads_work", &[(DEVICE, &number)]) else {
                let number: usize = std::env::var(DEVICE).unwrap().parse().unwrap();
                return work_and_exit(&devices()[number]);
            };
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(CODE), "{}: {}\n{text}", device.name(), output.status);
        }
    }
}
