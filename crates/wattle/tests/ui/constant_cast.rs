use wattle::prelude::*;

enum Kind {
    First,
}
const PAIR: [f32; 2] = [1.0, 2.0];

#[kernel]
fn enumerations<T: Number>(acc: &Acc, y: Shared<T>) {
    y[0] = Kind::First as T;
}

#[kernel]
fn arrays(acc: &Acc, y: Shared<f32>) {
    y[0] = PAIR as f32;
}

fn main() {}
