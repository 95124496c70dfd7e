//! A panic in a kernel's function is reported; nothing hangs, and the process lives. So are arguments that are not for the
//! kernel's parameters. `#[kernel]` makes no such kernels, so these are written by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, Kernel, Launch};
use wattle_core::{Arg, Argument, KernelIdentity, KernelInfo, Thread};

use crate::bad_input::still_works;
use crate::harness::{Case, Outcome, kind, not_possible, refused, says};
use crate::kernels::counts;

pub const CASES: &[Case] = &[
    ("a kernel that panics", panics),
    ("a block that panics while others wait for it", panics_while_others_wait),
    ("a discarded task that panics when it is dropped", panics_when_dropped),
    ("arguments that are for other parameters", other_arguments),
];

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Another thread waits meanwhile: for a copy that begins later.
fn panics_when_dropped(device: &Device) -> Outcome {
    let word = device.alloc_zeroed::<u32>(1)?;
    let (queue, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    queue.launch(ThreadSpec::new(40, 1), counts(&word))?;
    let owned = PanicsWhenDropped;
    let discarded = move || {
        let _owned = &owned;
        Ok(())
    };
    // It fails once the other is enqueued: before, the queue would refuse that one.
    let (go, enqueued) = std::sync::mpsc::channel::<()>();
    other.host_task(move || {
        let _ = enqueued.recv();
        Err(wattle::Error::check("a task"))
    })?;
    other.host_task(discarded)?;
    drop(go);
    assert_eq!(word.read(&queue)?, [40]);
    says(&refused(other.wait()), &["a task"]);
    still_works(&other)?;
    still_works(&queue)
}

/// A kernel that is written by hand, and that panics.
#[derive(Clone, Copy)]
struct Panics;

static PANICS: KernelInfo =
    KernelInfo::new("by_hand", wattle::ir::Site { file: file!(), line: line!(), column: 1 }, &[]);

// SAFETY: it has no arguments, uses no memory, and its copies are the same.
unsafe impl Kernel for Panics {
    fn info(&self) -> &'static KernelInfo {
        &PANICS
    }
    fn rank(&self) -> usize {
        1
    }
    fn argument(&self, _: usize) -> Option<Argument<'_>> {
        None
    }
    unsafe fn run(&self, _: &Thread<'_>) {
        panic!("a kernel written by hand");
    }
    fn build(&self) -> wattle::Result<wattle::ir::Kernel> {
        // What it is built from does not matter: only the host runs it.
        Ok(wattle::ir::builder::Builder::new("by_hand", PANICS.site, 1).finish()?)
    }
    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<Self>(0)
    }
    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(*self)
    }
}

// SAFETY: the rank is 1.
unsafe impl Launch<1> for Panics {}

fn panics(device: &Device) -> Outcome {
    if device.properties().kind != DeviceKind::Host {
        return not_possible("it runs no Rust function");
    }
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        for (blocks, threads) in [(1, 1), (100, 1), (1, 8), (20, 3)] {
            for options in [LaunchOptions::new(), LaunchOptions::new().cooperative()] {
                let launched = queue.launch_with(options, ThreadSpec::new(blocks, threads), Panics);
                let error = refused(launched.and_then(|()| queue.wait()));
                kind!(error, ErrorKind::Panic { .. });
                says(&error, &["kernel `by_hand` panicked: a kernel written by hand"]);
                still_works(&queue)?;
            }
        }
        let word = device.alloc_zeroed::<u32>(1)?;
        let one = ThreadSpec::new(1, 1);
        let launched = queue.launch_with_host(LaunchOptions::new(), one, counts(&word), Panics);
        let error = refused(launched.and_then(|()| queue.wait()));
        says(&error, &["panicked: a kernel written by hand"]);
        assert_eq!(word.read(&queue)?, [1]);
        still_works(&queue)?;
    }
    Ok(())
}

/// A kernel whose first block to come panics, while the others wait for it.
struct FirstPanics(Arc<AtomicBool>);

// SAFETY: as above.
unsafe impl Kernel for FirstPanics {
    fn info(&self) -> &'static KernelInfo {
        &PANICS
    }
    fn rank(&self) -> usize {
        1
    }
    fn argument(&self, _: usize) -> Option<Argument<'_>> {
        None
    }
    unsafe fn run(&self, thread: &Thread<'_>) {
        assert!(self.0.swap(true, Ordering::Relaxed), "the first");
        while !thread.must_stop() {}
    }
    fn build(&self) -> wattle::Result<wattle::ir::Kernel> {
        // What it is built from does not matter: only the host runs it.
        Ok(wattle::ir::builder::Builder::new("by_hand", PANICS.site, 1).finish()?)
    }
    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<Self>(0)
    }
    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(FirstPanics(self.0.clone()))
    }
}

// SAFETY: the rank is 1.
unsafe impl Launch<1> for FirstPanics {}

fn panics_while_others_wait(device: &Device) -> Outcome {
    if device.properties().kind != DeviceKind::Host {
        return not_possible("it runs no Rust function");
    }
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        for (blocks, threads) in [(2, 1), (5, 1), (1, 7), (5, 3)] {
            let began = Instant::now();
            let options = LaunchOptions::new().cooperative();
            let launched = queue.launch_with(options, ThreadSpec::new(blocks, threads), FirstPanics(Arc::default()));
            let error = refused(launched.and_then(|()| queue.wait()));
            kind!(error, ErrorKind::Panic { .. });
            says(&error, &["kernel `by_hand` panicked: the first"]);
            assert!(began.elapsed() < Duration::from_secs(30), "the others waited for their time limit");
            still_works(&queue)?;
        }
    }
    Ok(())
}

/// A kernel whose argument is not of the type of its only parameter.
#[derive(Clone, Copy)]
struct OtherArgument(i32);

static OTHER_ARGUMENT: KernelInfo = KernelInfo::new("other_argument", PANICS.site, &["x"]);

// SAFETY: it uses no memory, and its copies are the same. That its arguments are for other parameters is refused.
unsafe impl Kernel for OtherArgument {
    fn info(&self) -> &'static KernelInfo {
        &OTHER_ARGUMENT
    }
    fn rank(&self) -> usize {
        1
    }
    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        (number == 0).then(|| self.0.argument("x"))
    }
    unsafe fn run(&self, _: &Thread<'_>) {}
    fn build(&self) -> wattle::Result<wattle::ir::Kernel> {
        let builder = wattle::ir::builder::Builder::new("other_argument", PANICS.site, 1);
        builder.scalar::<u32>("x");
        Ok(builder.finish()?)
    }
    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<Self>(0)
    }
    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(*self)
    }
}

// SAFETY: the rank is 1.
unsafe impl Launch<1> for OtherArgument {}

fn other_arguments(device: &Device) -> Outcome {
    let queue = device.queue()?;
    // Nothing of a refused kernel is kept: it is refused again.
    for _ in 0..2 {
        let error = refused(queue.launch(ThreadSpec::new(1, 1), OtherArgument(7)));
        says(&error, &["`other_argument` has the parameters (x: u32), and was given (x: i32)"]);
    }
    still_works(&queue)
}
