#![doc = include_str!("hazard_pointer.md")]

use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("hazard_pointer.md");

/// A reader says which node it reads; a reclaimer uses only others again.
#[scenario(name = "hazard-pointer", documentation = PAGE)]
pub fn hazard_pointer(device: &Device) -> Result<Summary> {
    run::<true, true, true, true>(device)
}

/// As hazard-pointer, without the reader's SeqCst fence.
#[scenario(name = "hazard-pointer-broken-no-reader-fence", expect = refuted, documentation = PAGE)]
fn no_reader_fence(device: &Device) -> Result<Summary> {
    unseen(device, run::<false, true, true, true>(device)?)
}

/// As hazard-pointer, without the reclaimer's SeqCst fence.
#[scenario(name = "hazard-pointer-broken-no-reclaimer-fence", expect = refuted, documentation = PAGE)]
fn no_reclaimer_fence(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, false, true, true>(device)?)
}

/// As hazard-pointer, without both SeqCst fences.
#[scenario(name = "hazard-pointer-broken-no-fences", expect = refuted, documentation = PAGE)]
fn no_fences(device: &Device) -> Result<Summary> {
    unseen(device, run::<false, false, true, true>(device)?)
}

/// As hazard-pointer, where the reader leaves by a relaxed store.
#[scenario(name = "hazard-pointer-broken-no-release", expect = refuted, documentation = PAGE)]
fn no_release(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, true, false, true>(device)?)
}

/// As hazard-pointer, where the reclaimer looks by a relaxed load.
#[scenario(name = "hazard-pointer-broken-no-acquire", expect = refuted, documentation = PAGE)]
fn no_acquire(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, true, true, false>(device)?)
}

/// Block 0 reads the node that `pointer` names; block 1 makes it name node 2, and uses node 1 again. No node is 0.
#[kernel]
pub fn read_and_reclaim<const READER: bool, const RECLAIMER: bool, const RELEASE: bool, const ACQUIRE: bool>(
    acc: &Acc,
    pointer: Atomic<u32>,
    hazard: Atomic<u32>,
    nodes: Shared<u32>,
    wrong: Atomic<u32>,
) {
    if acc.block_in_grid() == 0 {
        let node = pointer.load(0);
        hazard.store(0, node);
        if READER {
            acc.mem_fence(Scope::Device, Order::SeqCst);
        }
        if pointer.load_with(0, Scope::Device, Order::Acquire) == node {
            if nodes[node] != 10 * node {
                wrong.fetch_add(0, 1);
            }
            if RELEASE {
                hazard.store_with(0, 0, Scope::Device, Order::Release);
            } else {
                hazard.store(0, 0);
            }
        }
    } else {
        nodes[2] = 20;
        let old = pointer.exchange_with(0, 2, Scope::Device, Order::AcqRel);
        if RECLAIMER {
            acc.mem_fence(Scope::Device, Order::SeqCst);
        }
        let held = if ACQUIRE { hazard.load_with(0, Scope::Device, Order::Acquire) } else { hazard.load(0) };
        if held != old {
            nodes[old] = 0;
        }
    }
}

fn run<const READER: bool, const RECLAIMER: bool, const RELEASE: bool, const ACQUIRE: bool>(
    device: &Device,
) -> Result<Summary> {
    let queue = device.queue()?;
    let (pointer, hazard) = (device.from_slice(&[1])?, device.alloc_zeroed::<u32>(1)?);
    let (nodes, wrong) = (device.from_slice(&[0, 10, 0])?, device.alloc_zeroed::<u32>(1)?);
    let kernel = read_and_reclaim::<READER, RECLAIMER, RELEASE, ACQUIRE>(&pointer, &hazard, &nodes, &wrong);
    queue.launch(ThreadSpec::new(2, 1), kernel)?;
    let wrong = wrong.read(&queue)?[0];
    let mut summary = Summary::new("a node is read while it is taken away");
    summary.check(wrong == 0, "what is read has not been used again", || "it had been".into())?;
    Ok(summary)
}
