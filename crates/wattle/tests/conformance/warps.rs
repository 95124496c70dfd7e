//! Warps: shuffles, votes, sums and scans, their barrier, and what is said where lanes part.

use wattle::prelude::*;
use wattle::{ErrorKind, WarpMask};

use crate::harness::{Case, Outcome, has_driver, kind, not_possible, refused, says};

pub const CASES: &[Case] = &[
    ("a warp's lanes are threads with consecutive numbers", lanes),
    ("shuffles", shuffles),
    ("shuffles of every type", types),
    ("shuffles from lanes that do not exist", no_such_lane),
    ("votes, and masks of lanes", votes),
    ("masks of lanes are combined and compared", masks),
    ("sums, least and greatest values", reductions),
    ("scans", scans),
    ("sums of floats have one order", floats),
    ("a last warp with fewer lanes", partial),
    ("warps of several sizes", sizes),
    ("indices by lane and by warp", indices),
    ("a warp's barrier orders its lanes' memory", barrier),
    ("warps in branches and loops of their own", branches),
    ("lanes that part are reported", parted),
    ("a size that no device has", no_such_size),
];

/// Whether the device has whole warps alone.
fn is_vulkan(device: &Device) -> bool {
    device.name().starts_with("vulkan")
}

/// Threads per block that are whole warps, at least `least` of them.
fn whole(device: &Device, least: usize) -> usize {
    let size = device.properties().warp_width as usize;
    least.next_multiple_of(size)
}

#[kernel]
fn combines(acc: &Acc, out: Shared<u32>) {
    let warp = acc.warp();
    let lane = warp.lane();
    let (low, even) = (warp.ballot(lane < 3), warp.ballot(lane % 2 == 0));
    let mut either = low;
    either |= even;
    let at = acc.thread_in_grid() * 8;
    out[at] = (low & even).count();
    out[at + 1] = either.count();
    out[at + 2] = (low ^ even).count();
    out[at + 3] = (!low).count();
    out[at + 4] = (low & !even).count();
    out[at + 5] = (low == warp.ballot(lane <= 2)) as u32 + (low != even) as u32 * 10;
    out[at + 6] = (!!low == low) as u32;
    out[at + 7] = (!low).contains(lane) as u32;
}

fn masks(device: &Device) -> Outcome {
    let (queue, size) = (device.queue()?, device.properties().warp_width);
    let out = device.alloc_zeroed::<u32>(8 * size as usize)?;
    queue.launch(ThreadSpec::new(1, size as usize), combines(&out))?;
    let count = |holds: &dyn Fn(u32) -> bool| (0..size).filter(|&lane| holds(lane)).count() as u32;
    let (low, even) = (|lane: u32| lane < 3, |lane: u32| lane.is_multiple_of(2));
    let differ = (0..size).any(|lane| low(lane) != even(lane));
    for (lane, found) in out.read(&queue)?.chunks(8).enumerate() {
        let expected = [
            count(&|lane| low(lane) && even(lane)),
            count(&|lane| low(lane) || even(lane)),
            count(&|lane| low(lane) != even(lane)),
            count(&|lane| !low(lane)),
            count(&|lane| low(lane) && !even(lane)),
            1 + u32::from(differ) * 10,
            1,
            u32::from(!low(lane as u32)),
        ];
        assert_eq!(found, expected, "lane {lane}");
    }
    Ok(())
}

#[kernel]
fn leaves_lanes(acc: &Acc<2>, out: Shared<u32, 2>) {
    let warp = acc.warp();
    let at = acc.linear_thread_in_block();
    assert!(warp.lane() == at % warp.size(), "the lane");
    assert!(acc.warp_in_block() == at / warp.size(), "the warp");
    assert!(acc.warps_in_block() == (acc.linear_threads_in_block() + warp.size() - 1) / warp.size(), "the warps");
    assert!(
        warp.lane_count() == warp.size().min(acc.linear_threads_in_block() - at / warp.size() * warp.size()),
        "lanes"
    );
    // Each lane's neighbour has the next number.
    let below = warp.shuffle_up(at, 1);
    assert!(warp.lane() == 0 || below + 1 == at, "the lane below");
    out[acc.thread_in_grid()] = warp.lane() + 1;
}

fn lanes(device: &Device) -> Outcome {
    let (queue, size) = (device.queue()?, device.properties().warp_width as usize);
    for (blocks, threads) in [([1, 2], [1, size]), ([2, 1], [2, size]), ([1, 1], [size, 2])] {
        let [rows, columns] = [blocks[0] * threads[0], blocks[1] * threads[1]];
        let out = device.alloc_zeroed_nd::<u32, 2>([rows, columns])?;
        queue.launch(ThreadSpec::new(blocks, threads), leaves_lanes(&out))?;
        let found = out.read(&queue)?;
        assert!(found.iter().all(|&lane| lane >= 1 && lane <= size as u32), "{found:?}");
    }
    Ok(())
}

#[kernel]
fn shuffled(acc: &Acc, by: u32, out: Shared<u32, 2>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    let x = 100 + thread;
    out[[0, thread]] = warp.shuffle(x, by);
    out[[1, thread]] = warp.shuffle_up(x, by);
    out[[2, thread]] = warp.shuffle_down(x, by);
    out[[3, thread]] = warp.shuffle_xor(x, by);
    out[[4, thread]] = warp.shuffle(x, warp.size() - 1 - warp.lane());
}

fn check_shuffles(device: &Device, threads: usize, size: usize, options: LaunchOptions) -> Outcome {
    let queue = device.queue()?;
    for by in [0, 1, 2, 3, 5, size as u32 - 1, size as u32, size as u32 + 1, 33, 64, u32::MAX] {
        let out = device.alloc_zeroed_nd::<u32, 2>([5, threads])?;
        queue.launch_with(options, ThreadSpec::new(1, threads), shuffled(by, &out))?;
        let found = out.read(&queue)?;
        for thread in 0..threads {
            let (first, lane) = (thread / size * size, (thread % size) as i64);
            let lanes = size.min(threads - first) as i64;
            let by = i64::from(by);
            let sources = [by, lane - by, lane + by, lane ^ by, size as i64 - 1 - lane];
            for (row, source) in sources.into_iter().enumerate() {
                let source = if (0..lanes).contains(&source) { source } else { lane };
                let wanted = 100 + first as u32 + source as u32;
                let found = found[row * threads + thread];
                assert_eq!(found, wanted, "row {row}, by {by}, thread {thread} of {threads}, warps of {size}");
            }
        }
    }
    Ok(())
}

fn shuffles(device: &Device) -> Outcome {
    let size = device.properties().warp_width as usize;
    check_shuffles(device, whole(device, 2 * size), size, LaunchOptions::new())
}

fn no_such_lane(device: &Device) -> Outcome {
    if is_vulkan(device) {
        return not_possible("Vulkan has whole warps alone");
    }
    let size = device.properties().warp_width as usize;
    check_shuffles(device, size + size.div_ceil(3), size, LaunchOptions::new())
}

#[kernel]
fn turned<T: Number>(acc: &Acc, x: Read<T>, out: Shared<T>, half: u32) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    let own = x[thread];
    let other = warp.shuffle_xor(own, half);
    out[thread] = other;
}

#[kernel]
fn turned_bool(acc: &Acc, out: Shared<u32>, half: u32) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    out[thread] = if warp.shuffle_xor(thread % 3 == 0, half) { 1 } else { 0 };
}

fn turn<T: Number + PartialEq + std::fmt::Debug>(device: &Device, of: impl Fn(usize) -> T) -> Outcome {
    let size = device.properties().warp_width as usize;
    let (queue, half) = (device.queue()?, size / 2);
    let values: Vec<T> = (0..size).map(of).collect();
    let (x, out) = (device.from_slice(&values)?, device.alloc_zeroed::<T>(size)?);
    queue.launch(ThreadSpec::new(1, size), turned(&x, &out, half as u32))?;
    let wanted: Vec<T> = (0..size).map(|lane| values[lane ^ half]).collect();
    assert_eq!(out.read(&queue)?, wanted);
    Ok(())
}

fn types(device: &Device) -> Outcome {
    let far = |lane: usize| (lane as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    turn(device, |lane| far(lane) as u32)?;
    turn(device, |lane| far(lane) as i32)?;
    turn(device, |lane| 0.5f32 + lane as f32)?;
    let size = device.properties().warp_width;
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(size as usize)?);
    queue.launch(ThreadSpec::new(1, size as usize), turned_bool(&out, size / 2))?;
    assert_eq!(
        out.read(&queue)?,
        Vec::from_iter((0..size).map(|lane| u32::from((lane ^ (size / 2)).is_multiple_of(3))))
    );
    turn(device, far)?;
    turn(device, |lane| far(lane) as i64)?;
    turn(device, |lane| 1e-300 * lane as f64)?;
    turn(device, |lane| far(lane) as u8)?;
    turn(device, |lane| far(lane) as i8)?;
    turn(device, |lane| far(lane) as u16)?;
    turn(device, |lane| far(lane) as i16)
}

#[device_fn]
fn places(mask: WarpMask, lane: u32) -> (u32, u32) {
    (mask.count_below(lane), mask.lowest())
}

#[kernel]
fn voted(acc: &Acc, every: u32, out: Shared<u32, 2>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    let holds = warp.lane() % every == every - 1;
    let mask = warp.ballot(holds);
    let (below, lowest) = places(mask, warp.lane());
    let mut other = mask;
    if every == 2 {
        other = warp.ballot(!holds);
    }
    out[[0, thread]] = if warp.any(holds) { 1 } else { 0 };
    out[[1, thread]] = if warp.all(holds) { 1 } else { 0 };
    out[[2, thread]] = mask.count();
    out[[3, thread]] = below;
    out[[4, thread]] = lowest;
    out[[5, thread]] = if mask.contains(warp.lane()) { 1 } else { 0 };
    out[[6, thread]] = mask.word(warp.lane() / 32);
    out[[7, thread]] = other.count();
}

fn votes(device: &Device) -> Outcome {
    let (queue, size) = (device.queue()?, device.properties().warp_width);
    let threads = whole(device, 2 * size as usize);
    for every in [1, 2, 3, 7, 200] {
        let out = device.alloc_zeroed_nd::<u32, 2>([8, threads])?;
        queue.launch(ThreadSpec::new(1, threads), voted(every, &out))?;
        let found = out.read(&queue)?;
        let holds = |lane: u32| lane % every == every - 1;
        let count = |below: u32| (0..below).filter(|&lane| holds(lane)).count() as u32;
        for thread in 0..threads {
            let lane = thread as u32 % size;
            let word = (0..32).filter(|bit| lane / 32 * 32 + bit < size && holds(lane / 32 * 32 + bit));
            let all = count(size);
            let wanted = [
                u32::from(all > 0),
                u32::from(all == size),
                all,
                count(lane),
                (0..size).find(|&lane| holds(lane)).unwrap_or(128),
                u32::from(holds(lane)),
                word.map(|bit| 1 << bit).sum(),
                if every == 2 { size - all } else { all },
            ];
            let row: Vec<u32> = (0..8).map(|row| found[row * threads + thread]).collect();
            assert_eq!(row, wanted, "every {every}, thread {thread}");
        }
    }
    Ok(())
}

#[kernel]
fn reduced<T: Int>(acc: &Acc, x: Read<T>, out: Shared<T, 2>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    out[[0, thread]] = warp.reduce_sum(x[thread]);
    out[[1, thread]] = warp.reduce_min(x[thread]);
    out[[2, thread]] = warp.reduce_max(x[thread]);
    out[[3, thread]] = warp.reduce_and(x[thread]);
    out[[4, thread]] = warp.reduce_or(x[thread]);
    out[[5, thread]] = warp.reduce_xor(x[thread]);
    out[[6, thread]] = warp.inclusive_sum(x[thread]);
    out[[7, thread]] = warp.exclusive_sum(x[thread]);
    out[[8, thread]] = warp.inclusive_min(x[thread]);
    out[[9, thread]] = warp.inclusive_max(x[thread]);
}

macro_rules! check_reductions {
    ($name:ident $t:ty) => {
        fn $name(device: &Device, threads: usize, size: usize, options: LaunchOptions) -> Outcome {
            let queue = device.queue()?;
            let x: Vec<$t> = (0..threads as u64).map(|i| (i + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) as $t).collect();
            let (input, out) = (device.from_slice(&x)?, device.alloc_zeroed_nd::<$t, 2>([10, threads])?);
            queue.launch_with(options, ThreadSpec::new(1, threads), reduced(&input, &out))?;
            let found = out.read(&queue)?;
            for (number, lanes) in x.chunks(size).enumerate() {
                for lane in 0..lanes.len() {
                    let (to, all) = (&lanes[..=lane], lanes);
                    let sum = |of: &[$t]| of.iter().fold(0 as $t, |sum, &x| sum.wrapping_add(x));
                    let wanted: [$t; 10] = [
                        sum(all),
                        *all.iter().min().unwrap(),
                        *all.iter().max().unwrap(),
                        all.iter().fold(!0, |bits, x| bits & x),
                        all.iter().fold(0, |bits, x| bits | x),
                        all.iter().fold(0, |bits, x| bits ^ x),
                        sum(to),
                        sum(&lanes[..lane]),
                        *to.iter().min().unwrap(),
                        *to.iter().max().unwrap(),
                    ];
                    let at = number * size + lane;
                    let row: Vec<$t> = (0..10).map(|row| found[row * threads + at]).collect();
                    assert_eq!(row, wanted, "{}, thread {at} of {threads}, warps of {size}", stringify!($t));
                }
            }
            Ok(())
        }
    };
}
check_reductions!(words u32);
check_reductions!(signed i32);
check_reductions!(longs u64);
check_reductions!(signed_longs i64);
check_reductions!(bytes i8);

fn reductions(device: &Device) -> Outcome {
    let size = device.properties().warp_width as usize;
    let threads = whole(device, 2 * size);
    words(device, threads, size, LaunchOptions::new())?;
    signed(device, threads, size, LaunchOptions::new())
}

fn scans(device: &Device) -> Outcome {
    let size = device.properties().warp_width as usize;
    let threads = whole(device, 2 * size);
    longs(device, threads, size, LaunchOptions::new())?;
    signed_longs(device, threads, size, LaunchOptions::new())?;
    bytes(device, threads, size, LaunchOptions::new())
}

#[kernel]
fn sums_floats(acc: &Acc, x: Read<f32>, out: Shared<f32, 2>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    out[[0, thread]] = warp.reduce_sum(x[thread]);
    out[[1, thread]] = warp.inclusive_sum(x[thread]);
    out[[2, thread]] = warp.exclusive_sum(x[thread]);
    out[[3, thread]] = warp.reduce_min(x[thread]);
    out[[4, thread]] = warp.inclusive_max(x[thread]);
}

/// The results on the simulated device with warps of the same size are those on this one, bit by bit.
fn floats(device: &Device) -> Outcome {
    let size = device.properties().warp_width;
    let threads = whole(device, 2 * size as usize);
    let x: Vec<f32> = (0..threads).map(|i| (i as f32 * 12.9898).sin() * 10f32.powi(i as i32 % 9)).collect();
    let on = |device: &Device| -> wattle::Result<Vec<u32>> {
        let queue = device.queue()?;
        let (x, out) = (device.from_slice(&x)?, device.alloc_zeroed_nd::<f32, 2>([5, threads])?);
        let options = LaunchOptions::new().warp_size(size);
        queue.launch_with(options, ThreadSpec::new(1, threads), sums_floats(&x, &out))?;
        Ok(out.read(&queue)?.into_iter().map(f32::to_bits).collect())
    };
    assert_eq!(on(device)?, on(&Device::simulated(1))?);
    Ok(())
}

fn partial(device: &Device) -> Outcome {
    let size = device.properties().warp_width as usize;
    let threads = size + size.div_ceil(2) - 1;
    if is_vulkan(device) {
        let out = device.alloc_zeroed::<u32>(threads)?;
        let error = refused(device.queue()?.launch(ThreadSpec::new(1, threads), goes_round(&out)));
        kind!(error, ErrorKind::Capability { .. });
        says(&error, &["which uses its warp", "Vulkan does not say how a block is divided", "warp_width"]);
        return Ok(());
    }
    words(device, threads.max(1), size, LaunchOptions::new())?;
    signed_longs(device, threads.max(1), size, LaunchOptions::new())
}

fn sizes(device: &Device) -> Outcome {
    if has_driver(device) {
        return not_possible("its warps have one size");
    }
    for size in [1usize, 2, 4, 8, 32, 64, 128] {
        for threads in [1, size, size + 1, 3 * size] {
            let options = LaunchOptions::new().warp_size(size as u32);
            words(device, threads, size, options)?;
            longs(device, threads, size, options)?;
            if size > 1 {
                check_shuffles(device, threads.max(2), size, options)?;
            }
        }
    }
    Ok(())
}

#[kernel]
fn shares_out(acc: &Acc, n: u32, lanes: Atomic<u32>, warps: Atomic<u32>, all: Atomic<u32>) {
    for i in acc.indices(THREADS_IN_WARP, 0..n) {
        lanes.fetch_add(i, 1);
    }
    for i in acc.indices(WARPS_IN_BLOCK, 0..n) {
        warps.fetch_add(i, 1);
    }
    for i in acc.indices(WARPS_IN_GRID, 0..n).strided() {
        all.fetch_add(i, 1);
    }
}

fn indices(device: &Device) -> Outcome {
    let (queue, size) = (device.queue()?, device.properties().warp_width as usize);
    let (blocks, warps, n) = (3, 2, 3 * size + 5);
    let counts = || device.alloc_zeroed::<u32>(n);
    let (by_lane, by_warp, in_grid) = (counts()?, counts()?, counts()?);
    let kernel = shares_out(n as u32, &by_lane, &by_warp, &in_grid);
    queue.launch(ThreadSpec::new(blocks, warps * size), kernel)?;
    assert_eq!(by_lane.read(&queue)?, vec![(blocks * warps) as u32; n], "each warp goes through all");
    assert_eq!(by_warp.read(&queue)?, vec![(blocks * size) as u32; n], "each block does, with all lanes of a warp");
    assert_eq!(in_grid.read(&queue)?, vec![size as u32; n], "the grid does");
    Ok(())
}

#[kernel]
fn sums_in_memory(acc: &Acc, out: Shared<u32>) {
    let part = acc.shared::<u32, 1024>();
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    part[thread] = thread + 1;
    warp.sync();
    let mut distance = warp.size() / 2;
    while distance > 0 {
        if warp.lane() < distance {
            part[thread] += part[thread + distance];
        }
        warp.sync();
        distance /= 2;
    }
    if warp.lane() == 0 {
        out[acc.warp_in_block()] = part[thread];
    }
}

fn barrier(device: &Device) -> Outcome {
    let (queue, size) = (device.queue()?, device.properties().warp_width);
    // lavapipe has one subgroup where barriers stand in loops.
    let warps = if is_vulkan(device) { 1 } else { 3 };
    let out = device.alloc_zeroed::<u32>(warps)?;
    queue.launch(ThreadSpec::new(1, warps * size as usize), sums_in_memory(&out))?;
    let sum = |warp: u32| (warp * size + 1..=(warp + 1) * size).sum::<u32>();
    assert_eq!(out.read(&queue)?, Vec::from_iter((0..warps as u32).map(sum)));
    Ok(())
}

#[kernel]
fn goes_round(acc: &Acc, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    let mut total = 0;
    if acc.warp_in_block() % 2 == 0 {
        for turn in 0..acc.warp_in_block() + 2 {
            // Lanes part within the turn, and are together again.
            let mut x = turn;
            if warp.lane() % 2 == 0 {
                x += 10;
            }
            for i in 0..warp.lane() {
                x += i;
            }
            total += warp.reduce_sum(x);
        }
    } else {
        total = warp.reduce_max(thread);
    }
    out[thread] = total;
}

fn branches(device: &Device) -> Outcome {
    let (queue, size) = (device.queue()?, device.properties().warp_width);
    let threads = 3 * size;
    let out = device.alloc_zeroed::<u32>(threads as usize)?;
    queue.launch(ThreadSpec::new(1, threads as usize), goes_round(&out))?;
    let wanted = (0..threads).map(|thread| {
        let warp = thread / size;
        if warp % 2 == 1 {
            return (warp + 1) * size - 1;
        }
        let lane = |turn: u32, lane: u32| turn + if lane.is_multiple_of(2) { 10 } else { 0 } + (0..lane).sum::<u32>();
        (0..warp + 2).map(|turn| (0..size).map(|at| lane(turn, at)).sum::<u32>()).sum()
    });
    assert_eq!(out.read(&queue)?, Vec::from_iter(wanted));
    Ok(())
}

#[kernel]
fn part_by_branch(acc: &Acc, out: Shared<u32>) {
    let warp = acc.warp();
    let thread = acc.thread_in_block();
    if warp.lane() == 0 {
        out[thread] = warp.reduce_sum(1);
    } else {
        out[thread] = warp.reduce_sum(2);
    }
}

#[kernel]
fn part_by_end(acc: &Acc, out: Shared<u32>) {
    let warp = acc.warp();
    if warp.lane() == 1 {
        return;
    }
    out[acc.thread_in_block()] = warp.shuffle(acc.thread_in_block(), 0);
}

#[kernel]
fn part_by_barrier(acc: &Acc, out: Shared<u32>) {
    let warp = acc.warp();
    if warp.lane() == 0 {
        warp.sync();
    } else {
        acc.sync_block();
    }
    out[acc.thread_in_block()] = 1;
}

fn parted(device: &Device) -> Outcome {
    if has_driver(device) {
        return not_possible("it reports nothing of lanes that part");
    }
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
    let (spec, options) = (ThreadSpec::new(1, 4), LaunchOptions::new().warp_size(2));
    let error = refused(queue.launch_with(options, spec, part_by_branch(&out)));
    kind!(error, ErrorKind::Finding(_));
    says(&error, &["lanes of a warp wait at different places", "all lanes of a warp must come to the same operations"]);
    let error = refused(device.queue()?.launch_with(options, spec, part_by_end(&out)));
    says(&error, &["waits at the warp operation at", "which thread 1 of block 0", "never reaches: it ended"]);
    let error = refused(device.queue()?.launch_with(options, spec, part_by_barrier(&out)));
    says(&error, &["lanes of a warp wait at different places"]);
    // Each is alone in its warp.
    device.queue()?.launch_with(LaunchOptions::new().warp_size(1), spec, part_by_branch(&out))?;
    Ok(())
}

fn no_such_size(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
    for size in [0, 3, 256] {
        let options = LaunchOptions::new().warp_size(size);
        let error = refused(queue.launch_with(options, ThreadSpec::new(1, 4), part_by_branch(&out)));
        kind!(error, ErrorKind::Capability { .. });
        says(&error, &[&format!("warps of {size} lanes"), "power of two"]);
    }
    Ok(())
}
