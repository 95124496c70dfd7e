//! The threads of a block as fibers of one worker.
//!
//! A block of several threads runs on one thread of the operating system. Each of its threads has a stack of its own
//! ([`Stacks`]), and the worker switches between them where they wait: at barriers, and on back edges of loops without
//! a bound. `corosensei` does the switch; this module decides whose turn it is.
//!
//! **Fairness.** In a round each thread that can run has one turn, in the order of their numbers. A thread's turn ends
//! at a barrier, at every fourth back edge of loops that may be waits, or with the thread. So the progress within a
//! block is fair: between two turns of a thread every other one that can run has one. A thread in loops with a bound is
//! not interrupted; they end. The barrier opens when all threads of the block wait at it. Where one of them has ended,
//! or waits at another barrier, the launch ends with the error that the simulated device reports. Barriers are told
//! apart by their statements; the simulated device and the checker also compare the iterations of the loops around, and
//! the calls. At an operation of a warp its lanes wait for each other alone; each leaves its part in its thread, and
//! the last one to come finds the results of all. A warp has one lane unless the launch asks for more, and then nobody
//! waits.
//!
//! **Cost.** Measured on a shared virtual machine: 30 ns of processor time and 87 instructions for each thread that
//! passes a barrier, in blocks of up to 256 threads; 70 ns with 1024, whose stacks are more than the cache holds.
//!
//! **Memory.** The accesses of a block's threads are in one order, that of the worker. A switch is a call that the
//! compiler sees nothing of, so no access is moved across it. So barriers and fences of block scope need no
//! instruction, and what any thread of the block did comes before a wider fence of another that runs after it. A thread
//! never moves to another worker, so thread locals of the operating system stay those of the block. No reference to
//! memory that other threads write is alive at a switch: views are raw pointers, and give and take values.
//!
//! **The end of a launch that is stopped.** Threads that wait are not unwound: their stacks are given back as they are,
//! which is a `longjmp` over their frames. Nothing in them has a destructor: the locals of a kernel are numbers,
//! arrays, tuples and views of them (`KernelType`), device functions add no others, and this library's own frames
//! between the kernel and the switch hold numbers and references. What a thread has found, and the block's shared
//! memory, belong to values of the worker's own stack, which are dropped in order. So this works too where panics
//! abort. A panic of a kernel's function, which `#[kernel]` never writes, goes on in the worker, and ends the launch.

use std::panic::Location;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use super::stacks::Stacks;
use crate::divergence::Divergence;
use crate::kernel::Kernel;
use crate::thread::{Block, LanePart, LaunchState, POLLS_PER_LOOK, Patience, Thread, Turns, Wait};

/// A thread on a stack of its own.
struct Fiber<'b> {
    routine: Coroutine<(), Wait, (), &'b mut DefaultStack>,
    state: FiberState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FiberState {
    CanRun,
    AtBarrier,
    AtWarp,
    Ended,
}

/// The lanes of a warp that do not run, counted by what holds them.
#[derive(Clone, Copy, Default)]
struct Lanes {
    at_barrier: u32,
    at_warp: u32,
    ended: u32,
}

impl<'b> Fiber<'b> {
    /// # Safety
    /// The requirements are those of [`Kernel::run`]; besides, `thread` outlives the fiber, and nobody calls its
    /// methods while the fiber runs.
    unsafe fn new(kernel: &'b dyn Kernel, thread: &'b Thread<'b>, stack: &'b mut DefaultStack) -> Self {
        let body = move |turns: &Turns, ()| {
            // SAFETY: the thread is given to the kernel's function alone, which runs in this fiber.
            unsafe { thread.share_worker(turns) };
            // SAFETY: the caller's promise.
            unsafe { kernel.run(thread) };
        };
        // SAFETY: what the function borrows outlives the fiber, which is reset when it is dropped.
        let routine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        Fiber { routine, state: FiberState::CanRun }
    }
}

impl Drop for Fiber<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing on the fiber's stack has a destructor (see the module's documentation).
        unsafe { self.routine.force_reset() };
    }
}

/// Runs the block with this number: as many threads as there are stacks.
///
/// # Safety
/// The requirements are those of [`Kernel::run`], of each thread of the block.
pub(super) unsafe fn run_block(kernel: &dyn Kernel, launch: &LaunchState, number: u32, stacks: &mut Stacks) {
    let block = Block::new(launch, number);
    let threads: Vec<Thread<'_>> = (0..launch.threads_in_block()).map(|number| Thread::new(&block, number)).collect();
    // SAFETY: the caller's promise; `fibers` is dropped before `threads`.
    let fiber = |(stack, thread)| unsafe { Fiber::new(kernel, thread, stack) };
    let mut fibers: Vec<Fiber<'_>> = stacks.iter_mut().zip(&threads).map(fiber).collect();
    let (mut live, mut arrived, mut ended) = (fibers.len(), 0, None);
    let size = launch.shape().warp_size as usize;
    let mut warps = vec![Lanes::default(); fibers.len().div_ceil(size)];
    let (rounds, idle) = (Patience::default(), Patience::default());
    loop {
        let mut is_idle = true;
        for (number, thread) in threads.iter().enumerate() {
            let (fiber, warp) = (&mut fibers[number], &mut warps[number / size]);
            if fiber.state != FiberState::CanRun {
                continue;
            }
            match fiber.routine.resume(()) {
                CoroutineResult::Yield(Wait::Turn) => continue,
                CoroutineResult::Yield(Wait::Barrier) => {
                    fiber.state = FiberState::AtBarrier;
                    arrived += 1;
                    warp.at_barrier += 1;
                }
                CoroutineResult::Yield(Wait::Warp) => {
                    fiber.state = FiberState::AtWarp;
                    warp.at_warp += 1;
                }
                CoroutineResult::Yield(Wait::Stopped) => return stop(&block, &fibers, &threads),
                CoroutineResult::Return(()) => {
                    fiber.state = FiberState::Ended;
                    live -= 1;
                    ended = Some(thread);
                    warp.ended += 1;
                }
            }
            is_idle = false;
            if warp.at_warp > 0 {
                let first = number / size * size;
                let lanes = first..threads.len().min(first + size);
                if let Some(divergence) = meet(&mut fibers[lanes.clone()], &threads[lanes], warp) {
                    return launch.diverged(divergence);
                }
            }
        }
        if live == 0 {
            return;
        }
        if arrived > 0 && (ended.is_some() || arrived == live) {
            if let Some(divergence) = divergence(&fibers, &threads, ended) {
                return launch.diverged(divergence);
            }
            fibers.iter_mut().for_each(|fiber| fiber.state = FiberState::CanRun);
            warps.iter_mut().for_each(|warp| warp.at_barrier = 0);
            arrived = 0;
        }
        if is_idle {
            // Its threads wait for those of other blocks, or for each other, which only the time limit ends.
            std::hint::spin_loop();
            if idle.poll().is_multiple_of(POLLS_PER_LOOK) {
                idle.give_way();
            }
        }
        if rounds.poll().is_multiple_of(POLLS_PER_LOOK) && launch.look() {
            return stop(&block, &fibers, &threads);
        }
    }
}

/// Keeps the lines at which the block's threads were stopped.
#[cold]
fn stop(block: &Block<'_>, fibers: &[Fiber<'_>], threads: &[Thread<'_>]) {
    let live = fibers.iter().zip(threads).filter(|(fiber, _)| fiber.state != FiberState::Ended);
    let sites = live.filter_map(|(_, thread)| thread.waits_at()).map(Into::into);
    block.launch().keep_lines(block.index(), sites);
}

/// What is wrong with the barrier at which threads of the block wait; `None` where it opens.
fn divergence(fibers: &[Fiber<'_>], threads: &[Thread<'_>], ended: Option<&Thread<'_>>) -> Option<Divergence<String>> {
    let mut waiting = fibers.iter().zip(threads).filter(|(fiber, _)| fiber.state == FiberState::AtBarrier);
    let (_, first) = waiting.next()?;
    let at = first.waits_at()?;
    if let Some(ended) = ended {
        let (waiting, ended) = (first.name(), ended.name());
        return Some(Divergence::Missed { waiting, barrier: at.into(), ended, last: None, in_warp: false });
    }
    // One statement has one place, if perhaps in several copies.
    let is_same = |other: &'static Location<'static>| std::ptr::eq(other, at) || other == at;
    let (second, elsewhere) =
        waiting.find_map(|(_, thread)| thread.waits_at().filter(|other| !is_same(other)).map(|at| (thread, at)))?;
    Some(Divergence::Mismatch {
        first: first.name(),
        first_site: at.into(),
        second: second.name(),
        second_site: elsewhere.into(),
        one_statement: false,
        in_warp: false,
    })
}

/// Lets the lanes of a warp, some of which wait at an operation of the warp, go on if all do; or what is wrong where
/// they never will.
fn meet(fibers: &mut [Fiber<'_>], threads: &[Thread<'_>], warp: &mut Lanes) -> Option<Divergence<String>> {
    if warp.at_barrier + warp.ended == 0 && (warp.at_warp as usize) < fibers.len() {
        return None;
    }
    let at = |state| fibers.iter().zip(threads).find(|(fiber, _)| fiber.state == state).map(|(_, thread)| thread);
    let waiting = at(FiberState::AtWarp)?;
    let site = waiting.waits_at()?;
    if let Some(ended) = at(FiberState::Ended) {
        let (waiting, ended) = (waiting.name(), ended.name());
        return Some(Divergence::Missed { waiting, barrier: site.into(), ended, last: None, in_warp: true });
    }
    let is_elsewhere = |thread: &&Thread<'_>| {
        let op = |thread: &Thread<'_>| thread.part().map(|part| part.op);
        thread.waits_at() != Some(site) || op(thread) != op(waiting)
    };
    if let Some(other) = at(FiberState::AtBarrier).or_else(|| threads.iter().find(is_elsewhere)) {
        return Some(Divergence::Mismatch {
            first: waiting.name(),
            first_site: site.into(),
            second: other.name(),
            second_site: other.waits_at()?.into(),
            one_statement: false,
            in_warp: true,
        });
    }
    let parts: Vec<LanePart> = threads.iter().filter_map(Thread::part).collect();
    let results = LanePart::results(&parts).unwrap_or_else(|| vec![0; parts.len()]);
    threads.iter().zip(results).for_each(|(thread, result)| thread.give_result(result));
    fibers.iter_mut().for_each(|fiber| fiber.state = FiberState::CanRun);
    warp.at_warp = 0;
    None
}
