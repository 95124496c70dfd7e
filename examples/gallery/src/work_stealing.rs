//! A work-stealing deque (Chase and Lev 2005), with the fences of Lê, Pop, Cohen and Zappa Nardelli (*Correct and
//! efficient work-stealing for weak memory models*, 2013). Take one out, and the checker shows what goes wrong.

use wattle::prelude::*;

/// What `steal` and `take` return where there is no task.
pub const NONE: i32 = -1;

/// Puts `task` at the bottom. Only the owner does.
#[device_fn]
pub fn push(acc: &Acc, tasks: Atomic<i32>, ends: Atomic<i32>, task: i32) {
    let bottom = ends.load(1);
    assert!((bottom as u32) < tasks.len(), "the deque is full");
    tasks.store(bottom as u32, task);
    acc.mem_fence(Scope::Device, Order::Release); // the task, and what it refers to, before its place
    ends.store(1, bottom + 1);
}

/// Takes the task at the bottom. Only the owner does.
#[device_fn]
pub fn take(acc: &Acc, tasks: Atomic<i32>, ends: Atomic<i32>) -> i32 {
    let bottom = ends.load(1) - 1;
    ends.store(1, bottom);
    acc.mem_fence(Scope::Device, Order::SeqCst); // the claim before the look: thieves do it the other way round
    let top = ends.load(0);
    if top > bottom {
        ends.store(1, bottom + 1);
        return NONE;
    }
    let mut task = tasks.load(bottom as u32);
    if top == bottom {
        // The last one: a thief may want it too.
        if ends.compare_exchange(0, top, top + 1) != top {
            task = NONE;
        }
        ends.store(1, bottom + 1);
    }
    task
}

/// Takes the task at the top; none also where another was faster.
#[device_fn]
pub fn steal(acc: &Acc, tasks: Atomic<i32>, ends: Atomic<i32>) -> i32 {
    let top = ends.load(0);
    acc.mem_fence(Scope::Device, Order::SeqCst);
    let bottom = ends.load(1);
    if top >= bottom {
        return NONE;
    }
    acc.mem_fence(Scope::Device, Order::Acquire); // the place before the task
    let task = tasks.load(top as u32);
    if ends.compare_exchange(0, top, top + 1) != top {
        return NONE;
    }
    task
}

/// The owner, thread 0, makes `inputs.len()` tasks and takes what is left; the others try to steal `tries` times each. Who
/// has a task doubles its input, which the owner wrote plainly.
#[kernel]
pub fn work(
    acc: &Acc,
    tries: u32,
    inputs: Shared<u32>,
    outputs: Shared<u32>,
    runs: Atomic<u32>,
    tasks: Atomic<i32>,
    ends: Atomic<i32>,
) {
    if acc.thread_in_grid() == 0 {
        for task in 0..inputs.len() {
            inputs[task] = task + 1;
            push(acc, tasks, ends, task as i32);
        }
        loop {
            let task = take(acc, tasks, ends);
            if task == NONE {
                break;
            }
            outputs[task as u32] = 2 * inputs[task as u32];
            runs.fetch_add(task as u32, 1);
        }
    } else {
        for _ in 0..tries {
            let task = steal(acc, tasks, ends);
            if task != NONE {
                outputs[task as u32] = 2 * inputs[task as u32];
                runs.fetch_add(task as u32, 1);
            }
        }
    }
}

/// A work-stealing deque: one thread pushes and takes, the others steal.
#[scenario(sizes = Sizes { full: 1 << 12, small: 1 << 6, proof: 2 })]
pub fn work_stealing(device: &Device, tasks: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let (thieves, tries) = if tasks < 16 { (1, 1) } else { (3, tasks as u32) };
    let (inputs, outputs) = (device.alloc_zeroed::<u32>(tasks)?, device.alloc_zeroed::<u32>(tasks)?);
    let runs = device.alloc_zeroed::<u32>(tasks)?;
    let (deque, ends) = (device.alloc_zeroed::<i32>(tasks)?, device.alloc_zeroed::<i32>(2)?);
    queue.launch(ThreadSpec::new(1 + thieves, 1), work(tries, &inputs, &outputs, &runs, &deque, &ends))?;

    let mut summary = Summary::new(format!("{tasks} tasks, {thieves} to steal them"));
    let runs = runs.read(&queue)?;
    summary.check(runs.iter().all(|&runs| runs == 1), "each task runs once", || format!("they run {runs:?} times"))?;
    let outputs = outputs.read(&queue)?;
    let right = outputs.iter().zip(1..).all(|(&output, input)| output == 2 * input);
    summary.check(right, "each has its input", || format!("the outputs are {outputs:?}"))?;
    Ok(summary)
}
