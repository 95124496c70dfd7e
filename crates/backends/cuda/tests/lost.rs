//! Lost devices: their errors, and that nothing hangs or crashes. Each test runs in a process of its own.

mod common;

use common::{in_a_child, passed, soft_devices};
use wattle::prelude::*;
use wattle::{Device, ErrorKind};

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

#[kernel]
fn other(acc: &Acc, x: PerItem<u32>) {
    for (_, x) in acc.items(&mut x) {
        *x += 1;
    }
}

fn in_soft(test: &str, variables: &[(&str, &str)], in_child: impl FnOnce(Device)) {
    let devices = soft_devices();
    let Some(device) = devices.into_iter().next() else { return };
    match in_a_child(test, variables) {
        Some(output) => passed(&output),
        None => in_child(device),
    }
}

/// Every use of a lost device fails with an error that says so, and what to do.
fn is_lost(device: &Device, x: &mut Buffer<u32>, queue: &Queue) {
    let said = |outcome: Result<()>| {
        let error = outcome.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::DeviceUnusable { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("cannot be used any more in this process"), "{text}");
        assert!(text.contains("start the program again"), "{text}");
    };
    said(queue.launch(FrameSpec::cover(4, 2), other(&mut *x)).and_then(|()| queue.wait()));
    said(x.read(queue).map(drop));
    said(device.alloc::<u32>(10).map(drop));
    said(device.queue().map(drop));
    // An event that is recorded is reached.
    if let Ok(event) = queue.record() {
        let _ = event.wait();
        assert!(event.is_reached());
    }
    let _ = queue.wait();
}

#[test]
fn by_a_launch() {
    // The third launch uses an address of no allocation.
    in_soft("by_a_launch", &[("SOFT_CUDA_LAUNCH_ERROR", "3:700")], |device| {
        let queue = device.queue().unwrap();
        let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
        (0..2).for_each(|_| queue.launch(FrameSpec::cover(4, 2), affine(&mut x, 3, 1)).unwrap());
        let error = queue.launch(FrameSpec::cover(4, 2), affine(&mut x, 3, 1)).unwrap_err().to_string();
        eprintln!("{error}");
        assert!(error.contains("kernel `affine`") && error.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
        assert!(error.contains("cannot be used any more in this process"), "{error}");
        is_lost(&device, &mut x, &queue);
    });
}

#[test]
fn by_one_of_several() {
    in_soft("by_one_of_several", &[("SOFT_CUDA_LAUNCH_ERROR", "5:719")], |device| {
        let queue = device.queue_non_blocking().unwrap();
        let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
        queue.launch(FrameSpec::cover(4, 2), other(&mut x)).unwrap();
        for _ in 0..10 {
            let _ = queue.launch(FrameSpec::cover(4, 2), affine(&mut x, 3, 1));
        }
        let error = queue.wait().unwrap_err().to_string();
        eprintln!("{error}");
        assert!(error.contains("`affine`") && error.contains("CUDA_ERROR_LAUNCH_FAILED"), "{error}");
        is_lost(&device, &mut x, &queue);
    });
}

#[test]
fn with_each_launch_waited_for() {
    let variables = [("SOFT_CUDA_LAUNCH_ERROR", "5:719"), ("WATTLE_CUDA_SYNC", "1")];
    in_soft("with_each_launch_waited_for", &variables, |device| {
        let queue = device.queue_non_blocking().unwrap();
        let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
        for number in 1..=10 {
            let _ = if number == 5 {
                queue.launch(FrameSpec::cover(4, 2), other(&mut x))
            } else {
                queue.launch(FrameSpec::cover(4, 2), affine(&mut x, 3, 1))
            };
        }
        let error = queue.wait().unwrap_err().to_string();
        assert!(error.starts_with("kernel `other`"), "{error}");
        is_lost(&device, &mut x, &queue);
    });
}

/// A kernel whose loop has a bound, so that it does not end when requested to.
#[kernel]
fn works(acc: &Acc, sums: Atomic<u32>, turns: u32) {
    for turn in 0..turns {
        sums.fetch_add(acc.linear_thread_in_grid(), turn);
    }
}

/// A launch that goes on after it was requested to end: the device is refused until it has ended, and can be used then.
#[test]
fn for_a_while() {
    in_soft("for_a_while", &[("WATTLE_CUDA_GRACE_MS", "100")], |device| {
        let queue = device.queue_non_blocking().unwrap();
        let sums = device.alloc_zeroed::<u32>(1).unwrap();
        // A number of turns that takes several times the limit and the grace period.
        let mut turns = 10_000;
        loop {
            let began = std::time::Instant::now();
            queue.launch(ThreadSpec::new(1, 1), works(&sums, turns)).unwrap();
            queue.wait().unwrap();
            if began.elapsed() > std::time::Duration::from_millis(1500) {
                break;
            }
            turns *= 2;
        }
        let options = LaunchOptions::new().time_limit(std::time::Duration::from_millis(100));
        queue.launch_with(options, ThreadSpec::new(1, 1), works(&sums, turns)).unwrap();
        let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
        let began = std::time::Instant::now();
        let error = queue.wait().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TimeLimit { .. }), "{error} after {:?}", began.elapsed());
        let refused = queue.launch(FrameSpec::cover(4, 2), other(&mut x)).and_then(|()| queue.wait()).unwrap_err();
        assert!(refused.to_string().contains("kernel `works` was asked to end and still runs"), "{refused}");
        assert!(device.alloc::<u32>(1).is_err());
        drop(sums);
        let again = loop {
            match device.queue() {
                Ok(queue) => break queue,
                Err(error) => assert!(error.to_string().contains("still runs"), "{error}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        again.launch(FrameSpec::cover(4, 2), other(&mut x)).unwrap();
        assert_eq!(x.read(&again).unwrap(), [2, 3, 4, 5]);
        queue.launch(FrameSpec::cover(4, 2), other(&mut x)).unwrap();
        assert_eq!(x.read(&queue).unwrap(), [3, 4, 5, 6]);
    });
}

/// Another part of the program resets the device.
#[test]
fn by_another_library() {
    in_soft("by_another_library", &[], |device| {
        let queue = device.queue_non_blocking().unwrap();
        let mut x = device.from_slice(&[1u32, 2, 3, 4]).unwrap();
        queue.launch(FrameSpec::cover(4, 2), other(&mut x)).unwrap();
        queue.wait().unwrap();
        // SAFETY: the driver is soft-cuda, which is loaded, and checks what it is given.
        let reset = unsafe { cudarc::driver::sys::cuDevicePrimaryCtxReset_v2(0) };
        assert_eq!(reset, cudarc::driver::sys::CUresult::CUDA_SUCCESS);
        let error = queue.launch(FrameSpec::cover(4, 2), other(&mut x)).and_then(|()| queue.wait()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("another part of the program has destroyed or reset"), "{text}");
        is_lost(&device, &mut x, &queue);
    });
}
