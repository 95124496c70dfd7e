//! Device functions that call themselves.

use wattle::prelude::*;

#[device_fn]
fn factorial(n: u32) -> u32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Tree {
    depth: u32,
}

impl Tree {
    #[device_fn]
    fn leaves(self) -> u32 {
        if self.depth == 0 { 1 } else { 2 * Self::leaves(Tree { depth: self.depth - 1 }) }
    }

    #[device_fn]
    fn nodes(self) -> u32 {
        let below = Self { depth: self.depth - 1 };
        1 + 2 * self.nodes() + 2 * below.nodes()
    }
}

#[kernel]
fn example(acc: &Acc, out: Shared<u32>) {
    out[0] = factorial(4);
    out[1] = Tree::leaves(Tree { depth: 2 });
}

fn main() {}
