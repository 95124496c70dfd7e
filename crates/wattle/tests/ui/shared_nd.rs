use wattle::prelude::*;

#[kernel]
fn one_extent(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared_nd::<u32, 16>();
    out[0] = tile[0];
}

#[kernel]
fn one_index(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared_nd::<u32, 4, 4>();
    out[0] = tile[0];
}

fn main() {}
