//! What kernels permit of their arithmetic, and the short forms of functions, as PTX.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_ptx::{PtxTarget, build};

#[kernel(contract)]
fn contracted(acc: &Acc, x: Read<f32>, out: PerItem<f32>) {
    for (i, item) in acc.items(&mut out) {
        *item = x[i] * 3.0 + x[i];
    }
}

#[kernel]
fn uncontracted(acc: &Acc, x: Read<f32>, out: PerItem<f32>) {
    for (i, item) in acc.items(&mut out) {
        *item = x[i] * 3.0 + x[i];
    }
}

#[kernel]
fn short_forms(acc: &Acc, x: Read<f32>, out: PerItem<f32>) {
    for (i, item) in acc.items(&mut out) {
        let y = x[i];
        let roots = y.sqrt_fast() + y.rsqrt_fast() + y.recip_fast();
        *item = roots + y.exp2_fast() + y.log2_fast() + y.sin_fast() + y.cos_fast() + y.tanh_fast();
    }
}

fn text(kernel: &Kernel, sm: u32) -> String {
    build(kernel, &PtxTarget::new(sm)).expect("the target has all it needs").text()
}

fn of(make: impl FnOnce(&Buffer<f32>, &mut Buffer<f32>) -> Kernel) -> Kernel {
    let device = Device::simulated(0);
    let (x, mut out) = (device.alloc_zeroed::<f32>(1).expect("room"), device.alloc_zeroed::<f32>(1).expect("room"));
    make(&x, &mut out)
}

#[test]
fn products_and_sums_are_fused_where_that_is_permitted() {
    let fused = text(&of(|x, out| contracted(x, out).build().expect("it verifies")), 90);
    assert!(fused.contains("fma.rn.f32") && !fused.contains("mul.rn.f32"), "{fused}");
    let plain = text(&of(|x, out| uncontracted(x, out).build().expect("it verifies")), 90);
    assert!(!plain.contains("fma.rn.f32") && plain.contains("mul.rn.f32") && plain.contains("add.rn.f32"), "{plain}");
}

#[test]
fn short_forms_are_instructions() {
    let kernel = of(|x, out| short_forms(x, out).build().expect("it verifies"));
    let instructions =
        ["sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos"].map(|name| format!("{name}.approx.ftz.f32"));
    for sm in [70, 75, 90, 120] {
        let text = text(&kernel, sm);
        for name in &instructions {
            assert!(text.contains(name.as_str()), "{name}");
        }
        // The hyperbolic tangent is a series over the others below sm_75.
        assert_eq!(text.contains("tanh.approx.f32"), sm >= 75, "sm_{sm}: {text}");
    }
}
