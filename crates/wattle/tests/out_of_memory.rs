//! Where the host has too little memory for what a program asks for, that is an error, and the process goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use wattle::ErrorKind;
use wattle::prelude::*;

/// An allocator that refuses requests of more than `MOST` bytes.
struct Limited;

static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

fn fits(layout: Layout) -> bool {
    layout.size() <= MOST.load(Ordering::Relaxed)
}

// SAFETY: everything is the system's allocator's own, or a refusal.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise; so below.
        if fits(layout) { unsafe { System.alloc(layout) } } else { std::ptr::null_mut() }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        if fits(layout) { unsafe { System.alloc_zeroed(layout) } } else { std::ptr::null_mut() }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Elements of the buffers here: 16 MiB.
const LEN: usize = 4 << 20;

fn is_refused<T>(done: Result<T>) {
    match done {
        Ok(_) => panic!("there was memory"),
        Err(error) => match error.kind() {
            ErrorKind::OutOfMemory { device, bytes, .. } => {
                assert!(device.starts_with("host") && *bytes >= 4 * LEN as u64, "{error}");
            }
            _ => panic!("{error}"),
        },
    }
}

#[test]
fn too_little_memory_of_the_hosts_is_an_error() -> Result<()> {
    for device in [Device::host(), Device::host_serial()] {
        let (queue, later) = (device.queue()?, device.queue_non_blocking()?);
        let mut buffer = device.alloc::<u32>(LEN)?;
        let values = vec![1u32; LEN];
        MOST.store(LEN, Ordering::Relaxed);
        is_refused(device.alloc::<u32>(LEN));
        is_refused(device.from_slice(&values));
        is_refused(buffer.read(&queue));
        is_refused(later.copy_from_host(&mut buffer, &values));
        // Neither needs a second buffer.
        queue.fill(&mut buffer, 7)?;
        let part = buffer.slice(LEN - 3..LEN)?;
        let mut found = [0; 3];
        queue.copy_to_host(&mut found, &part)?;
        MOST.store(usize::MAX, Ordering::Relaxed);
        assert_eq!(found, [7; 3]);
        assert!(buffer.read(&queue)?.iter().all(|&x| x == 7));
        // The strides of a part are kept where it is filled by pieces.
        let mut plane = device.alloc_zeroed_nd::<u32, 2>([3, LEN / 2])?;
        queue.fill(plane.region_mut([0, 1], [3, LEN / 2 - 1])?, 9)?;
        let found = plane.read(&queue)?;
        let expected = |at: usize| if (1..LEN / 2 - 1).contains(&(at % (LEN / 2))) { 9 } else { 0 };
        assert!(found.iter().enumerate().all(|(at, &x)| x == expected(at)));
    }
    Ok(())
}

#[test]
fn work_that_needs_more_than_there_is_says_how_much() {
    for device in [Device::host(), Device::host_serial()] {
        let error = device.needs_memory(u64::MAX / 2, 1 << 40).unwrap_err();
        let (needed, text) = ((u64::MAX / 2 + (1 << 40)).to_string(), error.to_string());
        assert!(text.contains(&format!("needs {needed} bytes, and there are ")), "{text}");
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }));
        device.needs_memory(1, 1).unwrap();
    }
}
