use wattle::prelude::*;

#[kernel]
fn halves(acc: &Acc, x: Shared<u32>) {
    let mut half = acc.threads_per_block() / 2;
    while half > 0 {
        half /= 2;
        x[half] = acc.thread_idx();
    }
    for i in acc.indices(x.len()) {
        x[i] += x.length();
    }
}

fn main() {}
