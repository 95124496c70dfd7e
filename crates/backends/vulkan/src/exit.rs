//! The end of the process.
//!
//! When a process ends, the C library runs the destructors of drivers, even while other threads are inside the driver
//! or its own threads run a launch; what those use is then gone, and the process crashes. So at exit, before that:
//! - launches in flight are asked to end, as by a time limit;
//! - threads inside the driver leave it, and those that enter it stop for good ([`enter`]);
//! - new data in pipeline caches are saved.
//!
//! This takes at most two seconds: a launch that does not end when it is asked to still runs then. A driver destroys
//! what it creates while a thread compiles its first pipelines before any exit handler runs; a process that ends at
//! that moment can still crash (seen with lavapipe, whose compiler is LLVM).

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, Weak};
use wattle_core::lock;

use wattle_gpu::exit::{Ending, at_exit};
use wattle_spirv::control;

use crate::context::Context;
use crate::record::{GATE, SLOTS, stop_of};

static ENDING: Ending = Ending::new();

/// How many threads are inside drivers.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// How many driver calls have been made.
static CALLS: AtomicU64 = AtomicU64::new(0);

static LIVE: Mutex<Live> = Mutex::new(Live { contexts: Vec::new(), controls: Vec::new() });

/// The open devices and the control blocks of queues.
struct Live {
    contexts: Vec<Weak<Context>>,
    controls: Vec<Control>,
}

/// The address of the control blocks and the gate of a queue.
struct Control(NonNull<u8>);

// SAFETY: it is only used for atomic accesses, while the memory is there.
unsafe impl Send for Control {}

thread_local! {
    /// How many [`Inside`] guards this thread holds.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A guard while its thread may be inside a driver.
pub(crate) struct Inside(());

/// Enters a driver. At the end of the process it does not return, except in the thread that ends it.
pub(crate) fn enter() -> Inside {
    let depth = DEPTH.get();
    if depth == 0 {
        // Either this is seen from [`end`], or `ENDING` is seen here: both are sequentially consistent.
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if ENDING.keeps_out() {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
            ENDING.stop_here();
        }
    }
    DEPTH.set(depth + 1);
    Inside(())
}

impl Drop for Inside {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            if CALLS.fetch_add(1, Ordering::Relaxed).is_power_of_two() {
                before_drivers();
            }
            INSIDE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Registers a device, which is to be shut down at the end of the process.
pub(crate) fn add_context(context: &Arc<Context>) {
    let mut live = lock(&LIVE);
    live.contexts.retain(|context| context.strong_count() > 0);
    live.contexts.push(Arc::downgrade(context));
}

/// Registers a queue's control blocks, which start at `start`, so that its launches are ended at exit.
///
/// # Safety
/// Control blocks and gate stay valid until [`remove_control`].
pub(crate) unsafe fn add_control(start: NonNull<u8>) {
    lock(&LIVE).controls.push(Control(start));
}

/// Removes the control blocks of a queue that is being destroyed.
pub(crate) fn remove_control(start: NonNull<u8>) {
    lock(&LIVE).controls.retain(|control| control.0 != start);
}

/// Registers [`end`] so that it runs before all that drivers have registered so far: the C library runs handlers in
/// reverse order.
///
/// Drivers and layers register things when they first do something. So this is called when one has been loaded or has
/// built a pipeline, and after the first, second, fourth, … call; a few dozen entries do no harm.
pub(crate) fn before_drivers() {
    at_exit(end);
}

/// Ends all launches, waits until no thread is inside a driver, and saves the pipeline caches.
extern "C" fn end() {
    let is_over = || INSIDE.load(Ordering::SeqCst) == 0 && contexts().iter().all(|context| context.is_idle());
    if ENDING.run(stop_all, is_over) {
        contexts().iter().for_each(|context| context.save_pipelines(true));
    }
}

fn contexts() -> Vec<Arc<Context>> {
    lock(&LIVE).contexts.iter().filter_map(Weak::upgrade).collect()
}

/// Asks all launches to end, and shuts the gates so that those that have not begun do nothing.
fn stop_all() {
    for Control(start) in &lock(&LIVE).controls {
        // SAFETY: the memory is there until it is removed, and all of it are words that are used so.
        let word = |byte: u64| unsafe { AtomicU32::from_ptr(start.as_ptr().add(byte as usize).cast()) };
        // Launches are numbered from 1, and those with greater numbers than the gate's do nothing.
        word(GATE).store(0, Ordering::Relaxed);
        (0..SLOTS).for_each(|slot| word(stop_of(slot)).store(1, Ordering::Relaxed));
    }
    // In memory of the device the writes may be buffered; this fence sends them.
    fence(Ordering::SeqCst);
}

const _: () = assert!(control::OPEN > 0, "a gate of 0 is shut");
