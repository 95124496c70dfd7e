use wattle::prelude::*;

#[kernel]
fn example<'a>(acc: &Acc, y: Shared<f32>) {
    y[0] = 1.0;
}

fn main() {}
