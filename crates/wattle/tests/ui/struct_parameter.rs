use wattle::prelude::*;

#[derive(Clone, Copy)]
struct Point(f32);

#[kernel]
fn example(acc: &Acc, p: Point, y: Shared<f32>) {
    y[0] = 1.0;
}

fn main() {}
