//! Floats of 16 bits as machine code.

use std::process::Command;

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_ptx::PtxTarget;

#[kernel]
fn axpy<T: Float>(acc: &Acc, factor: T, xs: Read<T>, ys: PerItem<T>) {
    for (i, y) in acc.items(&mut ys) {
        *y = factor.fma(xs[i], *y);
    }
}

#[kernel]
fn arithmetic<T: Float>(acc: &Acc, xs: Read<T>, ys: Read<T>, out: PerItem<T>) {
    for (i, item) in acc.items(&mut out) {
        let (x, y) = (xs[i], ys[i]);
        let smaller = if x < y { -x } else { x.abs() };
        *item = (x + y) * (x - y) + (x / y).sqrt().max(smaller) + x.exp();
    }
}

#[kernel]
fn conversions<T: Float>(acc: &Acc, xs: Read<T>, words: Read<u64>, doubles: PerItem<f64>, out: Shared<T>) {
    for (i, item) in acc.items(&mut doubles) {
        let x = xs[i];
        out[i] = (words[i] as T).min(*item as T).max(T::from_bits(x.to_bits())) + (words[i] as i32) as T;
        *item = x as f64 + (x as i8) as f64;
    }
}

#[kernel]
fn places<T: Float>(acc: &Acc, xs: Read<T>, chosen: u32, out: PerItem<T>) {
    let tile = acc.shared::<T, 64>();
    let mut own = [T::ONE; 5];
    let [a, b, c, d] = xs.lanes::<4>(chosen);
    own[chosen] = a + b;
    own[2] = c + d;
    tile[acc.thread_in_block()] = own[chosen];
    acc.sync_block();
    for (i, item) in acc.items(&mut out) {
        *item = if chosen == 3 { tile[0] } else { own[i % 5] * 0.5 };
    }
}

fn kernels<T: Float>() -> Vec<Kernel> {
    let device = Device::simulated(0);
    let [x, y, mut out] = [(); 3].map(|()| device.alloc_zeroed::<T>(1).expect("room for a number"));
    let (words, mut doubles) = (device.alloc_zeroed::<u64>(1), device.alloc_zeroed::<f64>(1));
    let (words, doubles) = (words.as_ref().expect("room"), doubles.as_mut().expect("room"));
    let mut kernels = vec![
        axpy(T::ONE, &x, &mut out).build().expect("it verifies"),
        arithmetic(&x, &y, &mut out).build().expect("it verifies"),
        conversions(&x, words, doubles, &y).build().expect("it verifies"),
        places(&x, 1, &mut out).build().expect("it verifies"),
    ];
    for (number, kernel) in kernels.iter_mut().enumerate() {
        kernel.name = format!("halves_{number}_{}", T::TYPE);
    }
    kernels
}

#[test]
fn every_target_is_assembled_without_a_warning() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    for sm in [70, 75, 80, 86, 89, 90, 100, 120] {
        for kernel in kernels::<f16>().iter().chain(&kernels::<bf16>()) {
            let module = crate::tools::module(kernel, &PtxTarget::new(sm));
            let (said, _) = crate::tools::assemble(&ptxas, &module.text(), sm);
            let complaints = crate::tools::complaints(&said, |_| true);
            assert!(complaints.is_empty(), "{} for sm_{sm}: {complaints:#?}\n{}", kernel.name, module.text());
        }
    }
}

/// How many of the kernel's instructions have each of these names.
fn counts<const N: usize>(kernel: &Kernel, sm: u32, names: [&str; N]) -> Option<[usize; N]> {
    let (ptxas, nvdisasm) = (crate::tools::assembler()?, crate::tools::disassembler()?);
    let module = crate::tools::module(kernel, &PtxTarget::new(sm));
    let text = crate::tools::disassemble(&nvdisasm, &crate::tools::assemble(&ptxas, &module.text(), sm).1);
    let instructions: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once("*/")?.1.trim().split([' ', ';']).find(|word| !word.starts_with('@')))
        .collect();
    Some(names.map(|name| instructions.iter().filter(|found| **found == name).count()))
}

/// The version of the assembler whose instructions are named here.
const PINNED: &str = "release 12.9,";

#[test]
fn a_fused_multiply_add_is_one_instruction() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    let version = Command::new(&ptxas).arg("--version").output().expect("ptxas runs").stdout;
    if !String::from_utf8_lossy(&version).contains(PINNED) {
        test_skips::skipped(format!("ptxas is not of {PINNED}"));
        return;
    }
    let (half, brain) = (&kernels::<f16>()[0], &kernels::<bf16>()[0]);
    let names = ["HFMA2", "HFMA2.MMA", "HFMA2.BF16_V2", "FFMA", "FADD"];
    for sm in [80, 90, 120] {
        let Some([plain, tensor, _, single, sums]) = counts(half, sm, names) else { return };
        assert!(plain + tensor >= 1 && single + sums == 0, "f16 on sm_{sm}");
    }
    for sm in [80, 90, 120] {
        let Some([_, _, brains, single, sums]) = counts(brain, sm, names) else { return };
        assert!(brains >= 1 && single + sums == 0, "bf16 on sm_{sm}");
    }
}
