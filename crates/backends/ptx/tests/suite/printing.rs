//! What printing, the clock, and minimum and maximum of floats become.

use wattle::prelude::*;

use wattle_ptx::PtxTarget;

#[kernel]
fn prints(acc: &Acc, x: Read<f32>, y: Atomic<f64>) {
    let (i, start) = (acc.thread_in_grid(), acc.clock());
    let old = y.fetch_max(0, x[i] as f64);
    let found = y.compare_exchange(1, old, 0.5);
    let took = acc.clock() - start;
    assert!(found != 7.0, "found {found}, took {took}");
    println!("{i}: {} {old} {took}", x[i]);
}

#[kernel]
fn is_quiet(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    y[0] = x[acc.thread_in_grid()];
}

fn built(kernel: &dyn wattle_core::Kernel) -> wattle_ir::Kernel {
    kernel.build().expect("a kernel")
}

fn kernels() -> [wattle_ir::Kernel; 2] {
    let device = Device::host();
    let (x, y) = (device.from_slice(&[1.0f32]).unwrap(), device.alloc_zeroed::<f64>(2).unwrap());
    [built(&prints(&x, &y)), built(&is_quiet(&x, &device.alloc_zeroed::<f32>(1).unwrap()))]
}

#[test]
fn ptxas_takes_them_on_every_architecture() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    let [prints, _] = kernels();
    for sm in [70, 75, 80, 86, 89, 90, 100, 120] {
        let module = crate::tools::module(&prints, &PtxTarget::new(sm));
        let (said, _) = crate::tools::assemble(&ptxas, &module.text(), sm);
        let complaints = crate::tools::complaints(&said, |_| true);
        assert!(complaints.is_empty(), "sm_{sm}: {complaints:?}");
    }
}

#[test]
fn the_clock_is_read_anew_each_time() {
    let [prints, quiet] = kernels();
    let text = crate::tools::module(&prints, &PtxTarget::new(90)).body;
    assert_eq!(text.matches("%clock64").count(), 2, "{text}");
    assert!(text.contains(".cas.b64"), "{text}");
    // What does not print has no log, and no more than it had.
    let quiet = crate::tools::module(&quiet, &PtxTarget::new(90));
    assert!(!quiet.body.contains("log") && !quiet.body.contains("global.add"), "{}", quiet.body);
    let Some((ptxas, nvdisasm)) = crate::tools::assembler().zip(crate::tools::disassembler()) else { return };
    let module = crate::tools::module(&prints, &PtxTarget::new(90));
    let code = crate::tools::disassemble(&nvdisasm, &crate::tools::assemble(&ptxas, &module.text(), 90).1);
    assert_eq!(code.matches("SR_CLOCK").count(), 2, "{code}");
}
