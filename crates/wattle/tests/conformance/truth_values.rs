//! `bool` in memory: a byte of 0 or 1, whatever memory held before.

use wattle::prelude::*;

use crate::harness::{Case, Outcome, refused, says};
use crate::queues::is_simulated;

pub const CASES: &[Case] = &[
    ("views of bool", views),
    ("bool in the block's shared memory, whatever was there", shared_memory),
    ("bool in structs, arrays and constants", elements),
    ("memory of bool that nobody has written", unwritten),
    ("lanes of warps and votes of bool in memory", votes),
];

/// The bytes of truth values, which are read as what they are.
fn bytes(values: &[bool]) -> Vec<u8> {
    // SAFETY: a truth value is one initialized byte. The volatile read keeps the compiler from knowing which.
    values.iter().map(|value| unsafe { std::ptr::from_ref(value).cast::<u8>().read_volatile() }).collect()
}

#[kernel]
fn sieve(acc: &Acc, candidates: Read<bool>, composite: Shared<bool>, odd: PerItem<bool>, count: Atomic<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 2..candidates.len()) {
        let mut j = 2 * i;
        while j < composite.len() {
            composite[j] = candidates[i];
            j += i;
        }
    }
    for (i, is_odd) in acc.items(&mut odd) {
        *is_odd = i % 2 == 1;
        *is_odd &= candidates[i];
        if *is_odd {
            count.fetch_add(0, 1);
        }
    }
}

fn views(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let candidates: Vec<bool> = (0..100).map(|i| i != 7).collect();
    let (composite, mut odd) = (device.alloc_zeroed::<bool>(100)?, device.from_slice(&[true; 100])?);
    let (candidates, count) = (device.from_slice(&candidates)?, device.alloc_zeroed::<u32>(1)?);
    // One thread: several that store to the same element would race.
    queue.launch(ThreadSpec::new(1, 1), sieve(&candidates, &composite, &mut odd, &count))?;
    // 49 is no multiple of another number than 7, and 7 stores that the ones behind it are none.
    let divides = |i: u32, j: u32| j.is_multiple_of(i) && j > i;
    let last = |j: u32| (2..100).filter(|&i| divides(i, j)).max();
    let expected: Vec<bool> = (0..100).map(|j| j > 0 && last(j).is_some_and(|i| i != 7)).collect();
    assert_eq!(composite.read(&queue)?, expected);
    let odd_ones: Vec<bool> = (0..100).map(|i| i % 2 == 1 && i != 7).collect();
    assert_eq!((odd.read(&queue)?, count.read(&queue)?), (odd_ones, vec![49]));
    let mut flags = composite;
    queue.fill(&mut flags, true)?;
    assert_eq!(bytes(&flags.slice(10..20)?.read(&queue)?), [1; 10]);
    Ok(())
}

/// Leaves bytes that are neither 0 nor 1 in the block's shared memory.
#[kernel]
fn litters(acc: &Acc, value: u32, out: Shared<u32>) {
    let words = acc.shared::<u32, 64>();
    for i in acc.indices(THREADS_IN_BLOCK, 0..64) {
        words[i] = value;
    }
    acc.sync_block();
    out[acc.thread_in_block()] = words[63 - acc.thread_in_block()];
}

/// Reads what nobody has written, which may be anything, but is the same `bool` in each way to look at it.
#[kernel]
fn rakes(acc: &Acc, write: bool, flags: Shared<bool>, sums: Shared<u32>) {
    let found = acc.shared::<bool, 256>();
    let i = acc.thread_in_block();
    if write {
        found[i] = i % 3 == 0;
    }
    acc.sync_block();
    let one = found[i];
    flags[i] = one;
    sums[i] = one as u32 + if one { 10 } else { 0 } + if one == true { 100 } else { 0 };
}

fn shared_memory(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (words, flags) = (device.alloc::<u32>(4)?, device.alloc::<bool>(4)?);
    let sums = device.alloc::<u32>(4)?;
    let block = ThreadSpec::new(1, 4);
    queue.launch(block, rakes(true, &flags, &sums))?;
    assert_eq!((flags.read(&queue)?, sums.read(&queue)?), (vec![true, false, false, true], vec![111, 0, 0, 111]));
    for value in [0x0203_80ff, 0x0100_0100] {
        queue.launch(block, litters(value, &words))?;
        let raked = queue.launch(block, rakes(false, &flags, &sums)).and_then(|()| queue.wait());
        if is_simulated(device) {
            says(&refused(raked), &["`found` at index 0 was read, and nobody wrote it"]);
            continue;
        }
        raked?;
        let (flags, sums) = (flags.read(&queue)?, sums.read(&queue)?);
        for (flag, sum) in bytes(&flags).into_iter().zip(sums) {
            assert!((flag, sum) == (0, 0) || (flag, sum) == (1, 111), "a bool of {flag}, counted as {sum}");
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Cell {
    alive: bool,
    seen: [bool; 3],
    age: u32,
}

const STEPS: [bool; 6] = [true, false, false, true, true, false];

#[device_fn]
fn all(of: [bool; 3]) -> bool {
    of[0] & of[1] && of[2]
}

#[kernel]
fn lives(acc: &Acc, cells: Shared<Cell>, born: Cell, pairs: Read<[bool; 2]>, out: PerItem<[bool; 2]>) {
    let i = acc.thread_in_grid();
    let Cell { alive, seen, age } = cells[i];
    cells[i].alive = !alive || all(seen);
    cells[i].seen[age % 3] = true;
    cells[i].age += STEPS[age % 6] as u32;
    let mut history = [false; 8];
    for j in 0..8 {
        history[j] = (j + age) % 2 == 0;
    }
    if i == 0 {
        cells[3] = born;
    }
    for (i, pair) in acc.items(&mut out) {
        let [x, y] = pairs[i];
        *pair = [x ^ y, history[age] & x];
    }
}

fn elements(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let cell = |alive, seen, age| Cell { alive, seen, age };
    let one = cell(true, [true, false, true], 2);
    let born = cell(false, [true; 3], 9);
    let cells = device.from_slice(&[one, cell(true, [true; 3], 3), cell(false, [false; 3], 1), one])?;
    let pairs = [[true, true], [true, false], [false, true], [false, false]];
    let (pairs, mut out) = (device.from_slice(&pairs)?, device.alloc_zeroed::<[bool; 2]>(4)?);
    queue.launch(ThreadSpec::new(1, 3), lives(&cells, born, &pairs, &mut out))?;
    let expected =
        [cell(false, [true, false, true], 2), cell(true, [true; 3], 4), cell(true, [false, true, false], 1), born];
    assert_eq!(cells.read(&queue)?, expected);
    // `history[age]` is of the thread that has the pair, and `(age + age) % 2` is 0.
    let found: Vec<bool> = out.read(&queue)?.into_flattened();
    assert_eq!(bytes(&found), [0, 1, 1, 1, 1, 0, 0, 0]);
    Ok(())
}

/// Every byte that comes to the host is 0 or 1, by whichever way.
fn unwritten(device: &Device) -> Outcome {
    let queue = device.queue()?;
    // What another buffer leaves behind may be what the next one finds.
    for _ in 0..4 {
        let mut litter = device.from_slice(&[0xdeu8; 4096])?;
        queue.fill(&mut litter, 0xad)?;
        queue.wait()?;
    }
    let flags = device.alloc::<bool>(4096)?;
    let is_settled = |values: &[bool]| bytes(values).into_iter().all(|byte| byte < 2);
    let host = Device::host();
    let mut there = host.alloc::<bool>(4096)?;
    let copied = |there: &mut Buffer<bool>, flags: &Buffer<bool>| {
        let queue = host.queue()?;
        queue.copy(&mut *there, flags)?;
        queue.wait()?;
        Ok(there.map()?.to_vec())
    };
    let all = [flags.read(&queue), flags.slice(5..77)?.read(&queue), copied(&mut there, &flags)];
    for found in all {
        match found {
            Ok(values) => assert!(is_settled(&values)),
            // The simulated device reports a copy of what nobody has written, and copies to no other device.
            Err(error) => assert!(is_simulated(device), "{error}"),
        }
    }
    for flags in
        [device.alloc_unified::<bool, 1>(100), device.alloc_host_mapped::<bool, 1>(100), device.alloc::<bool>(100)]
    {
        let Ok(mut flags) = flags else { continue };
        if let Ok(mapped) = flags.map() {
            assert!(is_settled(&mapped));
        }
        if let Ok(mut mapped) = flags.map_mut() {
            assert!(is_settled(&mapped));
            mapped[7] = true;
        } else {
            continue;
        }
        assert_eq!(bytes(&flags.slice(7..8)?.read(&queue)?), [1]);
    }
    Ok(())
}

#[kernel]
fn asks(acc: &Acc, flags: Read<bool>, out: Shared<bool>) {
    let warp = acc.warp();
    let mine = flags[acc.thread_in_block()];
    let any = warp.any(mine);
    let other = warp.shuffle_xor(mine, 1);
    out[acc.thread_in_block()] = any & other;
}

fn votes(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let size = device.properties().warp_width as usize;
    let values: Vec<bool> = (0..size).map(|i| i % 4 < 2).collect();
    let (flags, out) = (device.from_slice(&values)?, device.alloc::<bool>(size)?);
    queue.launch(ThreadSpec::new(1, size), asks(&flags, &out))?;
    let other = |i: usize| if i ^ 1 < size { i ^ 1 } else { i };
    assert_eq!(out.read(&queue)?, (0..size).map(|i| values[other(i)]).collect::<Vec<_>>());
    Ok(())
}
