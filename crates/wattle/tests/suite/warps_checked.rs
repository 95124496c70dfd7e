//! Warps under the checker: the warp's barrier orders its lanes, and shuffles order nothing. `lanes_checked` has the values
//! that lanes exchange.

use wattle::Error;
use wattle::checker::{Unknown, Verdict};
use wattle::prelude::*;

/// A sum over block shared memory by each warp, with the warp's barrier between its steps if `SYNC`.
#[kernel]
fn warp_sum<const SYNC: bool>(acc: &Acc, out: Shared<u32>) {
    let part = acc.shared::<u32, 8>();
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    part[thread] = thread + 1;
    if SYNC {
        warp.sync();
    }
    if warp.lane() == 0 {
        let mut sum = part[thread];
        for other in 1..warp.size() {
            sum += part[thread + other];
        }
        out[acc.warp_in_block()] = sum;
    }
}

fn sums<const SYNC: bool>(device: &Device) -> Result<()> {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch_with(LaunchOptions::new().warp_size(2), ThreadSpec::new(1, 4), warp_sum::<SYNC>(&out))?;
    assert_eq!(out.read(&queue)?, [3, 7]);
    Ok(())
}

const MODELS: [Model; 3] = [Model::Portable, Model::Ptx, Model::Vulkan];

#[test]
fn a_sum_through_shared_memory_holds_with_the_warps_barrier() {
    for model in MODELS {
        let report = Checker::new(model).assert_holds(sums::<true>);
        assert!(report.to_string().contains("warps of 2"), "{report}");
    }
}

#[test]
fn without_the_warps_barrier_it_is_refuted() {
    for model in MODELS {
        let report = Checker::new(model).check(sums::<false>).unwrap();
        assert_eq!(report.verdict, Verdict::Violated, "{report}");
    }
    let report = Checker::new(Model::Portable).assert_refuted(sums::<false>);
    let text = report.to_string();
    assert!(text.contains("race") && text.contains("part[thread]"), "{text}");
    // The simulated device finds the race too.
    let error = sums::<false>(&Device::simulated(0)).unwrap_err();
    assert!(error.to_string().contains("data race on `part`"), "{error}");
    sums::<true>(&Device::simulated(0)).unwrap();
}

/// A kernel that only works with warps of one size, which its launch does not ask for.
#[kernel]
fn takes_the_size_for_granted<const SIZE: u32>(acc: &Acc, out: Shared<u32>) {
    let thread = acc.thread_in_block();
    assert!(acc.warp().size() == SIZE, "{SIZE} lanes");
    out[thread] = thread;
}

/// Threads that write what the others of their warp read, without a barrier, if a warp is more than a thread.
#[kernel]
fn leans_on_its_neighbour(acc: &Acc, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    out[thread] = thread;
    let last = warp.lane() + 1 == warp.size();
    if !last {
        let next = out[thread + 1];
        out[4 + thread] = next;
    }
}

/// Devices' warps have other sizes than the one that small blocks are best tried with.
#[test]
fn every_kind_of_warp_is_tried_where_a_launch_asks_for_none() {
    fn only<const SIZE: u32>(device: &Device) -> Result<()> {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
        queue.launch(ThreadSpec::new(1, 4), takes_the_size_for_granted::<SIZE>(&out))?;
        queue.wait()
    }
    for model in [Model::Portable, Model::Vulkan] {
        for only in [only::<1>, only::<2>, only::<16>, only::<32>, only::<128>] {
            Checker::new(model).assert_refuted(only);
        }
        let report = Checker::new(model).assert_refuted(only::<2>);
        assert!(report.to_string().contains("for 1 block × 4 threads, warps of 1\n"), "{report}");
        let report = Checker::new(model).assert_holds(|device| sized(device, 4));
        for size in [1, 2, 4, 8, 16, 32, 64, 128] {
            assert!(report.to_string().contains(&format!("1 block × 4 threads, warps of {size}")), "{report}");
        }
    }
    Checker::new(Model::Ptx).assert_holds(only::<32>);
    // Warps of one thread have no neighbour; all others race.
    let lean = |device: &Device| -> Result<()> {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(8)?);
        queue.launch(ThreadSpec::new(1, 4), leans_on_its_neighbour(&out))
    };
    Checker::new(Model::Portable).warp_size(1).assert_holds(lean);
    Checker::new(Model::Portable).assert_refuted(lean);
}

/// A kernel that is right for every size.
#[kernel]
fn counts_its_lanes(acc: &Acc, out: Shared<u32>) {
    let thread = acc.thread_in_block();
    out[thread] = acc.warp().size();
}

/// Threads that each read what the one `DISTANCE` before them has written, if that one is in their warp.
#[kernel]
fn counts_on_the_block<const DISTANCE: u32>(acc: &Acc, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    out[thread] = warp.shuffle_up(thread, DISTANCE);
}

/// Sizes that make each block one warp differ in nothing that this kernel sees; all smaller ones do.
#[test]
fn warps_of_all_sizes_that_make_a_difference_are_tried() {
    fn eight<const DISTANCE: u32>(device: &Device) -> Result<()> {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(8)?);
        queue.launch(ThreadSpec::new(1, 8), counts_on_the_block::<DISTANCE>(&out))?;
        let (out, lanes) =
            (out.read(&queue)?, |lanes: u32| move |at: u32| at - if at % lanes < DISTANCE { 0 } else { DISTANCE });
        assert!([1, 2, 8].iter().any(|&size| (0..8).map(lanes(size)).eq(out.iter().copied())), "{out:?}");
        Ok(())
    }
    for model in [Model::Portable, Model::Vulkan] {
        let report = Checker::new(model).assert_refuted(eight::<1>);
        assert!(report.to_string().contains("1 block × 8 threads, warps of 4\n"), "{report}");
        // Of lanes further apart than four, pairs and fours have none.
        let report = Checker::new(model).assert_holds(eight::<4>);
        assert_eq!(report.shapes.len(), 4, "{report}");
        assert!(!report.to_string().contains("warps of 8"), "{report}");
    }
}

fn sized(device: &Device, threads: u32) -> Result<()> {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(threads as usize)?);
    queue.launch(ThreadSpec::new(1, threads), counts_its_lanes(&out))?;
    assert!(out.read(&queue)?.iter().all(|size| size.is_power_of_two()));
    Ok(())
}

/// Threads of a block that meet at different barriers, warp by warp of PTX.
#[kernel]
fn by_warps(acc: &Acc, out: Shared<u32>) {
    let thread = acc.thread_in_block();
    if thread < 32 {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
    out[thread] = 1;
}

#[test]
fn a_verdict_that_rests_on_the_warps_names_their_size() {
    let scenario = |device: &Device| -> Result<()> {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(64)?);
        queue.launch(ThreadSpec::new(1, 64), by_warps(&out))
    };
    let report = Checker::new(Model::Ptx).assert_holds(scenario);
    assert!(report.to_string().contains("for 1 block × 64 threads, warps of 32"), "{report}");
    Checker::new(Model::Portable).assert_refuted(scenario);
}

/// A lane reads what one of another warp has written: their barriers are not one.
#[kernel]
fn across(acc: &Acc, out: Shared<u32>) {
    let part = acc.shared::<u32, 8>();
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    part[thread] = 1;
    warp.sync();
    out[thread] = part[3 - thread];
}

fn crosses(device: &Device, lanes: u32) -> Result<()> {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
    queue.launch_with(LaunchOptions::new().warp_size(lanes), ThreadSpec::new(1, 4), across(&out))
}

#[test]
fn the_barrier_of_one_warp_is_not_that_of_another() {
    for model in MODELS {
        Checker::new(model).assert_holds(|device| crosses(device, 4));
        let report = Checker::new(model).check(|device| crosses(device, 2)).unwrap();
        assert_eq!(report.verdict, Verdict::Violated, "{report}");
    }
    let error = crosses(&Device::simulated(0), 2).unwrap_err();
    assert!(error.to_string().contains("data race"), "{error}");
}

/// One lane does not come to the barrier.
#[kernel]
fn parts(acc: &Acc, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    if warp.lane() == 0 {
        warp.sync();
    }
    out[thread] = 1;
}

#[test]
fn a_lane_that_never_comes_is_waited_for_for_ever() {
    let scenario = |device: &Device| -> Result<()> {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(1, 2), parts(&out))
    };
    let report = Checker::new(Model::Portable).assert_refuted(scenario);
    assert!(report.to_string().contains("wait"), "{report}");
    // In a warp of its own each lane passes.
    Checker::new(Model::Portable).warp_size(1).assert_holds(scenario);
}

/// A shuffle between a write and a read of memory.
#[kernel]
fn shuffles(acc: &Acc, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    let part = acc.shared::<u32, 8>();
    part[thread] = 1;
    let other = warp.shuffle_xor(thread, 1);
    out[thread] = part[other];
}

fn shuffled(device: &Device) -> Result<()> {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, 2), shuffles(&out))
}

#[test]
fn a_shuffle_orders_no_memory() {
    let error: Error = shuffled(&Device::simulated(0)).unwrap_err();
    assert!(error.to_string().contains("data race on `part`"), "{error}");
    for model in MODELS {
        Checker::new(model).assert_refuted(shuffled);
        Checker::new(model).warp_size(1).assert_holds(shuffled);
    }
}

/// The first lane of a warp waits for a flag, and a vote brings its value to the other lanes.
#[kernel]
fn told_by_a_lane(acc: &Acc, x: Shared<u32>, flag: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        if acc.thread_in_block() == 0 {
            x[0] = 1;
            flag.store_with(0, 1, Scope::Device, Order::Release);
        }
    } else {
        let warp = acc.warp();
        loop {
            let mut seen = 0;
            if acc.thread_in_block() == 0 {
                seen = flag.load_with(0, Scope::Device, Order::Acquire);
            }
            if warp.any(seen != 0) {
                break;
            }
        }
        if acc.thread_in_block() == 0 {
            assert!(x[0] == 1);
        }
    }
}

/// In warps of one lane the vote of the second thread is about itself alone, so that its loop reads no memory and never ends.
/// The search ends all the same.
#[test]
fn a_lane_that_waits_for_no_other_does_not_keep_the_search() {
    let scenario = |device: &Device| -> Result<()> {
        let (queue, x, flag) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch_with(LaunchOptions::new().warp_size(1), ThreadSpec::new(2, 2), told_by_a_lane(&x, &flag))?;
        queue.wait()
    };
    let report = Checker::new(Model::Portable).warp_size(1).time(std::time::Duration::from_secs(120)).check(scenario);
    let report = report.unwrap();
    assert_ne!(report.verdict, Verdict::Holds, "{report}");
    let is_stopped = |unknown: &Unknown| unknown.to_string().contains("time limit");
    assert!(!report.unknown.iter().any(is_stopped), "{report}");
}

#[kernel]
fn says_too_much(acc: &Acc, x: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        x[0] = 1;
    }
    acc.warp().sync();
    if acc.thread_in_block() == 1 {
        assert!(x[0] != 1);
    }
}

/// The story of a kernel whose source may be out of reach.
#[test]
fn a_story_names_the_barrier_of_a_warp() {
    let scenario = |device: &Device| -> Result<()> {
        let x = device.alloc_zeroed::<u32>(1)?;
        let options = LaunchOptions::new().warp_size(2);
        device.queue()?.launch_with(options, ThreadSpec::new(1, 2), says_too_much(&x))
    };
    for model in [Model::Portable, Model::Ptx, Model::Vulkan] {
        let story = Checker::new(model).check(scenario).unwrap().to_string();
        assert!(story.contains("warp().sync()") && !story.contains("sync_block"), "{story}");
        // The thread that has written what the assertion is about is a part of it.
        assert!(story.contains("x[0] = 1"), "{story}");
        println!("{story}");
    }
}

/// A copy of this test program in another folder cannot read its sources, and describes the barrier itself.
#[test]
fn a_story_without_its_source_names_the_barrier_of_a_warp() {
    let folder = std::env::temp_dir().join(format!("wattle-story-{}", std::process::id()));
    let program = folder.join("tests");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let run = std::process::Command::new(&program)
        .args(["--exact", "warps_checked::a_story_names_the_barrier_of_a_warp", "--nocapture"])
        .current_dir(&folder)
        .output();
    std::fs::remove_dir_all(&folder).unwrap();
    let run = run.unwrap();
    let story = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{story}{}", String::from_utf8_lossy(&run.stderr));
    assert!(story.contains("x[0] = 1") && !story.contains("assert!(x[0] != 1)"), "{story}");
}

/// A scenario whose host part asks how many lanes a warp has is tried with all numbers of them, whatever its kernels do.
#[test]
fn what_the_host_makes_of_the_size_of_warps_is_tried() {
    #[kernel]
    fn fill(acc: &Acc, out: Shared<u32>) {
        out[acc.thread_in_block()] = 1;
    }
    fn of_one_warp(device: &Device, most: u32) -> Result<()> {
        let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(128)?);
        let lanes = device.properties().warp_width;
        queue.launch(ThreadSpec::new(1, lanes.min(most)), fill(&out))?;
        let sum: u32 = out.read(&queue)?.iter().sum();
        assert!(sum == 2 || sum == 1, "{sum} lanes");
        Ok(())
    }
    for model in [Model::Portable, Model::Vulkan] {
        let report = Checker::new(model).assert_holds(|device| of_one_warp(device, 2));
        assert_eq!(report.shapes_tried, 8, "{report}");
        let report = Checker::new(model).assert_refuted(|device| of_one_warp(device, 128));
        assert!(report.to_string().contains("32 lanes"), "{report}");
        let report = Checker::new(model).assert_holds(|device| {
            let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
            queue.launch(ThreadSpec::new(1, 4), fill(&out))
        });
        assert_eq!(report.shapes_tried, 1, "{report}");
    }
}
