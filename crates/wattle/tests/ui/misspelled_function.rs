use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i].arcsin();
    }
}

fn main() {}
