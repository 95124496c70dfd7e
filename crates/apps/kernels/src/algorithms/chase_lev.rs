#![doc = include_str!("chase_lev.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("chase_lev.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 2 };

/// A deque of tasks: one block pushes and takes, the others steal.
#[scenario(name = "deque-chase-lev", sizes = SIZES, documentation = PAGE)]
pub fn chase_lev(device: &Device, tasks: usize) -> Result<Summary> {
    run::<true, true, true, true>(device, tasks)
}

/// As deque-chase-lev, without the owner's SeqCst fence.
#[scenario(name = "deque-chase-lev-broken-no-take-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_take_fence(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true, true>(device, tasks)?)
}

/// As deque-chase-lev, without the thieves' SeqCst fence.
#[scenario(name = "deque-chase-lev-broken-no-steal-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_steal_fence(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false, true>(device, tasks)?)
}

/// As deque-chase-lev, without the fence between a task and its place.
#[scenario(name = "deque-chase-lev-broken-no-push-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_push_release(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true, true>(device, tasks)?)
}

/// As deque-chase-lev, without the fence between the place and the task.
#[scenario(name = "deque-chase-lev-broken-no-steal-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_steal_acquire(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<true, true, true, false>(device, tasks)?)
}

/// What `take` and `steal` return where there is no task.
pub const NONE: u32 = u32::MAX;

/// Puts a task at the bottom. Only the owner does.
#[device_fn]
pub fn push<const PUSH: bool>(acc: &Acc, tasks: Atomic<u32>, bottom: Atomic<u32>, task: u32) {
    let at = bottom.load(0);
    tasks.store(at, task);
    if PUSH {
        acc.mem_fence(Scope::Device, Order::Release);
    }
    bottom.store(0, at + 1);
}

/// Takes the task at the bottom. Only the owner does. The ends count from 1, so that none is below 0.
#[device_fn]
pub fn take<const TAKE: bool>(acc: &Acc, tasks: Atomic<u32>, top: Atomic<u32>, bottom: Atomic<u32>) -> u32 {
    let at = bottom.load(0) - 1;
    bottom.store(0, at);
    if TAKE {
        acc.mem_fence(Scope::Device, Order::SeqCst);
    }
    let first = top.load(0);
    let mut task = NONE;
    if first <= at {
        task = tasks.load(at);
        if first == at {
            // The last one: a thief may want it too.
            if top.compare_exchange(0, first, first + 1) != first {
                task = NONE;
            }
            bottom.store(0, at + 1);
        }
    } else {
        bottom.store(0, at + 1);
    }
    task
}

/// Takes the task at the top; none also where another was faster.
#[device_fn]
pub fn steal<const STEAL: bool, const ACQUIRE: bool>(
    acc: &Acc,
    tasks: Atomic<u32>,
    top: Atomic<u32>,
    bottom: Atomic<u32>,
) -> u32 {
    let first = top.load(0);
    if STEAL {
        acc.mem_fence(Scope::Device, Order::SeqCst);
    }
    let end = bottom.load(0);
    if ACQUIRE {
        acc.mem_fence(Scope::Device, Order::Acquire);
    }
    let mut task = NONE;
    if first < end {
        task = tasks.load(first);
        if top.compare_exchange(0, first, first + 1) != first {
            task = NONE;
        }
    }
    task
}

/// The owner, block 0, pushes tasks and takes up to half of them; the others try as often as there are tasks to steal one. Who
/// has a task reads its plain input, and adds it to what counts the task's runs.
#[kernel]
pub fn work<const PUSH: bool, const TAKE: bool, const STEAL: bool, const ACQUIRE: bool>(
    acc: &Acc,
    count: u32,
    inputs: Shared<u32>,
    runs: Atomic<u32>,
    tasks: Atomic<u32>,
    top: Atomic<u32>,
    bottom: Atomic<u32>,
) {
    if acc.block_in_grid() == 0 {
        for task in 0..count {
            inputs[task] = task + 1;
            push::<PUSH>(acc, tasks, bottom, task);
        }
        for _ in 0..(count + 1) / 2 {
            let task = take::<TAKE>(acc, tasks, top, bottom);
            if task != NONE {
                runs.fetch_add(task, inputs[task]);
            }
        }
    } else {
        for _ in 0..count {
            let task = steal::<STEAL, ACQUIRE>(acc, tasks, top, bottom);
            if task != NONE {
                runs.fetch_add(task, inputs[task]);
            }
        }
    }
}

fn run<const PUSH: bool, const TAKE: bool, const STEAL: bool, const ACQUIRE: bool>(
    device: &Device,
    tasks: usize,
) -> Result<Summary> {
    // With a single task, which is for proofs, one thief; the owner and it meet at the last task.
    let blocks = if tasks < 4 { 2 } else { 4 };
    let (queue, count) = (device.queue()?, word(device, "tasks", tasks)?);
    let (inputs, runs) = (device.alloc_zeroed::<u32>(tasks)?, device.alloc_zeroed::<u32>(tasks)?);
    let deque = device.alloc_zeroed::<u32>(tasks + 1)?;
    let (top, bottom) = (device.from_slice(&[1])?, device.from_slice(&[1])?);
    let kernel = work::<PUSH, TAKE, STEAL, ACQUIRE>(count, &inputs, &runs, &deque, &top, &bottom);
    queue.launch(ThreadSpec::new(blocks, 1), kernel)?;
    let (runs, top, bottom) = (runs.read(&queue)?, top.read(&queue)?[0], bottom.read(&queue)?[0]);
    let mut summary = Summary::new(format!("{tasks} tasks, an owner and {} thieves", blocks - 1));
    // A task's input is also its place, so that its runs add up to that if it is run once.
    let left = top..bottom;
    let right = runs.iter().zip(1..).all(|(&run, input)| run == if left.contains(&input) { 0 } else { input });
    summary.check(right, "each task that is not left runs once, with its input", || {
        format!("the runs add up to {runs:?}")
    })?;
    Ok(summary)
}
