//! The checker understands what kernels say in everyday Rust: the same scenario, written with patterns, `break` values,
//! `&mut` parameters, rows and constants, holds where it should and is refuted where it should be.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all)]

use wattle::prelude::*;

/// What each block publishes, in two steps.
const STEPS: [[u32; 2]; 3] = [[1, 2], [10, 20], [100, 200]];

#[device_fn]
fn publish(cells: Shared<u32>, values: [u32; 2], at: &mut u32) {
    for k in 0..values.len() {
        cells[*at] = values[k];
        *at += 1;
    }
}

#[kernel]
fn exchange<const RELEASES: bool>(acc: &Acc, cells: Shared<u32>, flag: Atomic<u32>, seen: Shared<u32>) {
    match acc.thread_in_grid() {
        thread @ 0..=1 => {
            let mut at = thread * 2;
            publish(cells, STEPS[thread], &mut at);
            if RELEASES {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            flag.fetch_add(0, 1);
        }
        _ => {
            let arrived = loop {
                if let n @ 2.. = flag.load(0) {
                    break n;
                }
            };
            acc.mem_fence(Scope::Device, Order::Acquire);
            let mut rows = [[0; 2]; 2];
            for i in 0..rows.len() {
                for j in 0..rows[i].len() {
                    rows[i][j] = cells[i * 2 + j];
                }
            }
            (rows[0], rows[1]) = (rows[1], rows[0]);
            assert!(matches!((arrived, rows[0][1], rows[1][0]), (2, 20, 1)), "both have arrived");
            seen[0] = rows[0][0] + rows[1][1] + STEPS[arrived][0];
        }
    }
}

fn scenario<const RELEASES: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (cells, flag) = (device.alloc_zeroed::<u32>(4)?, device.alloc_zeroed::<u32>(1)?);
    let seen = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(3, 1), exchange::<RELEASES>(&cells, &flag, &seen))?;
    assert_eq!(seen.read(&queue)?, [112]);
    Ok(())
}

#[test]
fn it_is_proved() {
    Checker::new(Model::Portable).assert_holds(scenario::<true>);
}

#[test]
fn it_is_refuted() {
    Checker::new(Model::Portable).assert_refuted(scenario::<false>);
}
