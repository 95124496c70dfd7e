//! Launches by frames must be right for any choice of blocks and threads: the checker tries what devices choose.

use wattle::checker::{Report, Unknown, Verdict};
use wattle::memory::Target;
use wattle::prelude::*;

fn report(
    checker: Checker,
    frames: usize,
    extent: usize,
    launch: impl Fn(&Queue, FrameSpec<1>) -> Result<()>,
) -> Report {
    let scenario = |device: &Device| launch(&device.queue()?, FrameSpec::new(frames, extent));
    checker.check(scenario).unwrap()
}

fn portable() -> Checker {
    Checker::new(Model::Portable)
}

fn filled(out: &Buffer<u32>, queue: &Queue) -> Result<()> {
    assert!(out.read(queue)?.iter().all(|&value| value == 1), "all are filled");
    Ok(())
}

#[kernel]
fn fill_one_per_block(acc: &Acc, out: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        out[acc.block_in_grid()] = 1;
    }
}

/// The host has 4 blocks for each worker, however many frames there are.
#[test]
fn a_block_for_each_frame_is_not_promised() {
    let launch = |queue: &Queue, spec| {
        let out = queue.device().alloc_zeroed::<u32>(40)?;
        queue.launch(spec, fill_one_per_block(&out))?;
        filled(&out, queue)
    };
    for checker in
        [portable(), Checker::for_target(Target::Host), Checker::new(Model::Ptx), Checker::new(Model::Vulkan)]
    {
        let report = report(checker, 40, 1, launch);
        assert_eq!(report.verdict, Verdict::Violated);
        assert_eq!(report.violated_in, ["1 block × 1 thread"]);
        assert_eq!(report.shapes, ["40 blocks × 1 thread", "1 block × 1 thread"]);
    }
}

#[kernel]
fn fill_unless_two_blocks(acc: &Acc, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..out.len()) {
        if acc.blocks_in_grid() != 2 || i != 0 {
            out[i] = 1;
        }
    }
}

#[test]
fn two_blocks_are_tried() {
    let launch = |queue: &Queue, spec| {
        let out = queue.device().alloc_zeroed::<u32>(5)?;
        queue.launch(spec, fill_unless_two_blocks(&out))?;
        filled(&out, queue)
    };
    assert_eq!(report(portable(), 5, 1, launch).violated_in, ["2 blocks × 1 thread"]);
    // No device has more blocks than frames.
    assert_eq!(report(portable(), 1, 1, launch).verdict, Verdict::Holds);
}

#[kernel]
fn fill_one_per_thread(acc: &Acc, out: Shared<u32>) {
    out[acc.thread_in_grid()] = 1;
}

#[kernel]
fn fill_by_two_halves(acc: &Acc, out: Shared<u32>) {
    let threads = acc.threads_in_block();
    for i in acc.indices(THREADS_IN_GRID, 0..out.len()) {
        // Right where the threads of a block divide 4.
        if threads == 1 || 4 % threads == 0 || i != 1 {
            out[i] = 1;
        }
    }
}

#[test]
fn fewer_and_more_threads_than_a_frame_has_places_are_tried() {
    let launch = |queue: &Queue, spec| {
        let out = queue.device().alloc_zeroed::<u32>(4)?;
        queue.launch(spec, fill_by_two_halves(&out))?;
        filled(&out, queue)
    };
    assert_eq!(report(portable(), 1, 4, launch).violated_in, ["1 block × 3 threads"]);
    // The host chooses one thread per block, whatever a frame's extent.
    let host = report(Checker::for_target(Target::Host), 1, 4, launch);
    assert_eq!((host.verdict, host.shapes), (Verdict::Holds, vec!["1 block × 1 thread".to_owned()]));
    let past = |queue: &Queue, spec| {
        let out = queue.device().alloc_zeroed::<u32>(1)?;
        queue.launch(spec, fill_one_per_thread(&out))
    };
    let report = report(portable(), 1, 1, past);
    assert_eq!((report.violations[0].kind(), report.violated_in), ("fault", vec!["1 block × 2 threads".to_owned()]));
}

#[kernel]
fn fill_all(acc: &Acc, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..out.len()) {
        out[i] = 1;
    }
}

#[test]
fn work_that_is_shared_out_holds_in_all_shapes_which_the_report_names() {
    let launch = |options: LaunchOptions| {
        move |queue: &Queue, spec: FrameSpec<1>| {
            let out = queue.device().alloc_zeroed::<u32>(12)?;
            queue.launch_with(options, spec, fill_all(&out))?;
            filled(&out, queue)
        }
    };
    let all = report(portable(), 3, 4, launch(LaunchOptions::new()));
    assert_eq!(all.verdict, Verdict::Holds);
    let shapes = [
        "3 blocks × 4 threads",
        "3 blocks × 1 thread",
        "1 block × 1 thread",
        "2 blocks × 1 thread",
        "1 block × 4 threads",
        "2 blocks × 4 threads",
        "3 blocks × 3 threads",
        "3 blocks × 5 threads",
        // As the host deals indices out, whose blocks have one thread.
        "3 blocks × 1 thread, runs of indices",
        "2 blocks × 1 thread, runs of indices",
    ];
    assert_eq!(all.shapes, shapes);
    assert!(all.violated_in.is_empty());
    let few = report(portable(), 3, 4, launch(LaunchOptions::new().blocks(1).threads(2)));
    assert_eq!(few.shapes, ["1 block × 2 threads", "1 block × 1 thread"]);
}

#[kernel]
fn wait_and_count(acc: &Acc, flag: Atomic<u32>, count: Atomic<u32>) {
    let (me, threads) = (acc.thread_in_block(), acc.threads_in_block());
    if threads > 1 && me == 0 {
        while flag.load(0) == 0 {
            count.fetch_add(0, 1);
        }
    }
    if me == 1 {
        flag.store(0, 1);
    }
}

/// What is not known in one shape does not hide what is known in the others.
#[test]
fn a_shape_that_is_not_looked_at_in_full_is_named() {
    let launch = |filled_only: bool| {
        move |queue: &Queue, spec: FrameSpec<1>| {
            let (flag, count) = (queue.device().alloc_zeroed::<u32>(1)?, queue.device().alloc_zeroed::<u32>(1)?);
            queue.launch(spec, wait_and_count(&flag, &count))?;
            let flag = flag.read(queue)?;
            assert!(filled_only || flag == [1], "the flag is set");
            Ok(())
        }
    };
    let unknown = report(portable(), 1, 2, launch(true));
    assert_eq!(unknown.verdict, Verdict::Unknown);
    let shapes = vec!["1 block × 2 threads".to_owned(), "1 block × 3 threads".to_owned()];
    let why = Box::new(Unknown::LoopBound(unknown.loop_bound));
    assert_eq!(unknown.unknown, [Unknown::InShapes { shapes, why }]);
    let violated = report(portable(), 1, 2, launch(false));
    assert_eq!((violated.verdict, violated.violated_in), (Verdict::Violated, vec!["1 block × 1 thread".to_owned()]));
}
