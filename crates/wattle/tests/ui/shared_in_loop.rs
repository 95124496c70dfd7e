use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        let tile = acc.shared::<f32, 64>();
        y[i] = tile[0];
    }
}

fn main() {}
