//! A user's comparison of a view with a type of his own would be given the view.

use wattle::prelude::*;

#[derive(Clone, Copy)]
struct Mine;
const MINE: Mine = Mine;

impl PartialEq<Mine> for Read<u32> {
    fn eq(&self, _: &Mine) -> bool {
        true
    }
}

impl wattle::ir::builder::Lift for Mine {
    type Built<'b> = Mine;
    fn lift(self, _: &wattle::ir::builder::Builder) -> Mine {
        self
    }
}

#[kernel]
fn compares(_acc: &Acc, x: Read<u32>, y: Atomic<u32>) {
    if x == MINE {
        y.store(0, 1);
    }
}

fn main() {}
