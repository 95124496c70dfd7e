use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        y[i] = i + y[i];
        y[i] = y[i] * i as f64;
    }
}

fn main() {}
