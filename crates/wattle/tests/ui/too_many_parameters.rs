use wattle::prelude::*;

#[kernel]
fn example(
    acc: &Acc, y: Shared<u32>,
    a0: u32, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32, a8: u32, a9: u32,
    b0: u32, b1: u32, b2: u32, b3: u32, b4: u32, b5: u32, b6: u32, b7: u32, b8: u32, b9: u32,
    c0: u32, c1: u32, c2: u32, c3: u32, c4: u32, c5: u32, c6: u32, c7: u32, c8: u32, c9: u32,
    d0: u32, d1: u32,
) {
    y[0] = a0 + d1;
}

fn main() {}
