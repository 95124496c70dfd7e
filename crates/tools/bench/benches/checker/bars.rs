//! Kernels as people write them, each at the size at which a check must still be quick.

use wattle::prelude::*;
use wattle_kernels::{block_scan, histogram, stencil, transpose};

use crate::families::{Family, Size, count, cross_block, size, sum};

/// A family of one size, whose check must end within `bar` seconds.
const fn one(name: &'static str, work: crate::families::Work, at: &'static [(&'static str, Size)]) -> Family {
    Family { name, work, sizes: at, symmetry: true, bars: &[], thrifty: false }
}

pub const BARS: [Family; 18] = [
    Family { bars: &[("10000", 1.0)], ..one("own cells", own_cells, &[("10000", size(2, 1, 10_000))]) },
    Family { bars: &[("400", 0.02)], ..one("plain accesses", own_cells, &[("400", size(4, 1, 200))]) },
    Family { bars: &[("10^6", 5.0)], ..one("plain, race-free", own_cells, &[("10^6", size(16, 64, 500))]) },
    Family { bars: &[("32²", 5.0)], ..one("matrix product", matrix_product, &[("32²", size(2, 16, 32))]) },
    Family { bars: &[("1024", 2.0)], ..one("block-scan", scan, &[("1024", size(4, 256, 1))]) },
    Family { bars: &[("16×16", 2.0)], ..one("stencil-2d", stencil_2d, &[("16×16", size(2, 16, 4))]) },
    Family { bars: &[("32×8", 2.0)], ..one("matrix-transpose", matrix_transpose, &[("32×8", size(1, 16, 32))]) },
    Family { bars: &[("4×64", 2.0)], ..one("histogram", count_bytes, &[("4×64", size(4, 64, 1024))]) },
    Family {
        bars: &[("8×4", 2.0), ("16×8", 10.0)],
        ..one("last-block-sum", sum, &[("8×4", size(8, 4, 1)), ("16×8", size(16, 8, 1))])
    },
    Family { bars: &[("8×8", 5.0)], ..one("grid barrier", cross_block, &[("8×8", size(8, 8, 3))]) },
    Family { bars: &[("10", 5.0)], ..one("IRIW, readers", iriw, &[("10", size(12, 1, 1))]) },
    Family {
        bars: &[("8", 1.5), ("7", 0.23)],
        symmetry: false,
        ..one("IRIW, no symmetry", iriw, &[("7", size(9, 1, 1)), ("8", size(10, 1, 1))])
    },
    Family {
        bars: &[("6", 2.0)],
        thrifty: true,
        ..one("reader-writer lock", shared_lock, &[("4", size(4, 1, 1)), ("6", size(6, 1, 1))])
    },
    Family {
        bars: &[("3", 10.0)],
        thrifty: true,
        ..one("Chase-Lev", deque, &[("1×1", size(2, 1, 1)), ("1×2", size(2, 1, 2)), ("3", size(4, 1, 3))])
    },
    Family { bars: &[("3", 60.0)], ..one("Michael-Scott", queue, &[("2", size(2, 1, 1)), ("3", size(3, 1, 1))]) },
    Family { bars: &[("2", 1.0)], ..one("histogram, small", count_bytes, &[("2", size(2, 2, 4))]) },
    Family { bars: &[("8", 2.1)], symmetry: false, ..one("fetch_add, results", tickets, &[("8", size(8, 1, 1))]) },
    Family { bars: &[("8", 0.5)], ..one("fetch_add, dead", count, &[("8", size(8, 1, 1)), ("64", size(64, 1, 1))]) },
];

/// Each thread reads and writes its own cell.
#[kernel]
fn own(acc: &Acc, rounds: u32, cells: Shared<u32>) {
    let thread = acc.thread_in_grid();
    for _ in 0..rounds {
        cells[thread] += 1;
    }
}

fn own_cells(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let cells = device.alloc_zeroed::<u32>(size.blocks * size.threads)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), own(size.rounds, &cells))?;
    assert_eq!(cells.read(&queue)?, vec![size.rounds; size.blocks * size.threads]);
    Ok(())
}

/// `c = a · b` in tiles of block shared memory: a block has as many rows of threads as columns.
#[kernel]
fn product(acc: &Acc<2>, a: Read<f32, 2>, b: Read<f32, 2>, c: Shared<f32, 2>) {
    let a_tile = acc.shared::<f32, 256>();
    let b_tile = acc.shared::<f32, 256>();
    let [_, depth] = a.extent();
    let [side, _] = acc.threads_in_block();
    let [y, x] = acc.thread_in_block();
    let [block_y, block_x] = acc.block_in_grid();
    let (row, column) = (block_y * side + y, block_x * side + x);
    let mut sum = 0.0f32;
    for begin in (0..depth).step_by(side) {
        a_tile[y * side + x] = a[[row, begin + x]];
        b_tile[y * side + x] = b[[begin + y, column]];
        acc.sync_block();
        for k in 0..side {
            sum += a_tile[y * side + k] * b_tile[k * side + x];
        }
        acc.sync_block();
    }
    c[[row, column]] = sum;
}

fn matrix_product(device: &Device, size: Size) -> Result<()> {
    let (queue, n) = (device.queue()?, size.rounds as usize);
    let (mut a, mut b) = (device.alloc_nd::<f32, 2>([n, n])?, device.alloc_nd::<f32, 2>([n, n])?);
    a.write(&queue, &vec![1.0; n * n])?;
    b.write(&queue, &vec![2.0; n * n])?;
    let c = device.alloc_nd::<f32, 2>([n, n])?;
    queue.launch(ThreadSpec::new([size.blocks; 2], [size.threads; 2]), product(&a, &b, &c))?;
    assert_eq!(c.read(&queue)?, vec![2.0 * n as f32; n * n]);
    Ok(())
}

fn scan(device: &Device, size: Size) -> Result<()> {
    let (n, extent) = (size.blocks * size.threads, size.threads);
    let values: Vec<u32> = (0..n as u32).collect();
    let queue = device.queue()?;
    let input = device.from_slice(&values)?;
    let out = device.alloc_like(&input)?;
    queue.launch(FrameSpec::cover(n, extent), block_scan::scan_frames(&input, &out))?;
    assert_eq!(out.read(&queue)?, block_scan::reference(&values, extent));
    Ok(())
}

fn stencil_2d(device: &Device, size: Size) -> Result<()> {
    let extent = [size.blocks * size.threads; 2];
    let values: Vec<f32> = (0..extent[0] * extent[1]).map(|i| (i % 7) as f32).collect();
    let found = stencil::spread(device, extent, &values, [8, size.threads], size.rounds as usize)?;
    assert_eq!(found, stencil::reference(extent, &values, size.rounds as usize));
    Ok(())
}

fn matrix_transpose(device: &Device, size: Size) -> Result<()> {
    let extent = [size.rounds as usize, 8];
    let values: Vec<f32> = (0..extent[0] * extent[1]).map(|i| i as f32).collect();
    assert_eq!(transpose::transposed(device, extent, &values, size.threads)?, transpose::reference(extent, &values));
    Ok(())
}

fn count_bytes(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let values: Vec<u8> = (0..size.rounds).map(|i| (i * i % 8) as u8).collect();
    let (input, counts) = (device.from_slice(&values)?, device.alloc_zeroed::<u32>(8)?);
    queue.launch(ThreadSpec::new(size.blocks, size.threads), histogram::count_bytes::<8>(&input, &counts))?;
    assert_eq!(counts.read(&queue)?, histogram::reference(&values)[..8]);
    Ok(())
}

/// Two blocks write independently; the others read both words, every second one in the opposite order.
#[kernel]
fn independent(acc: &Acc, cells: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block < 2 {
        cells.store(block, 1);
    } else {
        let first = block % 2;
        let seen = cells.load(first);
        let other = cells.load(1 - first);
        assert!(seen + other <= 2);
    }
}

fn iriw(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let cells = device.alloc_zeroed::<u32>(2)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), independent(&cells))
}

/// A counter of readers, or the writer's mark, in one word; block 0 writes and the others read.
#[kernel]
fn under_shared_lock(acc: &Acc, lock: Atomic<u32>, value: Shared<u32>, torn: Atomic<u32>) {
    let writer = 1u32 << 31;
    if acc.block_in_grid() < 2 {
        while lock.compare_exchange_with(0, 0, writer, Scope::Device, Order::Acquire) != 0 {}
        value[0] += 1;
        value[1] += 1;
        lock.fetch_sub_with(0, writer, Scope::Device, Order::Release);
    } else {
        loop {
            let before = lock.fetch_add_with(0, 1, Scope::Device, Order::Acquire);
            if before < writer {
                break;
            }
            lock.fetch_sub(0, 1);
            return;
        }
        if value[0] != value[1] {
            torn.fetch_add(0, 1);
        }
        lock.fetch_sub_with(0, 1, Scope::Device, Order::Release);
    }
}

fn shared_lock(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let (lock, torn) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let value = device.alloc_zeroed::<u32>(2)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), under_shared_lock(&lock, &value, &torn))?;
    assert_eq!(torn.read(&queue)?, [0]);
    Ok(())
}

/// A work-stealing deque (Chase, Lev 2005; Lê and others 2013): thread 0 pushes and takes, the others steal once each.
#[kernel]
fn steal_work(acc: &Acc, items: u32, outputs: Shared<u32>, runs: Atomic<u32>, tasks: Atomic<i32>, ends: Atomic<i32>) {
    if acc.block_in_grid() == 0 {
        for item in 0..items {
            tasks.store(item, item as i32);
            acc.mem_fence(Scope::Device, Order::Release);
            ends.store(1, item as i32 + 1);
        }
        for _ in 0..items {
            let bottom = ends.load(1) - 1;
            ends.store(1, bottom);
            acc.mem_fence(Scope::Device, Order::SeqCst);
            let top = ends.load(0);
            if top > bottom {
                ends.store(1, bottom + 1);
                return;
            }
            let mut task = tasks.load(bottom as u32);
            if top == bottom {
                if ends.compare_exchange(0, top, top + 1) != top {
                    task = -1;
                }
                ends.store(1, bottom + 1);
            }
            if task >= 0 {
                outputs[task as u32] = 1;
                runs.fetch_add(task as u32, 1);
            }
        }
    } else {
        let top = ends.load(0);
        acc.mem_fence(Scope::Device, Order::SeqCst);
        let bottom = ends.load(1);
        if top < bottom {
            acc.mem_fence(Scope::Device, Order::Acquire);
            let task = tasks.load(top as u32);
            if ends.compare_exchange(0, top, top + 1) == top {
                outputs[task as u32] = 1;
                runs.fetch_add(task as u32, 1);
            }
        }
    }
}

fn deque(device: &Device, size: Size) -> Result<()> {
    let (queue, items) = (device.queue()?, size.rounds as usize);
    let (outputs, runs) = (device.alloc_zeroed::<u32>(items)?, device.alloc_zeroed::<u32>(items)?);
    let (tasks, ends) = (device.alloc_zeroed::<i32>(items)?, device.alloc_zeroed::<i32>(2)?);
    let kernel = steal_work(size.rounds, &outputs, &runs, &tasks, &ends);
    queue.launch(ThreadSpec::new(size.blocks, 1), kernel)?;
    assert_eq!(runs.read(&queue)?, vec![1; items]);
    Ok(())
}

/// A queue (Michael, Scott 1996): each thread puts one node in; node 0 is the first dummy, and `links[0]` and `links[1]`
/// are its head and its tail, `links[2 + node]` the next of a node.
#[kernel]
fn enqueue_one(acc: &Acc, values: Shared<u32>, links: Atomic<u32>) {
    let node = acc.block_in_grid() + 1;
    values[node] = node;
    loop {
        let tail = links.load_with(1, Scope::Device, Order::Acquire);
        let next = links.load_with(2 + tail, Scope::Device, Order::Acquire);
        if next != 0 {
            links.compare_exchange_with(1, tail, next, Scope::Device, Order::AcqRel);
        } else if links.compare_exchange_with(2 + tail, 0, node, Scope::Device, Order::Release) == 0 {
            links.compare_exchange_with(1, tail, node, Scope::Device, Order::Release);
            break;
        }
    }
}

fn queue(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let values = device.alloc_zeroed::<u32>(size.blocks + 1)?;
    let links = device.alloc_zeroed::<u32>(size.blocks + 3)?;
    queue.launch(ThreadSpec::new(size.blocks, 1), enqueue_one(&values, &links))?;
    let links = links.read(&queue)?;
    assert_eq!(links[2..].iter().filter(|&&next| next != 0).count(), size.blocks);
    Ok(())
}

/// Each thread takes a ticket and looks at it.
#[kernel]
fn take(_acc: &Acc, counter: Atomic<u32>, sum: Atomic<u32>) {
    let ticket = counter.fetch_add(0, 1);
    if ticket == 99 {
        sum.fetch_add(0, 1);
    }
}

fn tickets(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let (counter, sum) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(size.blocks, size.threads), take(&counter, &sum))?;
    assert_eq!(counter.read(&queue)?, [size.blocks as u32]);
    Ok(())
}
