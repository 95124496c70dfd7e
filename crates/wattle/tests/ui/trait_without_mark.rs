use wattle::prelude::*;

trait Op {
    fn apply(x: f32) -> f32;
}

#[kernel]
fn example<O: Op>(acc: &Acc, y: Shared<f32>) {
    y[0] = O::apply(y[1]);
}

fn main() {}
