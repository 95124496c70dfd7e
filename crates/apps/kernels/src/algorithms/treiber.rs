#![doc = include_str!("treiber.md")]

use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("treiber.md");

/// How far the count stands above the node's number in the word of the top.
const COUNT: u32 = 256;

/// A stack without a lock, whose top has a count against nodes that come back.
#[scenario(name = "stack-treiber", documentation = PAGE)]
pub fn treiber(device: &Device) -> Result<Summary> {
    run::<true, true, true>(device)
}

/// As stack-treiber, without the count.
#[scenario(name = "stack-treiber-broken-aba", expect = refuted, documentation = PAGE)]
fn aba(device: &Device) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device)?)
}

/// As stack-treiber, with a push that does not release.
#[scenario(name = "stack-treiber-broken-push-relaxed", expect = refuted, documentation = PAGE)]
fn push_relaxed(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device)?)
}

/// As stack-treiber, with a pop that does not acquire.
#[scenario(name = "stack-treiber-broken-pop-relaxed", expect = refuted, documentation = PAGE)]
fn pop_relaxed(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device)?)
}

/// The word of the top that follows `old`, with this node.
#[device_fn]
pub fn successor<const COUNTED: bool>(old: u32, node: u32) -> u32 {
    if COUNTED { (old / COUNT + 1) * COUNT + node } else { node }
}

/// Puts a node on the stack.
#[device_fn]
pub fn push<const COUNTED: bool, const RELEASE: bool>(top: Atomic<u32>, below: Atomic<u32>, node: u32) {
    loop {
        let old = top.load(0);
        below.store(node, old % COUNT);
        let new = successor::<COUNTED>(old, node);
        let found = if RELEASE {
            top.compare_exchange_with(0, old, new, Scope::Device, Order::Release)
        } else {
            top.compare_exchange(0, old, new)
        };
        if found == old {
            break;
        }
    }
}

/// Takes the node at the top; 0 if there is none.
#[device_fn]
pub fn pop<const COUNTED: bool, const ACQUIRE: bool>(top: Atomic<u32>, below: Atomic<u32>) -> u32 {
    loop {
        let old = if ACQUIRE { top.load_with(0, Scope::Device, Order::Acquire) } else { top.load(0) };
        let node = old % COUNT;
        if node == 0 {
            break node;
        }
        let new = successor::<COUNTED>(old, below.load(node));
        if top.compare_exchange(0, old, new) == old {
            break node;
        }
    }
}

/// The stack is 1 on 2. Block 0 pops a node and writes its word; block 1 pops two, writes their words, and pushes the first.
#[kernel]
pub fn pop_and_push<const COUNTED: bool, const RELEASE: bool, const ACQUIRE: bool>(
    acc: &Acc,
    top: Atomic<u32>,
    below: Atomic<u32>,
    words: Shared<u32>,
    had: Shared<u32>,
) {
    if acc.block_in_grid() == 0 {
        let node = pop::<COUNTED, ACQUIRE>(top, below);
        words[node] = 1;
        had[0] = node;
    } else {
        let first = pop::<COUNTED, ACQUIRE>(top, below);
        let second = pop::<COUNTED, ACQUIRE>(top, below);
        if second != 0 {
            words[second] = 2;
        }
        if first != 0 {
            words[first] = 2;
            push::<COUNTED, RELEASE>(top, below, first);
        }
        had[1] = second;
    }
}

fn run<const COUNTED: bool, const RELEASE: bool, const ACQUIRE: bool>(device: &Device) -> Result<Summary> {
    let queue = device.queue()?;
    let (top, below) = (device.from_slice(&[1])?, device.from_slice(&[0, 2, 0])?);
    let (words, had) = (device.alloc_zeroed::<u32>(3)?, device.alloc_zeroed::<u32>(2)?);
    let kernel = pop_and_push::<COUNTED, RELEASE, ACQUIRE>(&top, &below, &words, &had);
    queue.launch(ThreadSpec::new(2, 1), kernel)?;
    let (top, below, had) = (top.read(&queue)?[0] % COUNT, below.read(&queue)?, had.read(&queue)?);
    let mut on_stack = vec![top];
    while let Some(&node) = on_stack.last().filter(|&&node| node != 0 && on_stack.len() < 4) {
        on_stack.push(below[node as usize]);
    }
    let twice = had.iter().any(|&node| node != 0 && (on_stack.contains(&node) || had[0] == had[1]));
    let mut summary = Summary::new("two blocks pop three nodes and push one");
    summary.check(!twice, "a node is had by one block or is on the stack", || {
        format!("the blocks have {had:?}, and on the stack are {on_stack:?}")
    })?;
    Ok(summary)
}
