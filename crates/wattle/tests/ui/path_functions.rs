use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, n: Read<u32>, y: Shared<f32>) {
    y[0] = f32::max(x[0], x[1]);
    y[1] = f32::sqrt(x[0]);
    y[2] = std::cmp::min(n[0], n[1]) as f32;
    y[3] = f64::from(x[0]) as f32;
}

fn main() {}
