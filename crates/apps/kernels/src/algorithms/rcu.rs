#![doc = include_str!("rcu.md")]

use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("rcu.md");

/// A node is published by its number and read through it.
#[scenario(name = "read-copy-update", documentation = PAGE)]
pub fn read_copy_update(device: &Device) -> Result<Summary> {
    run::<true, true>(device)
}

/// As read-copy-update, where the reader leans on the address dependency.
#[scenario(name = "read-copy-update-broken-address-dependency", expect = refuted, documentation = PAGE)]
fn address_dependency(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, false>(device)?)
}

/// As read-copy-update, where the number is published by a relaxed store.
#[scenario(name = "read-copy-update-broken-no-release", expect = refuted, documentation = PAGE)]
fn no_release(device: &Device) -> Result<Summary> {
    unseen(device, run::<false, true>(device)?)
}

/// Block 0 fills node 1 and publishes it in place of node 0; the others read the node that they find.
#[kernel]
pub fn update_and_read<const RELEASE: bool, const ACQUIRE: bool>(
    acc: &Acc,
    current: Atomic<u32>,
    nodes: Shared<u32>,
    wrong: Atomic<u32>,
) {
    if acc.block_in_grid() == 0 {
        nodes[1] = 11;
        if RELEASE {
            current.store_with(0, 1, Scope::Device, Order::Release);
        } else {
            current.store(0, 1);
        }
    } else {
        let node = if ACQUIRE { current.load_with(0, Scope::Device, Order::Acquire) } else { current.load(0) };
        if nodes[node] != 10 + node {
            wrong.fetch_add(0, 1);
        }
    }
}

fn run<const RELEASE: bool, const ACQUIRE: bool>(device: &Device) -> Result<Summary> {
    let queue = device.queue()?;
    let (current, nodes) = (device.alloc_zeroed::<u32>(1)?, device.from_slice(&[10, 0])?);
    let wrong = device.alloc_zeroed::<u32>(1)?;
    let kernel = update_and_read::<RELEASE, ACQUIRE>(&current, &nodes, &wrong);
    queue.launch(ThreadSpec::new(3, 1), kernel)?;
    let wrong = wrong.read(&queue)?[0];
    let mut summary = Summary::new("a node is published to two readers");
    summary.check(wrong == 0, "who finds the node finds it filled", || format!("{wrong} did not"))?;
    Ok(summary)
}
