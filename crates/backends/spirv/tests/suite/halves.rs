//! Floats of 16 bits as SPIR-V: native where the device promises their bits, through `f32` elsewhere.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_spirv::{Features, Subgroups, build, disassemble, lint};

#[kernel]
fn arithmetic<T: Float>(acc: &Acc, factor: T, xs: Read<T>, ys: Read<T>, out: PerItem<T>) {
    let tile = acc.shared::<T, 4>();
    tile[0] = factor;
    for (i, item) in acc.items(&mut out) {
        let (x, y) = (xs[i], ys[i]);
        *item = (x + y) * (x - y) + x / y + factor.fma(x, y) + tile[0].abs() - (-x).max(y) + T::from_bits(x.to_bits());
    }
}

#[kernel]
fn conversions<T: Float>(acc: &Acc, xs: Read<T>, words: Read<u32>, doubles: PerItem<f64>, out: Shared<T>) {
    for (i, item) in acc.items(&mut doubles) {
        out[i] = (words[i] as T).min(*item as T) + (words[i] as i32) as T;
        *item = xs[i] as f64;
    }
}

fn kernels<T: Float>() -> [Kernel; 2] {
    let device = Device::simulated(0);
    let [x, y, mut out] = [(); 3].map(|()| device.alloc_zeroed::<T>(1).expect("room for a number"));
    let (words, mut doubles) =
        (device.alloc_zeroed::<u32>(1).expect("room"), device.alloc_zeroed::<f64>(1).expect("room"));
    [
        arithmetic(T::ONE, &x, &y, &mut out).build().expect("it verifies"),
        conversions(&x, &words, &mut doubles, &y).build().expect("it verifies"),
    ]
}

/// The module as text, which is valid.
fn text(kernel: &Kernel, features: &Features) -> String {
    let module = build(kernel, features).expect("nothing is lacking");
    assert_eq!(lint(&module.words), Ok(vec![]), "{}", kernel.name);
    let mut validator = crate::val::Validator::new();
    validator.check(&kernel.name, &module.words);
    validator.done();
    disassemble(&module.words).expect("a module")
}

#[test]
fn f16_is_native_where_its_bits_are_promised() {
    // Older versions of spirv-val do not know `MaximallyReconvergesKHR`.
    let subgroups = Subgroups { reconverges: false, in_lock_step: true, ..Features::all().subgroups };
    let promised = Features { subgroups, ..Features::all() };
    let lacking = Features { float16: false, ..promised.clone() };
    for (number, kernel) in kernels::<f16>().iter().enumerate() {
        let native = text(kernel, &promised);
        for said in ["OpTypeFloat 16", "RoundingModeRTE 16", "DenormPreserve 16", "SignedZeroInfNanPreserve 16"] {
            assert!(native.contains(said), "{said}:\n{native}");
        }
        // Sums and products are of halves; the quotient and the fused multiply-add stay in `f32`.
        let of = native
            .lines()
            .find(|line| line.ends_with("OpTypeFloat 16"))
            .and_then(|line| line.split_whitespace().next());
        let count = |op: &str| native.matches(&format!("{op} {}", of.unwrap_or_default())).count();
        match number {
            0 => assert_eq!(
                (count("OpFAdd"), count("OpFSub"), count("OpFMul"), count("OpFDiv")),
                (5, 2, 1, 0),
                "{native}"
            ),
            _ => assert_eq!(count("OpFAdd"), 1, "{native}"),
        }
        let wide = text(kernel, &lacking);
        assert!(!wide.contains("OpTypeFloat 16") && !wide.contains("DenormPreserve"), "{wide}");
    }
}

#[test]
fn bf16_is_never_native() {
    let subgroups = Subgroups { reconverges: false, in_lock_step: true, ..Features::all().subgroups };
    for kernel in kernels::<bf16>() {
        let text = text(&kernel, &Features { subgroups, ..Features::all() });
        assert!(!text.contains("OpTypeFloat 16"), "{text}");
    }
}
