use wattle::prelude::*;

#[kernel]
fn scale(acc: &Acc, a: f32, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        y = a * x[i];
    }
}

#[kernel]
fn sum(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i] + y;
    }
}

fn main() {}
