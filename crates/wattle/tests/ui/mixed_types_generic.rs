use wattle::prelude::*;

#[kernel]
fn example<T: Float>(acc: &Acc, y: Shared<T>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        y[i] = y[i] + 1.0;
    }
}

fn main() {}
