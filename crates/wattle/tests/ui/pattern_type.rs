use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, out: PerItem<f32>) {
    let [row, column] = acc.thread_in_grid();
    let (a, b) = x[0];
    for ([row, column], out) in acc.items(&mut out) {
        *out = 1.0;
    }
}

fn main() {}
