use wattle::prelude::*;

#[kernel]
fn example<T: Float>(acc: &Acc, y: Shared<T>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        let mut sum = 0.0;
        sum += y[i];
        y[i] = y[i] + 1u32;
    }
}

fn main() {}
