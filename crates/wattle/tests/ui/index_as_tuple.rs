use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc<2>, x: Read<f32, 2>, y: Shared<f32, 2>, out: PerItem<f32, 2>) {
    let (row, column) = acc.thread_in_grid();
    let (height, _) = x.extent();
    for (row, column) in acc.indices(THREADS_IN_GRID, y.extent()) {
        y[[row, column]] = 1.0;
    }
    for ((row, column), out) in acc.items(&mut out) {
        *out = x[[row, column]];
    }
    for (a, b) in 0..4 {
        y[[a, b]] = 1.0;
    }
}

fn main() {}
