use wattle::prelude::*;

#[kernel]
fn twice<T>(acc: &Acc, x: Read<T>, y: PerItem<T>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i] + x[i];
    }
}

#[kernel]
fn copied<T: Copy + Send>(acc: &Acc, x: Read<T>, y: PerItem<T>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i];
    }
}

#[kernel]
fn mapped<F: Fn(f32) -> f32>(acc: &Acc, y: PerItem<f32>, f: F) {
    for (_, y) in acc.items(&mut y) {
        *y = f(*y);
    }
}

fn main() {}
