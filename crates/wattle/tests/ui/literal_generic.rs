use wattle::prelude::*;

#[kernel]
fn halves<T: Float>(acc: &Acc, y: Shared<T>) {
    let h = 0.5;
    y[0] = y[0] * h;
}

#[kernel]
fn doubles<T: Number>(acc: &Acc, y: Shared<T>) {
    y[1] = y[1] * 2;
}

#[kernel]
fn compares<T: Number>(acc: &Acc, y: Shared<T>) {
    if y[1] > 0 {
        y[1] = T::ZERO;
    }
}

#[kernel]
fn converts<T: Float>(acc: &Acc, y: Shared<T>) {
    y[0] = T::from(0.5);
    y[1] = T::sqrt(y[0]);
}

fn main() {}
