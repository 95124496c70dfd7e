use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    let first = &x;
    for (i, y) in acc.items(&mut y) {
        *y = first[i];
    }
}

fn main() {}
