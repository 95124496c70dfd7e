//! What the lanes of a warp do together is no litmus instruction.

use wattle::prelude::*;
use wattle_litmus::{Dialect, EmitError, EmitOptions, emit_scenario};
use wattle_memory::Target;

/// A lane reads a word and hands it on to the others.
#[kernel]
fn hands_on(acc: &Acc, flag: Atomic<u32>, out: Shared<u32>) {
    let seen = flag.load(0);
    out[acc.thread_in_block()] = acc.warp().shuffle(seen, 0);
}

/// Two warps of a block, each of which waits for its own lanes alone.
#[kernel]
fn waits_for_its_warp(acc: &Acc, out: Shared<u32>) {
    let thread = acc.thread_in_block();
    out[thread] = 1;
    acc.warp().sync();
    out[thread ^ 1] += 1;
}

fn emitted(threads: u32, launch: impl Fn(&Queue, ThreadSpec<1>, [&Buffer<u32>; 2]) -> Result<()>) -> EmitError {
    let scenario = |device: &Device| {
        let queue = device.queue()?;
        let buffers = [device.alloc_zeroed::<u32>(64)?, device.alloc_zeroed::<u32>(64)?];
        launch(&queue, ThreadSpec::new(1, threads), buffers.each_ref())?;
        queue.wait()
    };
    let report = Checker::for_target(Target::Ptx { sm: 90 }).warp_size(2).check(scenario).expect("it can be checked");
    emit_scenario(&report, Dialect::Ptx, &EmitOptions::default()).expect_err("no litmus file says it")
}

#[test]
fn what_a_warp_does_is_refused_with_its_line() {
    let shuffled = emitted(2, |queue, spec, [flag, out]| queue.launch(spec, hands_on(flag, out)));
    assert!(matches!(&shuffled, EmitError::Warp { site } if site.contains("emit_warps.rs:11")), "{shuffled}");
    let synced = emitted(4, |queue, spec, [out, _]| queue.launch(spec, waits_for_its_warp(out)));
    assert!(matches!(&synced, EmitError::Warp { site } if site.contains("emit_warps.rs:19")), "{synced}");
}
