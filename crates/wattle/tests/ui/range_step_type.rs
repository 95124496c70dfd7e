use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, n: i32, long: u64, y: Shared<u32>) {
    for i in (0..n).step_by(2) {
        y[i as u32] = 1;
    }
    for i in (0..long).step_by(2) {
        y[i as u32] = 1;
    }
    for i in (0..9).step_by(n) {
        y[i] = 1;
    }
}

fn main() {}
