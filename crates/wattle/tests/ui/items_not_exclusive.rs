use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: PerItem<f32>) {
    for (i, v) in acc.items(y) {
        *v = i as f32;
    }
}

#[kernel]
fn together(acc: &Acc, y: PerItem<f32>, z: PerItem<f32>) {
    for (i, (v, w)) in acc.items((&mut y, z)) {
        *v = *w;
    }
}

#[kernel]
fn of_shared(acc: &Acc, y: Shared<f32>) {
    for (i, v) in acc.items(&mut y) {
        *v = i as f32;
    }
}

#[kernel]
fn of_read(acc: &Acc, y: Read<f32>, sum: Atomic<f32>) {
    for (_, v) in acc.items(&y) {
        sum.fetch_add(0, v);
    }
}

fn main() {}
