use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: PerItem<f32>) {
    for (i, v) in acc.items(y) {
        *v = i as f32;
    }
}

fn main() {}
