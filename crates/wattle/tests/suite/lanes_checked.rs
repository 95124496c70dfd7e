//! Values that lanes of a warp exchange, under the checker: they carry dependencies and no order.

use wattle::checker::Verdict;
use wattle::prelude::*;

const MODELS: [Model; 3] = [Model::Portable, Model::Ptx, Model::Vulkan];

/// Launches with warps of two lanes.
fn pairs() -> LaunchOptions {
    LaunchOptions::new().warp_size(2)
}

/// A warp sums by shuffles, its first lane publishes the sum, and another block reads it.
#[kernel]
fn publishes<const RELEASE: bool>(
    acc: &Acc,
    input: Read<u32>,
    sum: Shared<u32>,
    ready: Atomic<u32>,
    seen: Shared<u32>,
) {
    let part = acc.shared::<u32, 4>();
    let warp = acc.warp();
    if acc.block_in_grid() == 0 {
        part[acc.thread_in_block()] = input[acc.thread_in_block()];
        let mut sums = part[acc.thread_in_block()];
        let mut away = warp.size() / 2;
        while away > 0 {
            sums += warp.shuffle_down(sums, away);
            away /= 2;
        }
        if warp.lane() == 0 {
            sum[0] = sums;
            if RELEASE {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            ready.store(0, 1);
        }
    } else if warp.lane() == 0 {
        while ready.load(0) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        seen[0] = sum[0];
    }
}

fn publication<const RELEASE: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let input = device.from_slice(&[1u32, 2, 3, 4])?;
    let (sum, ready) = (device.alloc::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let seen = device.alloc_zeroed::<u32>(1)?;
    let options = LaunchOptions::new().warp_size(4);
    queue.launch_with(options, ThreadSpec::new(2, 4), publishes::<RELEASE>(&input, &sum, &ready, &seen))?;
    assert_eq!(seen.read(&queue)?, [10]);
    Ok(())
}

#[test]
fn a_sum_by_shuffles_is_published_by_the_first_lane() {
    for model in MODELS {
        let report = Checker::new(model).assert_holds(publication::<true>);
        assert!(report.to_string().contains("warps of 4"), "{report}");
        Checker::new(model).assert_refuted(publication::<false>);
    }
    let report = Checker::new(Model::Portable).assert_refuted(publication::<false>);
    assert!(report.to_string().contains("race"), "{report}");
    publication::<true>(&Device::simulated(0)).unwrap();
}

/// Compaction with one atomic for each warp: the first lane, or `LEADER`, makes room for all.
#[kernel]
fn compacts<const LEADER: u32>(acc: &Acc, keep: Read<u32>, count: Atomic<u32>, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_grid());
    let kept = warp.ballot(keep[thread] != 0);
    let mut first = 0;
    if warp.lane() == 0 {
        first = count.fetch_add(0, kept.count());
    }
    let first = warp.shuffle(first, LEADER);
    if keep[thread] != 0 {
        out[first + kept.count_below(warp.lane())] = thread;
    }
}

fn compaction<const LEADER: u32>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let keep = device.from_slice(&[1u32, 0, 1, 1])?;
    let (count, out) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(3)?);
    queue.launch_with(pairs(), ThreadSpec::new(2, 2), compacts::<LEADER>(&keep, &count, &out))?;
    let found = out.read(&queue)?;
    assert!(found == [0, 2, 3] || found == [2, 3, 0], "{found:?}");
    Ok(())
}

#[test]
fn a_compaction_takes_one_atomic_for_each_warp() {
    for model in MODELS {
        let report = Checker::new(model).assert_holds(compaction::<0>);
        assert!(report.statistics.complete >= 2, "{report}");
        Checker::new(model).assert_refuted(compaction::<1>);
    }
}

/// The lanes of one block look at a word that the other block sets, and exchange what they saw.
#[kernel]
fn looks(acc: &Acc, word: Atomic<u32>, seen: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    if acc.block_in_grid() == 0 {
        let mine = word.load(0);
        let other = warp.shuffle_xor(mine, 1);
        seen[thread] = 10 * mine + other;
    } else if warp.lane() == 0 {
        word.store(0, 1);
    }
}

fn look(device: &Device) -> Result<Vec<u32>> {
    let (queue, word, seen) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
    queue.launch_with(pairs(), ThreadSpec::new(2, 2), looks(&word, &seen))?;
    seen.read(&queue)
}

#[test]
fn each_lane_gets_what_the_other_has_seen() {
    for model in MODELS {
        let found = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let report = Checker::new(model).assert_holds(|device| -> Result<()> {
            found.lock().unwrap().insert(look(device)?);
            Ok(())
        });
        // 4 pairs of values, of which each lane has its own first.
        let found: Vec<Vec<u32>> = found.into_inner().unwrap().into_iter().collect();
        assert_eq!(found, [[0, 0], [1, 10], [10, 1], [11, 11]], "{report}");
    }
}

/// A lane writes what it got of another one's read, or something else behind the exchange; the other block copies it back.
#[kernel]
fn copies<const VALUE: bool>(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Shared<u32>) {
    let warp = acc.warp();
    if acc.block_in_grid() == 0 {
        let mut mine = 0;
        if warp.lane() == 0 {
            mine = x.load(0);
            seen[0] = mine;
        }
        let got = warp.shuffle(mine, 0);
        if warp.lane() == 1 {
            y.store(0, if VALUE { got } else { 1 });
        }
    } else if warp.lane() == 0 {
        let value = y.load(0);
        seen[1] = value;
        x.store(0, value);
    }
}

fn found_by<const VALUE: bool>(model: Model) -> Vec<Vec<u32>> {
    let found = std::sync::Mutex::new(std::collections::BTreeSet::new());
    Checker::new(model).assert_holds(|device| -> Result<()> {
        let (queue, x, y) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        let seen = device.alloc_zeroed::<u32>(2)?;
        queue.launch_with(pairs(), ThreadSpec::new(2, 2), copies::<VALUE>(&x, &y, &seen))?;
        found.lock().unwrap().insert(seen.read(&queue)?);
        Ok(())
    });
    found.into_inner().unwrap().into_iter().collect()
}

#[test]
fn an_exchanged_value_carries_its_dependency_and_nothing_else_does() {
    // What depends on the value comes after it: no value out of thin air.
    assert_eq!(found_by::<true>(Model::Portable), [[0, 0]]);
    // A store that does not is no later than the read: both may see 1.
    assert_eq!(found_by::<false>(Model::Portable), [[0, 0], [0, 1], [1, 1]]);
}

/// A vote on flags that the other block has set, and what it published before.
#[kernel]
fn votes<const HOW: u32>(acc: &Acc, payload: Shared<u32>, flags: Atomic<u32>, seen: Shared<u32>) {
    let (warp, lane) = (acc.warp(), acc.warp().lane());
    if acc.block_in_grid() == 1 {
        if lane == 0 {
            payload[0] = 42;
            acc.mem_fence(Scope::Device, Order::Release);
            flags.store(0, 1);
            flags.store(1, 1);
        }
    } else if HOW == 0 {
        // Both lanes have seen a flag, and each acquires.
        let all = warp.all(flags.load(lane) == 1);
        acc.mem_fence(Scope::Device, Order::Acquire);
        if all {
            assert!(payload[0] == 42, "payload {}", payload[0]);
            seen[lane] = 1;
        }
    } else {
        // The first lane has seen the flag for both.
        let mut set = false;
        if lane == 0 {
            set = flags.load(0) == 1;
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        if HOW == 2 {
            warp.sync();
        }
        if warp.any(set) {
            assert!(payload[0] == 42, "payload {}", payload[0]);
            seen[lane] = 1;
        }
    }
}

fn vote<const HOW: u32>(device: &Device) -> Result<()> {
    let (queue, payload) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    let (flags, seen) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?);
    queue.launch_with(pairs(), ThreadSpec::new(2, 2), votes::<HOW>(&payload, &flags, &seen))?;
    let seen = seen.read(&queue)?;
    assert!(seen == [0, 0] || seen == [1, 1], "a vote is the same for all lanes");
    Ok(())
}

#[test]
fn an_assertion_after_a_vote_needs_an_order_besides() {
    for model in MODELS {
        Checker::new(model).assert_holds(vote::<0>);
        // The vote says that the flag was set and orders nothing for the other lane.
        Checker::new(model).assert_refuted(vote::<1>);
        Checker::new(model).assert_holds(vote::<2>);
    }
}

/// The lanes come to different operations.
#[kernel]
fn parts(acc: &Acc, out: Shared<u32>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    if warp.lane() == 0 {
        out[thread] = warp.shuffle(thread, 1);
    } else {
        out[thread] = warp.shuffle(thread, 0);
    }
}

fn parted(device: &Device) -> Result<()> {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch_with(pairs(), ThreadSpec::new(1, 2), parts(&out))
}

#[test]
fn lanes_that_part_wait_for_ever() {
    for model in MODELS {
        let report = Checker::new(model).check(parted).unwrap();
        assert_eq!(report.verdict, Verdict::Violated, "{report}");
    }
    let report = Checker::new(Model::Portable).assert_refuted(parted);
    assert!(report.to_string().contains("waits at the operation of its warp"), "{report}");
    let error = parted(&Device::simulated(0)).unwrap_err();
    assert!(error.to_string().contains("lanes of a warp wait at different places"), "{error}");
    Checker::new(Model::Portable)
        .warp_size(1)
        .check(|device| {
            let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
            queue.launch(ThreadSpec::new(1, 2), parts(&out))
        })
        .map(|report| assert_eq!(report.verdict, Verdict::Holds, "{report}"))
        .unwrap();
}

/// A loop that ends when some lane has seen the flag.
#[kernel]
fn waits(acc: &Acc, flag: Atomic<u32>, out: Shared<u32>) {
    let warp = acc.warp();
    if acc.block_in_grid() == 0 {
        let mut turns = 0;
        while turns < 2 && !warp.any(flag.load(0) == 1) {
            turns += 1;
        }
        out[warp.lane()] = turns;
    } else if warp.lane() == 0 {
        flag.store(0, 1);
    }
}

#[test]
fn a_loop_with_a_vote_ends_for_all_lanes_at_once() {
    for model in MODELS {
        let report = Checker::new(model).assert_holds(|device| -> Result<()> {
            let (queue, flag) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
            let out = device.alloc_zeroed::<u32>(2)?;
            queue.launch_with(pairs(), ThreadSpec::new(2, 2), waits(&flag, &out))?;
            let turns = out.read(&queue)?;
            assert!(turns[0] == turns[1], "{turns:?}");
            Ok(())
        });
        assert!(report.statistics.complete >= 3, "{report}");
    }
}
