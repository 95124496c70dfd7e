//! Several consecutive elements of a view, read and written at once.

use wattle::prelude::*;
use wattle::{ErrorKind, FaultKind};

use crate::harness::{Case, Outcome, refused_unless_lacking};

pub const CASES: &[Case] = &[
    ("lanes of shared views, read and written", views),
    ("lanes at any index", unaligned),
    ("lanes of block shared memory", in_shared_memory),
    ("lanes that are written beyond a view", beyond),
];

#[kernel]
fn scale(acc: &Acc, x: Shared<f32>, factor: f32, out: Shared<f32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len() / 4) {
        let four = x.lanes::<4>(4 * i);
        out.store_lanes(4 * i, four * [factor; 4] + [0.0, 1.0, 2.0, 3.0]);
        // The same view: what was read before is stored.
        x.store_lanes(4 * i, [four[3], four[2], four[1], four[0]]);
    }
}

fn views(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<f32> = (0..400).map(|i| i as f32).collect();
    let (x, out) = (device.from_slice(&all)?, device.alloc_zeroed::<f32>(400)?);
    queue.launch(FrameSpec::cover(100, 8), scale(&x, 2.0, &out))?;
    assert_eq!(out.read(&queue)?, (0..400).map(|i| all[i] * 2.0 + (i % 4) as f32).collect::<Vec<_>>());
    assert_eq!(x.read(&queue)?, (0..400).map(|i| all[i / 4 * 4 + 3 - i % 4]).collect::<Vec<_>>());
    Ok(())
}

/// Twelve elements on a GPU are three accesses where the first is aligned to 16 bytes, else twelve.
#[kernel]
fn moves<const N: usize>(acc: &Acc, from: Shared<u32>, to: Shared<u32>, i: u32) {
    let lanes: [u32; N] = from.lanes(i);
    to.store_lanes(i + 1, lanes);
}

fn unaligned(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<u32> = (100..130).collect();
    let from = device.from_slice(&all)?;
    for at in 0..9 {
        let (many, three, one) =
            (device.alloc_zeroed::<u32>(30)?, device.alloc_zeroed::<u32>(30)?, device.alloc_zeroed::<u32>(30)?);
        queue.launch(ThreadSpec::new(1, 1), moves::<12>(&from, &many, at as u32))?;
        queue.launch(ThreadSpec::new(1, 1), moves::<3>(&from, &three, at as u32))?;
        queue.launch(ThreadSpec::new(1, 1), moves::<1>(&from, &one, at as u32))?;
        for (found, lanes) in [(many, 12), (three, 3), (one, 1)] {
            let mut expected = vec![0; 30];
            expected[at + 1..at + 1 + lanes].copy_from_slice(&all[at..at + lanes]);
            assert_eq!(found.read(&queue)?, expected, "{lanes} lanes at {at}");
        }
    }
    Ok(())
}

#[kernel]
fn reverses(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let tile = acc.shared::<u32, 32>();
    let i = acc.thread_in_block();
    tile.store_lanes(4 * i, x.lanes::<4>(4 * i));
    acc.sync_block();
    let [a, b, c, d] = tile.lanes::<4>(28 - 4 * i);
    out.store_lanes(4 * i, [d, c, b, a]);
}

fn in_shared_memory(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<u32> = (0..32).map(|i| i * i).collect();
    let (x, out) = (device.from_slice(&all)?, device.alloc_zeroed::<u32>(32)?);
    queue.launch(ThreadSpec::new(1, 8), reverses(&x, &out))?;
    assert_eq!(out.read(&queue)?, all.iter().rev().copied().collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn stores(acc: &Acc, out: Shared<u32>, i: u32) {
    out.store_lanes(i, [1, 2, 3, 4]);
    let found = out.lanes::<2>(i + 2);
    out[0] = found[0] + found[1];
}

fn beyond(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = ThreadSpec::new(1, 1);
    let x = device.alloc_zeroed::<u32>(10)?;
    let view = x.slice(0..6)?;
    queue.launch(one, stores(&view, 2))?;
    assert_eq!(x.read(&queue)?, [7, 0, 1, 2, 3, 4, 0, 0, 0, 0]);
    for (i, named) in [(3, "6"), (6, "9"), (u32::MAX, "4294967295"), (u32::MAX - 3, "4294967295")] {
        let launched = queue.launch(one, stores(&view, i)).and_then(|()| queue.wait());
        let error = refused_unless_lacking(device, launched)?;
        let ErrorKind::Fault(fault) = error.kind() else { panic!("not a fault: {error}") };
        let FaultKind::OutOfBounds { view, index, extent } = &fault.what else { panic!("another fault: {error}") };
        assert_eq!([view, index.as_str(), extent], ["out", named, "6"], "{error}");
        let all = x.read(&queue)?;
        assert_eq!(all[1..], [0, 1, 2, 3, 4, 0, 0, 0, 0], "nothing is written");
    }
    Ok(())
}
