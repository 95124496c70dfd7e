//! Dependencies that a compiler removes, through operations of a warp: a lane that brings the same whatever it has read
//! brings it before the read.

use wattle::checker::Verdict;
use wattle::prelude::*;

const NEEDLESS: u32 = 0;
const NEEDLESS_VOTE: u32 = 1;
const BOTH_ARMS: u32 = 2;
const NEEDED: u32 = 3;

#[kernel]
fn copies<const HOW: u32>(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Shared<u32>) {
    let warp = acc.warp();
    let first = warp.lane() == 0;
    if acc.block_in_grid() == 0 {
        let read = x.load(0);
        let mut mine = read;
        if HOW == BOTH_ARMS {
            mine = 0;
            if read == 1 {
                mine += 1;
            } else {
                mine = 1;
            }
        }
        let brought = if HOW == NEEDLESS {
            warp.shuffle((read & 0) + 1, 0)
        } else if HOW == NEEDLESS_VOTE {
            if warp.any(read < 5) { 1 } else { 0 }
        } else {
            warp.shuffle(mine, 0)
        };
        if first {
            y.store(0, brought);
            seen[0] = read;
        }
    } else if first {
        let read = y.load(0);
        x.store(0, read);
        seen[1] = read;
    }
}

fn never_both<const HOW: u32>(model: Model) -> Verdict {
    let run = |device: &Device| -> Result<()> {
        let (queue, x, y) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        let seen = device.alloc_zeroed::<u32>(2)?;
        let pairs = LaunchOptions::new().warp_size(2);
        queue.launch_with(pairs, ThreadSpec::new(2, 2), copies::<HOW>(&x, &y, &seen))?;
        assert_ne!(seen.read(&queue)?, [1, 1]);
        Ok(())
    };
    Checker::new(model).check(run).expect("it can be judged").verdict
}

#[test]
fn what_a_lane_brings_anyway_depends_on_nothing() {
    for model in [Model::Portable, Model::Ptx, Model::Vulkan] {
        assert_eq!(never_both::<NEEDLESS>(model), Verdict::Violated, "{model}");
        assert_eq!(never_both::<NEEDLESS_VOTE>(model), Verdict::Violated, "{model}");
        // Whether a compiler makes one of the arms is not found out through the shuffle behind them.
        assert_ne!(never_both::<BOTH_ARMS>(model), Verdict::Holds, "{model}");
        assert_eq!(never_both::<NEEDED>(model), Verdict::Holds, "{model}");
    }
}
