#![doc = include_str!("stealing_deque.md")]

use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("stealing_deque.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// Tasks that one block pushes and others steal, with the fences that the mending added.
#[scenario(name = "stealing-deque", sizes = SIZES, documentation = PAGE)]
pub fn stealing_deque(device: &Device, tasks: usize) -> Result<Summary> {
    run::<true, true>(device, tasks)
}

/// As stealing-deque, as it was published.
#[scenario(name = "stealing-deque-broken-no-fences", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_fences(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<false, false>(device, tasks)?)
}

/// As stealing-deque, with the fence of the push alone.
#[scenario(name = "stealing-deque-broken-push-fence-only", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn push_fence_only(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<true, false>(device, tasks)?)
}

/// As stealing-deque, with the fence of the steal alone.
#[scenario(name = "stealing-deque-broken-steal-fence-only", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn steal_fence_only(device: &Device, tasks: usize) -> Result<Summary> {
    unseen(device, run::<false, true>(device, tasks)?)
}

/// Block 0 pushes tasks, numbered from 1; the others try as often to steal one each, and count those that are none.
#[kernel]
pub fn push_and_steal<const PUSH: bool, const STEAL: bool>(
    acc: &Acc,
    head: Atomic<u32>,
    tail: Atomic<u32>,
    tasks: Atomic<u32>,
    stale: Atomic<u32>,
) {
    for task in 0..tasks.len() {
        if acc.block_in_grid() == 0 {
            tasks.store(task, task + 1);
            if PUSH {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            tail.store(0, task + 1);
        } else {
            let first = head.load(0);
            let end = tail.load(0);
            if STEAL {
                acc.mem_fence(Scope::Device, Order::Acquire);
            }
            if first < end {
                let stolen = tasks.load(first);
                if head.compare_exchange(0, first, first + 1) == first && stolen != first + 1 {
                    stale.fetch_add(0, 1);
                }
            }
        }
    }
}

fn run<const PUSH: bool, const STEAL: bool>(device: &Device, tasks: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let (head, tail) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let (deque, stale) = (device.alloc_zeroed::<u32>(tasks)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(3, 1), push_and_steal::<PUSH, STEAL>(&head, &tail, &deque, &stale))?;
    let stale = stale.read(&queue)?[0];
    let mut summary = Summary::new(format!("{tasks} tasks and two thieves"));
    summary.check(stale == 0, "each stolen task is one that was pushed", || format!("{stale} were not"))?;
    Ok(summary)
}
