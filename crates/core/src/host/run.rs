//! Running a launch on the host: its shape, its blocks in index order, its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use wattle_ir::{Access, LaunchShape, MAX_RANK};

use super::fibers;
use super::handover::Handover;
use super::stacks::{MOST_STACKS, Stacks, is_large};
use crate::argument::ArgumentValue;
use crate::buffer::runs;
use crate::error::{Result, system};
use crate::kernel::{Kernel, Known, known};
use crate::memory::settle_in_place;
use crate::panics::panicked;
use crate::properties::Properties;
use crate::queue::host_part_shape;
use crate::spec::{LaunchOptions, Shape, ShapeKind};
use crate::sync::lock;
use crate::thread::{Block, InKernel, LaunchState, Stopped, Thread};

/// Blocks per worker in a launch whose blocks the device chooses: enough that a worker that is slower than the others
/// does not delay the end for long.
const BLOCKS_PER_WORKER: u32 = 4;

/// How many blocks start between two looks at the clock.
const BLOCKS_PER_LOOK: u32 = 64;

/// Blocks and threads for a shape.
#[inline]
pub(super) fn launch_shape(properties: &Properties, shape: &Shape, options: &LaunchOptions) -> Result<LaunchShape> {
    let (blocks, threads) = match shape.kind {
        ShapeKind::Threads => {
            let threads: u32 = shape.inner.iter().product();
            if threads > properties.max_threads_per_block {
                return Err(too_many_threads(properties, threads));
            }
            (shape.outer, shape.inner)
        }
        // One thread per block is the fastest choice: it switches to nobody.
        ShapeKind::Frames if options.blocks != u32::MAX => (Shape::at_most(shape.outer, options.blocks), [1; MAX_RANK]),
        ShapeKind::Frames if properties.workers == 1 => ([1; MAX_RANK], [1; MAX_RANK]),
        ShapeKind::Frames => (spread(shape.outer, properties.workers * BLOCKS_PER_WORKER), [1; MAX_RANK]),
    };
    Ok(shape.launched(blocks, threads, options.lanes(properties, |_| true)?))
}

#[cold]
fn too_many_threads(properties: &Properties, threads: u32) -> crate::Error {
    let most = properties.max_threads_per_block;
    let what = format!("run blocks of {threads} threads: {most} at the most");
    let instead = "launch blocks of fewer threads, or with a `FrameSpec`, which leaves the choice to the device";
    crate::Error::capability(&properties.name, what, instead).limited(threads, most)
}

/// About `wanted` blocks, none without a frame, the slowest dimensions first.
fn spread(frames: [u32; MAX_RANK], wanted: u32) -> [u32; MAX_RANK] {
    let mut left = wanted;
    frames.map(|frames| {
        let blocks = frames.min(left).max(1);
        left = left.div_ceil(blocks);
        blocks
    })
}

/// Runs a launch to its end, with `team` where there is one.
///
/// # Safety
/// The requirements are those of [`BackendQueue::launch`](crate::BackendQueue::launch), and the memory is the host's.
pub(super) unsafe fn launch(
    properties: &Properties,
    team: Option<&Handover>,
    kernel: &dyn Kernel,
    shape: &Shape,
    options: &LaunchOptions,
) -> Result<()> {
    let shape = launch_shape(properties, shape, options)?;
    // SAFETY: the caller's promise.
    unsafe { run_grid(properties, team, kernel, shape, options) }
}

/// Runs a kernel on a thread of the host's while `launch` launches the other one and waits for its end; waits for both.
/// If the launch fails, the host part is stopped, since the threads that it waits for may be gone.
///
/// # Safety
/// The requirements are those of [`BackendQueue::launch`](crate::BackendQueue::launch), of the host part, whose memory
/// the host can reach.
///
/// # Errors
/// What went wrong in the launch, or else in the host part; its thread could not be started, and then nothing is
/// launched.
pub unsafe fn run_beside(
    host_part: &dyn Kernel,
    options: &LaunchOptions,
    launch: impl FnOnce() -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { settle(host_part) };
    let shape = host_part_shape().launched([1; MAX_RANK], [1; MAX_RANK], 1);
    let state = LaunchState::new(
        host_part.info().name,
        host_part.rank(),
        shape,
        options.get_shared_len(),
        options.get_time_limit(),
    );
    let (launched, ran) = std::thread::scope(|scope| -> Result<_> {
        let beside = std::thread::Builder::new()
            .name("wattle-host-part".into())
            // SAFETY: the caller's promise.
            .spawn_scoped(scope, || unsafe { run_alone(host_part, &state) })
            .map_err(|error| system("starting the host part's thread", error))?;
        let launched = launch();
        if launched.is_err() {
            state.abandon();
        }
        let ran = beside.join().unwrap_or_else(|panic| Err(panicked("the host part", panic)));
        Ok((launched, ran))
    })?;
    launched.and(ran).and(state.outcome())
}

/// Settles what a host part reads plainly: copies on the device may have brought bytes there that are no truth values.
///
/// # Safety
/// The requirements are those of [`run_beside`].
unsafe fn settle(host_part: &dyn Kernel) {
    for argument in host_part.arguments() {
        let ArgumentValue::View(view) = argument.value else { continue };
        let is_plain = match view.access {
            Access::Read | Access::PerItem => true,
            Access::Shared | Access::Atomic => false,
        };
        let layout = view.buffer.layout;
        let Some(start) = view.buffer.host.filter(|_| is_plain && layout.has_bools() && view.number == 0) else {
            continue;
        };
        for (offset, length) in runs(view.buffer, view.region) {
            // SAFETY: the run is within the buffer; the clocks let nothing write there but this host part.
            unsafe { settle_in_place(layout, start.add(offset * layout.size()), length) };
        }
    }
}

/// Runs a kernel's blocks.
///
/// # Safety
/// The requirements are those of [`launch`].
unsafe fn run_grid(
    properties: &Properties,
    team: Option<&Handover>,
    kernel: &dyn Kernel,
    shape: LaunchShape,
    options: &LaunchOptions,
) -> Result<()> {
    let (shared_len, time_limit) = (options.get_shared_len(), options.get_time_limit());
    let state = LaunchState::new(kernel.info().name, kernel.rank(), shape, shared_len, time_limit);
    let blocks = state.block_count();
    if options.is_cooperative() {
        can_be_at_once(properties, blocks, state.threads_in_block())?;
    }
    let ran = if options.is_cooperative() && blocks > properties.workers {
        // SAFETY: the caller's promise; so below.
        unsafe { at_once(kernel, &state, blocks) }
    } else {
        match team {
            Some(team) if blocks > 1 => {
                let panic = Mutex::new(None);
                let next = AtomicU64::new(0);
                team.run(&|| {
                    // SAFETY: the caller's promise; the workers share the counter.
                    if let Err(error) = unsafe { run_blocks(kernel, &state, &next, options.is_cooperative()) } {
                        lock(&panic).get_or_insert(error);
                    }
                });
                lock(&panic).take().map_or(Ok(()), Err)
            }
            // SAFETY: the caller's promise.
            _ => unsafe { run_alone(kernel, &state) },
        }
    };
    ran.and(state.outcome())
}

/// The stacks for the threads of a block; none where each runs to its end before the next one starts. `must` takes them
/// also beyond the pool's limit: no other worker runs the blocks.
#[inline]
fn stacks(kernel: &dyn Kernel, state: &LaunchState, must: bool) -> Result<Stacks> {
    let Known { stack_bytes: bytes, waits, .. } = known(kernel)?;
    let take_turns = state.threads_in_block() > 1 && (waits.in_block || (waits.in_warp && state.shape().warp_size > 1));
    if !take_turns && !is_large(bytes) {
        return Ok(Stacks::NONE);
    }
    let stacks = Stacks::borrow(state.threads_in_block() as usize, bytes, must);
    stacks.map_err(|error| {
        system(format!("making stacks for the {} threads of a block", state.threads_in_block()), error)
    })
}

/// Runs one block.
///
/// # Safety
/// The requirements are those of [`launch`], and the block runs once.
#[inline]
unsafe fn run_block(kernel: &dyn Kernel, state: &LaunchState, number: u32, stacks: &mut Stacks) {
    if stacks.is_empty() {
        let block = Block::new(state, number);
        let thread = Thread::each(&block);
        loop {
            // SAFETY: the caller's promise.
            unsafe { kernel.run(&thread) };
            if !thread.next(state.rank()) {
                return;
            }
        }
    } else {
        // SAFETY: the caller's promise.
        unsafe { fibers::run_block(kernel, state, number, stacks) };
    }
}

/// Runs all blocks one after another.
///
/// # Safety
/// The requirements are those of [`launch`].
#[inline]
unsafe fn run_alone(kernel: &dyn Kernel, state: &LaunchState) -> Result<()> {
    let _in_kernel = InKernel::enter();
    let mut stacks = stacks(kernel, state, true)?;
    let run = || {
        for block in 0..state.block_count() {
            if state.stopped() || (block % BLOCKS_PER_LOOK == BLOCKS_PER_LOOK - 1 && state.look()) {
                return;
            }
            // SAFETY: the caller's promise, and this runs each block once.
            unsafe { run_block(kernel, state, block, &mut stacks) };
        }
    };
    caught(kernel, state, catch_unwind(AssertUnwindSafe(run)))
}

/// Takes blocks in index order and runs each to its end, until none is left. `must` says that no
/// other worker would run the blocks that are left.
///
/// # Safety
/// The requirements are those of [`launch`].
unsafe fn run_blocks(kernel: &dyn Kernel, state: &LaunchState, next: &AtomicU64, must: bool) -> Result<()> {
    let blocks = state.block_count() as u64;
    let _in_kernel = InKernel::enter();
    // Where no block has started, the other workers may lack stacks too.
    let must = must || next.load(Ordering::Relaxed) == 0;
    let mut stacks = match stacks(kernel, state, must) {
        Ok(stacks) => stacks,
        Err(_) if !must => return Ok(()),
        Err(error) => {
            state.abandon();
            return Err(error);
        }
    };
    let run = || {
        loop {
            // Relaxed: the counter alone decides which worker runs which block; the launch's handover orders the rest.
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks || state.stopped() {
                return;
            }
            if block % u64::from(BLOCKS_PER_LOOK) == u64::from(BLOCKS_PER_LOOK) - 1 && state.look() {
                return;
            }
            // SAFETY: the caller's promise, and the counter gives each block once.
            unsafe { run_block(kernel, state, block as u32, &mut stacks) };
        }
    };
    caught(kernel, state, catch_unwind(AssertUnwindSafe(run)))
}

/// A panic as an error; no further block starts. A thread that was stopped has ended, and the launch's state says why.
#[inline]
fn caught(kernel: &dyn Kernel, state: &LaunchState, ended: std::thread::Result<()>) -> Result<()> {
    match ended {
        Err(panic) if !panic.is::<Stopped>() => {
            state.abandon();
            Err(panicked(&format!("kernel `{}`", kernel.info().name), panic))
        }
        _ => Ok(()),
    }
}

/// Refuses a launch of more blocks at once than there can be.
fn can_be_at_once(properties: &Properties, blocks: u32, threads: u32) -> Result<()> {
    let most = properties.max_cooperative_blocks.min(MOST_STACKS / threads);
    if blocks <= most {
        return Ok(());
    }
    let of = if threads == 1 { String::new() } else { format!(" of {threads} threads") };
    let what = format!("run {blocks} blocks{of} at once: {most} at the most");
    let instead = "launch fewer blocks, and give each more work";
    Err(crate::Error::capability(&properties.name, what, instead).limited(blocks, most))
}

/// Runs all blocks at the same time, on threads of their own.
///
/// # Safety
/// The requirements are those of [`launch`].
unsafe fn at_once(kernel: &dyn Kernel, state: &LaunchState, blocks: u32) -> Result<()> {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let mut ran = Ok(());
        let mut threads = Vec::new();
        for _ in 0..blocks {
            let started = std::thread::Builder::new()
                .name("wattle-cooperative".into())
                // SAFETY: the caller's promise; the threads share the counter.
                .spawn_scoped(scope, || unsafe { run_blocks(kernel, state, &next, true) });
            match started {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    state.abandon();
                    ran = Err(system("starting a thread for a block", error));
                    break;
                }
            }
        }
        for thread in threads {
            ran = ran.and(thread.join().unwrap_or_else(|panic| Err(panicked("a block", panic))));
        }
        ran
    })
}

#[cfg(test)]
mod tests {
    use wattle_ir::{Site, builder};

    use super::*;
    use crate::bundle::Draft;
    use crate::kernel::KernelInfo;
    use crate::{Acc, Bound, Device, IntoArg, Read};

    #[test]
    fn what_a_host_part_reads_are_truth_values() {
        static INFO: KernelInfo =
            KernelInfo::new("looks", Site { file: file!(), line: line!(), column: 1 }, &["flags"]);
        let flags = Device::host().alloc_zeroed::<bool>(4).unwrap();
        let seen: Bound<Read<bool>> = (&flags.slice(1..3).unwrap()).into_arg();
        let build = |_: &builder::Builder, _: builder::Acc<'_, 1>, _: (builder::Read<'_, bool>,)| ();
        // SAFETY: it is never run.
        let kernel = unsafe { Draft::new(&INFO, (seen,), |_: &Acc<'_, 1>, _: (Read<bool>,)| (), build).vouch() };
        let Some(ArgumentValue::View(view)) = kernel.argument(0).map(|argument| argument.value) else { unreachable!() };
        let start = view.buffer.host.unwrap();
        // SAFETY: nothing else uses the buffer, and no reference to an element is made.
        let bytes = unsafe {
            start.write_bytes(165, 4);
            settle(&kernel);
            std::slice::from_raw_parts(start.as_ptr(), 4)
        };
        assert_eq!(bytes, [165, 1, 1, 165]);
    }
}
