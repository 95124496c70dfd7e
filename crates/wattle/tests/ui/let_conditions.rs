use wattle::prelude::*;

#[kernel]
fn or(acc: &Acc, n: u32, out: Shared<u32>) {
    if n > 3 || let 2 = n {
        out[0] = 1;
    }
}

#[kernel]
fn option(acc: &Acc, n: u32, out: Shared<u32>) {
    if n > 3 && let Some(x) = n {
        out[0] = x;
    }
}

#[kernel]
fn refutable(acc: &Acc, n: u32, out: Shared<u32>) {
    let 3 = n;
    out[0] = n;
}

fn main() {}
