use wattle::prelude::*;

#[kernel]
fn zero(acc: &Acc, y: PerItem<f32>) {
    for (_, y) in acc.items(&mut y) {
        *y = 0.0;
    }
}

#[allow(unused)]
fn scenario(device: &Device) -> Result<()> {
    let mut y = device.alloc::<f32>(8)?;
    device.queue()?.launch(64, zero(&mut y))
}

fn main() {}
