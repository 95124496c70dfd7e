use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc<5>, y: Shared<f32>) {
    y[0] = 1.0;
}

#[kernel]
fn none(acc: &Acc<0>, y: Shared<f32>) {
    y[0] = 1.0;
}

fn main() {}
