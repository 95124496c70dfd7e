//! `y = a · x + y`, for any float: the first kernel of every tutorial.

use wattle::prelude::*;

use crate::uniform;

/// `y = a · x + y`. Every element belongs to one thread, so nothing has to be ordered.
#[kernel]
pub fn axpy<T: Float>(acc: &Acc, a: T, x: Read<T>, y: PerItem<T>) {
    for (i, y) in acc.items(&mut y) {
        *y = a * x[i] + *y;
    }
}

/// `a · x + y`, on any device.
///
/// # Errors
/// What the device says.
pub fn scaled_sum<T: Float>(device: &Device, a: T, x: &[T], y: &[T]) -> Result<Vec<T>> {
    let queue = device.queue()?;
    let (x, mut y) = (device.from_slice(x)?, device.from_slice(y)?);
    queue.launch(FrameSpec::cover(y.len(), 256), axpy(a, &x, &mut y))?;
    y.read(&queue)
}

/// `y = a · x + y`.
#[scenario(sizes = Sizes { full: 1 << 20, small: 1 << 10, proof: 4 })]
pub fn saxpy(device: &Device, n: usize) -> Result<Summary> {
    let x: Vec<f32> = (0..n).map(|i| uniform(i, -1.0, 1.0)).collect();
    let y: Vec<f32> = (0..n).map(|i| uniform(i + n, -1.0, 1.0)).collect();
    let found = scaled_sum(device, 2.5, &x, &y)?;

    let mut summary = Summary::new(format!("{n} elements"));
    // A product and a sum, rounded each, on every device: the bits are plain Rust's.
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
    summary.check(found == expected, "the bits are plain Rust's", || "they are not".into())?;
    Ok(summary)
}
