//! The machine code of operations of warps.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_ptx::PtxTarget;

#[kernel]
fn every_operation(acc: &Acc, x: Read<u32>, y: Read<f64>, out: Shared<u32>, sums: Shared<f64>) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
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
fn ptxas_takes_every_operation() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    for sm in [70, 75, 80, 86, 90, 100, 120] {
        let (said, _) =
            crate::tools::assemble(&ptxas, &crate::tools::module(&kernel(), &PtxTarget::new(sm)).text(), sm);
        let complaints = crate::tools::complaints(&said, |_| false);
        assert!(complaints.is_empty(), "sm_{sm}: {complaints:#?}");
    }
}

#[test]
fn they_are_the_machines_own() {
    let (Some(ptxas), Some(nvdisasm)) = (crate::tools::assembler(), crate::tools::disassembler()) else { return };
    for sm in [75, 90] {
        let (_, code) =
            crate::tools::assemble(&ptxas, &crate::tools::module(&kernel(), &PtxTarget::new(sm)).text(), sm);
        let text = crate::tools::disassemble(&nvdisasm, &code);
        let mut wanted = vec!["SHFL.IDX", "SHFL.UP", "SHFL.DOWN", "SHFL.BFLY", "VOTE"];
        if sm >= 80 {
            wanted.extend(["REDUX", "REDUX.XOR"]);
        }
        for instruction in wanted {
            assert!(text.contains(instruction), "sm_{sm}: {instruction} is not there:\n{text}");
        }
    }
}

#[test]
fn masks_name_the_lanes_that_have_a_thread() {
    let text = crate::tools::module(&kernel(), &PtxTarget::new(90)).text();
    for instruction in
        ["shfl.sync.idx.b32", "shfl.sync.up.b32", "vote.sync.ballot.b32", "redux.sync.add.u32", "bar.warp.sync"]
    {
        let line = text.lines().find(|line| line.contains(instruction)).unwrap_or_else(|| panic!("no {instruction}"));
        assert!(line.trim_end().trim_end_matches(';').rsplit(' ').next().unwrap().starts_with("%r"), "{line}");
    }
    assert!(!crate::tools::module(&kernel(), &PtxTarget::new(75)).text().contains("redux"));
}
