//! The shapes of launches: which worker gets which indices, how many blocks there are, in which order they start.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, Result};

use crate::harness::{Case, Outcome, is_small, kind, refused, says, size};
use crate::random::Random;

pub const CASES: &[Case] = &[
    ("each index has exactly one worker, in 1 dimension", workers_1),
    ("each index has exactly one worker, in 2 dimensions", workers_2),
    ("each index has exactly one worker, in 3 dimensions", workers_3),
    ("each index has exactly one worker, in 4 dimensions", workers_4),
    ("each element has exactly one thread", items),
    ("frames beyond what a device has at once", many_frames),
    ("a range of another rank than the launch's", other_ranks),
    ("a ThreadSpec has exactly its blocks and threads", thread_spec),
    ("a ThreadSpec of several threads per block", several_threads),
    ("blocks may wait for those before them", chain),
    ("one worker starts blocks in order", in_order),
    ("a block may wait for all blocks of a cooperative launch", cooperative),
    ("a cooperative launch beyond the device's limit", too_cooperative),
    ("a cooperative launch of a FrameSpec", cooperative_frames),
];

// One kernel for each rank; `ways` counts for each element how often each kind of worker came by, 4 bits for each way.
macro_rules! worker_kernels {
    ($($name:ident $case:ident $d:literal $range:ident ($($all:tt)*);)+) => {$(
        #[kernel]
        fn $name(
            acc: &Acc<$d>,
            ways: Atomic<u32, $d>,
            whole: Atomic<u32, $d>,
            $range: Read<u32>,
            info: Shared<u32>,
        ) {
            for at in acc.indices(THREADS_IN_GRID, $($all)*) {
                ways.fetch_add(at, 1);
            }
            for at in acc.indices(THREADS_IN_GRID, $($all)*).contiguous() {
                ways.fetch_add(at, 1 << 4);
            }
            for at in acc.indices(THREADS_IN_GRID, $($all)*).strided() {
                ways.fetch_add(at, 1 << 8);
            }
            for at in acc.indices(LINEAR_THREADS_IN_GRID, $($all)*) {
                ways.fetch_add(at, 1 << 12);
            }
            for at in acc.indices(LINEAR_THREADS_IN_GRID, $($all)*).strided() {
                ways.fetch_add(at, 1 << 16);
            }
            for at in acc.indices(LINEAR_THREADS_IN_GRID, $($all)*).contiguous() {
                ways.fetch_add(at, 1 << 20);
            }
            if acc.linear_thread_in_block() == 0 {
                for at in acc.indices(BLOCKS_IN_GRID, $($all)*) {
                    ways.fetch_add(at, 1 << 24);
                }
                for at in acc.indices(LINEAR_BLOCKS_IN_GRID, $($all)*).strided() {
                    ways.fetch_add(at, 1 << 28);
                }
            }
            // Those within a block come by once for each block, and in all threads once for each thread.
            for at in acc.indices(THREADS_IN_BLOCK, $($all)*) {
                whole.fetch_add(at, 1);
            }
            for at in acc.indices(LINEAR_THREADS_IN_BLOCK, $($all)*).strided() {
                whole.fetch_add(at, 1);
            }
            for at in acc.indices(ALL_THREADS, $($all)*) {
                whole.fetch_add(at, 1 << 16);
            }
            if acc.linear_thread_in_grid() == 0 {
                info[0] = acc.linear_blocks_in_grid();
                info[1] = acc.linear_threads_in_grid();
            }
        }

        fn $case(device: &Device) -> Outcome {
            let mut random = Random($d);
            let queue = device.queue()?;
            for _ in 0..size(device, 150, 12) {
                // Not too many threads altogether.
                let most = [0, 12, 5, 3, 2][$d];
                let frames: [usize; $d] = std::array::from_fn(|_| 1 + random.below(most));
                let inner: [usize; $d] = std::array::from_fn(|_| 1 + random.below(most.min(4)));
                let extent: [usize; $d] = std::array::from_fn(|_| 1 + random.below([0, 70, 9, 5, 4][$d]));
                let step: [u32; $d] = std::array::from_fn(|_| 1 + random.below(3) as u32);
                let begin = extent.map(|extent| random.below(extent + 1) as u32 / 2);
                let end = extent.map(|extent| random.below(extent + 1) as u32);
                let ways = device.alloc_zeroed_nd::<u32, $d>(extent)?;
                let whole = device.alloc_zeroed_nd::<u32, $d>(extent)?;
                let info = device.alloc_zeroed::<u32>(2)?;
                let range = device.from_slice(&[begin, end, step].concat())?;
                let spec = FrameSpec::new(frames, inner);
                queue.launch(spec, $name(&ways, &whole, &range, &info))?;
                let (ways, whole, info) = (ways.read(&queue)?, whole.read(&queue)?, info.read(&queue)?);
                for place in 0..ways.len() {
                    let mut rest = place;
                    let mut inside = true;
                    for d in (0..$d).rev() {
                        let index = (rest % extent[d]) as u32;
                        rest /= extent[d];
                        inside &= (begin[d]..end[d]).contains(&index) && (index - begin[d]) % step[d] == 0;
                    }
                    let expected = if inside { (0x1111_1111, 2 * info[0] + (info[1] << 16)) } else { (0, 0) };
                    assert_eq!(
                        (ways[place], whole[place]),
                        expected,
                        "element {place} of {extent:?}, range {begin:?}..{end:?} by {step:?}, {spec:?}, {info:?}"
                    );
                }
            }
            Ok(())
        }
    )+};
}
worker_kernels! {
    count_1 workers_1 1 r ((r[0]..r[1]).step_by(r[2]));
    count_2 workers_2 2 r (([r[0], r[1]]..[r[2], r[3]]).step_by([r[4], r[5]]));
    count_3 workers_3 3 r (([r[0], r[1], r[2]]..[r[3], r[4], r[5]]).step_by([r[6], r[7], r[8]]));
    count_4 workers_4 4 r (([r[0], r[1], r[2], r[3]]..[r[4], r[5], r[6], r[7]]).step_by([r[8], r[9], r[10], r[11]]));
}

#[kernel]
fn visit_1(acc: &Acc, x: PerItem<u32>) {
    for (i, x) in acc.items(&mut x) {
        *x += i + 1;
    }
}

#[kernel]
fn visit_2(acc: &Acc<2>, x: PerItem<u32, 2>, columns: u32) {
    for ([i, j], x) in acc.items(&mut x) {
        *x += i * columns + j + 1;
    }
}

#[kernel]
fn visit_4(acc: &Acc<4>, x: PerItem<u32, 4>) {
    for ([i, j, k, l], x) in acc.items(&mut x) {
        *x += i * 60 + j * 20 + k * 5 + l + 1;
    }
}

/// A view of another rank than the launch's.
#[kernel]
fn visit_plane_in_line(acc: &Acc, x: PerItem<u32, 2>, columns: u32) {
    for ([i, j], x) in acc.items(&mut x) {
        *x += i * columns + j + 1;
    }
}

fn items(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut random = Random(3);
    for _ in 0..size(device, 60, 6) {
        let n = 1 + random.below(100);
        let expected = Vec::from_iter(1..n as u32 + 1);
        let mut x = device.alloc_zeroed::<u32>(n)?;
        let spec = FrameSpec::new(1 + random.below(20), 1 + random.below(8));
        queue.launch(spec, visit_1(&mut x))?;
        assert_eq!(x.read(&queue)?, expected, "{spec:?}");

        let extent = [1 + random.below(9), 1 + random.below(9)];
        let expected = Vec::from_iter(1..(extent[0] * extent[1]) as u32 + 1);
        let mut x = device.alloc_zeroed_nd::<u32, 2>(extent)?;
        let spec_2 = FrameSpec::new([1 + random.below(5), 1 + random.below(5)], [1 + random.below(3), 2]);
        queue.launch(spec_2, visit_2(&mut x, extent[1] as u32))?;
        assert_eq!(x.read(&queue)?, expected, "{spec_2:?}");
        queue.fill(&mut x, 0)?;
        queue.launch(spec, visit_plane_in_line(&mut x, extent[1] as u32))?;
        assert_eq!(x.read(&queue)?, expected, "{spec:?}");

        let mut x = device.alloc_zeroed_nd::<u32, 4>([2, 3, 4, 5])?;
        let frames: [usize; 4] = std::array::from_fn(|_| 1 + random.below(3));
        queue.launch(FrameSpec::new(frames, [1, 2, 1, 2]), visit_4(&mut x))?;
        assert_eq!(x.read(&queue)?, Vec::from_iter(1..121));
    }
    Ok(())
}

#[kernel]
fn line_in_plane(acc: &Acc<2>, line: Atomic<u32>) {
    for i in acc.indices(LINEAR_THREADS_IN_GRID, 0..line.len()) {
        line.fetch_add(i, 1);
    }
    for i in acc.indices(LINEAR_BLOCKS_IN_GRID, 0..line.len()) {
        if acc.linear_thread_in_block() == 0 {
            line.fetch_add(i, 100);
        }
    }
}

#[kernel]
fn space_in_line(acc: &Acc, space: Atomic<u32, 3>) {
    for at in acc.indices(LINEAR_THREADS_IN_GRID, [0, 0, 0]..space.extent()) {
        space.fetch_add(at, 1);
    }
    for at in acc.indices(LINEAR_THREADS_IN_GRID, [1, 0, 1]..space.extent()).strided() {
        space.fetch_add(at, 100);
    }
}

fn other_ranks(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for (frames, inner) in [([1, 1], [1, 1]), ([3, 5], [2, 1]), ([7, 2], [1, 4])] {
        let line = device.alloc_zeroed::<u32>(23)?;
        queue.launch(FrameSpec::new(frames, inner), line_in_plane(&line))?;
        assert_eq!(line.read(&queue)?, [101; 23]);
        let space = device.alloc_zeroed_nd::<u32, 3>([2, 3, 4])?;
        queue.launch(FrameSpec::new(frames[0] * frames[1], inner[0]), space_in_line(&space))?;
        let expected = |place: usize| if place >= 12 && !place.is_multiple_of(4) { 101 } else { 1 };
        assert_eq!(space.read(&queue)?, Vec::from_iter((0..24).map(expected)));
    }
    Ok(())
}

/// Each block leaves its number and extents.
#[kernel]
fn places(acc: &Acc<2>, blocks: Shared<u32, 2>, info: Shared<u32>) {
    if acc.linear_thread_in_block() == 0 {
        blocks[acc.block_in_grid()] = 1 + acc.linear_block_in_grid();
    }
    if acc.linear_thread_in_grid() == 0 {
        let [height, width] = acc.blocks_in_grid();
        let [rows, columns] = acc.threads_in_block();
        let [all_rows, all_columns] = acc.threads_in_grid();
        info[0] = height;
        info[1] = width;
        info[2] = rows;
        info[3] = columns;
        info[4] = all_rows;
        info[5] = all_columns;
        info[6] = acc.linear_blocks_in_grid();
        info[7] = acc.linear_threads_in_block();
    }
}

fn thread_spec(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for [height, width] in [[1, 1], [1, 9], [5, 3], [33, 2]] {
        let blocks = device.alloc_zeroed_nd::<u32, 2>([height, width])?;
        let info = device.alloc_zeroed::<u32>(8)?;
        queue.launch(ThreadSpec::new([height, width], [1, 1]), places(&blocks, &info))?;
        let (h, w) = (height as u32, width as u32);
        assert_eq!(info.read(&queue)?, [h, w, 1, 1, h, w, h * w, 1]);
        assert_eq!(blocks.read(&queue)?, Vec::from_iter(1..h * w + 1));
    }
    Ok(())
}

fn several_threads(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let blocks = device.alloc_zeroed_nd::<u32, 2>([2, 3])?;
        let info = device.alloc_zeroed::<u32>(8)?;
        queue.launch(ThreadSpec::new([2, 3], [1, 2]), places(&blocks, &info))?;
        assert_eq!(info.read(&queue)?, [2, 3, 1, 2, 2, 6, 6, 2]);
        assert_eq!(blocks.read(&queue)?, Vec::from_iter(1..7));
    }
    Ok(())
}

#[kernel]
fn links(acc: &Acc, done: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block > 0 {
        while done.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
    }
    done.store_with(block, block + 1, Scope::Device, Order::Release);
}

fn chain(device: &Device) -> Outcome {
    let blocks = match device.properties().kind {
        DeviceKind::Software => 200,
        _ if is_small() => 200,
        _ => size(device, 10_000, 6_000),
    };
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let done = device.alloc_zeroed::<u32>(blocks)?;
        queue.launch(ThreadSpec::new(blocks, 1), links(&done))?;
        assert_eq!(done.read(&queue)?, Vec::from_iter(1..blocks as u32 + 1));
    }
    Ok(())
}

#[kernel]
fn tickets(acc: &Acc, next: Atomic<u32>, ticket: Shared<u32>) {
    ticket[acc.block_in_grid()] = next.fetch_add(0, 1);
}

fn in_order(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let blocks = size(device, 1000, 100);
    let (next, ticket) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(blocks)?);
    queue.launch(ThreadSpec::new(blocks, 1), tickets(&next, &ticket))?;
    let mut found = ticket.read(&queue)?;
    if device.properties().kind == DeviceKind::Host && device.properties().workers == 1 {
        assert_eq!(found, Vec::from_iter(0..blocks as u32));
    }
    found.sort_unstable();
    assert_eq!(found, Vec::from_iter(0..blocks as u32), "each block runs once");
    Ok(())
}

/// Each block waits until all have come.
#[kernel]
fn meet(acc: &Acc, come: Atomic<u32>, seen: Shared<u32>) {
    come.fetch_add(0, 1);
    while come.load(0) < acc.linear_blocks_in_grid() {}
    seen[acc.block_in_grid()] = come.load(0);
}

fn cooperative(device: &Device) -> Outcome {
    let workers = device.properties().workers as usize;
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        for blocks in [1, workers, workers + 1, 2 * workers + 3, size(device, 100, 20)] {
            let (come, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(blocks)?);
            let spec = ThreadSpec::new(blocks, 1);
            queue.launch_with(LaunchOptions::new().cooperative(), spec, meet(&come, &seen))?;
            assert_eq!(seen.read(&queue)?, vec![blocks as u32; blocks]);
        }
    }
    Ok(())
}

fn many_frames(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u32>(100)?;
    let mut wide = device.alloc_zeroed_nd::<u32, 2>([10, 10])?;
    let expected = Vec::from_iter(1..101);
    let specs = [(1, 5000), (300, 5000), (3 << 19, 1)];
    for (frames, extent) in specs.into_iter().take(if is_small() { 1 } else { specs.len() }) {
        let spec = FrameSpec::new(frames, extent);
        queue.fill(&mut x, 0)?;
        queue.launch(spec, visit_1(&mut x))?;
        assert_eq!(x.read(&queue)?, expected, "{spec:?}");
    }
    let spec = FrameSpec::new([if is_small() { 1 } else { 300 }, 7], [5000, 3]);
    queue.launch(spec, visit_2(&mut wide, 10))?;
    assert_eq!(wide.read(&queue)?, expected, "{spec:?}");
    Ok(())
}

fn too_cooperative(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let blocks = device.properties().max_cooperative_blocks as usize + 1;
    let (come, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let spec = ThreadSpec::new(blocks, 1);
    let error = refused(queue.launch_with(LaunchOptions::new().cooperative(), spec, meet(&come, &seen)));
    kind!(error, ErrorKind::Capability { .. });
    says(&error, &[device.name(), &blocks.to_string(), "launch "]);
    assert_eq!(come.read(&queue)?, [0]);
    Ok(())
}

fn cooperative_frames(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let run = |frames: usize| -> Result<()> {
        let (come, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(frames)?);
        queue.launch_with(LaunchOptions::new().cooperative(), FrameSpec::new(frames, 1), meet(&come, &seen))?;
        let come = come.read(&queue)?[0];
        assert!(seen.read(&queue)?[..come as usize].iter().all(|&seen| seen == come));
        Ok(())
    };
    for frames in [1, 3, 30] {
        run(frames)?;
    }
    Ok(())
}
