use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    let buffer: Vec<f32> = other();
    for (i, y) in acc.items(&mut y) {
        *y = 1.0;
    }
}

fn main() {}
