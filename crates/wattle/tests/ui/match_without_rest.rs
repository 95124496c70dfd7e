use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = match i % 2 {
            0 => 1.0,
            1 => 2.0,
        };
    }
}

fn main() {}
