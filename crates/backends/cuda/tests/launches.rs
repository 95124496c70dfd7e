//! Launches: which ones a device refuses, and what they report.

mod common;

use std::time::{Duration, Instant};

use common::devices;
use wattle::ErrorKind;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

#[test]
fn one() {
    for device in devices() {
        eprintln!("{} {}", device.name(), device.properties().description);
        assert!(matches!(device.properties().target, Some(wattle::memory::Target::Ptx { .. })));
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            let mut x = device.from_slice(&[1u32, 2, 3, 4, 5]).unwrap();
            queue.launch(FrameSpec::cover(5, 2), affine(&mut x, 3, 1)).unwrap();
            queue.launch(FrameSpec::cover(5, 2), affine(&mut x, 2, 0)).unwrap();
            assert_eq!(x.read(&queue).unwrap(), [8, 14, 20, 26, 32]);
        }
    }
}

#[test]
fn more_than_are_in_flight_at_once() {
    for device in devices() {
        let queue = device.queue_non_blocking().unwrap();
        let mut x = device.from_slice(&[1u32, 2]).unwrap();
        for _ in 0..1000 {
            queue.launch(FrameSpec::cover(2, 2), affine(&mut x, 1, 1)).unwrap();
        }
        assert_eq!(x.read(&queue).unwrap(), [1001, 1002]);
    }
}

#[kernel]
fn beyond(acc: &Acc<2>, place: Shared<u32, 2>) {
    let [i, j] = acc.block_in_grid();
    if i == 1 && j == 2 {
        place[[j, i]] = 1;
    }
    place[[i, 0]] = 5;
}

/// A fault is reported with its launch; operations queued after it are discarded; the queue can be used again.
#[test]
fn a_fault_among_others() {
    for device in devices() {
        let queue = device.queue_non_blocking().unwrap();
        for before in [0, 1, 40, 100] {
            let place = device.alloc_zeroed_nd::<u32, 2>([2, 3]).unwrap();
            let mut x = device.from_slice(&[1u32, 2]).unwrap();
            (0..before).for_each(|_| queue.launch(FrameSpec::cover(2, 1), affine(&mut x, 1, 1)).unwrap());
            queue.launch(ThreadSpec::new([2, 3], [1, 1]), beyond(&place)).unwrap();
            // Operations enqueued once the error is known are refused.
            for _ in 0..50 {
                let _ = queue.launch(FrameSpec::cover(2, 1), affine(&mut x, 100, 1));
            }
            let error = queue.wait().unwrap_err().to_string();
            assert!(error.contains("kernel `beyond`, block [1, 2], thread [0, 0]: index [2, 1] of `place`"), "{error}");
            assert!(error.contains("which has extent [2, 3]") && error.contains("launches.rs"), "{error}");
            queue.wait().unwrap();
            assert_eq!(x.read(&queue).unwrap(), [1 + before, 2 + before], "nothing behind it was done");
            assert_eq!(place.read(&queue).unwrap(), [5, 0, 0, 5, 0, 0]);
            queue.launch(FrameSpec::cover(2, 1), affine(&mut x, 1, 1)).unwrap();
            assert_eq!(x.read(&queue).unwrap(), [2 + before, 3 + before]);
        }
    }
}

#[kernel]
fn spins(acc: &Acc, turns: Atomic<u32>, flag: Atomic<u32>) {
    while flag.load(0) == 0 {
        turns.fetch_add(acc.linear_thread_in_grid(), 1);
    }
}

/// The time limit is that of the running launch, counted from its own beginning.
#[test]
fn a_time_limit() {
    for device in devices() {
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            let (turns, flag) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(1).unwrap());
            let mut x = device.from_slice(&[1u32, 2, 3]).unwrap();
            queue.launch(FrameSpec::cover(3, 2), affine(&mut x, 3, 1)).unwrap();
            let options = LaunchOptions::new().time_limit(Duration::from_millis(200));
            let began = Instant::now();
            let launched = queue.launch_with(options, ThreadSpec::new(2, 2), spins(&turns, &flag));
            let _ = queue.launch(FrameSpec::cover(3, 2), affine(&mut x, 100, 0));
            let error = launched.and_then(|()| queue.wait()).unwrap_err();
            eprintln!("{} {:?}: {error}", device.name(), began.elapsed());
            assert!(began.elapsed() >= Duration::from_millis(200));
            let ErrorKind::TimeLimit { kernel, lines, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(kernel, "spins");
            assert_eq!(lines.len(), 2, "one for each block: {error}");
            assert!(turns.read(&queue).unwrap().iter().all(|&turns| turns > 0));
            queue.launch(FrameSpec::cover(3, 2), affine(&mut x, 2, 0)).unwrap();
            let factor = if x.read(&queue).unwrap()[0] == 8 { 1 } else { 100 };
            assert_eq!(x.read(&queue).unwrap(), [8, 14, 20].map(|x| x * factor));
        }
    }
}

#[test]
fn what_waits_behind_another_has_its_whole_time() {
    for device in devices() {
        let queue = device.queue_non_blocking().unwrap();
        let (turns, flag) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_host_mapped::<u32, 1>(1).unwrap());
        let other = device.queue_non_blocking().unwrap();
        queue.launch(ThreadSpec::new(1, 1), spins(&turns, &flag)).unwrap();
        // The launch waits much longer than its limit, and then takes no time.
        let mut x = device.from_slice(&[1u32, 2, 3]).unwrap();
        let options = LaunchOptions::new().time_limit(Duration::from_millis(20));
        queue.launch_with(options, FrameSpec::cover(3, 2), affine(&mut x, 2, 0)).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
        queue.wait().unwrap();
        assert_eq!(x.read(&queue).unwrap(), [2, 4, 6]);
    }
}

#[kernel]
fn opens(_acc: &Acc, flag: Atomic<u32>) {
    flag.store_with(0, 1, Scope::Device, Order::Release);
}

#[kernel]
fn reversed(acc: &Acc, x: Shared<u32>) {
    let part = acc.shared_at_launch::<u32>();
    let thread = acc.thread_in_block();
    part[thread] = x[thread];
    acc.sync_block();
    x[thread] = part[part.len() - 1 - thread];
}

#[test]
fn limits_are_told_before() {
    for device in devices() {
        let queue = device.queue().unwrap();
        let properties = device.properties();
        let threads = properties.max_threads_per_block as usize;
        let mut x = device.alloc_zeroed::<u32>(threads).unwrap();
        let error = queue.launch(ThreadSpec::new(1, threads + 1), affine(&mut x, 1, 1)).unwrap_err();
        assert!(error.to_string().contains(&format!("{threads} at the most")), "{error}");
        // Shared memory: as much as the device has, and more.
        let most = (properties.max_shared_memory / 4) as u32;
        for (elements, fits) in [(threads as u32, true), (most, true), (most + 1, false)] {
            let options = LaunchOptions::new().shared_len(elements);
            match queue.launch_with(options, ThreadSpec::new(1, threads.min(64)), reversed(&x)) {
                Ok(()) => assert!(fits, "{elements} words of shared memory"),
                Err(error) => {
                    let (text, is_fault) = (error.to_string(), matches!(error.kind(), ErrorKind::Fault(_)));
                    assert!(!fits || text.contains("index"), "{text}");
                    assert!(fits || is_fault && text.contains(&properties.max_shared_memory.to_string()), "{text}");
                }
            }
        }
    }
}

/// A kernel that declares 40 KiB of shared memory, and has an array that is sized at launch.
#[kernel]
fn both_kinds(acc: &Acc, x: Shared<u32>) {
    let own = acc.shared::<u32, 10240>();
    let part = acc.shared_at_launch::<u32>();
    let thread = acc.thread_in_block();
    own[10239 - thread] = thread;
    part[part.len() - 1 - thread] = 2 * thread;
    acc.sync_block();
    x[thread] = own[10239 - thread] + part[part.len() - 1 - thread];
}

/// A launch needs permission for less than 48 KiB already, where the code declares shared memory itself.
#[test]
fn shared_memory_of_both_kinds() {
    for device in devices() {
        if device.properties().max_shared_memory < 61440 {
            eprintln!("not possible: {} has too little shared memory", device.name());
            continue;
        }
        let queue = device.queue().unwrap();
        let x = device.alloc_zeroed::<u32>(32).unwrap();
        for elements in [32, 2048, 2049, 5120] {
            let options = LaunchOptions::new().shared_len(elements);
            queue.launch_with(options, ThreadSpec::new(1, 32), both_kinds(&x)).unwrap();
            assert!(x.read(&queue).unwrap().iter().enumerate().all(|(i, &x)| x == 3 * i as u32), "{elements}");
        }
    }
}

/// Each block waits for the block behind it.
#[kernel]
fn against_the_order(acc: &Acc, told: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block + 1 < acc.blocks_in_grid() {
        while told.load_with(block + 1, Scope::Device, Order::Acquire) == 0 {}
    }
    told.store_with(block, 1, Scope::Device, Order::Release);
}

#[test]
fn all_blocks_at_once() {
    for device in devices() {
        let most = device.properties().max_cooperative_blocks as usize;
        let queue = device.queue().unwrap();
        let told = device.alloc_zeroed::<u32>(most).unwrap();
        let options = LaunchOptions::new().cooperative();
        queue.launch_with(options, ThreadSpec::new(most, 1), against_the_order(&told)).unwrap();
        assert_eq!(told.read(&queue).unwrap(), vec![1; most]);
        let error = queue.launch_with(options, ThreadSpec::new(1 << 24, 1), against_the_order(&told)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{error}");
        assert!(error.to_string().contains("blocks of kernel `against_the_order` at once"), "{error}");
    }
}

#[kernel]
fn asks(_acc: &Acc, question: Atomic<u32>, answer: Atomic<u32>) {
    question.store_with(0, 7, Scope::System, Order::Release);
    while answer.load_with(0, Scope::System, Order::Acquire) == 0 {}
}

#[kernel]
fn answers(_acc: &Acc, question: Atomic<u32>, answer: Atomic<u32>) {
    while question.load_with(0, Scope::System, Order::Acquire) == 0 {}
    answer.store_with(0, question.load(0) + 1, Scope::System, Order::Release);
}

#[test]
fn the_host_beside_a_launch() {
    for device in devices() {
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            for unified in [false, true] {
                let word = || {
                    if unified { device.alloc_unified::<u32, 1>(1) } else { device.alloc_host_mapped::<u32, 1>(1) }
                };
                let (Ok(question), Ok(answer)) = (word(), word()) else { continue };
                let (kernel, host) = (asks(&question, &answer), answers(&question, &answer));
                let spec = ThreadSpec::new(1, 1);
                queue.launch_with_host(LaunchOptions::new(), spec, kernel, host).unwrap();
                queue.wait().unwrap();
                assert_eq!((question.map().unwrap()[0], answer.map().unwrap()[0]), (7, 8));
            }
        }
    }
}

#[test]
fn domains_are_taken() {
    for device in devices() {
        eprintln!("{}: {} domains", device.name(), device.properties().sync_domains);
        let queue = device.queue().unwrap();
        let mut x = device.from_slice(&[1u32, 2, 3]).unwrap();
        let options = LaunchOptions::new().sync_domain(wattle_core::SyncDomain::Remote);
        queue.launch_with(options, FrameSpec::cover(3, 2), affine(&mut x, 2, 0)).unwrap();
        if device.properties().sync_domains > 2 {
            let map = wattle_core::SyncDomainMap { default: 2, remote: 0 };
            queue.launch_with(options.sync_domain_map(map), FrameSpec::cover(3, 2), affine(&mut x, 2, 0)).unwrap();
            assert_eq!(x.read(&queue).unwrap(), [4, 8, 12]);
        }
    }
}
