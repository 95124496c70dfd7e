//! What each fence costs: a loop with it, less the same loop without.

use wattle::prelude::*;

use crate::Wanted;
use crate::machine;
use crate::peers::Peers;
use crate::report::{Measurement, Report};
use crate::transfer::{timed, turns};

const ORDERS: [&str; 5] = ["none", "acquire", "release", "acq_rel", "seq_cst"];
const SCOPES: [&str; 3] = ["block", "device", "system"];
const WRITES: [u32; 3] = [0, 4, 32];
/// The number of turns of the loop in a launch.
const TURNS: u32 = 20_000;

/// Makes `WRITES` writes to words of the thread's own, and a fence, again and again. Each lane has its own addresses,
/// since the assembler makes one access of a warp's to one address.
#[kernel]
fn fenced<const ORDER: u32, const SCOPE: u32, const WRITES: u32>(acc: &Acc, turns: u32, data: Shared<u32>) {
    let (thread, threads) = (acc.thread_in_grid(), acc.threads_in_grid());
    for turn in 0..turns {
        for write in 0..WRITES {
            data[thread + write * threads] = turn;
        }
        if ORDER == 1 {
            if SCOPE == 0 {
                acc.mem_fence(Scope::Block, Order::Acquire);
            } else if SCOPE == 1 {
                acc.mem_fence(Scope::Device, Order::Acquire);
            } else {
                acc.mem_fence(Scope::System, Order::Acquire);
            }
        } else if ORDER == 2 {
            if SCOPE == 0 {
                acc.mem_fence(Scope::Block, Order::Release);
            } else if SCOPE == 1 {
                acc.mem_fence(Scope::Device, Order::Release);
            } else {
                acc.mem_fence(Scope::System, Order::Release);
            }
        } else if ORDER == 3 {
            if SCOPE == 0 {
                acc.mem_fence(Scope::Block, Order::AcqRel);
            } else if SCOPE == 1 {
                acc.mem_fence(Scope::Device, Order::AcqRel);
            } else {
                acc.mem_fence(Scope::System, Order::AcqRel);
            }
        } else if ORDER == 4 {
            if SCOPE == 0 {
                acc.mem_fence(Scope::Block, Order::SeqCst);
            } else if SCOPE == 1 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            } else {
                acc.mem_fence(Scope::System, Order::SeqCst);
            }
        }
    }
}

/// The threads that run a loop: one warp alone, or a full multiprocessor's worth on each.
#[derive(Clone, Copy)]
struct Crowd {
    name: &'static str,
    blocks: usize,
    threads: usize,
}

type Launch = fn(&Queue, Crowd, &Buffer<u32>) -> Result<()>;

fn launch<const ORDER: u32, const SCOPE: u32, const WRITES: u32>(
    queue: &Queue,
    crowd: Crowd,
    data: &Buffer<u32>,
) -> Result<()> {
    queue.launch(ThreadSpec::new(crowd.blocks, crowd.threads), fenced::<ORDER, SCOPE, WRITES>(TURNS, data))
}

/// The loops with `W` writes before each fence, by order and scope. Without a fence there is one for all scopes.
fn loops<const W: u32>() -> [[Launch; 3]; 5] {
    [
        [launch::<0, 0, W>, launch::<0, 0, W>, launch::<0, 0, W>],
        [launch::<1, 0, W>, launch::<1, 1, W>, launch::<1, 2, W>],
        [launch::<2, 0, W>, launch::<2, 1, W>, launch::<2, 2, W>],
        [launch::<3, 0, W>, launch::<3, 1, W>, launch::<3, 2, W>],
        [launch::<4, 0, W>, launch::<4, 1, W>, launch::<4, 2, W>],
    ]
}

pub fn fences(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let properties = device.properties();
    let most = properties.max_threads_per_block as usize;
    let crowds = [
        Crowd { name: "one warp", blocks: 1, threads: most.min(32) },
        Crowd { name: "all multiprocessors", blocks: properties.workers as usize, threads: most.min(256) },
    ];
    // Cycles where the clock is known, else seconds.
    let (unit, scale) = report.clock_hz().map_or(("seconds", 1.0), |clock| ("cycles", clock));
    let queue = device.queue_non_blocking()?;
    for crowd in crowds {
        let data = device.alloc_zeroed::<u32>(crowd.blocks * crowd.threads * 32)?;
        for (writes, loops) in WRITES.into_iter().zip([loops::<0>(), loops::<4>(), loops::<32>()]) {
            let measure = |order: usize, scope: usize| {
                let ours = || timed(&queue, || loops[order][scope](&queue, crowd, &data));
                let (blocks, threads) = (crowd.blocks as u32, crowd.threads as u32);
                let theirs = || peers?.fences(order as i32, scope as i32, writes, blocks, threads, TURNS);
                turns(wanted.turns.min(5), ours, theirs)
            };
            let plain = measure(0, 0)?;
            if let Some(clock) = machine::clock_now() {
                report.note(format!("multiprocessors at {:.0} MHz with {writes} writes, {}", clock * 1e-6, crowd.name));
            }
            for (order, order_name) in ORDERS.iter().enumerate().skip(1) {
                for (scope, scope_name) in SCOPES.iter().enumerate() {
                    let (ours, theirs) = measure(order, scope)?;
                    let each = |with: f64, without: f64| (with - without) / f64::from(TURNS) * scale;
                    let name = format!("fence {order_name} {scope_name}, {writes} writes, {}", crowd.name);
                    let theirs = theirs.zip(plain.1).map(|(with, without)| each(with, without));
                    let measurement = Measurement::new(name, unit, each(ours, plain.0));
                    report.add(measurement.difference_beside("libcu++", theirs));
                }
            }
        }
    }
    Ok(())
}
