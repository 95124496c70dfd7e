//! Lanes are one access of 16 bytes where they are aligned so, in the text and in machine code.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ptx::PtxTarget;

#[kernel]
fn moves(acc: &Acc, x: Shared<f32>, out: Shared<f32>) {
    let i = 4 * acc.thread_in_grid();
    out.store_lanes(i, x.lanes::<4>(i));
}

#[kernel]
fn in_tiles(acc: &Acc, x: Read<f32>, out: Shared<f32>) {
    let tile = acc.shared::<f32, 256>();
    let i = 4 * acc.thread_in_block();
    tile.store_lanes(i, x.lanes::<4>(i));
    acc.sync_block();
    out.store_lanes(i, tile.lanes::<4>(252 - i));
}

#[test]
fn lanes_are_accessed_at_once() {
    let device = Device::host();
    let buffer = || device.alloc_zeroed::<f32>(256).unwrap();
    let (Some(ptxas), Some(nvdisasm)) = (crate::tools::assembler(), crate::tools::disassembler()) else { return };
    let code = |kernel: &wattle_ir::Kernel| {
        let text = crate::tools::module(kernel, &PtxTarget::new(90)).text();
        let (_, code) = crate::tools::assemble(&ptxas, &text, 90);
        (text, crate::tools::disassemble(&nvdisasm, &code))
    };
    let wide =
        |code: &str, what: &str| code.lines().filter(|line| line.contains(what) && line.contains(".128")).count();

    let (text, machine) = code(&moves(&buffer(), &buffer()).build().unwrap());
    assert!(text.contains("ld.weak.global.v4.f32 ") && text.contains("st.weak.global.v4.f32 "), "{text}");
    // Once where both checks hold, and once more behind the check of each.
    assert_eq!((wide(&machine, "LDG.E"), wide(&machine, "STG.E")), (2, 2), "{machine}");

    let (text, machine) = code(&in_tiles(&buffer(), &buffer()).build().unwrap());
    assert!(text.contains("ld.weak.shared.v4.f32 ") && text.contains("st.weak.shared.v4.f32 "), "{text}");
    // The load stands once where its check and that of the store behind it hold, and once behind its own; the assembler may
    // write the store once behind each way of the load.
    assert!((1..=2).contains(&wide(&machine, "LDS")) && wide(&machine, "STS") >= 1, "{machine}");
}
