use wattle::prelude::*;

#[kernel]
fn views(acc: &Acc, x: Read<f32>, y: Shared<f32>, z: PerItem<f32>) {
    for v in x {
        y[0] = v;
    }
    for v in z {
        y[0] = v;
    }
}

#[kernel]
fn references(acc: &Acc, y: Shared<f32>) {
    let mut a = [1.0, 2.0];
    for v in &a {
        y[0] = v;
    }
    for v in &mut a {
        *v = 1.0;
    }
    for v in a.iter() {
        y[0] = v;
    }
}

#[kernel]
fn number(acc: &Acc, n: u32, y: Shared<f32>) {
    for i in n {
        y[i] = 1.0;
    }
}

fn main() {}
