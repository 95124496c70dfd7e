use wattle::prelude::*;

#[kernel]
fn prints(acc: &Acc, x: Read<f32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        print!("{}", x[i]);
    }
}

fn main() {}
