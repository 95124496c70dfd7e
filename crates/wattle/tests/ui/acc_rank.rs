use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc<2>, y: Shared<f32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        y[i] = 1.0;
    }
}

fn main() {}
