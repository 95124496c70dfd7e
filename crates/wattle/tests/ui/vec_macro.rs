use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    let buffer = vec![0.0; 4];
    for (i, y) in acc.items(&mut y) {
        *y = buffer[0];
    }
}

fn main() {}
