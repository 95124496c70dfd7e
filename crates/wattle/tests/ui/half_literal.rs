use wattle::prelude::*;

#[kernel]
fn half(acc: &Acc, y: Shared<f16>) {
    y[0] = 0.5f16;
}

#[kernel]
fn bfloat(acc: &Acc, y: Shared<bf16>) {
    y[0] = -1.5bf16;
}

#[kernel]
fn quadruple(acc: &Acc, y: Shared<f64>) {
    y[0] = 0.5f128 as f64;
}

fn main() {}
