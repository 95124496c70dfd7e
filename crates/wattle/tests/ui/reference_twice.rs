use wattle::prelude::*;

#[device_fn]
fn swap(x: &mut f32, y: &mut f32) {
    (*x, *y) = (*y, *x);
}

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let mut a = 1.0;
    swap(&mut a, &mut a);
    let b = 2.0;
    swap(&mut a, &mut b);
    y[0] = a;
}

fn main() {}
