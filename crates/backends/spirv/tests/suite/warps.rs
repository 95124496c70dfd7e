//! Operations of warps as SPIR-V: valid, and refused where a device cannot keep lanes together.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_spirv::{Features, Subgroups, build, lint};

#[kernel]
fn every_operation(acc: &Acc<2>, x: Read<u32>, y: Read<f64>, out: Shared<u32>, sums: Shared<f64>) {
    let (warp, thread) = (acc.warp(), acc.linear_thread_in_block());
    let own = x[thread];
    let mut total =
        warp.shuffle(own, own) + warp.shuffle_up(own, 1) + warp.shuffle_down(own, 2) + warp.shuffle_xor(own, 4);
    let mask = warp.ballot(own > 3);
    if warp.any(own > 5) && !warp.all(own > 7) {
        total += mask.count() + mask.count_below(warp.lane()) + mask.lowest();
    }
    total += warp.reduce_sum(own) + warp.reduce_min(own) + warp.reduce_xor(own) + warp.inclusive_sum(own);
    warp.sync();
    out[thread] = total;
    sums[thread] = warp.reduce_sum(y[thread]) + warp.exclusive_sum(y[thread]);
}

fn kernel() -> Kernel {
    let device = Device::simulated(0);
    let (x, y) = (device.alloc_zeroed::<u32>(1).unwrap(), device.alloc_zeroed::<f64>(1).unwrap());
    every_operation(&x, &y, &x, &y).build().expect("it verifies")
}

#[test]
fn every_operation_is_valid() {
    // Older versions of spirv-val do not know `MaximallyReconvergesKHR`.
    let all = Subgroups { reconverges: false, in_lock_step: true, ..Features::all().subgroups };
    let mut validator = crate::val::Validator::new();
    for (name, subgroups) in [
        ("all", all),
        ("no arithmetic", Subgroups { arithmetic: false, ..all }),
        ("no shuffles", Subgroups { shuffles: false, most_lanes: 16, ..all }),
    ] {
        let module = build(&kernel(), &Features { subgroups, ..Features::all() }).expect("the device has all it needs");
        assert_eq!(lint(&module.words), Ok(vec![]), "{name}");
        assert!(module.uses_warps);
        validator.check(name, &module.words);
    }
    validator.done();
    let module = build(&kernel(), &Features::all()).expect("all there is");
    // `OpExecutionMode` of three words, of which the last one is the mode.
    assert!(module.words.windows(3).any(|words| words[0] == 3 << 16 | 16 && words[2] == 6023));
}

#[test]
fn what_keeps_lanes_together_is_needed() {
    let all = Features::all().subgroups;
    for (subgroups, feature) in [
        (Subgroups { full: false, ..all }, "computeFullSubgroups"),
        (Subgroups { votes: false, ..all }, "votes and ballots"),
        (Subgroups { reconverges: false, ..all }, "VK_KHR_shader_maximal_reconvergence"),
    ] {
        let lacking = build(&kernel(), &Features { subgroups, ..Features::all() }).expect_err(feature);
        assert!(lacking.to_string().contains(feature), "{lacking}");
        assert!(lacking.instead().contains("shared memory"), "{}", lacking.instead());
    }
}
