use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<u32>) {
    for i in (0..9).step_by(2).rev() {
        y[i] = 1;
    }
    for i in (0..9).rev().step_by(2) {
        y[i] = 1;
    }
    for i in (0..=9).rev() {
        y[i] = 1;
    }
    for i in (2..=9).step_by(3) {
        y[i] = 1;
    }
    for i in acc.indices(THREADS_IN_GRID, 0..=9) {
        y[i] = 1;
    }
}

fn main() {}
