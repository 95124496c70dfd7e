//! Loops that wait with sequentially consistent accesses, as emitted: what orders them is no progress.

use wattle::prelude::*;
use wattle_check::checker::{Checker, Verdict};
use wattle_memory::Target;

#[kernel]
fn waits<const FENCE: bool, const GOES: bool>(acc: &Acc, flag: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        if GOES {
            flag.store(0, 1);
        }
    } else if FENCE {
        while flag.load(0) == 0 {
            acc.mem_fence(Scope::Device, Order::SeqCst);
        }
    } else {
        while flag.load_with(0, Scope::Device, Order::SeqCst) == 0 {}
    }
}

fn run<const FENCE: bool, const GOES: bool>(device: &Device) -> Result<()> {
    let (queue, flag) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(2, 1), waits::<FENCE, GOES>(&flag))?;
    queue.wait()
}

#[test]
fn a_wait_is_one_as_written_and_as_emitted() {
    for target in [Target::Portable, Target::Ptx { sm: 90 }, Target::Vulkan] {
        let checker = Checker::for_target(target);
        for checker in [checker.clone(), checker.emitted()] {
            for goes in [run::<true, true>, run::<false, true>] {
                let report = checker.check(goes).expect("it can be checked");
                assert_eq!(report.verdict, Verdict::Holds, "{report}");
            }
            for stays in [run::<true, false>, run::<false, false>] {
                let report = checker.check(stays).expect("it can be checked");
                let kinds: Vec<_> = report.violations.iter().map(|violation| violation.kind()).collect();
                assert_eq!(
                    (report.verdict, &kinds[..]),
                    (Verdict::Violated, &["can be stuck for ever"][..]),
                    "{report}"
                );
            }
        }
    }
}
