use wattle::prelude::*;

#[kernel]
fn flags(acc: &Acc, flags: Atomic<bool>) {
    flags.store(0, true);
}

#[kernel]
fn indices(acc: &Acc, x: Read<usize>) {
    let first = x[0];
}

#[kernel]
fn borrowed(acc: &Acc, x: &Read<f32>) {
    let first = x[0];
}

fn main() {}
