//! Kernels that ask what their device is: each compute capability has its own code.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ptx::PtxTarget;

#[kernel]
fn by_capability(acc: &Acc, x: Read<f32>, out: Shared<f32>) {
    let newer = acc.device().compute_capability() >= 90;
    let i = acc.thread_in_grid();
    out[i] = if newer { x[i].sqrt() } else { x[i] * 3.0 };
    if acc.device().warp_size() == 32 {
        out[i] += 1.0;
    } else {
        out[i] = x[i].ln();
    }
}

#[test]
fn the_side_that_is_not_taken_is_not_emitted() {
    let x = Device::simulated(0).alloc_zeroed::<f32>(4).unwrap();
    let kernel = by_capability(&x, &x).build().unwrap();
    for (sm, newer) in [(70, false), (89, false), (90, true), (120, true)] {
        let text = crate::tools::module(&kernel, &PtxTarget::new(sm)).text();
        assert_eq!(text.contains("sqrt.rn.f32"), newer, "sm_{sm}:\n{text}");
        // Multiplied by three, and nothing of a logarithm.
        assert_eq!(text.contains("0f40400000"), !newer, "sm_{sm}:\n{text}");
        // Once where both checks hold, and once behind the check of each.
        assert_eq!(text.matches("add.rn.f32").count(), 2, "sm_{sm}:\n{text}");
    }
}
