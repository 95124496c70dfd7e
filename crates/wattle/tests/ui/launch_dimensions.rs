use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc<2>, y: Shared<f32>) {
    y[0] = 1.0;
}

#[allow(unused)]
fn scenario(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let x = device.alloc::<f32>(8)?;
    let mut y = device.alloc::<f32>(8)?;
    let mut whole = device.alloc::<u32>(8)?;
    let mut square = device.alloc_nd::<f32, 2>([2, 4])?;
    let spec = ThreadSpec::new(1, 1);
    queue.launch(spec, example(&y))?;
    Ok(())
}

fn main() {}
