use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, a: f32, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = a * x[i] + *y;
    }
}

#[allow(unused)]
fn scenario(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let x = device.alloc::<f32>(8)?;
    let mut y = device.alloc::<f32>(8)?;
    queue.launch(ThreadSpec::new(1, 1), example(1.0, x, &mut y))?;
    queue.launch(ThreadSpec::new(1, 1), example(1.0, &x, &y))?;
    Ok(())
}

fn main() {}
