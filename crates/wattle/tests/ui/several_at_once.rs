use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let double = |v: f32| v * 2.0;
    print!("here");
    y[0] = 1.0;
}

#[device_fn]
fn helper(v: f32) -> f32 {
    let text = "no";
    v
}

#[kernel]
fn caller(acc: &Acc, y: Shared<f32>) {
    y[0] = helper(1.0);
}

fn scenario(device: &Device) -> Result<()> {
    let y = device.alloc::<f32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1), example(&y))
}

fn main() {}
