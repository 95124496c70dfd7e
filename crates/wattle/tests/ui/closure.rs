use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    let double = |v: f32| v * 2.0;
    for (i, y) in acc.items(&mut y) {
        *y = 1.0;
    }
}

fn main() {}
