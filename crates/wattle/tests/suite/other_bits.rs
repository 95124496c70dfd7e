//! The checker says where the arithmetic of a kernel has other bits on each device.
#![forbid(unsafe_code)]

use wattle::checker::Verdict;
use wattle::prelude::*;

#[device_fn]
fn decay(x: f32) -> f32 {
    (-x).exp_fast()
}

#[kernel]
fn decays(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = decay(x[i]);
    }
}

#[kernel(reassociate)]
fn sums(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    let mut sum = 0.0;
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        sum += x[i];
    }
    y[0] = sum;
}

#[kernel(contract)]
fn contracts(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i] * 2.0 + x[i].exp();
    }
}

/// The notes of a report on one launch, which holds.
fn notes(launch: impl Fn(&Queue, &Buffer<f32>, &mut Buffer<f32>) -> Result<()>) -> Vec<String> {
    let report = Checker::new(Model::Portable).check(|device| -> Result<()> {
        let queue = device.queue()?;
        let (x, mut y) = (device.from_slice(&[1.0f32, 2.0])?, device.alloc_zeroed::<f32>(2)?);
        launch(&queue, &x, &mut y)?;
        y.read(&queue)?;
        Ok(())
    });
    let report = report.unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    report.notes
}

#[test]
fn short_forms_and_reordered_sums_are_said() {
    let short = notes(|queue, x, y| queue.launch(ThreadSpec::new(2, 1), decays(x, y)));
    assert_eq!(short.len(), 1, "{short:?}");
    assert!(short[0].contains("other_bits.rs:15:") && short[0].contains("of the host's"), "{short:?}");

    let reordered = notes(|queue, x, y| queue.launch(ThreadSpec::new(1, 1), sums(x, &*y)));
    assert_eq!(reordered.len(), 1, "{reordered:?}");
    assert!(reordered[0].contains("`sums` permits"), "{reordered:?}");

    let contracted = notes(|queue, x, y| queue.launch(ThreadSpec::new(2, 1), contracts(x, y)));
    assert!(contracted.is_empty(), "fused products have the same bits everywhere: {contracted:?}");
}
