use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    for [r, c] in acc.indices(THREADS_IN_GRID, [0, 0]..[4, 4]) {
        y[r * 4 + c] = 1.0;
    }
}

fn main() {}
