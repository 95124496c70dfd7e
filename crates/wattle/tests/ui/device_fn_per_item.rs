use wattle::prelude::*;

#[device_fn]
fn example(acc: &Acc, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = 1.0;
    }
}

fn main() {}
