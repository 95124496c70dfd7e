//! A blocking launch on a host device allocates nothing after the first.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use wattle::prelude::*;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is the system's allocator's own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[kernel]
fn add_one(acc: &Acc, x: Read<u32>, y: PerItem<u32>) {
    let tile = acc.shared::<u32, 8>();
    tile[0] = 1;
    for (i, y) in acc.items(&mut y) {
        *y = x[i] + tile[0];
    }
}

#[test]
fn launches_after_the_first_allocate_nothing() -> Result<()> {
    for device in [Device::host(), Device::host_serial()] {
        let queue = device.queue()?;
        let x = device.from_slice(&[1u32; 1000])?;
        let mut y = device.alloc::<u32>(1000)?;
        let mut launch = || queue.launch(FrameSpec::cover(1000, 16), add_one(&x, &mut y));
        // Helpers allocate when they run their first block, which may be later than the first launch.
        for _ in 0..2000 {
            launch()?;
        }
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..1000 {
            launch()?;
        }
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "on {}", device.name());
    }
    Ok(())
}
