use wattle::prelude::*;

#[kernel]
fn of_two_dimensions(acc: &Acc, x: Read<f32, 2>, out: Shared<f32>) {
    out[0] = x.lanes::<4>(0)[0];
}

fn main() {}
