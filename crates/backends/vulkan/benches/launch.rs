//! Measures the host time that a launch of a cached kernel costs: `cargo bench -p wattle-vulkan --bench launch
//! [DEVICE]`.
//!
//! The driver's share is subtracted: `raw` makes the same Vulkan calls with the same shader and nothing between them.
//! The two are measured alternately, so that other load on the machine affects both. Printed are medians of the wall
//! time and of the launching thread's processor time, and their differences.

mod raw;

use std::time::Instant;

use raw::Raw;
use wattle::prelude::*;
use wattle_core::Kernel;

/// A kernel with three views and a scalar that does next to no work.
#[kernel]
fn touch(acc: &Acc, x: Shared<u32>, y: Shared<u32>, z: Shared<u32>, value: u32) {
    if acc.thread_in_grid() == value {
        z[0] = x[0] + y[0];
    }
}

/// How many measurements of each kind are made, and how many launches each has.
const TURNS: usize = 400;
const LAUNCHES: usize = 16;

fn main() -> Result<()> {
    // `cargo bench` gives options of its own.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let names = wanted.map_or_else(|| vec!["vulkan:llvmpipe".into(), "vulkan:swiftshader".into()], |name| vec![name]);
    for name in names {
        match Device::select(&name) {
            Ok(device) => measure(&device)?,
            Err(error) => eprintln!("skipped: {error}"),
        }
    }
    Ok(())
}

/// The time per launch in microseconds: wall time, and processor time of the launching thread.
#[derive(Clone, Copy)]
struct Took {
    wall: f64,
    own: f64,
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Took> {
    let (own, began) = (thread_time(), Instant::now());
    work()?;
    let each = |seconds: f64| seconds * 1e6 / LAUNCHES as f64;
    Ok(Took { wall: each(began.elapsed().as_secs_f64()), own: each(thread_time() - own) })
}

fn measure(device: &Device) -> Result<()> {
    let [x, y, z] = [device.alloc_zeroed::<u32>(64)?, device.alloc_zeroed(64)?, device.alloc_zeroed(64)?];
    let kernel = || touch(&x, &y, &z, 77);
    let label = device.properties().description.split(',').next().unwrap_or_default().to_owned();
    let mut raw = match Raw::new(&label, &kernel().build()?) {
        Ok(raw) => raw,
        Err(error) => {
            eprintln!("skipped: {label}: {error:?}");
            return Ok(());
        }
    };
    let (blocking, ahead) = (device.queue()?, device.queue_non_blocking()?);
    let spec = ThreadSpec::new(1, 1);
    let mut took: [Vec<Took>; 5] = Default::default();
    for turn in 0..TURNS + 20 {
        let now = [
            timed(|| (0..LAUNCHES).try_for_each(|_| blocking.launch(spec, kernel())))?,
            timed(|| {
                (0..LAUNCHES).for_each(|_| raw.launch_and_wait());
                Ok(())
            })?,
            // This measures the caller's part alone; the queue's thread does the rest.
            {
                let took = timed(|| (0..LAUNCHES).try_for_each(|_| ahead.launch(spec, kernel())))?;
                ahead.wait()?;
                took
            },
            timed(|| {
                (0..LAUNCHES).try_for_each(|_| ahead.launch(spec, kernel()))?;
                ahead.wait()
            })?,
            timed(|| {
                raw.launch_all(LAUNCHES);
                Ok(())
            })?,
        ];
        // The first launches build the kernel and are not counted.
        if turn >= 20 {
            took.iter_mut().zip(now).for_each(|(all, now)| all.push(now));
        }
    }
    let [ours, theirs, call, ours_ahead, theirs_ahead] = took.map(|all| Took {
        wall: median(all.iter().map(|took| took.wall)),
        own: median(all.iter().map(|took| took.own)),
    });
    println!("{}: microseconds for each launch, medians of {TURNS} times {LAUNCHES}", device.properties().description);
    println!("                                 by the clock   of the thread");
    let row = |name: &str, wall: f64, own: f64| println!("  {name:<30} {wall:>12.1} {own:>15.1}");
    row("blocking", ours.wall, ours.own);
    row("the same calls alone", theirs.wall, theirs.own);
    row("our own time", ours.wall - theirs.wall, ours.own - theirs.own);
    row("non-blocking, the call", call.wall, call.own);
    row("non-blocking, with the wait", ours_ahead.wall, ours_ahead.own);
    row("the same calls alone", theirs_ahead.wall, theirs_ahead.own);
    println!("  our own time                   {:>12.1}   (of two threads)", ours_ahead.wall - theirs_ahead.wall);
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// This thread's processor time, in seconds.
#[cfg(target_os = "linux")]
fn thread_time() -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: std::ffi::c_long,
        nanoseconds: std::ffi::c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: std::ffi::c_int, time: *mut Timespec) -> std::ffi::c_int;
    }
    /// The value of `CLOCK_THREAD_CPUTIME_ID`.
    const OF_THREAD: std::ffi::c_int = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the time is written to a local that is laid out as the C library's.
    unsafe { clock_gettime(OF_THREAD, &mut time) };
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn thread_time() -> f64 {
    f64::NAN
}
