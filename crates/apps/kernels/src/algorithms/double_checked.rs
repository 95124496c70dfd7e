#![doc = include_str!("double_checked.md")]

use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("double_checked.md");

/// The value that is made once.
const VALUE: u32 = 42;

/// A value is made once, by the block that comes first; the others look at a flag.
#[scenario(name = "double-checked", documentation = PAGE)]
pub fn double_checked(device: &Device) -> Result<Summary> {
    run::<true, true>(device)
}

/// As double-checked, with a relaxed first look at the flag.
#[scenario(name = "double-checked-broken-relaxed-look", expect = refuted, documentation = PAGE)]
fn relaxed_look(device: &Device) -> Result<Summary> {
    unseen(device, run::<false, true>(device)?)
}

/// As double-checked, with a relaxed store of the flag.
#[scenario(name = "double-checked-broken-relaxed-flag", expect = refuted, documentation = PAGE)]
fn relaxed_flag(device: &Device) -> Result<Summary> {
    unseen(device, run::<true, false>(device)?)
}

/// As double-checked, with a flag that is not atomic.
#[scenario(name = "double-checked-broken-plain-flag", expect = refuted, documentation = PAGE)]
fn plain_flag(device: &Device) -> Result<Summary> {
    let summary = judged(device, |queue, spec, lock, made, value, wrong| {
        queue.launch(spec, get_plain(lock, made, value, wrong))
    })?;
    unseen(device, summary)
}

/// Each block gets the value, and counts if it is another one.
#[kernel]
pub fn get<const LOOK: bool, const FLAG: bool>(
    acc: &Acc,
    lock: Atomic<u32>,
    made: Atomic<u32>,
    value: Shared<u32>,
    wrong: Atomic<u32>,
) {
    let first = if LOOK { made.load_with(0, Scope::Device, Order::Acquire) } else { made.load(0) };
    if first == 0 {
        while lock.compare_exchange_with(0, 0, 1, Scope::Device, Order::Acquire) != 0 {}
        if made.load(0) == 0 {
            value[0] = VALUE;
            if FLAG {
                made.store_with(0, 1, Scope::Device, Order::Release);
            } else {
                made.store(0, 1);
            }
        }
        lock.store_with(0, 0, Scope::Device, Order::Release);
    }
    if value[0] != VALUE {
        wrong.fetch_add(0, 1);
    }
}

/// The same with a plain flag.
#[kernel]
pub fn get_plain(acc: &Acc, lock: Atomic<u32>, made: Shared<u32>, value: Shared<u32>, wrong: Atomic<u32>) {
    if made[0] == 0 {
        while lock.compare_exchange_with(0, 0, 1, Scope::Device, Order::Acquire) != 0 {}
        if made[0] == 0 {
            value[0] = VALUE;
            acc.mem_fence(Scope::Device, Order::Release);
            made[0] = 1;
        }
        lock.store_with(0, 0, Scope::Device, Order::Release);
    }
    acc.mem_fence(Scope::Device, Order::Acquire);
    if value[0] != VALUE {
        wrong.fetch_add(0, 1);
    }
}

fn run<const LOOK: bool, const FLAG: bool>(device: &Device) -> Result<Summary> {
    judged(device, |queue, spec, lock, made, value, wrong| {
        queue.launch(spec, get::<LOOK, FLAG>(lock, made, value, wrong))
    })
}

/// `launch` gets the shape, the lock, the flag, the value and the count of wrong values.
fn judged(
    device: &Device,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let queue = device.queue()?;
    let (lock, made) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let (value, wrong) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    launch(&queue, ThreadSpec::new(3, 1), &lock, &made, &value, &wrong)?;
    let wrong = wrong.read(&queue)?[0];
    let mut summary = Summary::new("three blocks get a value that is made once");
    summary.check(wrong == 0, "each gets the value", || format!("{wrong} got another one"))?;
    Ok(summary)
}
