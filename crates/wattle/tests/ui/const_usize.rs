use wattle::prelude::*;

const TABLE: [f32; 3] = [1.0, 2.0, 3.0];

#[kernel]
fn example<const N: usize>(acc: &Acc, y: Shared<f32>) {
    if N > 0 {
        y[0] = TABLE[0];
    }
}

#[kernel]
fn indexed<const N: usize>(acc: &Acc, y: Shared<f32>) {
    y[0] = TABLE[N];
}

fn main() {}
