//! Mistakes in closures.

use wattle::prelude::*;

#[kernel]
fn map<F: DeviceFn<(f32,), Output = f32>>(acc: &Acc, out: PerItem<f32>, f: F) {
    for (_, x) in acc.items(&mut out) {
        *x = f(*x);
    }
}

#[allow(unused)]
fn scenario(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let mut out = device.alloc::<f32>(8)?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, |x| x * 2.0))?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, device_closure!(|x, y| x * y)))?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, device_closure!(|x| x > 1.0)))?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, device_closure!(|x| { return x; })))?;
    queue.launch(ThreadSpec::new(1, 1), map(&mut out, device_closure!(|x| vec![x])))?;
    Ok(())
}

fn main() {}
