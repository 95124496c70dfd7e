//! The shapes of launches: which indices who gets, how many blocks there are, in which order they start.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, Result};

use crate::harness::{Case, Numbers, Outcome, is_small, kind, refused, says, size};

pub const CASES: &[Case] = &[
    ("each index has exactly one worker, in 1 dimension", workers_1),
    ("each index has exactly one worker, in 2 dimensions", workers_2),
    ("each index has exactly one worker, in 3 dimensions", workers_3),
    ("each index has exactly one worker, in 4 dimensions", workers_4),
    ("each element has exactly one thread", items),
    ("a range of another rank than the launch's", other_ranks),
    ("a ThreadSpec has exactly its blocks and threads", thread_spec),
    ("a ThreadSpec of several threads per block", several_threads),
    ("blocks may wait for those before them", chain),
    ("one worker starts blocks in order", in_order),
    ("a block may wait for all blocks of a cooperative launch", cooperative),
    ("a cooperative launch beyond the device's limit", too_cooperative),
    ("a cooperative launch of a FrameSpec", cooperative_frames),
];

// One kernel for each rank; `ways` counts for each element how often each kind of worker came by, 8 bits for each way.
macro_rules! worker_kernels {
    ($($name:ident $case:ident $d:literal $cover:ident ($($zero:expr),*);)+) => {$(
        #[kernel]
        fn $name(
            acc: &Acc<$d>,
            ways: Atomic<u32, $d>,
            whole: Atomic<u32, $d>,
            begin: [u32; $d],
            end: [u32; $d],
            step: [u32; $d],
            info: Shared<u32>,
        ) {
            for at in acc.indices(THREADS_IN_GRID, (begin..end).step_by(step)) {
                ways.fetch_add(at, 1);
            }
            for at in acc.indices(THREADS_IN_GRID, (begin..end).step_by(step)).contiguous() {
                ways.fetch_add(at, 1 << 4);
            }
            for at in acc.indices(THREADS_IN_GRID, (begin..end).step_by(step)).strided() {
                ways.fetch_add(at, 1 << 8);
            }
            for at in acc.indices(LINEAR_THREADS_IN_GRID, (begin..end).step_by(step)) {
                ways.fetch_add(at, 1 << 12);
            }
            for at in acc.indices(LINEAR_THREADS_IN_GRID, (begin..end).step_by(step)).strided() {
                ways.fetch_add(at, 1 << 16);
            }
            for at in acc.indices(LINEAR_THREADS_IN_GRID, (begin..end).step_by(step)).contiguous() {
                ways.fetch_add(at, 1 << 20);
            }
            if acc.linear_thread_in_block() == 0 {
                for at in acc.indices(BLOCKS_IN_GRID, (begin..end).step_by(step)) {
                    ways.fetch_add(at, 1 << 24);
                }
                for at in acc.indices(LINEAR_BLOCKS_IN_GRID, (begin..end).step_by(step)).strided() {
                    ways.fetch_add(at, 1 << 28);
                }
            }
            // Those within a block come by once for each block, and in all threads once for each thread.
            for at in acc.indices(THREADS_IN_BLOCK, (begin..end).step_by(step)) {
                whole.fetch_add(at, 1);
            }
            for at in acc.indices(LINEAR_THREADS_IN_BLOCK, (begin..end).step_by(step)).strided() {
                whole.fetch_add(at, 1);
            }
            for at in acc.indices(ALL_THREADS, (begin..end).step_by(step)) {
                whole.fetch_add(at, 1 << 16);
            }
            if acc.linear_thread_in_grid() == 0 {
                info[0] = acc.linear_blocks_in_grid();
                info[1] = acc.linear_threads_in_grid();
            }
        }

        fn $case(device: &Device) -> Outcome {
            let mut numbers = Numbers($d);
            let queue = device.queue()?;
            for _ in 0..size(device, 150, 12) {
                // Not too many threads altogether.
                let most = [0, 12, 5, 3, 2][$d];
                let frames: [usize; $d] = std::array::from_fn(|_| 1 + numbers.below(most));
                let inner: [usize; $d] = std::array::from_fn(|_| 1 + numbers.below(most.min(4)));
                let extent: [usize; $d] = std::array::from_fn(|_| 1 + numbers.below([0, 70, 9, 5, 4][$d]));
                let step: [u32; $d] = std::array::from_fn(|_| 1 + numbers.below(3) as u32);
                let begin = extent.map(|extent| numbers.below(extent + 1) as u32 / 2);
                let end = extent.map(|extent| numbers.below(extent + 1) as u32);
                let ways = device.alloc_zeroed_nd::<u32, $d>(extent)?;
                let whole = device.alloc_zeroed_nd::<u32, $d>(extent)?;
                let info = device.alloc_zeroed::<u32>(2)?;
                let bundle = || $name(&ways, &whole, begin, end, step, &info);
                let spec = FrameSpec::new(frames, inner);
                queue.launch(spec, bundle())?;
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
    count_2 workers_2 2 cover_2 (0, 0);
    count_3 workers_3 3 cover_3 (0, 0, 0);
    count_4 workers_4 4 cover_4 (0, 0, 0, 0);
}
